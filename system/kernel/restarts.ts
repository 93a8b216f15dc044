// What follows on a crash: the actor is begun anew, alone or with its siblings as its supervisor's strategy says; past the intensity
// it is parked, rests, or is its supervisor's failure, as its behaviour says.
//
// A restart keeps the address, the mailbox and the place among the siblings. It ends the instance: timers, questions, children.

import {failure, type Failure} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {Cell, Round} from './cell.js';
import type {Deadlines} from './deadlines.js';
import {leaveRound, onceCommitted, whenGone} from './endings.js';
import {ParkingLot, type ParkingHost} from './parking.js';
import {addRestart, affectedBy, exponentialBackoffMs, restartDelayMs, type BackoffPolicy} from './supervision.js';

const actorBackoff: BackoffPolicy = {firstMs: limits.actorRestartFirstMs, maxMs: limits.actorBackoffMaxMs, resetMs: limits.actorWellMs};
const intensity = {intensity: limits.restartIntensity, windowMs: limits.restartWindowMs};

/** What restarts need of the system around them. */
export type RestartsHost = ParkingHost & {
	readonly counters: {crashes: number};
	readonly deadlines: Deadlines;
	readonly begin: (cell: Cell, cause: string) => void;
	/** The root has failed for good and everything has ended. */
	readonly escalated: (error: Failure) => void;
};

export class Restarts {
	readonly #host: RestartsHost;
	readonly parking: ParkingLot;

	constructor(host: RestartsHost) {
		this.#host = host;
		this.parking = new ParkingLot(host);
	}

	/** The cell goes on as its behaviour, its supervisor and the number of its crashes say. */
	crash(cell: Cell, error: Failure, messageType: string, stack: string): void {
		if (cell.status !== 'running') return;
		if (cell.committing) {
			onceCommitted(cell, () => this.crash(cell, error, messageType, stack));
			return;
		}
		this.#host.counters.crashes++;
		cell.failure = error;
		this.#host.options.observer?.lifecycle?.({type: 'crashed', address: cell.address, error, messageType, stack});
		if (cell.parked !== undefined) this.parking.park(cell, error, cell.parked.retries + 1);
		else if (cell.start.restart === 'temporary' || isUnborn(cell)) this.#host.endings.stop(cell, {type: 'crashed', error});
		else this.#restartOrGiveUp(cell, error, true);
	}

	/** The actor has asked for its own end. Who is permanent is started again, as after a crash. */
	ended(cell: Cell): void {
		const isPermanent = cell.start.restart === 'permanent' && cell.parent !== undefined;
		if (!isPermanent) this.#host.endings.stop(cell, {type: 'normal'});
		else if (cell.status === 'running')
			this.#restartOrGiveUp(cell, failure('ERR_INTERNAL', {message: `"${cell.address}" ended again and again`}), false);
	}

	#restartOrGiveUp(cell: Cell, error: Failure, crashed: boolean): void {
		const {restarts, exceeded} = this.#count(cell);
		if (!exceeded && cell.rests === 0) this.#restart(cell, crashed, restartDelayMs({restarts}, actorBackoff));
		else if (cell.behavior.parking !== undefined) this.parking.park(cell, error, 1);
		else if (cell.behavior.pastIntensity === 'backOff') this.#rest(cell, error, crashed);
		else this.#escalate(cell, error);
	}

	/** Per child; where children are restarted together, per supervisor. */
	#count(cell: Cell): {readonly restarts: number; readonly exceeded: boolean} {
		const nowMs = this.#host.options.clock.monotonicMs();
		if (nowMs - cell.crashedAtMs >= limits.actorWellMs) cell.rests = 0;
		cell.crashedAtMs = nowMs;
		const supervisor = groupOf(cell);
		const {window, exceeded} = addRestart(supervisor?.groupWindow ?? cell.window, nowMs, intensity);
		if (supervisor === undefined) cell.window = window;
		else supervisor.groupWindow = window;
		return {restarts: window.length, exceeded};
	}

	/** What a supervisor cannot mend is its own failure; at the top it is the system's, and nothing of that goes on. */
	#escalate(cell: Cell, error: Failure): void {
		this.#host.options.observer?.lifecycle?.({type: 'escalated', address: cell.address, error});
		this.#host.endings.stop(cell, {type: 'crashed', error});
		if (cell.parent === undefined) whenGone(cell, () => this.#host.escalated(error));
		else this.crash(cell.parent, error, 'escalated', '');
	}

	// ---- restart -------------------------------------------------------------------------------------------------------------

	/** A long rest, longer each time: whoever keeps crashing is tried for ever and never spins. */
	#rest(cell: Cell, error: Failure, crashed: boolean): void {
		cell.rests++;
		const retryInMs = exponentialBackoffMs(cell.rests, limits.actorBackoffFirstMs, limits.actorBackoffMaxMs);
		this.#host.options.observer?.lifecycle?.({type: 'parked', address: cell.address, error, retryInMs});
		this.#restart(cell, crashed, retryInMs);
	}

	/** Ends the instances of the affected, last started first, waits, and begins them in the order of their start. */
	#restart(failed: Cell, crashed: boolean, delayMs: number): void {
		const {parent} = failed;
		const siblings = parent === undefined ? [failed] : [...affectedBy(strategyOf(parent), childrenFor(parent, failed), failed)];
		const cells = siblings.filter(cell => cell.status === 'running' || cell.status === 'restarting');
		const round: Round = {left: cells.length, cancelDelay: undefined};
		for (const cell of cells) {
			leaveRound(cell);
			cell.round = round;
			cell.status = 'restarting'; // None of them takes another message, whoever's turn it is to end.
		}
		this.#retireAll([...cells], round, crashed ? failed : undefined, () => {
			if (round.left > 0) round.cancelDelay = this.#host.options.clock.after(delayMs, () => this.#beginAll(cells, round));
		});
	}

	/** Each is over before the next has its turn. A loop, because there may be many. */
	#retireAll(rest: Cell[], round: Round, crashed: Cell | undefined, done: () => void): void {
		for (let cell = rest.pop(); cell !== undefined; cell = rest.pop()) {
			let isOver = false;
			let isLate = false;
			this.#retire(cell, round, cell === crashed, () => {
				isOver = true;
				if (isLate) this.#retireAll(rest, round, crashed, done);
			});
			isLate = true;
			if (!isOver) return;
		}
		done();
	}

	/** Ends an instance as a stop would, but for the actor. Who has crashed has no last word. */
	#retire(cell: Cell, round: Round, crashed: boolean, then: () => void): void {
		const {endings, deadlines} = this.#host;
		if (cell.start.restart === 'temporary') endings.stop(cell, {type: 'stopped'});
		const goOn = (): void => {
			if (cell.status === 'stopping') whenGone(cell, then);
			else then();
		};
		if (cell.round !== round) {
			goOn();
			return;
		}
		const {shutdownMs = limits.shutdownMs} = cell.start;
		let isOver = false;
		const end = (late: boolean): void => {
			if (isOver) return;
			isOver = true;
			forget();
			cancelDeadline();
			if (cell.round === round) this.#endInstance(cell, late || crashed, late);
			goOn();
		};
		const forget = whenGone(cell, () => end(false));
		const waits = !crashed && typeof shutdownMs === 'number';
		const cancelDeadline = waits ? deadlines.after(shutdownMs, () => end(true)) : (): void => undefined;
		if (!crashed && shutdownMs === 'brutalKill') end(true);
		else endings.stopChildren(cell, () => onceCommitted(cell, () => end(false)));
	}

	#endInstance(cell: Cell, silent: boolean, late: boolean): void {
		const {endings} = this.#host;
		if (late) endings.killChildren(cell);
		if (!silent) endings.lastWord(cell);
		endings.renew(cell);
		cell.restarts++;
		cell.state = undefined;
		cell.groupWindow = [];
		cell.parked?.cancelRetry();
		cell.parked = undefined;
	}

	/** One after the other. Should one crash in its first step, its own round takes over those that are left. */
	#beginAll(cells: readonly Cell[], round: Round): void {
		for (const [at, cell] of cells.entries()) {
			if (cell.round !== round) continue;
			if (cell.committing) {
				// A store that did not answer its last instance in time: it begins with what became of that.
				onceCommitted(cell, () => this.#beginAll(cells.slice(at), round));
				return;
			}
			leaveRound(cell);
			this.#host.options.observer?.lifecycle?.({type: 'restarted', address: cell.address, restarts: cell.restarts});
			this.#host.begin(cell, 'restart');
			if (!cell.mailbox.isEmpty) this.#host.requestTurn(cell);
		}
	}
}

const strategyOf = ({behavior}: Cell): NonNullable<Cell['behavior']['strategy']> => behavior.strategy ?? 'oneForOne';

/** The supervisor that restarts several together; undefined where each child is on its own. */
const groupOf = ({parent}: Cell): Cell | undefined => (parent === undefined || strategyOf(parent) === 'oneForOne' ? undefined : parent);

/** A list of a hundred thousand siblings is not made for one of them. */
const childrenFor = (parent: Cell, failed: Cell): readonly Cell[] =>
	strategyOf(parent) === 'oneForOne' ? [failed] : [...parent.children.values()];

/** Has no state to go on from: whoever wanted it is told, and may want it again. */
const isUnborn = ({state, object, start, restarts, behavior}: Cell): boolean =>
	state === undefined && object === undefined && restarts === 0 && start.restart !== 'permanent' && behavior.persistence !== undefined;
