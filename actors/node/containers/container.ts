// One container of one pod. The actor outlives the process it looks after: it starts it, hears of its end, and starts it again
// as the pod's restartPolicy says, with a back-off of its own and without limit.

import {next, type Behavior, type Context, type Effect, type Reply} from '../../../system/kernel/behavior.js';
import {exited, exitText, settle, stopped, wantsAnew} from './container-end.js';
import {probeNews} from './container-health.js';
import {pulling} from './container-image.js';
import {restProbers} from './container-probers.js';
import {
	begin,
	configChanged,
	crashLoop,
	imageEnsured,
	postStartAgain,
	postStartSlept,
	postStarted,
	retry,
	skipBackoff,
	run,
	runtimeError,
	start,
	started,
	wait,
} from './container-start.js';
import {
	end,
	inspect,
	type ContainerActorState,
	type ContainerInput,
	type ContainerMessage,
	type ContainerNext,
	type SandboxChanged,
} from './container-state.js';
import {progressText, type Phase} from './container-status.js';
import {preStopAgain, preStopSlept, preStopTooLong, preStopped, stopForGood} from './container-stop.js';
import type {ContainerExit, ContainerObservation} from '../runtime/runtime-port.js';

export const container: Behavior<ContainerInput, ContainerActorState, ContainerMessage> = {
	kind: 'Container',
	init: input =>
		inspect({
			...input,
			phase: {type: 'inspecting'},
			attempt: 0,
			lastExit: undefined,
			streak: {restarts: 0},
			failedTries: 0,
			pullFailures: 0,
			configChanged: false,
		}),
	receive(state, message, context) {
		switch (message.type) {
			case 'inspected':
				return inspected(state, message, context);
			case 'begin':
				return begin(state, context);
			case 'imageEnsured':
				return imageEnsured(state, message, context);
			case 'pulling':
				return pulling(state, message);
			case 'started':
				return started(state, message, context);
			case 'postStarted':
				return postStarted(state, message, context);
			case 'probeNews':
				return probeNews(state, message, context);
			case 'exited':
				return exited(state, message.exit, context);
			case 'retry':
				return retry(state, context);
			case 'skipBackoff':
				return skipBackoff(state, context);
			case 'configChanged':
				return configChanged(state, context);
			case 'sandboxChanged':
				return sandboxChanged(state, message);
			case 'reassigned':
				return next({...state, assignment: message.assignment});
			case 'stopContainer':
				return stopForGood(state, message.graceMs, context);
			case 'preStopped':
				return preStopped(state, message, context);
			case 'slept':
				if (message.attempt !== state.attempt) return next(state);
				return message.hook === 'postStart' ? postStartSlept(state, context) : preStopSlept(state, context);
			case 'hookAgain':
				if (message.attempt !== state.attempt) return next(state);
				return message.hook === 'postStart' ? postStartAgain(state, context) : preStopAgain(state, context);
			case 'graceOver':
				return preStopTooLong(state, message.deadlineMs, context);
			case 'stopped':
				return stopped(state, message, context);
		}
	},
	coalesce: ({type}) => (type === 'configChanged' || type === 'reassigned' || type === 'pulling' ? type : undefined),
	pastIntensity: 'backOff',
	describe: ({phase, attempt}) => describePhase(phase, attempt),
	trouble,
};

/** It has ended and is not to, or cannot start. What it said of its end is in its status. */
function trouble({container: {name}, phase, attempt, lastExit}: ContainerActorState): string | undefined {
	if (phase.type !== 'waiting') return undefined;
	const {reason, message} = phase;
	if (reason !== crashLoop || lastExit === undefined) return `${reason}: ${message.replace(`container "${name}" cannot start: `, '')}`;
	return `${reason}: ${exitText(lastExit)}, attempt ${attempt} comes next`;
}

function describePhase(phase: Phase, attempt: number): string {
	switch (phase.type) {
		case 'running':
			return `pid ${phase.running.pid}, attempt ${attempt}${phase.ready ? '' : ', not ready'}`;
		case 'waiting':
			return `${phase.reason}: ${phase.message}`;
		case 'pulling':
			return phase.progress === undefined ? `image, attempt ${attempt}` : `pulling: ${progressText(phase.progress)}`;
		case 'held':
			return 'waits for its turn';
		case 'postStart':
			return `postStart hook, attempt ${attempt}`;
		case 'stopping':
			return `${phase.step === 'preStop' ? 'preStop hook' : 'stopping'}, attempt ${attempt}`;
		case 'inspecting':
		case 'starting':
		case 'ended':
			return `${phase.type}, attempt ${attempt}`;
	}
}

/** Nothing of what it did counts any more but its attempts, and how often it has failed in a row. */
function sandboxChanged(state: ContainerActorState, {sandbox, sandboxes}: SandboxChanged): ContainerNext {
	const {state: inspecting, effects} = inspect({...state, sandbox, sandboxes, held: true, stopGraceMs: undefined});
	const timers = ['retry', 'hook', 'grace'].map((name): Effect => ({type: 'cancelWake', name}));
	return next(inspecting, [...restProbers(state), ...timers, ...effects]);
}

/** The sandbox was made anew, and the container did not run in it yet. */
const isOfEarlierSandbox = ({sandbox, container: {name}}: ContainerInput, lastExit: ContainerExit | undefined): boolean =>
	sandbox.firstAttempts !== undefined && (lastExit?.attempt ?? -1) < (sandbox.firstAttempts[name] ?? 0);

/** What there is: adopted when it runs; else the attempt after it, or what follows from its end. */
function inspected(state: ContainerActorState, {outcome}: Reply<ContainerObservation, 'inspected'>, context: Context): ContainerNext {
	if (state.phase.type !== 'inspecting') return next(state);
	if (!outcome.ok) return wait(state, runtimeError, outcome.error.message, context);
	const {running, lastExit, nextAttempt} = outcome.value;
	if (running !== undefined) {
		const adopted: ContainerActorState = {...state, attempt: running.attempt, lastExit};
		const found = run(adopted, running, true, context);
		return state.stopGraceMs === undefined ? found : stopForGood(found.state, state.stopGraceMs, context);
	}
	const known: ContainerActorState = {...state, attempt: Math.max(0, nextAttempt - 1), lastExit};
	if (state.stopGraceMs !== undefined) return end(known);
	if (isOfEarlierSandbox(state, lastExit))
		return wantsAnew(state, lastExit) ? start({...known, attempt: nextAttempt}, context) : end(known);
	return lastExit === undefined ? start({...known, attempt: nextAttempt}, context) : settle(known, lastExit, context);
}
