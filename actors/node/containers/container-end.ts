// What follows the end of an attempt: the next one, a wait before it, or nothing. `restartPolicy` is what OTP calls a restart type.

import {backoffOf} from '../../../api/backoff.js';
import type {RestartPolicy} from '../../../api/kinds/pod.js';
import {next, type Context, type Effect, type Reply} from '../../../system/kernel/behavior.js';
import {restartDelayMs, streakAfter} from '../../../system/kernel/restart-policy.js';
import type {PodEvent} from '../../protocol/sync-message.js';
import {restProbers} from './container-probers.js';
import {end, inspect, type ContainerActorState, type ContainerInput, type ContainerNext} from './container-state.js';
import {crashLoop, runtimeError, start, wait} from './container-start.js';
import type {StoppingPhase} from './container-status.js';
import type {ContainerExit} from '../runtime/runtime-port.js';

/** The runtime says that an attempt is over. */
export function exited(state: ContainerActorState, exit: ContainerExit, context: Context): ContainerNext {
	if (exit.attempt !== state.attempt || !mayRun(state)) return next(state);
	const {state: settled, effects} = settle({...state, lastExit: exit}, exit, context);
	return next(settled, [...restProbers(state), ...(state.phase.type === 'stopping' ? effects.map(becauseOf(state.phase)) : effects)]);
}

/** What is told of an end that was asked for names what asked for it. */
const becauseOf =
	({cause}: StoppingPhase) =>
	(effect: Effect): Effect =>
		effect.type === 'tell' ? {...effect, cause} : effect;

/** Whether this attempt may be alive, as far as this actor knows. */
const mayRun = ({phase: {type}}: ContainerActorState): boolean =>
	type === 'starting' || type === 'postStart' || type === 'running' || type === 'stopping';

/** An attempt is over: start the next, wait before it, or leave it be. */
export function settle(state: ContainerActorState, exit: ContainerExit, context: Context): ContainerNext {
	const told: PodEvent = {
		event: isClean(exit) ? 'Normal' : 'Warning',
		reason: isClean(exit) ? 'Completed' : 'Crashed',
		message: endOf(state, exit),
		aspect: exitText(exit),
		finishedAtMs: exit.finishedAtMs,
	};
	if (state.stopGraceMs !== undefined) return end(state);
	if (!wantsRestart(policyOf(state), exit)) return end(state, [told]);
	const backoff = backoffOf(state.assignment.annotations);
	const streak = streakAfter(state.streak, exit.finishedAtMs - exit.startedAtMs, backoff);
	const again: ContainerActorState = {...state, lastExit: exit, streak, attempt: exit.attempt + 1};
	const delayMs = restartDelayMs(streak, backoff) - (context.nowMs - exit.finishedAtMs);
	if (delayMs <= 0) return start(again, context, [told]);
	return wait(again, crashLoop, `back-off before attempt ${again.attempt}: ${endOf(state, exit)}`, context, [told]);
}

const isClean = ({exitCode}: ContainerExit): boolean => exitCode === 0;

const endOf = ({container: {name}}: ContainerInput, exit: ContainerExit): string =>
	`container ${name}, attempt ${exit.attempt}, ended: ${exitText(exit)}`;

/** An exit code says nothing of memory. */
export function exitText({exitCode, reason}: ContainerExit): string {
	if (exitCode === undefined) return `exit code unknown (${reason})`;
	return `exit ${exitCode}${reason === 'OOMKilled' ? ` (${reason})` : ''}`;
}

/** An init container that succeeded has done what it is for; a sidecar is there as long as its pod. */
function policyOf({assignment, role}: ContainerInput): RestartPolicy {
	const {restartPolicy = 'Always'} = assignment.spec;
	switch (role) {
		case 'main':
			return restartPolicy;
		case 'init':
			return restartPolicy === 'Always' ? 'OnFailure' : restartPolicy;
		case 'sidecar':
			return 'Always';
	}
}

function wantsRestart(policy: RestartPolicy, exit: ContainerExit): boolean {
	switch (policy) {
		case 'Always':
			return true;
		case 'OnFailure':
			return !isClean(exit);
		case 'Never':
			return false;
	}
}

/**
 * Whether it runs in a sandbox that was made anew, as the kubelet decides it (computePodActions): init containers do it all again, what has
 * succeeded does not, and of a pod that is never restarted nothing does once something of it has run.
 */
export function wantsAnew({assignment, role, sandbox}: ContainerInput, lastExit: ContainerExit | undefined): boolean {
	switch (assignment.spec.restartPolicy ?? 'Always') {
		case 'Always':
			return true;
		case 'OnFailure':
			return role !== 'main' || lastExit === undefined || !isClean(lastExit);
		case 'Never':
			return Object.keys(sandbox.firstAttempts ?? {}).length === 0;
	}
}

/** The runtime's answer to a stop. */
export function stopped(state: ContainerActorState, {outcome}: Reply<ContainerExit | null, 'stopped'>, context: Context): ContainerNext {
	if (state.phase.type !== 'stopping') return next(state);
	if (!outcome.ok) return wait({...state, streak: {restarts: state.streak.restarts + 1}}, runtimeError, outcome.error.message, context);
	const exit = outcome.value ?? undefined;
	if (state.stopGraceMs !== undefined) return end({...state, lastExit: exit ?? state.lastExit});
	// A probe or a hook wanted its end, not the pod.
	return exit?.attempt === state.attempt ? settle({...state, lastExit: exit}, exit, context) : inspect(state);
}
