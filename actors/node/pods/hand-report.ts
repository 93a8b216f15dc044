// What the hand of a pod tells control: how the pod is, whenever that changed.

import {deepEqual} from '../../../api/equal.js';
import type {PodStatus} from '../../../api/kinds/pod.js';
import {next, tell, type Context, type Next} from '../../../system/kernel/behavior.js';
import {besides, podKey, syncPath} from '../../addresses.js';
import type {PodEvent} from '../../protocol/sync-message.js';
import {assignmentIn, failureOf, type HandState, type PodReport} from './hand-state.js';
import {podStatusOf} from './pod-status.js';
import {readinessTold} from './ready-instance.js';
import {containersIn} from './start-order.js';

/**
 * Reports how the pod is. After a restart of the agent only once every container was looked at: until then what control knows is
 * nearer to the truth. What did not change is told only when it is asked for.
 */
export function reported(state: HandState, news: readonly PodEvent[], context: Context, isAsked = false): Next<HandState> {
	const assignment = assignmentIn(state.object);
	const events = [...(state.unreported ?? []), ...news];
	if (state.unreported !== undefined && isUnknown(state)) return next({...state, unreported: events});
	const status = statusOf(state, context.nowMs);
	const now: HandState = {...state, reported: status, unreported: undefined};
	if (!isAsked && events.length === 0 && deepEqual(status, state.reported)) return next(now);
	const toRouter = readinessTold(assignment, state.reported, status, context);
	const message: PodReport = {type: 'podReport', key: podKey(assignment), uid: assignment.uid, status, events};
	return next(now, [tell(besides(context.self, syncPath), message), ...toRouter]);
}

/** Whether some container was not looked at yet, or not probed. */
export const isUnknown = ({object, problem, containers, unsettled}: HandState): boolean =>
	problem === undefined &&
	containersIn(assignmentIn(object).spec).some(({container: {name}}) => containers[name] === undefined || unsettled.includes(name));

export const statusOf = (state: HandState, nowMs: number): PodStatus =>
	podStatusOf({...state, assignment: assignmentIn(state.object), failure: failureOf(state), previous: state.reported}, nowMs);
