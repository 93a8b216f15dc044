// The time that a pod may take on its node.

import type {PodStatus} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import {next, tell, type Context, type Effect, type Next} from '../../../system/kernel/behavior.js';
import {podWarning} from '../../protocol/sync-message.js';
import {asOverdue} from '../cache/assignment-object.js';
import {isUnknown, reported, statusOf} from './hand-report.js';
import {assignmentIn, hasFailed, type HandState} from './hand-state.js';
import {stop} from './hand-stop.js';
import {deadlineExceeded} from './pod-failure.js';

const lengthMsOf = ({object}: HandState): number | undefined => {
	const seconds = assignmentIn(object).spec.activeDeadlineSeconds;
	return seconds === undefined ? undefined : 1_000 * seconds;
};

/** The timer of a pod that has a deadline. */
export function deadlineOf(state: HandState): Effect[] {
	const lengthMs = lengthMsOf(state);
	return lengthMs === undefined || hasFailed(state) ? [] : [deadlineAt(state.startedAtMs + lengthMs, lengthMs)];
}

const deadlineAt = (atMs: number, atMostMs: number): Effect => ({
	type: 'wakeAt',
	name: 'deadline',
	atMs,
	atMostMs,
	message: {type: 'deadline'},
	cause: 'activeDeadlineSeconds',
});

/** What could not be kept is looked at again. */
export const deadlineAgain = (state: HandState, {nowMs}: Context): Effect[] =>
	isPast(state, nowMs) ? [deadlineAt(nowMs + limits.actorBackoffFirstMs, limits.actorBackoffFirstMs)] : [];

/** After a change that may let it be decided; in a step of its own, since that one is kept. */
export const deadlineToJudge = (state: HandState, {self, nowMs}: Context): Effect[] =>
	isPast(state, nowMs) ? [tell(self, {type: 'deadline'})] : [];

function isPast(state: HandState, nowMs: number): boolean {
	const lengthMs = lengthMsOf(state);
	return lengthMs !== undefined && nowMs >= state.startedAtMs + lengthMs && state.ending === 'no' && !hasFailed(state);
}

/** The timer went by what the clock said when it was set; the clock was set back since. */
function isEarly(state: HandState, nowMs: number): boolean {
	const lengthMs = lengthMsOf(state);
	return lengthMs !== undefined && nowMs < state.startedAtMs + lengthMs && state.ending === 'no';
}

/**
 * Ends a pod that took longer than it may, as Kubernetes does: it has failed, and stays as a record. After a restart of the agent only
 * once every container was looked at: the pod may have been over in time.
 */
export function overrun(state: HandState, context: Context): Next<HandState> {
	if (isEarly(state, context.nowMs)) return next(state, deadlineOf(state));
	const isUnclear = state.unreported !== undefined && isUnknown(state);
	if (!isPast(state, context.nowMs) || isUnclear || isOver(statusOf(state, context.nowMs))) return next(state);
	const overdue: HandState = {...state, object: state.object && asOverdue(state.object)};
	const message = `the pod was active for longer than ${assignmentIn(state.object).spec.activeDeadlineSeconds ?? 0} s`;
	const {state: told, effects} = reported(overdue, [podWarning(deadlineExceeded, message)], context);
	const {state: stopping, effects: stops} = stop(told, context);
	return next(stopping, [...effects, ...stops]);
}

const isOver = ({phase}: PodStatus): boolean => phase === 'Succeeded' || phase === 'Failed';
