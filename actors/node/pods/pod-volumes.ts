// The volumes of a pod: made before its containers start, and brought up to date when what they show has changed.

import type {Failure} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import {next, tell, type Behavior, type Context, type Effect, type Next, type Reply} from '../../../system/kernel/behavior.js';
import {exponentialBackoffMs} from '../../../system/kernel/restart-policy.js';
import type {Assignment} from '../../protocol/sync-message.js';
import {configError} from '../containers/container-start.js';
import type {ConfigChanged, SkipBackoff} from '../containers/container-state.js';
import type {Retry} from '../containers/container-status.js';
import {perform} from '../runtime/perform.js';
import {contentVersion, volumesOf} from './volumes.js';

export type PodVolumesInput = {readonly assignment: Assignment; readonly owner: string};

export type PodVolumesMessage = Reply<null, 'ensured'> | {readonly type: 'retry'} | SkipBackoff | ConfigChanged;

export type PodVolumesState = PodVolumesInput & {
	/** Asking the runtime; there; to be tried again in a while; or once what is named has changed. */
	readonly phase: 'asking' | 'there' | 'backOff' | 'waiting';
	/** What of named content was asked for last. */
	readonly content: string;
	/** They were there once: what fails later leaves them as they are. */
	readonly wereThere: boolean;
	readonly failures: number;
};

/** Told to the hand. */
export type VolumesReady = {readonly type: 'volumesReady'};

/** Told to the hand: why containers have to wait, and until when, if a time is known. */
export type VolumesWaiting = {
	readonly type: 'volumesWaiting';
	readonly reason: string;
	readonly message: string;
	readonly retry: Retry | undefined;
};

/** No container's name begins with an underscore. */
export const volumesName = '_volumes';

export const podVolumes: Behavior<PodVolumesInput, PodVolumesState, PodVolumesMessage> = {
	kind: 'PodVolumes',
	init: (input, context) => ask({...input, phase: 'asking', content: '', wereThere: false, failures: 0}, context),
	receive(state, message, context) {
		switch (message.type) {
			case 'ensured':
				return state.phase === 'asking' ? ensured(state, message, context) : next(state);
			case 'retry':
			case 'skipBackoff':
				return state.phase === 'backOff' ? ask(state, context) : next(state);
			case 'configChanged':
				return configChanged(state, context);
		}
	},
	coalesce: ({type}) => (type === 'configChanged' ? type : undefined),
	pastIntensity: 'backOff',
	describe: ({phase}) => phase,
	trouble: ({phase, failures}) => (failures === 0 ? undefined : `${phase}, ${failures} failed ${failures === 1 ? 'try' : 'tries'}`),
};

function ask(state: PodVolumesState, context: Context): Next<PodVolumesState> {
	const {assignment} = state;
	const content = contentVersion(assignment, context.known);
	const volumes = volumesOf(assignment, context.known);
	if (!volumes.ok) return missing({...state, content}, volumes.problem);
	const {uid, namespace, spec} = assignment;
	const fsGroup = spec.securityContext?.fsGroup;
	const command = {type: 'volumes.ensure', uid, namespace, volumes: volumes.value, fsGroup} as const;
	// With the content in its key: a repeat joins what runs, other content is asked for anew.
	return next({...state, phase: 'asking', content}, [
		{type: 'cancelWake', name: 'retry'},
		perform(command, `${uid}/volumes/${content}`, 'ensured'),
	]);
}

function configChanged(state: PodVolumesState, context: Context): Next<PodVolumesState> {
	switch (state.phase) {
		case 'asking':
			return next(state); // It looks again after the answer.
		case 'there':
			return followed(state, context);
		case 'waiting':
		case 'backOff':
			return ask(state, context);
	}
}

/** What is there stays as it is when what it was made of goes, as in Kubernetes. */
function missing(state: PodVolumesState, problem: string): Next<PodVolumesState> {
	if (state.wereThere) return next({...state, phase: 'there'});
	return next({...state, phase: 'waiting'}, [waitingFor(state, configError, problem, undefined)]);
}

function waitingFor({owner}: PodVolumesState, reason: string, message: string, retry: Retry | undefined): Effect {
	const waiting: VolumesWaiting = {type: 'volumesWaiting', reason, message, retry};
	return tell(owner, waiting);
}

function ensured(state: PodVolumesState, {outcome}: Reply<null, 'ensured'>, context: Context): Next<PodVolumesState> {
	if (!outcome.ok) return failed(state, outcome.error, context);
	const message: VolumesReady = {type: 'volumesReady'};
	const there: PodVolumesState = {...state, phase: 'there', wereThere: true, failures: 0};
	const {state: now, effects} = followed(there, context);
	return next(now, [...(state.wereThere ? [] : [tell(state.owner, message)]), ...effects]);
}

/** Asks again if what they show is another than what was asked for. */
const followed = (state: PodVolumesState, context: Context): Next<PodVolumesState> =>
	contentVersion(state.assignment, context.known) === state.content ? next(state) : ask(state, context);

function failed(state: PodVolumesState, {code, message}: Failure, context: Context): Next<PodVolumesState> {
	if (contentVersion(state.assignment, context.known) !== state.content) return ask(state, context);
	if (code === 'ERR_CONFIG_MISSING') return missing(state, message);
	const failures = state.failures + 1;
	const delayMs = exponentialBackoffMs(failures, limits.containerBackoffFirstMs, limits.containerBackoffMaxMs);
	const retryAtMs = context.nowMs + delayMs;
	// Of all that volumes need only Secrets come from another host.
	const reason = code === 'ERR_NOT_REACHABLE' ? configError : 'FailedMount';
	return next({...state, phase: 'backOff', failures}, [
		{type: 'wakeAt', name: 'retry', atMs: retryAtMs, message: {type: 'retry'}},
		waitingFor(state, reason, message, {atMs: retryAtMs, number: failures}),
	]);
}
