// What decides for one autoscaler: it is told what the pods use, writes the number of replicas, and tells the record what came of it.
//
// Recommendations and changes of its windows are in memory. When it begins anew, the replicas there are count as recommended, as in Kubernetes: nothing
// falls at once after a restart.

import type {Hpa, HpaStatus} from '../../../api/kinds/horizontalpodautoscaler.js';
import {objectAddress, type ObjectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {next, tell, type Behavior, type Context, type Effect, type Next, type Reply} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {isDeleting} from '../objects/garbage.js';
import type {Judged, Measured} from './autoscaling-message.js';
import {decide, differs, rescaled, type Decision, type Memory} from './decision.js';
import {rivalOf, scaling, scalingId, targetKeyOf, targetOf, type ScaleTarget} from './scale-target.js';

export type AutoscalerInput = {readonly hpa: ObjectKey};

export type AutoscalerMessage = Measured | Reply<unknown, 'outcome'>;

export type AutoscalerState = AutoscalerInput & {
	/** Of the record for which it decides: one of the same name may come after it. */
	readonly uid: string | undefined;
	readonly memory: Memory;
	/** What is being written. */
	readonly writing: Decision | undefined;
	/** When its record was told last, by the clock that is never set. */
	readonly toldAtMs: number | undefined;
};

export const autoscaler: Behavior<AutoscalerInput, AutoscalerState, AutoscalerMessage> = {
	kind: 'Autoscaler',
	init: ({hpa}, {known}) => next(begun(hpa, known.get(hpa) as Hpa | undefined)),
	receive(state, message, context) {
		switch (message.type) {
			case 'measured':
				return measured(state, message, context);
			case 'outcome':
				return written(state, message, context);
		}
	},
	coalesce: ({type}) => (type === 'measured' ? type : undefined),
	pastIntensity: 'backOff',
	describe: ({memory: {own}}) => (own === undefined ? '' : `wants ${own.replicas}`),
};

const begun = (key: ObjectKey, hpa: Hpa | undefined): AutoscalerState => ({
	hpa: key,
	uid: hpa?.metadata.uid,
	memory: {history: undefined, own: ownBefore(hpa)},
	writing: undefined,
	toldAtMs: undefined,
});

/** What it wanted before it began anew. Of a function that is not what it has written. */
function ownBefore(hpa: Hpa | undefined): Memory['own'] {
	const {lastScaleTime, desiredReplicas = 0} = hpa?.status ?? {};
	const isKnown = lastScaleTime !== undefined && desiredReplicas > 0 && hpa?.spec?.scaleTargetRef.kind !== 'Function';
	return isKnown ? {replicas: desiredReplicas, uid: undefined} : undefined;
}

function measured(before: AutoscalerState, message: Measured, context: Context): Next<AutoscalerState> {
	const {known, nowMs, monotonicMs} = context;
	const hpa = known.get(before.hpa) as Hpa | undefined;
	// While a write is open its outcome comes first.
	if (hpa?.spec === undefined || isDeleting(hpa) || before.writing !== undefined) return next(before);
	const state = before.uid === hpa.metadata.uid ? before : begun(before.hpa, hpa);
	const target = targetOf(hpa, known);
	const rival = typeof target === 'string' ? undefined : rivalNow(hpa, target, message, known);
	// It does not act any more: nothing was measured, and the next look is soon.
	if (rival === 'gone') return next(state);
	const decision = decide({hpa, target, rival, known, measured: message, memory: state.memory, nowMs, monotonicMs});
	const {rescale} = decision;
	if (rescale === undefined || typeof target === 'string') return told(state, hpa, decision, context);
	const effect = scaling(target, rescale.to);
	return effect === undefined
		? told(state, hpa, rescaled(decision, undefined, nowMs, monotonicMs), context)
		: next({...state, writing: decision}, [effect]);
}

function rivalNow(hpa: Hpa, {key}: ScaleTarget, {rival}: Measured, known: Known): Hpa | 'gone' | undefined {
	if (rival === undefined) return rivalOf(hpa, key, known);
	const found = known.get(rival) as Hpa | undefined;
	return found === undefined || isDeleting(found) || targetKeyOf(found) !== key ? 'gone' : found;
}

function written(state: AutoscalerState, {id, outcome}: Reply<unknown, 'outcome'>, context: Context): Next<AutoscalerState> {
	const {writing} = state;
	const hpa = context.known.get(state.hpa) as Hpa | undefined;
	if (id !== scalingId || writing === undefined) return next(state);
	const after = {...state, writing: undefined};
	if (hpa === undefined || hpa.metadata.uid !== state.uid) return next(after);
	const failure = outcome.ok ? undefined : outcome.error.message;
	return told(after, hpa, rescaled(writing, failure, context.nowMs, context.monotonicMs), context);
}

/** The record is told where what is shown is another; of figures alone not each time. */
function told(state: AutoscalerState, hpa: Hpa, {status, events, memory}: Decision, {monotonicMs}: Context): Next<AutoscalerState> {
	const difference = differs(hpa.status, status);
	const isDue = state.toldAtMs === undefined || monotonicMs - state.toldAtMs >= limits.autoscaleFiguresMs;
	const isTold = difference === 'all' || (difference === 'figures' && isDue) || events.length > 0;
	if (!isTold) return next({...state, memory});
	return next({...state, memory, toldAtMs: monotonicMs}, [judged(state.hpa, hpa, status, events)]);
}

function judged(key: ObjectKey, {metadata: {uid}}: Hpa, status: HpaStatus, events: Decision['events']): Effect {
	const message: Judged = {type: 'judged', uid, status, events};
	return tell(objectAddress(key), message);
}
