// The end of a pod whose node is short of something.

import {evictedReason} from '../../../api/node-pressure.js';
import {next, type Context, type Next} from '../../../system/kernel/behavior.js';
import {podWarning} from '../../protocol/sync-message.js';
import {asEvicted} from '../cache/assignment-object.js';
import {reported, statusOf} from './hand-report.js';
import {assignmentIn, isWanted, type Evict, type HandState} from './hand-state.js';
import {stop} from './hand-stop.js';
import {containersIn} from './start-order.js';

/** As the kubelet does it: the pod has failed, stays as a record, and its controller makes another one. One that is over is left as it is. */
export function evict(state: HandState, {uid, message}: Evict, context: Context): Next<HandState> {
	const isOver = ['Succeeded', 'Failed'].includes(statusOf(state, context.nowMs).phase);
	if (assignmentIn(state.object).uid !== uid || !isWanted(state) || isOver) return next(state);
	const evicted: HandState = {...state, object: state.object && asEvicted(state.object, message)};
	const {state: told, effects} = reported(evicted, [podWarning(evictedReason, message)], context);
	const {state: stopping, effects: stops} = stop(told, context);
	return next(stopping, [...effects, ...stops]);
}

/** Nothing of it runs any more: its folders are in nobody's way then but the node's. */
export function mayBeFreed({object, ended}: HandState): boolean {
	return (
		object?.spec?.evicted !== undefined && containersIn(assignmentIn(object).spec).every(({container: {name}}) => ended.includes(name))
	);
}
