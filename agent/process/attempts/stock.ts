// Folders made in advance. To make a file costs a disk up to a millisecond, as much as to start a program; to rename a folder
// costs nearly nothing. So new sandboxes, containers and attempts are folders of a stock that is filled up in quiet moments.
//
// Node cannot make a FIFO, so mkfifo(1) makes them, many at once.

import {spawn, spawnSync} from 'node:child_process';
import {mkdirSync, readdirSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {limits} from '../../../api/limits.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import {explained} from '../../os/explained.js';
import {firstLine} from './state-file.js';

export const sandboxFile = 'pod.json';

/** What is in a folder of each sort. */
const recipes = {
	sandboxes: {files: {[sandboxFile]: ''}, fifos: []},
	containers: {files: {}, fifos: ['lifeline']},
	attempts: {files: {state: firstLine, log: ''}, fifos: []},
	pipes: {files: {}, fifos: ['stdin', 'stdout', 'stderr']},
} as const satisfies Record<string, {readonly files: Readonly<Record<string, string>>; readonly fifos: readonly string[]}>;

export type Sort = keyof typeof recipes;

const sorts = Object.keys(recipes) as Sort[];

export type Stock = {
	/**
	 * Puts a new folder of that sort there, where none with anything in it may be. `fill` sees it before it gets its name.
	 * Throws errno exceptions, and an Error when mkfifo fails.
	 */
	readonly put: (sort: Sort, target: string, fill?: (folder: string) => void) => void;
	/** The same, where it was made; it is the caller's, who removes it. */
	readonly take: (sort: Sort) => string;
	/** Resolves when nothing is made any more. */
	readonly close: () => Promise<void>;
};

const unfinished = '.new';

type State = {
	readonly folder: string;
	readonly size: number;
	readonly clock: Clock;
	readonly onWarning: (message: string) => void;
	readonly ready: ReadonlyMap<Sort, string[]>;
	serial: number;
	lastTakenMs: number;
	filling: boolean;
	closed: boolean;
	cancel: Cancel;
	current: Promise<void>;
};

/** Takes over what an earlier agent left in `folder`. Throws errno exceptions. */
export function createStock(folder: string, size: number, clock: Clock, onWarning: (message: string) => void): Stock {
	const ready = new Map(sorts.map(sort => [sort, openShelf(path.join(folder, sort))]));
	const state: State = {
		folder,
		size,
		clock,
		onWarning,
		ready,
		serial: Math.max(0, ...[...ready.values()].flat().map(name => Number(path.basename(name)))),
		lastTakenMs: clock.monotonicMs() - limits.restockMs,
		filling: false,
		closed: false,
		cancel: () => undefined,
		current: Promise.resolve(),
	};
	fillLater(state, 0);
	return {
		put(sort, target, fillFolder) {
			const source = take(state, sort);
			fillFolder?.(source);
			renameSync(source, target);
		},
		take: sort => take(state, sort),
		close() {
			state.closed = true;
			state.cancel();
			return state.current;
		},
	};
}

const newNames = (state: State, sort: Sort, count: number): string[] =>
	Array.from({length: count}, () => path.join(state.folder, sort, String(++state.serial)));

const missing = ({size, ready}: State, sort: Sort): number =>
	(sort === 'pipes' ? Math.min(size, limits.stockPipes) : size) - (ready.get(sort)?.length ?? 0);

function take(state: State, sort: Sort): string {
	const shelf = state.ready.get(sort) ?? [];
	if (shelf.length === 0) {
		const names = newNames(state, sort, Math.max(1, Math.min(state.size, limits.stockBatch)));
		makeNow(sort, names);
		shelf.push(...names);
	}
	state.lastTakenMs = state.clock.monotonicMs();
	fillLater(state, limits.restockMs);
	return shelf.pop() ?? '';
}

function fillLater(state: State, delayMs: number): void {
	if (state.filling || state.closed) return;
	state.filling = true;
	state.cancel = state.clock.after(delayMs, () => void (state.current = fill(state)));
}

/** One small batch after the other, as long as nothing is taken of it meanwhile. */
async function fill(state: State): Promise<void> {
	for (let sort = lowSort(state); sort !== undefined && !state.closed; sort = lowSort(state)) {
		if (state.clock.monotonicMs() - state.lastTakenMs < limits.restockMs) break;
		const names = newNames(state, sort, Math.min(limits.stockBatch, missing(state, sort)));
		try {
			await make(sort, names);
		} catch (error) {
			state.onWarning(`no folders could be made in advance: ${explained(error)}`);
			state.filling = false; // The next one who takes something tries again.
			return;
		}
		state.ready.get(sort)?.push(...names);
	}
	state.filling = false;
	if (lowSort(state) !== undefined) fillLater(state, limits.restockMs);
}

const lowSort = (state: State): Sort | undefined => sorts.find(sort => missing(state, sort) > 0);

/** The finished folders of one sort. */
function openShelf(shelf: string): string[] {
	mkdirSync(shelf, {recursive: true, mode: 0o700});
	const names = readdirSync(shelf);
	for (const name of names) if (name.endsWith(unfinished)) rmSync(path.join(shelf, name), {recursive: true, force: true});
	return names.filter(name => /^\d+$/.test(name)).map(name => path.join(shelf, name));
}

async function make(sort: Sort, names: readonly string[]): Promise<void> {
	const {files, fifos} = recipes[sort];
	for (const name of names) {
		await mkdir(name + unfinished, {mode: 0o700});
		for (const [file, text] of Object.entries(files)) await writeFile(path.join(name + unfinished, file), text, {mode: 0o600});
	}
	if (fifos.length > 0) await makeFifosLater(names.flatMap(name => fifos.map(fifo => path.join(name + unfinished, fifo))));
	for (const name of names) renameSync(name + unfinished, name);
}

function makeNow(sort: Sort, names: readonly string[]): void {
	const {files, fifos} = recipes[sort];
	for (const name of names) {
		mkdirSync(name + unfinished, {mode: 0o700});
		for (const [file, text] of Object.entries(files)) writeFileSync(path.join(name + unfinished, file), text, {mode: 0o600});
	}
	if (fifos.length > 0) makeFifos(names.flatMap(name => fifos.map(fifo => path.join(name + unfinished, fifo))));
	for (const name of names) renameSync(name + unfinished, name);
}

/** Throws an Error that says what mkfifo said. */
export function makeFifos(files: readonly string[]): void {
	const {status, stderr, error} = spawnSync('mkfifo', ['-m', '600', ...files], {encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe']});
	if (status !== 0) throw new Error(`mkfifo failed: ${error?.message ?? stderr.trim()}`);
}

const makeFifosLater = (files: readonly string[]): Promise<void> =>
	new Promise((resolve, reject) => {
		spawn('mkfifo', ['-m', '600', ...files], {stdio: 'ignore'})
			.once('error', reject)
			.once('exit', code => (code === 0 ? resolve() : reject(new Error(`mkfifo failed with code ${code}`))));
	});
