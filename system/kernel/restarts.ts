// What follows on a crash: the actor is begun anew, alone or with its siblings as its supervisor's strategy says; past the intensity
// it is parked, backs off, or is its supervisor's failure, as its behaviour says.
//
// A restart keeps the address, the mailbox and the place among the siblings. It ends the instance: timers, questions, children.

import {failure, type Failure} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {Cell, Round} from './cell.js';
import {dropAll, killChildren, lastWord, renew, stop, stopChildren} from './endings.js';
import {happening, later} from './following.js';
import type {Kernel} from './kernel.js';
import {park} from './parking.js';
import {begin} from './spawn.js';
import {addRestart, affectedBy, exponentialBackoffMs, restartDelayMs, type BackoffPolicy} from './restart-policy.js';

const actorBackoff: BackoffPolicy = {firstMs: limits.actorRestartFirstMs, maxMs: limits.actorBackoffMaxMs, resetMs: limits.actorWellMs};
const intensity = {intensity: limits.restartIntensity, windowMs: limits.restartWindowMs};

/** The cell goes on as its behaviour, its supervisor and the number of its crashes say. */
export function crash(kernel: Kernel, cell: Cell, error: Failure, messageType: string, stack: string): void {
	if (cell.status !== 'running') return;
	if (cell.committing) {
		cell.onceCommitted(later(kernel, () => crash(kernel, cell, error, messageType, stack)));
		return;
	}
	kernel.counters.crashes++;
	cell.failure = error;
	kernel.options.observer?.lifecycle?.({type: 'crashed', address: cell.address, error, messageType, stack});
	if (cell.parked !== undefined) {
		cell.crashedAtMs = kernel.options.clock.monotonicMs();
		park(kernel, cell, error, cell.parked.retries + 1);
	} else if (cell.spec.restart === 'temporary' || isUnborn(cell)) stop(kernel, cell, {type: 'crashed', error});
	else restartOrGiveUp(kernel, cell, error, true);
}

/** A crash that is none of a step: an admin makes it, or an actor below has failed for good. */
export function crashOutright(kernel: Kernel, cell: Cell, error: Failure, why: 'kill' | 'escalated'): void {
	if (cell.status === 'running') happening(kernel, cell, why, error, () => crash(kernel, cell, error, why, ''));
}

/** The actor has asked for its own end. One that is permanent is started again, as after a crash. */
export function ended(kernel: Kernel, cell: Cell): void {
	const isPermanent = cell.spec.restart === 'permanent' && cell.parent !== undefined;
	if (!isPermanent) stop(kernel, cell, {type: 'normal'});
	else if (cell.status === 'running')
		restartOrGiveUp(kernel, cell, failure('ERR_INTERNAL', {message: `"${cell.address}" ended again and again`}), false);
}

function restartOrGiveUp(kernel: Kernel, cell: Cell, error: Failure, crashed: boolean): void {
	const {restarts, exceeded} = count(kernel, cell);
	if (!exceeded && cell.longRests === 0) restart(kernel, cell, crashed, restartDelayMs({restarts}, actorBackoff));
	else if (cell.behavior.parking !== undefined) park(kernel, cell, error, 1);
	else if (cell.behavior.pastIntensity === 'backOff') rest(kernel, cell, error, crashed);
	else escalate(kernel, cell, error);
}

/** Per child; where children are restarted together, per supervisor. */
function count(kernel: Kernel, cell: Cell): {readonly restarts: number; readonly exceeded: boolean} {
	const nowMs = kernel.options.clock.monotonicMs();
	if (nowMs - cell.crashedAtMs >= limits.actorWellMs) cell.longRests = 0;
	cell.crashedAtMs = nowMs;
	const supervisor = groupOf(cell);
	const {window, exceeded} = addRestart(supervisor?.groupWindow ?? cell.window, nowMs, intensity);
	if (supervisor === undefined) cell.window = window;
	else supervisor.groupWindow = window;
	return {restarts: window.length, exceeded};
}

/** What a supervisor cannot mend is its own failure; at the top it is the system's, and nothing of that goes on half alive. */
function escalate(kernel: Kernel, cell: Cell, error: Failure): void {
	const {observer, onEscalation} = kernel.options;
	observer?.lifecycle?.({type: 'escalated', address: cell.address, error});
	stop(kernel, cell, {type: 'crashed', error});
	if (cell.parent !== undefined) {
		crashOutright(kernel, cell.parent, error, 'escalated');
		return;
	}
	cell.whenGone(() => {
		dropAll(kernel, 'ERR_ACTOR_STOPPED');
		onEscalation?.(error);
	});
}

// ---- restart ---------------------------------------------------------------------------------------------------------------

/** A long rest, longer each time: an actor that keeps crashing is tried for ever and never spins. */
function rest(kernel: Kernel, cell: Cell, error: Failure, crashed: boolean): void {
	cell.longRests++;
	const retryInMs = exponentialBackoffMs(cell.longRests, limits.actorBackoffFirstMs, limits.actorBackoffMaxMs);
	kernel.options.observer?.lifecycle?.({type: 'parked', address: cell.address, error, retryInMs});
	restart(kernel, cell, crashed, retryInMs);
}

/** Ends an actor in order and begins it anew, alone and at once; that counts for no intensity. False where it is not running. */
export function restartAlone(kernel: Kernel, cell: Cell): boolean {
	if (cell.status !== 'running' || cell.spec.restart === 'temporary') return false;
	happening(kernel, cell, 'restart', undefined, () => restartAll(kernel, [cell], undefined, 0));
	return true;
}

/** Ends the instances of the affected, last started first, waits, and begins them in the order of their start. */
function restart(kernel: Kernel, failed: Cell, crashed: boolean, delayMs: number): void {
	const {parent} = failed;
	const siblings = parent === undefined ? [failed] : [...affectedBy(strategyOf(parent), childrenFor(parent, failed), failed)];
	const cells = siblings.filter(cell => cell.status === 'running' || cell.status === 'restarting');
	restartAll(kernel, cells, crashed ? failed : undefined, delayMs);
}

function restartAll(kernel: Kernel, cells: readonly Cell[], crashed: Cell | undefined, delayMs: number): void {
	const round: Round = {left: cells.length, cancelDelay: undefined};
	for (const cell of cells) {
		cell.leaveRound();
		cell.round = round;
		cell.status = 'restarting'; // None of them takes another message, whichever has its turn to end.
	}
	retireAll(kernel, [...cells], round, crashed, () => {
		if (round.left === 0) return;
		const begin = later(kernel, () => beginAll(kernel, cells, round));
		round.cancelDelay = kernel.options.clock.after(delayMs, begin);
	});
}

/** Each is over before the next has its turn. A loop, because there may be many. */
function retireAll(kernel: Kernel, left: Cell[], round: Round, crashed: Cell | undefined, done: () => void): void {
	for (let cell = left.pop(); cell !== undefined; cell = left.pop()) {
		let isOver = false;
		let isLate = false;
		retire(kernel, cell, round, cell === crashed, () => {
			isOver = true;
			if (isLate) retireAll(kernel, left, round, crashed, done);
		});
		isLate = true;
		if (!isOver) return;
	}
	done();
}

/** Ends an instance as a stop would, but for the actor. One that has crashed has no last word. */
function retire(kernel: Kernel, cell: Cell, round: Round, crashed: boolean, then: () => void): void {
	const {shutdownMs = limits.shutdownMs} = cell.spec;
	if (cell.spec.restart === 'temporary') stop(kernel, cell, {type: 'stopped'});
	const goOn = (): void => {
		if (cell.status === 'stopping') cell.whenGone(then);
		else then();
	};
	if (cell.round !== round) {
		goOn();
		return;
	}
	let isOver = false;
	const end = later(kernel, (late: boolean): void => {
		if (isOver) return;
		isOver = true;
		forget();
		cancelDeadline();
		if (cell.round === round) endInstance(kernel, cell, late || crashed, late);
		goOn();
	});
	const forget = cell.whenGone(() => end(false));
	const waits = !crashed && typeof shutdownMs === 'number';
	const cancelDeadline = waits ? kernel.deadlines.after(shutdownMs, () => end(true)) : (): void => undefined;
	if (!crashed && shutdownMs === 'brutalKill') end(true);
	else stopChildren(kernel, cell, () => cell.onceCommitted(() => end(false)));
}

function endInstance(kernel: Kernel, cell: Cell, silent: boolean, late: boolean): void {
	if (late) killChildren(kernel, cell);
	if (!silent) lastWord(kernel, cell);
	renew(kernel, cell);
	cell.restarts++;
	cell.state = undefined;
	cell.groupWindow = [];
	cell.parked?.cancelRetry();
	cell.parked = undefined;
}

/** One after the other. Should one crash in its first step, its own round takes over those that are left. */
function beginAll(kernel: Kernel, cells: readonly Cell[], round: Round): void {
	for (const [at, cell] of cells.entries()) {
		if (cell.round !== round) continue;
		if (cell.committing) {
			// A store that did not answer its last instance in time: it begins with what became of that.
			cell.onceCommitted(later(kernel, () => beginAll(kernel, cells.slice(at), round)));
			return;
		}
		cell.leaveRound();
		kernel.options.observer?.lifecycle?.({type: 'restarted', address: cell.address, restarts: cell.restarts});
		begin(kernel, cell, 'restart');
		cell.requestTurn();
	}
}

const strategyOf = ({behavior}: Cell): NonNullable<Cell['behavior']['strategy']> => behavior.strategy ?? 'oneForOne';

/** The supervisor that restarts several together; undefined where each child is on its own. */
const groupOf = ({parent}: Cell): Cell | undefined => (parent === undefined || strategyOf(parent) === 'oneForOne' ? undefined : parent);

/** A list of a hundred thousand siblings is not made for one of them. */
const childrenFor = (parent: Cell, failed: Cell): readonly Cell[] =>
	strategyOf(parent) === 'oneForOne' ? [failed] : [...parent.children.values()];

/** Has no state to go on from: the asker is told, and may want it again. */
const isUnborn = ({state, object, spec, restarts, behavior}: Cell): boolean =>
	state === undefined && object === undefined && restarts === 0 && spec.restart !== 'permanent' && behavior.persistence !== undefined;
