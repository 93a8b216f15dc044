// How the hand of a pod stops its containers: all at once, but for sidecars, which end after those that they are there for; the last of them
// first, and all within the pod's grace (terminationOrdering of the kubelet).

import {sidecarsIn} from '../../../api/sidecars.js';
import {limits} from '../../../api/limits.js';
import {next, tell, type Context, type Effect, type Next} from '../../../system/kernel/behavior.js';
import {assignmentIn, graceMsOf, stopContainer, type HandState} from './hand-state.js';
import {containersIn} from './start-order.js';

/** Tells the containers whose turn it is that they are to end for good. */
export function stop(state: HandState, context: Context): Next<HandState> {
	const graceMs = graceMsOf(state);
	const now = withDeadline(state, graceMs, context);
	// Nothing was looked at yet: the containers are told once the sandbox is there.
	if (now.sandbox === undefined) return next(now);
	const atOnce = containersIn(assignmentIn(now.object).spec).filter(({role}) => role !== 'sidecar' || graceMs <= 0);
	const told = atOnce.map(({container: {name}}) => tell(`${context.self}/${name}`, stopContainer(graceMs)));
	return next(now, graceMs <= 0 ? told : [...told, ...sidecarsInTurn(now, context)]);
}

const withDeadline = (state: HandState, graceMs: number, {nowMs}: Context): HandState => ({
	...state,
	stopUntilMs: Math.min(state.stopUntilMs ?? Number.POSITIVE_INFINITY, nowMs + graceMs),
});

/** The others are over for good, and the pod with them: sidecars have nothing left to do. */
export function stopSidecars(state: HandState, context: Context): Next<HandState> {
	const now = withDeadline(state, graceMsOf(state), context);
	return next(now, lastSidecar(now, context));
}

/** Once all others have ended. */
export function sidecarsInTurn(state: HandState, context: Context): readonly Effect[] {
	const others = containersIn(assignmentIn(state.object).spec).filter(({role}) => role !== 'sidecar');
	return others.every(({container}) => state.ended.includes(container.name)) ? lastSidecar(state, context) : [];
}

/** Said again it hurries nothing. */
function lastSidecar(state: HandState, {self, nowMs}: Context): readonly Effect[] {
	const last = sidecarsIn(assignmentIn(state.object).spec).findLast(({name}) => !state.ended.includes(name));
	if (last === undefined) return [];
	const graceMs = graceMsOf(state);
	const left = Math.min((state.stopUntilMs ?? nowMs + graceMs) - nowMs, graceMs);
	return [tell(`${self}/${last.name}`, stopContainer(graceMs <= 0 ? 0 : Math.max(limits.graceAfterHookMs, left)))];
}
