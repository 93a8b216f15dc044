// How an attempt is ended: its preStop hook first, or of a pod that serves and goes for good a moment in which that is heard of, within the grace, then SIGTERM for what is left of it, then SIGKILL. As Kubernetes'
// kubelet does it (kuberuntime's killContainer).

import {limits} from '../../../api/limits.js';
import {next, type Context, type Effect, type Reply} from '../../../system/kernel/behavior.js';
import {podWarning, type PodEvent} from '../../protocol/sync-message.js';
import {drainMsOf} from './draining.js';
import {restProbers} from './container-probers.js';
import {changed, end, idOf, askRuntime, timer, type ContainerActorState, type ContainerNext} from './container-state.js';
import {runningIn, type StoppingPhase} from './container-status.js';
import {hookAgain, hookOf, type Hook} from './hooks.js';
import type {ActionResult} from '../runtime/runtime-port.js';

/** For good: asked by the hand, in every phase. A second one with a shorter grace hurries it. */
export function stopForGood(state: ContainerActorState, graceMs: number, context: Context): ContainerNext {
	const asked: ContainerActorState = {...state, stopGraceMs: Math.min(graceMs, state.stopGraceMs ?? graceMs)};
	const {phase} = state;
	switch (phase.type) {
		case 'inspecting':
			return next(asked);
		case 'held':
			return end(asked);
		case 'stopping':
			return hurried(asked, phase, graceMs, context);
		case 'postStart':
		case 'running':
			return begun(asked, graceMs, drainMsOf(context.known, state.assignment.namespace, state.assignment.uid, graceMs), context);
		case 'pulling':
		case 'starting':
		case 'waiting':
		case 'ended':
			// Asked for all the same: the runtime knows best whether something still runs.
			return signalled(asked, graceMs, context);
	}
}

/** This attempt only: what follows is decided when it has ended. */
export function endAttempt(state: ContainerActorState, graceMs: number, events: readonly PodEvent[], context: Context): ContainerNext {
	const {state: stopping, effects} = begun(state, graceMs, 0, context);
	return next(stopping, [...effects, changed(stopping, events)]);
}

function begun(state: ContainerActorState, graceMs: number, drainMs: number, context: Context): ContainerNext {
	const {container, sandbox, phase} = state;
	const {cause} = context;
	const resting = restProbers(state);
	const own = graceMs > 0 ? hookOf('preStop', container, sandbox.podIP) : undefined;
	const hook = own ?? (drainMs > 0 ? ({type: 'sleep', ms: drainMs} as const) : undefined);
	if (hook === undefined) return withEffects(resting, signalled(state, graceMs, context));
	const deadlineMs = context.nowMs + graceMs;
	const stopping: ContainerActorState = {
		...state,
		phase: {type: 'stopping', running: runningIn(phase), step: 'preStop', deadlineMs, graceMs, cause},
	};
	if (hook.type === 'wrong') return withEffects(resting, failedHook(stopping, hook.problem, context));
	return next(stopping, [...resting, preStop(state, hook, graceMs, context), graceOver(deadlineMs, graceMs)]);
}

const withEffects = (first: readonly Effect[], {state, effects}: ContainerNext): ContainerNext => next(state, [...first, ...effects]);

function preStop(state: ContainerActorState, hook: Exclude<Hook, {type: 'wrong'}>, graceMs: number, {nowMs}: Context): Effect {
	const {attempt} = state;
	if (hook.type === 'sleep') return timer('hook', nowMs + hook.ms, hook.ms, {type: 'slept', hook: 'preStop', attempt});
	const command = {type: 'container.act', id: idOf(state), action: hook.action, timeoutMs: graceMs} as const;
	return askRuntime(state, command, `preStop/${attempt}`, 'preStopped', graceMs + limits.actSlackMs);
}

const graceOver = (deadlineMs: number, graceMs: number): Effect => timer('grace', deadlineMs, graceMs, {type: 'graceOver', deadlineMs});

/** A hook goes on, for less time; with none left it is not waited for. */
function hurried(state: ContainerActorState, phase: StoppingPhase, graceMs: number, context: Context): ContainerNext {
	const deadlineMs = context.nowMs + graceMs;
	// Said again: what is under way is soon enough.
	if (deadlineMs >= phase.deadlineMs) return next(state);
	if (phase.step === 'stop' || graceMs <= 0) return signalled(state, graceMs, context);
	return next({...state, phase: {...phase, deadlineMs, graceMs}}, [graceOver(deadlineMs, graceMs)]);
}

// ---- the hook is done ------------------------------------------------------------------------------------------------------

const preStopOf = ({phase}: ContainerActorState): StoppingPhase | undefined =>
	phase.type === 'stopping' && phase.step === 'preStop' ? phase : undefined;

export function preStopped(state: ContainerActorState, {id, outcome}: Reply<ActionResult, 'preStopped'>, context: Context): ContainerNext {
	if (preStopOf(state) === undefined || !id.endsWith(`/preStop/${state.attempt}`)) return next(state);
	if (!outcome.ok && outcome.error.code === 'ERR_BUSY') return next(state, [hookAgain('preStop', state.attempt, context)]);
	if (!outcome.ok) return failedHook(state, outcome.error.message, context);
	return outcome.value.ok ? signalled(state, graceLeft(state, context), context) : failedHook(state, outcome.value.message, context);
}

/** For the time that is left; the end of the grace comes by itself. */
export function preStopAgain(state: ContainerActorState, context: Context): ContainerNext {
	const phase = preStopOf(state);
	const hook = hookOf('preStop', state.container, state.sandbox.podIP);
	if (phase === undefined || hook?.type !== 'act' || phase.deadlineMs <= context.nowMs) return next(state);
	return next(state, [preStop(state, hook, phase.deadlineMs - context.nowMs, context)]);
}

/** It has slept. */
export const preStopSlept = (state: ContainerActorState, context: Context): ContainerNext =>
	preStopOf(state) === undefined ? next(state) : signalled(state, graceLeft(state, context), context);

/** The hook took all the time there was. */
export const preStopTooLong = (state: ContainerActorState, deadlineMs: number, context: Context): ContainerNext =>
	preStopOf(state)?.deadlineMs === deadlineMs ? failedHook(state, 'it was not done within the grace', context) : next(state);

/** A hook that fails holds nothing up. */
function failedHook(state: ContainerActorState, problem: string, context: Context): ContainerNext {
	const message = `preStop of container ${state.container.name} failed: ${problem}`;
	const {state: stopping, effects} = signalled(state, graceLeft(state, context), context);
	return next(stopping, [...effects, changed(stopping, [podWarning('FailedPreStopHook', message)])]);
}

/**
 * However long the hook took, the program has a moment (minimumGracePeriodInSeconds of the kubelet); and never more than there was,
 * wherever the clock of this host was set meanwhile.
 */
function graceLeft(state: ContainerActorState, {nowMs}: Context): number {
	const {deadlineMs, graceMs} = preStopOf(state) ?? {deadlineMs: nowMs, graceMs: 0};
	return Math.max(limits.graceAfterHookMs, Math.min(deadlineMs - nowMs, graceMs));
}

// ---- SIGTERM, SIGKILL ------------------------------------------------------------------------------------------------------

function signalled(state: ContainerActorState, graceMs: number, {nowMs, cause}: Context): ContainerNext {
	const running = runningIn(state.phase);
	const phase: StoppingPhase = {type: 'stopping', running, step: 'stop', deadlineMs: nowMs + graceMs, graceMs, cause};
	return next({...state, phase}, [
		...['retry', 'hook', 'grace'].map((name): Effect => ({type: 'cancelWake', name})),
		askRuntime(
			state,
			{type: 'container.stop', id: idOf(state), graceMs},
			`stop/${state.attempt}/${graceMs}`,
			'stopped',
			graceMs + limits.stopSlackMs,
		),
	]);
}
