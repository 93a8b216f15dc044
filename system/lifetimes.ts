// How cells begin, crash, rest, are parked, and end. Supervision is one for one; what is past its intensity is parked, rests, or is
// its supervisor's failure, as its behaviour says.

import {failure, type Failure} from '../api/errors.js';
import {address as addressOf, type Address} from '../api/keys.js';
import {limits} from '../api/limits.js';
import type {ActorSystemOptions} from './actor-options.js';
import {isReply, type Context, type DownReason, type Next, type ReplyTo, type Restart, type Signal} from './behavior.js';
import {Cell} from './cell.js';
import type {Deadlines} from './deadlines.js';
import {runEffect, type Kernel} from './interpreter.js';
import type {Envelope} from './mailbox.js';
import type {Known} from './object-index.js';
import {crashOf, stackOf, type Step} from './steps.js';
import {addRestart, exponentialBackoffMs, restartDelayMs, type BackoffPolicy} from './supervision.js';

const actorBackoff: BackoffPolicy = {firstMs: limits.actorRestartFirstMs, maxMs: limits.actorBackoffMaxMs, resetMs: limits.actorWellMs};

/** What lifetimes need of the system around them. */
export type LifetimesHost = {
	readonly options: Pick<ActorSystemOptions, 'name' | 'behaviors' | 'clock' | 'executor' | 'observer' | 'onEscalation'>;
	readonly known: Known;
	readonly counters: {crashes: number};
	readonly cells: Map<Address, Cell>;
	readonly deadlines: Deadlines;
	readonly kernel: Kernel;
	readonly turn: (cell: Cell) => boolean;
	readonly step: (cell: Cell, step: Step, run: (context: Context) => Next<unknown>) => void;
	readonly adopt: (cell: Cell, next: Next<unknown>, step: Step) => void;
	readonly contextOf: (cell: Cell, cause: string) => Context;
	readonly signal: (cell: Cell, signal: Signal) => void;
	readonly requestTurn: (cell: Cell) => void;
	readonly refuseStopped: (cell: Cell, envelope: Envelope) => void;
};

export class Lifetimes {
	readonly #host: LifetimesHost;

	constructor(host: LifetimesHost) {
		this.#host = host;
	}

	// ---- start, crash, restart, parking ------------------------------------------------------------------------------------

	/** Puts a cell into the tree and gives it its first step. */
	spawn(
		parent: Cell | undefined,
		name: string,
		child: {behavior: string; input: unknown; snapshot: string | undefined; restart: Restart},
		cause: string,
	): Cell {
		const behavior = this.#host.options.behaviors[child.behavior];
		if (behavior === undefined) throw new Error(`no behavior is called "${child.behavior}"`);
		const path = parent === undefined || parent.path === '' ? name : `${parent.path}/${name}`;
		const address = addressOf(this.#host.options.name, path);
		const cell = new Cell(
			{name, address, path, parent},
			child.behavior,
			behavior,
			{input: child.input, snapshot: child.snapshot},
			child.restart,
		);
		this.#host.cells.set(address, cell);
		parent?.children.set(name, cell);
		cell.seat = this.#host.options.executor.seat(() => this.#host.turn(cell));
		this.#begin(cell, cause);
		return cell;
	}

	/** `init` for a new actor, `resume` for one that has a snapshot or had one. */
	#begin(cell: Cell, cause: string): void {
		cell.status = 'running';
		const {persistence, resume, init} = cell.behavior;
		const key = cell.object === undefined ? cell.start.snapshot : cell.key;
		const snapshot = key === undefined ? undefined : this.#host.known.get(key);
		const step = (type: string, replyTo?: ReplyTo): Step => ({message: {type, replyTo}, from: cell.address, cause});
		if (snapshot !== undefined && persistence !== undefined) {
			cell.object = snapshot;
			cell.key = key;
			this.#host.step(cell, step('resume'), context => {
				cell.state = persistence.restore(snapshot, cell.start.input);
				return (resume?.(cell.state, context) ?? {state: cell.state, effects: []}) as Next<unknown>;
			});
		} else {
			// A question that led to the actor is in its input: who asked is told when the first step throws.
			const {input} = cell.start;
			this.#host.step(cell, step('init', replyToOf(input)), context => init(input, context) as Next<unknown>);
		}
	}

	/** The cell goes on as its behaviour and the number of its crashes say: restarted, parked, resting, or its supervisor's matter. */
	crash(cell: Cell, error: Failure, messageType: string, stack: string): void {
		if (cell.status === 'gone' || cell.status === 'stopping') return;
		if (cell.committing) {
			this.#onceCommitted(cell, () => this.crash(cell, error, messageType, stack));
			return;
		}
		this.#host.counters.crashes++;
		cell.failure = error;
		this.#host.options.observer?.lifecycle?.({type: 'crashed', address: cell.address, error, messageType, stack});
		if (cell.parked !== undefined) {
			this.#park(cell, error, cell.parked.retries + 1);
			return;
		}
		if (cell.restart === 'temporary' || isUnborn(cell)) {
			this.finish(cell, {type: 'crashed', error});
			return;
		}
		const nowMs = this.#host.options.clock.monotonicMs();
		const {window, exceeded} = addRestart(cell.window, nowMs, {intensity: limits.restartIntensity, windowMs: limits.restartWindowMs});
		const wasWell = nowMs - cell.crashedAtMs >= limits.actorWellMs;
		if (wasWell) cell.rests = 0;
		cell.window = window;
		cell.crashedAtMs = nowMs;
		if (!exceeded && cell.rests === 0) this.#restartLater(cell, restartDelayMs({restarts: window.length}, actorBackoff));
		else if (cell.behavior.parking !== undefined) this.#park(cell, error, 1);
		else if (cell.behavior.pastIntensity === 'backOff') this.#rest(cell, error);
		else this.#escalate(cell, error);
	}

	/** Puts off what must not overlap a commit; what was put off before comes first. */
	#onceCommitted(cell: Cell, then: () => void): void {
		const earlier = cell.afterCommit;
		cell.afterCommit = () => {
			earlier?.();
			then();
		};
	}

	/** A long rest, longer each time: whoever keeps crashing is tried for ever and never spins. */
	#rest(cell: Cell, error: Failure): void {
		cell.rests++;
		const retryInMs = exponentialBackoffMs(cell.rests, limits.actorBackoffFirstMs, limits.actorBackoffMaxMs);
		this.#host.options.observer?.lifecycle?.({type: 'parked', address: cell.address, error, retryInMs});
		this.#restartLater(cell, retryInMs);
	}

	/** Its mailbox stays. Children are stopped: the new instance starts its own. */
	#restartLater(cell: Cell, delayMs: number): void {
		cell.restarts++;
		cell.status = 'restarting';
		this.#renew(cell);
		cell.state = undefined;
		const {instance} = cell;
		this.#stopChildren(cell, () => {
			if (cell.status !== 'restarting' || cell.instance !== instance) return;
			cell.cancelRestart = this.#host.options.clock.after(delayMs, () => {
				cell.cancelRestart = undefined;
				this.#host.options.observer?.lifecycle?.({type: 'restarted', address: cell.address, restarts: cell.restarts});
				this.#begin(cell, 'restart');
				if (!cell.mailbox.isEmpty) this.#host.requestTurn(cell);
			});
		});
	}

	/** Another instance: what the old one had under way, and the answers and signals that wait for it, are none of its business. */
	#renew(cell: Cell): void {
		cell.instance++;
		this.clear(cell);
		cell.mailbox.forget(isReply);
	}

	#park(cell: Cell, error: Failure, retries: number): void {
		const retryInMs = this.#retryLater(cell, error, retries);
		this.#host.options.observer?.lifecycle?.({type: 'parked', address: cell.address, error, retryInMs});
		const {parking, persistence} = cell.behavior;
		if (parking !== undefined && persistence !== undefined && cell.object !== undefined) {
			this.#renew(cell);
			const snapshot = cell.object;
			// A condition that cannot be written must not crash the actor once more: it stays parked without.
			try {
				cell.state = persistence.restore(snapshot, cell.start.input);
				const next = parking.park(cell.state, error, this.#host.contextOf(cell, 'parked')) as Next<unknown>;
				this.#host.adopt(cell, next, {message: {type: 'park'}, from: cell.address, cause: 'parked'});
			} catch (parkError) {
				cell.failure = crashOf(cell.address, parkError);
			}
		}
		if (!cell.mailbox.isEmpty) this.#host.requestTurn(cell);
	}

	/** How long until the next try. */
	#retryLater(cell: Cell, error: Failure, retries: number): number {
		const retryInMs = exponentialBackoffMs(retries, limits.actorBackoffFirstMs, limits.actorBackoffMaxMs);
		cell.parked?.cancelRetry();
		cell.parked = {error, retries, cancelRetry: this.#host.options.clock.after(retryInMs, () => this.unpark(cell))};
		return retryInMs;
	}

	/** Tries the parked part again; parked it stays until that is committed. */
	unpark(cell: Cell): void {
		const {parked} = cell;
		const {parking} = cell.behavior;
		if (parked === undefined || parking === undefined || cell.status !== 'running') return;
		if (cell.committing) {
			this.#onceCommitted(cell, () => this.unpark(cell));
			return;
		}
		this.#retryLater(cell, parked.error, parked.retries);
		const whenReal = (): void => {
			cell.parked?.cancelRetry();
			cell.parked = undefined;
			cell.window = [];
			this.#host.options.observer?.lifecycle?.({type: 'unparked', address: cell.address});
		};
		const step = {message: {type: 'unpark'}, from: cell.address, cause: 'unparked', whenReal};
		this.#host.step(cell, step, context => parking.unpark(cell.state, context) as Next<unknown>);
	}

	/** What a supervisor cannot mend is its own failure; at the top it is the system's. */
	#escalate(cell: Cell, error: Failure): void {
		this.#host.options.observer?.lifecycle?.({type: 'escalated', address: cell.address, error});
		const {parent} = cell;
		if (parent === undefined) {
			this.#host.options.onEscalation?.(error);
			return;
		}
		this.finish(cell, {type: 'crashed', error});
		this.crash(parent, error, 'escalated', '');
	}

	// ---- stop --------------------------------------------------------------------------------------------------------------

	/** Stops the cell once its children have ended and its commit is decided, but does not wait longer than its deadline. */
	stop(cell: Cell, reason: DownReason): void {
		if (cell.status === 'gone' || cell.status === 'stopping') return;
		cell.status = 'stopping';
		cell.cancelRestart?.();
		const end = (): void => this.finish(cell, reason);
		whenGone(cell, this.#host.deadlines.after(limits.shutdownMs, end));
		this.#stopChildren(cell, () => {
			if (cell.committing) cell.afterCommit = end;
			else end();
		});
	}

	/** Last started first; each is over before the next is stopped. A loop, because there may be 100,000. */
	#stopChildren(cell: Cell, done: () => void): void {
		const rest = [...cell.children.values()];
		const goOn = (): void => {
			for (let child = rest.pop(); child !== undefined; child = rest.pop()) {
				this.stop(child, {type: 'stopped'});
				if (isGone(child)) continue;
				whenGone(child, goOn);
				return;
			}
			done();
		};
		goOn();
	}

	/** Ends the cell now, and what is below it. */
	finish(cell: Cell, reason: DownReason): void {
		if (cell.status === 'gone') return;
		cell.status = 'stopping';
		for (const child of [...cell.children.values()].reverse()) this.finish(child, {type: 'stopped'});
		if (reason.type !== 'crashed') this.#runStopSignal(cell);
		cell.status = 'gone';
		cell.instance++;
		this.clear(cell);
		cell.parked?.cancelRetry();
		if (this.#host.cells.get(cell.address) === cell) this.#host.cells.delete(cell.address);
		cell.seat?.leave();
		for (const envelope of cell.mailbox.drain()) this.#host.refuseStopped(cell, envelope);
		this.#tellDown(cell, reason);
		for (const then of cell.whenGone.splice(0)) then();
	}

	#runStopSignal(cell: Cell): void {
		const react = cell.behavior.signal;
		if (react === undefined || cell.state === undefined) return;
		try {
			const next = react(cell.state, {type: 'stop'}, this.#host.contextOf(cell, 'stop')) as Next<unknown>;
			for (const effect of next.effects) runEffect(this.#host.kernel, cell, effect, {cause: 'stop', self: cell.object});
		} catch (error) {
			cell.failure = crashOf(cell.address, error);
			this.#host.options.observer?.lifecycle?.({
				type: 'crashed',
				address: cell.address,
				error: cell.failure,
				messageType: 'stop',
				stack: stackOf(error),
			});
		}
	}

	#tellDown(cell: Cell, reason: DownReason): void {
		const signal: Signal = {type: 'down', address: cell.address, reason};
		const {parent} = cell;
		if (parent?.children.get(cell.name) === cell) parent.children.delete(cell.name);
		if (parent !== undefined && parent.status === 'running') {
			if (cell.restart === 'permanent' && reason.type === 'normal')
				this.crash(parent, failure('ERR_INTERNAL', {message: `"${cell.address}" ended`}), 'down', '');
			else this.#host.signal(parent, signal);
		}
		for (const watcher of cell.watchers) {
			watcher.watching.delete(cell);
			if (watcher !== parent) this.#host.signal(watcher, signal);
		}
		cell.watchers.clear();
	}

	/** Drops what the cell has under way: timers, questions, open writes. */
	clear(cell: Cell): void {
		for (const cancel of cell.timers.values()) cancel();
		cell.timers.clear();
		for (const ask of cell.asks.values()) ask.cancel();
		cell.asks.clear();
		cell.pending.clear();
		for (const watched of cell.watching) watched.watchers.delete(cell);
		cell.watching.clear();
		cell.cancelRestart?.();
		cell.cancelRestart = undefined;
	}
}

const replyToOf = (input: unknown): ReplyTo | undefined =>
	typeof input === 'object' && input !== null ? (input as {replyTo?: ReplyTo}).replyTo : undefined;

const isGone = (cell: Cell): boolean => cell.status === 'gone';

/** Has no state to go on from: whoever wanted it is told, and may want it again. */
const isUnborn = ({state, object, restart, restarts, behavior}: Cell): boolean =>
	state === undefined && object === undefined && restarts === 0 && restart !== 'permanent' && behavior.persistence !== undefined;

/** Calls back once the cell is gone; at once when it is. */
export function whenGone(cell: Cell, then: () => void): void {
	if (isGone(cell)) then();
	else cell.whenGone.push(then);
}
