// A pod's sandbox: what its containers share. Made before them, removed after them, tried again with back-off.

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
import {exponentialBackoffMs} from '../../../system/kernel/restart-policy.js';
import type {SkipBackoff} from '../containers/container-state.js';
import {perform} from '../runtime/perform.js';
import type {Sandbox, SandboxSpec} from '../runtime/runtime-port.js';

export type InfraInput = {readonly spec: SandboxSpec; readonly owner: string};

export type InfraMessage =
	Reply<Sandbox, 'ensured'> | Reply<null, 'removed'> | {readonly type: 'retry'} | SkipBackoff | {readonly type: 'removeSandbox'};

export type InfraState = InfraInput & {readonly wanted: 'present' | 'absent'; readonly failures: number};

/** Told to the hand. */
export type SandboxReady = {readonly type: 'sandboxReady'; readonly sandbox: Sandbox};
export type SandboxFailed = {readonly type: 'sandboxFailed'; readonly error: Failure};
export type SandboxRemoved = {readonly type: 'sandboxRemoved'};

/** No container's name begins with an underscore. */
export const infraName = '_infra';

export const infra: Behavior<InfraInput, InfraState, InfraMessage> = {
	kind: 'Infra',
	init: input => attempt({...input, wanted: 'present', failures: 0}),
	receive(state, message, context) {
		switch (message.type) {
			case 'ensured':
				return ensured(state, message, context);
			case 'removed':
				return removed(state, message, context);
			case 'retry':
			case 'skipBackoff':
				return attempt(state);
			case 'removeSandbox':
				return attempt({...state, wanted: 'absent', failures: 0});
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
	return next(state, [{type: 'cancelWake', name: 'retry'}, effect]);
}

function ensured(state: InfraState, {outcome}: Reply<Sandbox, 'ensured'>, context: Context): Next<InfraState> {
	if (state.wanted !== 'present') return next(state);
	if (!outcome.ok) return failed(state, outcome.error, context);
	const message: SandboxReady = {type: 'sandboxReady', sandbox: outcome.value};
	return next({...state, failures: 0}, [tell(state.owner, message)]);
}

function removed(state: InfraState, {outcome}: Reply<null, 'removed'>, context: Context): Next<InfraState> {
	if (!outcome.ok) return failed(state, outcome.error, context);
	const message: SandboxRemoved = {type: 'sandboxRemoved'};
	return next(state, [tell(state.owner, message)]);
}

function failed(state: InfraState, error: Failure, {nowMs}: Context): Next<InfraState> {
	const failures = state.failures + 1;
	const delayMs = exponentialBackoffMs(failures, limits.containerBackoffFirstMs, limits.containerBackoffMaxMs);
	const message: Message & SandboxFailed = {type: 'sandboxFailed', error};
	return next({...state, failures}, [
		{type: 'wakeAt', name: 'retry', atMs: nowMs + delayMs, message: {type: 'retry'}},
		tell(state.owner, message),
	]);
}
