// How an attempt begins: now, or after a wait, or once what it needs is there; then its postStart hook, then its probes.

import type {Failure} from '../../../api/errors.js';
import {backoffOf} from '../../../api/backoff.js';
import {limits} from '../../../api/limits.js';
import {next, type Context, type Effect, type Reply} from '../../../system/kernel/behavior.js';
import {restartDelayMs} from '../../../system/kernel/restart-policy.js';
import {podWarning, type PodEvent} from '../../protocol/sync-message.js';
import {askImage, hasImage, pulledEvents, pullFailure, waitsForImage} from './container-image.js';
import {runningPhase, startProbers} from './container-probers.js';
import {containerSpecOf} from './container-spec.js';
import {changed, idOf, inspect, askRuntime, timer, type ContainerActorState, type ContainerNext} from './container-state.js';
import {endAttempt} from './container-stop.js';
import {hookAgain, hookOf} from './hooks.js';
import type {ActionResult, ContainerSpec, EnsuredImage, RunningContainer} from '../runtime/runtime-port.js';

/** Asks for the attempt first, then tells: the process waits for nothing else. */
export function start(state: ContainerActorState, context: Context, events: readonly PodEvent[] = []): ContainerNext {
	const {known} = context;
	if (state.held) return hold(state, events);
	const spec = containerSpecOf(state.container, {...state, known}, state.attempt);
	if (!spec.ok) return idle(state, spec.reason, spec.message, events);
	return hasImage(state) ? askImage(state, context, events) : launch(state, spec.value, events);
}

function launch(state: ContainerActorState, spec: ContainerSpec, events: readonly PodEvent[]): ContainerNext {
	const starting: ContainerActorState = {...state, phase: {type: 'starting'}, configChanged: false};
	return next(starting, [
		askRuntime(starting, {type: 'container.start', spec}, `start/${state.attempt}`, 'started'),
		...(events.length === 0 ? [] : [changed(starting, events)]),
	]);
}

function hold(state: ContainerActorState, events: readonly PodEvent[]): ContainerNext {
	const held: ContainerActorState = {...state, phase: {type: 'held'}};
	return next(held, [changed(held, events)]);
}

/** Its turn has come, also for the attempts after this one. */
export function begin(state: ContainerActorState, context: Context): ContainerNext {
	const now: ContainerActorState = {...state, held: false};
	return state.phase.type === 'held' ? start(now, context) : next(now);
}

/** Waits for what no time brings about. What was said before is not said again. */
function idle(state: ContainerActorState, reason: string, message: string, events: readonly PodEvent[] = []): ContainerNext {
	const {phase} = state;
	if (phase.type === 'waiting' && phase.reason === reason && phase.message === message) return next(state);
	const waiting: ContainerActorState = {...state, phase: {type: 'waiting', reason, message, retry: undefined}};
	return next(waiting, [changed(waiting, [...events, podWarning(reason === configError ? 'Failed' : reason, message)])]);
}

/** Kubernetes' word for a container that cannot start before something else is there. */
export const configError = 'CreateContainerConfigError';

/** A container that waits for it looks again; one that is being started does so after the answer. */
export function configChanged(state: ContainerActorState, context: Context): ContainerNext {
	const {phase} = state;
	if (phase.type === 'starting') return next({...state, configChanged: true});
	const waits = phase.type === 'waiting' && (phase.reason === configError || waitsForImage(phase.reason));
	return waits ? start(state, context) : next(state);
}

/** The image is there, or not: what the container is made of is looked at once more, for a pull takes its time. */
export function imageEnsured(
	state: ContainerActorState,
	{id, outcome}: Reply<EnsuredImage, 'imageEnsured'>,
	context: Context,
): ContainerNext {
	if (state.phase.type !== 'pulling' || !id.endsWith(`/image/${state.attempt}`)) return next(state);
	if (!outcome.ok) return imageFailed(state, outcome.error, context);
	const there: ContainerActorState = {...state, pullFailures: 0};
	const events = pulledEvents(there, outcome.value, context);
	const spec = containerSpecOf(there.container, {...there, known: context.known}, there.attempt);
	if (!spec.ok) return idle(there, spec.reason, spec.message, events);
	return launch(there, {...spec.value, imageId: outcome.value.imageId}, events);
}

function imageFailed(state: ContainerActorState, error: Failure, context: Context): ContainerNext {
	const {message} = error;
	switch (error.code) {
		case 'ERR_IMAGE_NAME':
			return idle(state, 'InvalidImageName', message);
		case 'ERR_IMAGE_ABSENT':
			return startFailed(state, 'ErrImageNeverPull', message, context, [podWarning('ErrImageNeverPull', message)]);
		case 'ERR_NOT_REACHABLE':
			return startFailed(state, configError, message, context);
		case 'ERR_IMAGE_PULL':
		case 'ERR_TIMEOUT': {
			const {reason, message: told, events} = pullFailure(state, error, context);
			return startFailed({...state, pullFailures: state.pullFailures + 1}, reason, told, context, events);
		}
		default:
			return startFailed(state, 'ImageInspectError', message, context);
	}
}

export function started(state: ContainerActorState, {id, outcome}: Reply<RunningContainer, 'started'>, context: Context): ContainerNext {
	const current = id.endsWith(`/start/${state.attempt}`);
	if (state.phase.type !== 'starting' || !current) return next(state);
	// A runtime that did not answer in time may have started it after all: inspection decides.
	if (!outcome.ok && outcome.error.code === 'ERR_TIMEOUT') return wait(state, runtimeError, outcome.error.message, context);
	if (!outcome.ok && outcome.error.code === 'ERR_CONFIG_MISSING') return configMissing(state, outcome.error.message, context);
	if (!outcome.ok && outcome.error.code === 'ERR_NO_COMMAND') return idle(state, 'NoCommand', outcome.error.message);
	// Of all that a start needs only Secrets come from another host.
	const isUnfetched = !outcome.ok && outcome.error.code === 'ERR_NOT_REACHABLE';
	if (!outcome.ok) return startFailed(state, isUnfetched ? configError : 'RunContainerError', outcome.error.message, context);
	return postStart(state, outcome.value, context);
}

/** What the edge did not find may have come while it was looking. */
const configMissing = (state: ContainerActorState, message: string, context: Context): ContainerNext =>
	state.configChanged ? start(state, context) : idle(state, configError, message);

/** A start that fails at once would fail at once again: the first retry waits too. The attempt was never alive and keeps its number. */
function startFailed(
	state: ContainerActorState,
	reason: string,
	message: string,
	context: Context,
	events: readonly PodEvent[] = [podWarning('Failed', message)],
): ContainerNext {
	const streak = {restarts: Math.max(2, state.streak.restarts + 1)};
	return wait({...state, streak}, reason, message, context, events);
}

// ---- it runs ---------------------------------------------------------------------------------------------------------------

/** The hook of what has just started; of what was found running it was done long ago, or is lost. */
function postStart(state: ContainerActorState, running: RunningContainer, context: Context): ContainerNext {
	const {container, role, sandbox, attempt} = state;
	const hook = role !== 'init' ? hookOf('postStart', container, sandbox.podIP) : undefined;
	if (hook === undefined) return run(state, running, false, context);
	const hooked: ContainerActorState = {...state, phase: {type: 'postStart', running}};
	switch (hook.type) {
		case 'wrong':
			return failedHook(hooked, hook.problem, context);
		case 'sleep':
			return next(hooked, [timer('hook', context.nowMs + hook.ms, hook.ms, {type: 'slept', hook: 'postStart', attempt})]);
		case 'act': {
			const command = {type: 'container.act', id: idOf(state), action: hook.action, timeoutMs: limits.postStartMs} as const;
			const deadlineMs = limits.postStartMs + limits.actSlackMs;
			return next(hooked, [askRuntime(state, command, `postStart/${attempt}`, 'postStarted', deadlineMs)]);
		}
	}
}

export function postStarted(
	state: ContainerActorState,
	{id, outcome}: Reply<ActionResult, 'postStarted'>,
	context: Context,
): ContainerNext {
	const {phase, attempt} = state;
	if (phase.type !== 'postStart' || !id.endsWith(`/postStart/${attempt}`)) return next(state);
	if (!outcome.ok && outcome.error.code === 'ERR_BUSY') return next(state, [hookAgain('postStart', attempt, context)]);
	if (!outcome.ok) return failedHook(state, outcome.error.message, context);
	return outcome.value.ok ? run(state, phase.running, false, context) : failedHook(state, outcome.value.message, context);
}

export const postStartAgain = (state: ContainerActorState, context: Context): ContainerNext =>
	state.phase.type === 'postStart' ? postStart(state, state.phase.running, context) : next(state);

/** It has slept. */
export const postStartSlept = (state: ContainerActorState, context: Context): ContainerNext =>
	state.phase.type === 'postStart' ? run(state, state.phase.running, false, context) : next(state);

/** As in Kubernetes the container is ended then, and restarted as its pod says. */
function failedHook(state: ContainerActorState, problem: string, context: Context): ContainerNext {
	const {container, assignment} = state;
	const graceMs = 1_000 * (assignment.spec.terminationGracePeriodSeconds ?? limits.terminationGraceSeconds);
	const message = `postStart of container ${container.name} failed, it is ended: ${problem}`;
	return endAttempt(state, graceMs, [podWarning('FailedPostStartHook', message)], context);
}

/** From here on it is probed. */
export function run(state: ContainerActorState, running: RunningContainer, isAdopted: boolean, {self}: Context): ContainerNext {
	const phase = runningPhase(state, running, isAdopted);
	const now: ContainerActorState = {...state, phase};
	const message = `started container ${state.container.name}, attempt ${state.attempt}`;
	const events: PodEvent[] = isAdopted ? [] : [{event: 'Normal', reason: 'Started', message}];
	return next(now, [...startProbers(now, phase, self), changed(now, events)]);
}

// ---- waiting ---------------------------------------------------------------------------------------------------------------

export const runtimeError = 'RuntimeError';
/** Kubernetes' word for a container that has ended and is started again later. */
export const crashLoop = 'CrashLoopBackOff';

export function wait(
	state: ContainerActorState,
	reason: string,
	message: string,
	context: Context,
	events: readonly PodEvent[] = [],
): ContainerNext {
	const backoff = backoffOf(state.assignment.annotations);
	const delayMs = Math.max(backoff.firstMs, restartDelayMs(state.streak, backoff));
	const retryAtMs = context.nowMs + delayMs;
	const failedTries = state.failedTries + (reason === crashLoop ? 0 : 1);
	const retry = {atMs: retryAtMs, number: state.attempt + failedTries};
	const waiting: ContainerActorState = {...state, failedTries, phase: {type: 'waiting', reason, message, retry}};
	const retrying: Effect = {type: 'wakeAt', name: 'retry', atMs: retryAtMs, message: {type: 'retry'}};
	return next(waiting, [retrying, changed(waiting, events)]);
}

export function retry(state: ContainerActorState, context: Context, events: readonly PodEvent[] = []): ContainerNext {
	if (state.phase.type !== 'waiting') return next(state);
	if (state.phase.reason === runtimeError) return inspect({...state, streak: {restarts: state.streak.restarts + 1}});
	return start(state, context, events);
}

/** Nothing of its back-off is forgotten but this wait. */
export function skipBackoff(state: ContainerActorState, context: Context): ContainerNext {
	if (state.phase.type !== 'waiting') return next(state);
	const message = `container ${state.container.name} is tried now, as somebody asked`;
	const {state: trying, effects} = retry(state, context, [{event: 'Normal', reason: 'RetryNow', message}]);
	return next(trying, [{type: 'cancelWake', name: 'retry'}, ...effects]);
}
