// How cells end: leaves first, last started first, each within its deadline; then the name is free and those that watched are told.

import {failure} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {isReply, type DownReason, type Next, type Signal} from './behavior.js';
import type {Cell} from './cell.js';
import {refuseStopped} from './delivery.js';
import {following, later, seen} from './following.js';
import {runEffect} from './interpreter.js';
import type {Kernel} from './kernel.js';
import type {Span} from './mailbox.js';
import {crashOf, stackOf} from './observer.js';
import {StepContext} from './step-context.js';

/** Stops the cell once its children have ended and its commit is decided, and kills it when that takes too long. */
export function stop(kernel: Kernel, cell: Cell, reason: DownReason): void {
	if (cell.isGone || cell.status === 'stopping') return;
	cell.status = 'stopping';
	cell.leaveRound();
	const killed: DownReason = reason.type === 'crashed' ? reason : {type: 'killed'};
	const {shutdownMs = limits.shutdownMs} = cell.spec;
	if (shutdownMs === 'brutalKill' && reason.type === 'stopped') {
		finish(kernel, cell, killed);
		return;
	}
	stopChildren(kernel, cell, () => cell.onceCommitted(later(kernel, () => finish(kernel, cell, reason))));
	if (cell.isGone || shutdownMs === 'infinity') return;
	const deadlineMs = shutdownMs === 'brutalKill' ? limits.shutdownMs : shutdownMs;
	const kill = later(kernel, () => finish(kernel, cell, killed));
	cell.whenGone(kernel.deadlines.after(deadlineMs, kill));
}

/** Last started first; each is over before the next is stopped. A loop, because there may be 100,000. */
export function stopChildren(kernel: Kernel, cell: Cell, done: () => void): void {
	if (cell.children.size === 0) {
		done();
		return;
	}
	const rest = [...cell.children.values()];
	const goOn = later(kernel, (): void => {
		if (cell.isGone) return; // It was killed, and they with it.
		for (let child = rest.pop(); child !== undefined; child = rest.pop()) {
			stop(kernel, child, {type: 'stopped'});
			if (child.isGone) continue;
			child.whenGone(goOn);
			return;
		}
		done();
	});
	goOn();
}

/** Ends the cell now, and what is below it. One that is killed, or has crashed, has no last word. */
export function finish(kernel: Kernel, cell: Cell, reason: DownReason): void {
	if (cell.isGone) return;
	const {cells} = kernel;
	const {address, instance} = cell;
	const isSilent = reason.type === 'crashed' || reason.type === 'killed';
	cell.status = isSilent ? 'gone' : 'stopping';
	cell.leaveRound();
	killChildren(kernel, cell);
	const span = isSilent ? undefined : lastWord(kernel, cell);
	cell.status = 'gone';
	clear(kernel, cell);
	settleLater(kernel, cell);
	cell.parked?.cancelRetry();
	if (cells.get(address) === cell) cells.delete(address);
	cell.seat?.leave();
	for (const envelope of cell.mailbox.drain()) refuseStopped(kernel, cell, envelope);
	tellDown(kernel, cell, {type: 'down', address, instance, reason}, span ?? kernel.span);
	cell.afterEnd();
}

function settleLater({unsettled}: Kernel, cell: Cell): void {
	if (!cell.committing) return;
	unsettled.set(cell.address, cell);
	cell.onceCommitted(() => {
		if (unsettled.get(cell.address) === cell) unsettled.delete(cell.address);
	});
}

/** Those that have not ended in time. */
export function killChildren(kernel: Kernel, cell: Cell): void {
	for (const child of [...cell.children.values()].reverse()) finish(kernel, child, {type: 'killed'});
}

/** The stop signal: the effects still run, the state is dropped. Its span, where it is traced. */
export function lastWord(kernel: Kernel, cell: Cell): Span | undefined {
	const {behavior, address, object} = cell;
	if (behavior.signal === undefined || cell.state === undefined) return undefined;
	const {clock, observer} = kernel.options;
	const stop: Signal = {type: 'stop'};
	const {seen: watched} = seen(kernel, cell, {message: stop, from: address, cause: 'stop'}, {type: 'signal', signal: stop});
	try {
		const context = new StepContext(kernel, cell, 'stop');
		const startedMs = watched === undefined ? 0 : clock.monotonicMs();
		const next = behavior.signal(cell.state, stop, watched?.context(context) ?? context) as Next<unknown>;
		watched?.ran(next, clock.monotonicMs() - startedMs);
		watched?.real(false);
		following(kernel, watched?.span ?? kernel.span, () => {
			for (const effect of next.effects) runEffect(kernel, cell, effect, 'stop', object);
		});
	} catch (error) {
		const crashed = crashOf(address, error);
		cell.failure = crashed;
		watched?.crashed(crashed);
		observer?.lifecycle?.({type: 'crashed', address, error: crashed, messageType: 'stop', stack: stackOf(error)});
	}
	return watched?.span;
}

/** The supervisor hears of every child, others if they watch. */
function tellDown(kernel: Kernel, cell: Cell, down: Extract<Signal, {type: 'down'}>, span: Span | undefined): void {
	const {parent} = cell;
	const {name} = cell.spec;
	if (parent?.children.get(name) === cell) parent.children.delete(name);
	if (parent?.status === 'running') parent.signal(down, span);
	kernel.deathWatch.ended(cell, down, span);
}

/** Another instance: what the old one had under way, and the answers and signals that wait for it, are none of its business. */
export function renew(kernel: Kernel, cell: Cell): void {
	cell.instance = ++kernel.instances;
	clear(kernel, cell);
	cell.mailbox.forget(({message, timer}) => isReply(message) || timer !== undefined);
}

/** Drops what the cell has under way: timers, questions, open writes, watches. */
function clear(kernel: Kernel, cell: Cell): void {
	for (const {cancel} of cell.timers.values()) cancel();
	cell.timers.clear();
	for (const {cancel} of cell.asks.values()) cancel();
	cell.asks.clear();
	cell.pending.clear();
	kernel.deathWatch.forget(cell);
}

/** Drops the whole tree at once: no signal, no deadline, no word to those that watch. */
export function dropAll(kernel: Kernel, code: 'ERR_ACTOR_STOPPED' | 'ERR_OUTCOME_UNKNOWN'): void {
	const {cells, deadlines, edgeAsks, performs, deathWatch} = kernel;
	kernel.isClosed = true;
	for (const cell of cells.values()) {
		clear(kernel, cell);
		cell.leaveRound();
		cell.parked?.cancelRetry();
		cell.status = 'gone';
		cell.seat?.leave();
	}
	cells.clear();
	deadlines.clear();
	edgeAsks.fail(
		() => true,
		address => failure(code, {address}),
	);
	performs.clear();
	deathWatch.close();
}
