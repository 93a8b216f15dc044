// The hand of an exclusive pod: its containers run only while its lease is held.

import {isExclusive} from '../../../api/exclusive.js';
import type {ContainerStatus} from '../../../api/kinds/pod.js';
import {next, tell, type Context, type Effect, type Next} from '../../../system/kernel/behavior.js';
import {besides, leasesPath, podKey} from '../../addresses.js';
import {podWarning, type Assignment} from '../../protocol/sync-message.js';
import {sandboxContent} from './hand-content.js';
import {reported} from './hand-report.js';
import {assignmentIn, isLost, hasFailed, type HandState} from './hand-state.js';
import type {WantLease} from './leases.js';
import {containersIn} from './start-order.js';

export const isAllowed = ({object, leased}: HandState): boolean => leased || !isExclusive(assignmentIn(object));

export function wantLease(assignment: Assignment, {self}: Context): Effect {
	const message: WantLease = {type: 'wantLease', key: podKey(assignment), uid: assignment.uid, owner: self};
	return tell(besides(self, leasesPath), message);
}

/** What runs goes on until the end that the runtime knows. */
export function wantAgain(state: HandState, context: Context): Effect[] {
	const assignment = assignmentIn(state.object);
	const isWanted = isExclusive(assignment) && state.sandbox !== undefined && state.ending === 'no';
	return isWanted ? [wantLease(assignment, context)] : [];
}

export function leaseHeld(state: HandState, context: Context): Next<HandState> {
	const now: HandState = {...state, leased: true};
	return next(now, now.ending === 'no' && !hasFailed(now) ? sandboxContent(now, context) : []);
}

/** Runtime and watchdogs have killed what ran, each by itself; the hand starts it again when the lease is back. */
export function leaseLost(state: HandState, context: Context): Next<HandState> {
	const waiting = {reason: 'LeaseLost', message: 'the pod is exclusive and its lease has ended: the control plane does not confirm it'};
	const {spec} = assignmentIn(state.object);
	const containers = Object.fromEntries(
		Object.entries(state.containers).map(([name, status]): [string, ContainerStatus] => [
			name,
			status.state?.terminated === undefined ? {...status, ready: false, started: false, state: {waiting}} : status,
		]),
	);
	const goesOn = state.ending === 'no' && !isLost(state);
	const now: HandState = {...state, leased: false, ...(goesOn ? {containers, begun: [], unsettled: []} : {})};
	// Containers that are being stopped end by that.
	if (!goesOn) return next(now);
	const stopped = containersIn(spec).map(({container: {name}}): Effect => ({type: 'stopChild', name}));
	const {state: told, effects} = reported(now, [podWarning(waiting.reason, waiting.message)], context);
	return next(told, [...stopped, ...effects]);
}
