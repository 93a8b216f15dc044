// A pod's sandbox: what its containers share. Made before them, removed after them, made anew when it has died; tried again with back-off.

import type {Failure} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import {
	next,
	tell,
	type Behavior,
	type Context,
	type Effect,
	type Message,
	type Next,
	type Reply,
} from '../../../system/kernel/behavior.js';
import {exponentialBackoffMs, restartDelayMs, streakAfter, type Streak} from '../../../system/kernel/restart-policy.js';
import type {SkipBackoff} from '../containers/container-state.js';
import {perform} from '../runtime/perform.js';
import type {Sandbox, SandboxSpec} from '../runtime/runtime-port.js';

export type InfraInput = {readonly spec: SandboxSpec; readonly owner: string};

export type InfraMessage =
	| Reply<Sandbox, 'ensured'>
	| Reply<null, 'removed'>
	| {readonly type: 'retry'}
	| SkipBackoff
	/** The runtime's word that it has died. */
	| {readonly type: 'sandboxLost'}
	/** The runtime's word that what it had too little of may be had. */
	| {readonly type: 'devicesFree'}
	| MakeAnew
	| {readonly type: 'removeSandbox'}
	| ReleaseDevices
	| Reply<null, 'released'>;

/** Told by the hand: nothing runs any more in the sandbox that has died. */
export type MakeAnew = {readonly type: 'makeAnew'};

/** Told by the hand: the pod is over, though its sandbox stays. */
export type ReleaseDevices = {readonly type: 'releaseDevices'};

export type InfraState = InfraInput & {
	readonly wanted: 'present' | 'absent';
	readonly failures: number;
	/** It is asked for and not answered. */
	readonly isAsking: boolean;
	/** It died, or devices came free, while it was asked for: the answer may be of before that. */
	readonly isOutdated: boolean;
	/** Since when it is well; undefined: it is not, or is not known to be. */
	readonly wellSinceMs: number | undefined;
	/** Deaths in a row. */
	readonly streak: Streak;
};

/** Told to the hand. */
export type SandboxReady = {readonly type: 'sandboxReady'; readonly sandbox: Sandbox};
export type SandboxFailed = {readonly type: 'sandboxFailed'; readonly error: Failure};
export type SandboxRemoved = {readonly type: 'sandboxRemoved'};

/** No container's name begins with an underscore. */
export const infraName = '_infra';

export const infra: Behavior<InfraInput, InfraState, InfraMessage> = {
	kind: 'Infra',
	init: input =>
		attempt({
			...input,
			wanted: 'present',
			failures: 0,
			isAsking: false,
			isOutdated: false,
			wellSinceMs: undefined,
			streak: {restarts: 0},
		}),
	receive(state, message, context) {
		switch (message.type) {
			case 'ensured':
				return ensured(state, message, context);
			case 'removed':
				return removed(state, message, context);
			case 'retry':
			case 'skipBackoff':
				return attempt(state);
			case 'sandboxLost':
				return lost(state, context);
			case 'devicesFree':
				return devicesFree(state);
			case 'makeAnew':
				return makeAnew(state, context);
			case 'removeSandbox':
				return attempt({...state, wanted: 'absent', failures: 0});
			case 'releaseDevices':
				return release(state);
			case 'released':
				return released(state, message, context);
		}
	},
	pastIntensity: 'backOff',
	trouble: ({wanted, failures}) =>
		failures === 0 ? undefined : `${failures} failed ${failures === 1 ? 'try' : 'tries'} to make it ${wanted}`,
};

function attempt(state: InfraState): Next<InfraState> {
	const {uid} = state.spec;
	const effect: Effect =
		state.wanted === 'present'
			? perform({type: 'sandbox.ensure', spec: state.spec}, `${uid}/sandbox/ensure`, 'ensured')
			: perform({type: 'sandbox.remove', uid}, `${uid}/sandbox/remove`, 'removed');
	return next({...state, isAsking: true, isOutdated: false}, [{type: 'cancelWake', name: 'retry'}, effect]);
}

/** Its answer may be on the way still. */
function devicesFree(state: InfraState): Next<InfraState> {
	if (state.wanted !== 'present' || state.wellSinceMs !== undefined) return next(state);
	return state.isAsking ? next({...state, isOutdated: true}) : attempt(state);
}

const release = (state: InfraState): Next<InfraState> =>
	next(state, [perform({type: 'devices.release', uid: state.spec.uid}, `${state.spec.uid}/devices/release`, 'released')]);

/** Whatever was in the way may be gone after a while; a sandbox that is removed has none. */
function released(state: InfraState, {outcome}: Reply<null, 'released'>, {nowMs}: Context): Next<InfraState> {
	if (outcome.ok || state.wanted === 'absent') return next(state);
	const message: ReleaseDevices = {type: 'releaseDevices'};
	return next(state, [{type: 'wakeAt', name: 'release', atMs: nowMs + limits.containerBackoffMaxMs, message}]);
}

const backoff = {
	firstMs: limits.containerBackoffFirstMs,
	maxMs: limits.containerBackoffMaxMs,
	resetMs: limits.containerBackoffResetMs,
};

/** What is to be done the runtime says when it is asked; one that keeps dying is looked after ever more rarely. */
function lost(state: InfraState, {nowMs}: Context): Next<InfraState> {
	const {wellSinceMs} = state;
	if (state.isAsking) return next({...state, isOutdated: true});
	// Otherwise the next question comes by itself: from the hand, or after a wait.
	if (state.wanted !== 'present' || wellSinceMs === undefined) return next(state);
	const streak = streakAfter(state.streak, nowMs - wellSinceMs, backoff);
	const dead: InfraState = {...state, streak, wellSinceMs: undefined};
	const delayMs = restartDelayMs(streak, backoff);
	return delayMs === 0 ? attempt(dead) : next(dead, [retryAt(nowMs + delayMs)]);
}

const retryAt = (atMs: number): Effect => ({type: 'wakeAt', name: 'retry', atMs, message: {type: 'retry'}});

/** At once, unless the runtime was asked for that in vain. */
function makeAnew(state: InfraState, {nowMs}: Context): Next<InfraState> {
	if (state.wanted !== 'present' || state.isAsking || state.wellSinceMs !== undefined) return next(state);
	if (state.failures <= 1) return attempt(state);
	return next(state, [retryAt(nowMs + exponentialBackoffMs(state.failures - 1, backoff.firstMs, backoff.maxMs))]);
}

function ensured(state: InfraState, {outcome}: Reply<Sandbox, 'ensured'>, context: Context): Next<InfraState> {
	if (state.wanted !== 'present') return next(state);
	if (state.isOutdated) return attempt(state);
	if (!outcome.ok) return failed(state, outcome.error, context);
	const message: SandboxReady = {type: 'sandboxReady', sandbox: outcome.value};
	const told = [tell(state.owner, message)];
	const answered: InfraState = {...state, isAsking: false};
	if (outcome.value.isLost === true) return next({...answered, failures: state.failures + 1, wellSinceMs: undefined}, told);
	return next({...answered, failures: 0, wellSinceMs: state.wellSinceMs ?? context.nowMs}, told);
}

function removed(state: InfraState, {outcome}: Reply<null, 'removed'>, context: Context): Next<InfraState> {
	if (!outcome.ok) return failed(state, outcome.error, context);
	const message: SandboxRemoved = {type: 'sandboxRemoved'};
	return next(state, [tell(state.owner, message)]);
}

function failed(state: InfraState, error: Failure, {nowMs}: Context): Next<InfraState> {
	const failures = state.failures + 1;
	const delayMs = exponentialBackoffMs(failures, backoff.firstMs, backoff.maxMs);
	const message: Message & SandboxFailed = {type: 'sandboxFailed', error};
	return next({...state, failures, isAsking: false}, [retryAt(nowMs + delayMs), tell(state.owner, message)]);
}
