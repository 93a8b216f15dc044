// What the hand of a pod does with a sandbox: fills it, empties one that has died, and begins again in the next one, as the kubelet does
// (computePodActions).

import {deepEqual} from '../../../api/equal.js';
import {next, tell, type Context, type Effect, type Next} from '../../../system/kernel/behavior.js';
import {podWarning, type PodEvent} from '../../protocol/sync-message.js';
import type {SandboxChanged} from '../containers/container-state.js';
import type {Sandbox} from '../runtime/runtime-port.js';
import {containerActors, sandboxContent} from './hand-content.js';
import {isAllowed, wantLease} from './hand-lease.js';
import {reported} from './hand-report.js';
import {assignmentIn, graceMsOf, isLost, hasFailed, stopContainer, type HandState} from './hand-state.js';
import {sidecarsInTurn, stop} from './hand-stop.js';
import {infraName, type MakeAnew} from './infra.js';
import {containersIn} from './start-order.js';

/** It is there, as it was or made anew; or what there is has died. */
export function sandboxReady(state: HandState, sandbox: Sandbox, context: Context): Next<HandState> {
	const assignment = assignmentIn(state.object);
	const ready: HandState = {...state, sandbox, problem: undefined};
	if (state.ending !== 'no' || assignment.deletionGraceSeconds !== undefined) return toStop({...ready, ending: 'containers'}, context);
	if (hasFailed(ready)) return toStop(ready, context);
	if (isLost(ready)) return emptied(state, ready, context);
	if (state.sandbox !== undefined && !deepEqual(state.sandbox, sandbox)) return begunAnew(state, ready, sandbox, context);
	return next(ready, contentOf(ready, context));
}

/** Containers look at what an earlier agent left, and stop. */
function toStop(state: HandState, context: Context): Next<HandState> {
	const {state: stopping, effects} = stop(state, context);
	return next(stopping, [...containerActors(state, context), ...effects]);
}

const contentOf = (state: HandState, context: Context): readonly Effect[] =>
	isAllowed(state) ? sandboxContent(state, context) : [wantLease(assignmentIn(state.object), context)];

/** What still runs in a sandbox that has died is stopped first, with the pod's grace. */
function emptied(before: HandState, state: HandState, context: Context): Next<HandState> {
	const {state: told, effects} = isLost(before) ? next(state) : reported(state, [changeOf(state)], context);
	const {state: stopping, effects: stopped} = toStop(told, context);
	return next(stopping, [...effects, ...stopped]);
}

/** As the kubelet words it. */
function changeOf({object}: HandState): PodEvent {
	if (!isMadeAnew(object)) return podWarning(sandboxHasChanged, 'Pod sandbox changed, it will be killed.');
	return {event: 'Normal', reason: sandboxHasChanged, message: 'Pod sandbox changed, it will be killed and re-created.'};
}

const sandboxHasChanged = 'SandboxChanged';

/** A pod that is never restarted ends with its sandbox. */
const isMadeAnew = (object: HandState['object']): boolean => assignmentIn(object).spec.restartPolicy !== 'Never';

/** Once nothing runs in what has died, the next sandbox is made. A container that does not know that it is to stop hears it again. */
export function whileLost(state: HandState, name: string, context: Context): readonly Effect[] {
	const all = containersIn(assignmentIn(state.object).spec);
	const isInTurn = all.some(({container, role}) => container.name === name && role !== 'sidecar');
	if (!state.ended.includes(name) && isInTurn) return [tell(`${context.self}/${name}`, stopContainer(graceMsOf(state)))];
	const isEmpty = all.every(({container}) => state.ended.includes(container.name));
	const message: MakeAnew = {type: 'makeAnew'};
	if (!isEmpty) return sidecarsInTurn(state, context);
	return isMadeAnew(state.object) ? [tell(`${context.self}/${infraName}`, message)] : [];
}

/** Nothing runs in the new one; what is reported next is how the pod is in it. */
function begunAnew(before: HandState, state: HandState, sandbox: Sandbox, context: Context): Next<HandState> {
	const news = isLost(before) ? [] : [changeOf(state)];
	const now: HandState = {
		...state,
		sandboxes: state.sandboxes + 1,
		containers: {},
		begun: [],
		unsettled: [],
		ended: [],
		stopUntilMs: undefined,
		unreported: [...(state.unreported ?? []), ...news],
	};
	const there = containersIn(assignmentIn(now.object).spec).filter(({container}) => context.hasChild(container.name));
	const those = there.map(({container}): Effect =>
		isAllowed(now) ? moved(now, sandbox, container.name, context) : {type: 'stopChild', name: container.name},
	);
	return next(now, [...those, ...contentOf(now, context)]);
}

/** A container speaks of a sandbox that is no more: its actor is told of the one of now, in case it crashed and begins as it once was. */
export function movedAgain(state: HandState, name: string, speaksOf: number, context: Context): Next<HandState> {
	// What was said to an earlier actor of this pod: since then its containers have actors anew.
	if (speaksOf > state.sandboxes || state.sandbox === undefined) return next(state);
	return next({...state, begun: state.begun.filter(each => each !== name)}, [moved(state, state.sandbox, name, context)]);
}

function moved({sandboxes}: HandState, sandbox: Sandbox, name: string, {self}: Context): Effect {
	const message: SandboxChanged = {type: 'sandboxChanged', sandbox, sandboxes};
	return tell(`${self}/${name}`, message);
}
