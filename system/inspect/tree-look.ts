// Looks at many actors: the tree, and those that have most of something. Both go through a hundred thousand actors in slices.

import type {ActorLook, ActorTree, LookAnswer, TopBy} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import type {Cell} from '../kernel/cell.js';
import type {Kernel} from '../kernel/kernel.js';
import {lookAt} from '../kernel/look.js';
import {roughBytes} from './rough-bytes.js';
import {Highest, isWrong, rankOf} from './ranking.js';
import {whole} from './shown.js';
import type {Work} from './slices.js';

/** Cells that are looked at before the time is. */
const portion = 256;

/** What is wrong or busy, of each actor above such a one: the highest rank at or below it, and how many are wrong below it. */
type Below = {rank: number; wrong: number};

function* troublesOf({cells, options: {clock}}: Kernel): Work<ReadonlyMap<Cell, Below>> {
	const troubles = new Map<Cell, Below>();
	const nowMs = clock.monotonicMs();
	let count = 0;
	for (const cell of cells.values()) {
		if (++count % portion === 0) yield;
		const rank = rankOf(cell, nowMs);
		if (rank === 0) continue;
		const counted = isWrong(rank);
		for (let at: Cell | undefined = cell; at !== undefined; at = at.parent) {
			const below = troubles.get(at);
			if (below === undefined) troubles.set(at, {rank, wrong: counted && at !== cell ? 1 : 0});
			else if (!counted && below.rank >= rank) break;
			else {
				below.rank = Math.max(below.rank, rank);
				if (counted && at !== cell) below.wrong++;
			}
		}
	}
	return troubles;
}

type Growing = ActorLook & {readonly children: Growing[]};

/** `depth` levels below the cell, the upper ones first; of each crowd those that are wrong or busy, or have such below them. */
export function* treeLook(
	kernel: Kernel,
	root: Cell,
	{depth = limits.lookDepth, children = limits.lookChildren}: {readonly depth?: number | undefined; readonly children?: number | undefined},
): Work<ActorTree> {
	const troubles = yield* troublesOf(kernel);
	const look = (cell: Cell): Growing => {
		const wrongBelow = troubles.get(cell)?.wrong ?? 0;
		const below = wrongBelow === 0 ? {} : {wrongBelow};
		return {...boundedLook(cell, kernel.options.clock.monotonicMs()), ...below, children: []};
	};
	const tree = look(root);
	const open: {readonly cell: Cell; readonly into: Growing; readonly level: number}[] = [{cell: root, into: tree, level: 0}];
	let room = limits.lookActors - 1;
	for (const {cell, into, level} of open) {
		if (level >= depth || room <= 0) break;
		const first = new Highest<Cell>(Math.min(children, room));
		let count = 0;
		for (const child of cell.children.values()) {
			if (++count % portion === 0) yield;
			first.add(child, troubles.get(child)?.rank ?? 0);
		}
		for (const {item} of first.all()) {
			const child = look(item);
			into.children.push(child);
			open.push({cell: item, into: child, level: level + 1});
			room--;
		}
		yield;
	}
	return tree;
}

/** What behaviours say of themselves may be of any length. */
export function boundedLook(cell: Cell, monotonicMs: number): ActorLook {
	const look = lookAt(cell, monotonicMs);
	const {about, trouble, failure} = look;
	const told = trouble === undefined ? {} : {trouble: cut(trouble)};
	return {...look, ...told, about: cut(about), ...(failure === undefined ? {} : {failure: cut(failure)})};
}

export const cut = (text: string): string =>
	text.length <= limits.shownPathCharacters ? text : `${whole(text.slice(0, limits.shownPathCharacters))}…`;

// ---- top -----------------------------------------------------------------------------------------------------------------------

export type TopOptions = {
	readonly by: TopBy;
	readonly limit: number;
	/** Of `rate`: what was handled when the counting began, and how long ago that was. */
	readonly before?: {readonly handled: ReadonlyMap<Cell, number>; readonly ms: number} | undefined;
};

function* cellsBelow(kernel: Kernel, root: Cell): Generator<Cell> {
	if (root.parent === undefined) {
		yield* kernel.cells.values();
		return;
	}
	const open = [root.children.values()];
	yield root;
	for (let children = open.pop(); children !== undefined; children = open.pop()) {
		for (const child of children) {
			yield child;
			if (child.children.size > 0) open.push(child.children.values());
		}
	}
}

/** What each actor has handled so far. */
export function* handledBelow(kernel: Kernel, root: Cell): Work<ReadonlyMap<Cell, number>> {
	const handled = new Map<Cell, number>();
	for (const cell of cellsBelow(kernel, root)) {
		handled.set(cell, cell.handled);
		if (handled.size % portion === 0) yield;
	}
	return handled;
}

/** The actors at and below the cell that have most of it; those that have nothing of it are left out. */
export function* topLook(kernel: Kernel, root: Cell, options: TopOptions): Work<LookAnswer['top']> {
	const {clock} = kernel.options;
	const untilMs = clock.monotonicMs() + limits.topMemoryMs;
	const highest = new Highest<Cell>(options.limit);
	let counted = 0;
	for (const cell of cellsBelow(kernel, root)) {
		counted++;
		const value = valueOf(cell, options);
		if (value > 0) highest.add(cell, value);
		if (options.by === 'memory') {
			if (clock.monotonicMs() > untilMs) break;
			yield;
		} else if (counted % portion === 0) yield;
	}
	const nowMs = clock.monotonicMs();
	return {actors: highest.all().map(({item, value}) => ({...boundedLook(item, nowMs), value: rounded(value)})), counted};
}

function valueOf(cell: Cell, {by, before}: TopOptions): number {
	switch (by) {
		case 'mailbox':
			return cell.mailbox.length;
		case 'rate': {
			const {handled, ms} = before ?? {handled: new Map<Cell, number>(), ms: 0};
			return ms <= 0 ? 0 : ((cell.handled - (handled.get(cell) ?? 0)) * 1_000) / ms;
		}
		case 'time':
			return cell.stepMicros / 1_000;
		case 'restarts':
			return cell.restarts;
		case 'memory':
			return roughBytes(cell.state);
	}
}

const rounded = (value: number): number => Math.round(value * 100) / 100;
