// How cells end: leaves first, last started first, each within its deadline; then the name is free and whoever watched is told.

import {limits} from '../../api/limits.js';
import type {Address} from '../../api/keys.js';
import type {ActorSystemOptions} from './actor-options.js';
import {isReply, type Context, type DownReason, type Next, type Signal} from './behavior.js';
import type {Cell} from './cell.js';
import type {Cancel} from '../time/clock.js';
import type {DeathWatch} from './death-watch.js';
import type {Deadlines} from './deadlines.js';
import {runEffect, type Kernel} from './interpreter.js';
import type {Envelope} from './mailbox.js';
import {crashOf, stackOf} from './steps.js';

/** What endings need of the system around them. */
export type EndingsHost = {
	readonly options: Pick<ActorSystemOptions, 'observer'>;
	readonly cells: Map<Address, Cell>;
	readonly deadlines: Deadlines;
	readonly deathWatch: DeathWatch;
	readonly kernel: Kernel;
	readonly contextOf: (cell: Cell, cause: string) => Context;
	readonly signal: (cell: Cell, signal: Signal) => void;
	readonly refuseStopped: (cell: Cell, envelope: Envelope) => void;
	/** A number that no instance of this system had. */
	readonly newInstance: () => number;
};

export class Endings {
	readonly #host: EndingsHost;
	/** Those that were killed in the middle of a commit, until that is decided. */
	readonly #unsettled = new Map<Address, Cell>();

	constructor(host: EndingsHost) {
		this.#host = host;
	}

	/** Stops the cell once its children have ended and its commit is decided, and kills it when that takes too long. */
	stop(cell: Cell, reason: DownReason): void {
		if (cell.status === 'gone' || cell.status === 'stopping') return;
		cell.status = 'stopping';
		leaveRound(cell);
		const killed: DownReason = reason.type === 'crashed' ? reason : {type: 'killed'};
		const {shutdownMs = limits.shutdownMs} = cell.start;
		if (shutdownMs === 'brutalKill' && reason.type === 'stopped') {
			this.finish(cell, killed);
			return;
		}
		this.stopChildren(cell, () => onceCommitted(cell, () => this.finish(cell, reason)));
		if (isGone(cell) || shutdownMs === 'infinity') return;
		const deadlineMs = shutdownMs === 'brutalKill' ? limits.shutdownMs : shutdownMs;
		whenGone(
			cell,
			this.#host.deadlines.after(deadlineMs, () => this.finish(cell, killed)),
		);
	}

	/** Last started first; each is over before the next is stopped. A loop, because there may be 100,000. */
	stopChildren(cell: Cell, done: () => void): void {
		if (cell.children.size === 0) {
			done();
			return;
		}
		const rest = [...cell.children.values()];
		const goOn = (): void => {
			if (isGone(cell)) return; // It was killed, and they with it.
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

	/** Ends the cell now, and what is below it. Who is killed, or has crashed, has no last word. */
	finish(cell: Cell, reason: DownReason): void {
		if (cell.status === 'gone') return;
		const {instance} = cell;
		const isSilent = reason.type === 'crashed' || reason.type === 'killed';
		cell.status = isSilent ? 'gone' : 'stopping';
		leaveRound(cell);
		this.killChildren(cell);
		if (!isSilent) this.lastWord(cell);
		cell.status = 'gone';
		this.clear(cell);
		this.#settleLater(cell);
		cell.parked?.cancelRetry();
		if (this.#host.cells.get(cell.address) === cell) this.#host.cells.delete(cell.address);
		cell.seat?.leave();
		for (const envelope of cell.mailbox.drain()) this.#host.refuseStopped(cell, envelope);
		this.#tellDown(cell, {type: 'down', address: cell.address, instance, reason});
		const {whenGone: waiting} = cell;
		for (const then of waiting) {
			waiting.delete(then);
			then();
		}
	}

	/** Who had this name and was killed in the middle of a commit that is not decided yet. */
	unsettled(address: Address): Cell | undefined {
		return this.#unsettled.get(address);
	}

	#settleLater(cell: Cell): void {
		if (!cell.committing) return;
		this.#unsettled.set(cell.address, cell);
		onceCommitted(cell, () => {
			if (this.#unsettled.get(cell.address) === cell) this.#unsettled.delete(cell.address);
		});
	}

	/** Those that have not ended in time. */
	killChildren(cell: Cell): void {
		for (const child of [...cell.children.values()].reverse()) this.finish(child, {type: 'killed'});
	}

	/** The stop signal: the effects still run, the state is nobody's any more. */
	lastWord(cell: Cell): void {
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

	/** The supervisor hears of every child, others if they watch. */
	#tellDown(cell: Cell, down: Extract<Signal, {type: 'down'}>): void {
		const {parent} = cell;
		if (parent?.children.get(cell.name) === cell) parent.children.delete(cell.name);
		if (parent?.status === 'running') this.#host.signal(parent, down);
		this.#host.deathWatch.ended(cell, down);
	}

	/** Another instance: what the old one had under way, and the answers and signals that wait for it, are none of its business. */
	renew(cell: Cell): void {
		cell.instance = this.#host.newInstance();
		this.clear(cell);
		cell.mailbox.forget(({message, timer}) => isReply(message) || timer !== undefined);
	}

	/** Drops what the cell has under way: timers, questions, open writes, whom it watches. */
	clear(cell: Cell): void {
		for (const {cancel} of cell.timers.values()) cancel();
		cell.timers.clear();
		for (const ask of cell.asks.values()) ask.cancel();
		cell.asks.clear();
		cell.pending.clear();
		this.#host.deathWatch.forget(cell);
	}
}

export const isGone = (cell: Cell): boolean => cell.status === 'gone';

/** Calls back once the cell is gone, unless cancelled; at once when it is. */
export function whenGone(cell: Cell, then: () => void): Cancel {
	if (isGone(cell)) {
		then();
		return () => undefined;
	}
	cell.whenGone.add(then);
	return () => void cell.whenGone.delete(then);
}

/** Puts off what must not overlap a commit; what was put off before comes first. At once when none is in flight. */
export function onceCommitted(cell: Cell, then: () => void): void {
	if (!cell.committing) {
		then();
		return;
	}
	const earlier = cell.afterCommit;
	cell.afterCommit = () => {
		earlier?.();
		then();
	};
}

/** Who ends is not restarted with the others; when nobody is left to wait for, nothing waits. */
export function leaveRound(cell: Cell): void {
	const {round} = cell;
	if (round === undefined) return;
	cell.round = undefined;
	if (--round.left === 0) round.cancelDelay?.();
}
