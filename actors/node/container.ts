// One container of one pod. The actor outlives the process it looks after: it starts it, hears of its end, and starts it again
// as the pod's restartPolicy says, with a back-off of its own and without limit.

import type {Container, ContainerStatus, RestartPolicy} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {next, tell, type Behavior, type Context, type Effect, type Message, type Next, type Reply} from '../../system/behavior.js';
import {restartDelayMs, streakAfter, type BackoffPolicy, type Streak} from '../../system/supervision.js';
import type {Assignment, PodEvent} from '../sync-message.js';
import {containerSpecOf} from './container-spec.js';
import {containerStatusOf, type ContainerView, type Phase} from './container-status.js';
import {perform as performCommand} from './perform.js';
import type {ContainerExit, ContainerObservation, RunningContainer, RuntimeCommand, Sandbox} from './runtime-port.js';

export type ContainerInput = {
	readonly assignment: Assignment;
	readonly container: Container;
	readonly sandbox: Sandbox;
	/** The hand: it hears of every change. */
	readonly owner: string;
};

export type ContainerMessage =
	| Reply<ContainerObservation, 'inspected'>
	| Reply<RunningContainer, 'started'>
	| Reply<ContainerExit | null, 'stopped'>
	/** The runtime's word that an attempt is over. */
	| {readonly type: 'exited'; readonly exit: ContainerExit}
	| {readonly type: 'retry'}
	| ConfigChanged
	| {readonly type: 'stopContainer'; readonly graceMs: number};

/** A ConfigMap or Secret that the pod names came, changed or went. */
export type ConfigChanged = {readonly type: 'configChanged'};

export type ContainerActorState = ContainerInput &
	ContainerView & {
		readonly streak: Streak;
		readonly stopGraceMs: number | undefined;
		/** What the pod names has changed since the start was asked for. */
		readonly configChanged: boolean;
	};

/** Told to the hand. */
export type ContainerChanged = {
	readonly type: 'containerChanged';
	readonly name: string;
	readonly status: ContainerStatus;
	/** Nothing runs and nothing will. */
	readonly ended: boolean;
	readonly events: readonly PodEvent[];
};

const backoff: BackoffPolicy = {
	firstMs: limits.containerBackoffFirstMs,
	maxMs: limits.containerBackoffMaxMs,
	resetMs: limits.containerBackoffResetMs,
};

export const container: Behavior<ContainerInput, ContainerActorState, ContainerMessage> = {
	kind: 'Container',
	init: input =>
		inspect({
			...input,
			phase: {type: 'inspecting'},
			attempt: 0,
			lastExit: undefined,
			streak: {restarts: 0},
			stopGraceMs: undefined,
			configChanged: false,
		}),
	receive(state, message, context) {
		switch (message.type) {
			case 'inspected':
				return inspected(state, message, context);
			case 'started':
				return started(state, message, context);
			case 'exited':
				return exited(state, message.exit, context);
			case 'retry':
				return retry(state, context);
			case 'configChanged':
				return configChanged(state, context);
			case 'stopContainer':
				return stop(state, message.graceMs);
			case 'stopped':
				return stopped(state, message, context);
		}
	},
	coalesce: message => (message.type === 'configChanged' ? message.type : undefined),
	pastIntensity: 'backOff',
	describe: ({phase, attempt}) => describePhase(phase, attempt),
};

function describePhase(phase: Phase, attempt: number): string {
	switch (phase.type) {
		case 'running':
			return `pid ${phase.running.pid}, attempt ${attempt}`;
		case 'waiting':
			return `${phase.reason}: ${phase.message}`;
		default:
			return `${phase.type}, attempt ${attempt}`;
	}
}

const idOf = ({assignment, container: {name}}: ContainerInput): {uid: string; container: string} => ({
	uid: assignment.uid,
	container: name,
});

function perform(state: ContainerActorState, command: RuntimeCommand, step: string, as: string, deadlineMs?: number): Effect {
	const {uid, container: name} = idOf(state);
	return performCommand(command, `${uid}/${name}/${step}`, as, deadlineMs);
}

// ---- what is there -------------------------------------------------------------------------------------------------------

const inspect = (state: ContainerActorState): Next<ContainerActorState> =>
	next({...state, phase: {type: 'inspecting'}}, [perform(state, {type: 'container.inspect', id: idOf(state)}, 'inspect', 'inspected')]);

function inspected(
	state: ContainerActorState,
	{outcome}: Reply<ContainerObservation, 'inspected'>,
	context: Context,
): Next<ContainerActorState> {
	if (state.phase.type !== 'inspecting') return next(state);
	if (!outcome.ok) return wait(state, 'RuntimeError', outcome.error.message, context);
	const {running, lastExit, nextAttempt} = outcome.value;
	if (running !== undefined) {
		const adopted: ContainerActorState = {...state, attempt: running.attempt, lastExit, phase: {type: 'running', running}};
		if (state.stopGraceMs !== undefined) return stop(adopted, state.stopGraceMs);
		return next(adopted, [changed(adopted)]);
	}
	const known: ContainerActorState = {...state, attempt: Math.max(0, nextAttempt - 1), lastExit};
	if (state.stopGraceMs !== undefined) return end(known);
	return lastExit === undefined ? start({...known, attempt: nextAttempt}, context) : settle(known, lastExit, context);
}

// ---- start ---------------------------------------------------------------------------------------------------------------

/** Asks for the attempt first: whoever waits for the process waits for nothing else. */
function start(state: ContainerActorState, {known}: Context, events: readonly PodEvent[] = []): Next<ContainerActorState> {
	const {attempt} = state;
	const spec = containerSpecOf(state.container, {...state, known}, attempt);
	if (!spec.ok) return idle(state, spec.reason, spec.message, events);
	const starting: ContainerActorState = {...state, phase: {type: 'starting'}, configChanged: false};
	return next(starting, [
		perform(starting, {type: 'container.start', spec: spec.value}, `start/${attempt}`, 'started'),
		...(events.length === 0 ? [] : [changed(starting, events)]),
	]);
}

/** Waits for what no time brings about. What was said before is not said again. */
function idle(state: ContainerActorState, reason: string, message: string, events: readonly PodEvent[] = []): Next<ContainerActorState> {
	const {phase} = state;
	if (phase.type === 'waiting' && phase.reason === reason && phase.message === message) return next(state);
	const waiting: ContainerActorState = {...state, phase: {type: 'waiting', reason, message, retryAtMs: undefined}};
	return next(waiting, [changed(waiting, [...events, {event: 'Warning', reason: reason === configError ? 'Failed' : reason, message}])]);
}

/** Kubernetes' word for a container that cannot start before something else is there. */
const configError = 'CreateContainerConfigError';

/** Whoever waits for it looks again; who was asking just then, after the answer. */
function configChanged(state: ContainerActorState, context: Context): Next<ContainerActorState> {
	const {phase} = state;
	if (phase.type === 'starting') return next({...state, configChanged: true});
	return phase.type === 'waiting' && phase.reason === configError ? start(state, context) : next(state);
}

function started(
	state: ContainerActorState,
	{id, outcome}: Reply<RunningContainer, 'started'>,
	context: Context,
): Next<ContainerActorState> {
	const current = id.endsWith(`/start/${state.attempt}`);
	if (state.phase.type !== 'starting' || !current) return next(state);
	// Who did not answer in time may have started it after all: what there is decides.
	if (!outcome.ok && outcome.error.code === 'ERR_TIMEOUT') return wait(state, 'RuntimeError', outcome.error.message, context);
	if (!outcome.ok && outcome.error.code === 'ERR_CONFIG_MISSING') return configMissing(state, outcome.error.message, context);
	// Of all that a start needs only Secrets come from another host.
	const isUnfetched = !outcome.ok && outcome.error.code === 'ERR_NOT_REACHABLE';
	if (!outcome.ok) return startFailed(state, isUnfetched ? configError : 'RunContainerError', outcome.error.message, context);
	const running: ContainerActorState = {...state, phase: {type: 'running', running: outcome.value}};
	const event: PodEvent = {
		event: 'Normal',
		reason: 'Started',
		message: `started container ${state.container.name}, attempt ${state.attempt}`,
	};
	return next(running, [changed(running, [event])]);
}

/** What the edge did not find may have come while it was looking. */
const configMissing = (state: ContainerActorState, message: string, context: Context): Next<ContainerActorState> =>
	state.configChanged ? start(state, context) : idle(state, configError, message);

/** A start that fails at once would fail at once again: the first retry waits too. The attempt was never alive and keeps its number. */
function startFailed(state: ContainerActorState, reason: string, message: string, context: Context): Next<ContainerActorState> {
	const streak = {restarts: Math.max(2, state.streak.restarts + 1)};
	return wait({...state, streak}, reason, message, context, [{event: 'Warning', reason: 'Failed', message}]);
}

function wait(
	state: ContainerActorState,
	reason: string,
	message: string,
	context: Context,
	events: readonly PodEvent[] = [],
): Next<ContainerActorState> {
	const delayMs = Math.max(limits.containerBackoffFirstMs, restartDelayMs(state.streak, backoff));
	const retryAtMs = context.nowMs + delayMs;
	const waiting: ContainerActorState = {...state, phase: {type: 'waiting', reason, message, retryAtMs}};
	return next(waiting, [{type: 'wakeAt', name: 'retry', atMs: retryAtMs, message: {type: 'retry'}}, changed(waiting, events)]);
}

function retry(state: ContainerActorState, context: Context): Next<ContainerActorState> {
	if (state.phase.type !== 'waiting') return next(state);
	if (state.phase.reason === 'RuntimeError') return inspect({...state, streak: {restarts: state.streak.restarts + 1}});
	return start(state, context);
}

// ---- end -----------------------------------------------------------------------------------------------------------------

function exited(state: ContainerActorState, exit: ContainerExit, context: Context): Next<ContainerActorState> {
	const {phase} = state;
	if (exit.attempt !== state.attempt || phase.type === 'ended' || phase.type === 'waiting' || phase.type === 'inspecting')
		return next(state);
	return settle({...state, lastExit: exit}, exit, context);
}

/** An attempt is over: start the next, wait before it, or leave it be. */
function settle(state: ContainerActorState, exit: ContainerExit, context: Context): Next<ContainerActorState> {
	const told: PodEvent = {
		event: isClean(exit) ? 'Normal' : 'Warning',
		reason: isClean(exit) ? 'Completed' : 'Crashed',
		message: endOf(state, exit),
	};
	if (state.stopGraceMs !== undefined) return end(state);
	if (!wantsRestart(state.assignment.spec.restartPolicy ?? 'Always', exit)) return end(state, [told]);
	const streak = streakAfter(state.streak, exit.finishedAtMs - exit.startedAtMs, backoff);
	const again: ContainerActorState = {...state, lastExit: exit, streak, attempt: exit.attempt + 1};
	const delayMs = restartDelayMs(streak, backoff) - (context.nowMs - exit.finishedAtMs);
	if (delayMs <= 0) return start(again, context, [told]);
	return wait(again, 'CrashLoopBackOff', `back-off before attempt ${again.attempt}: ${endOf(state, exit)}`, context, [told]);
}

const isClean = ({exitCode}: ContainerExit): boolean => exitCode === 0;

const endOf = ({container: {name}}: ContainerInput, {attempt, exitCode, reason}: ContainerExit): string =>
	`container ${name}, attempt ${attempt}, ended: ${exitCode === undefined ? `exit code unknown (${reason})` : `exit ${exitCode}`}`;

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

function stop(state: ContainerActorState, graceMs: number): Next<ContainerActorState> {
	const asked: ContainerActorState = {...state, stopGraceMs: Math.min(graceMs, state.stopGraceMs ?? graceMs)};
	if (state.phase.type === 'inspecting') return next(asked);
	// Asked for whatever the phase: the runtime knows best whether something still runs.
	const step = `stop/${state.attempt}/${graceMs}`;
	return next({...asked, phase: {type: 'stopping'}}, [
		{type: 'cancelWake', name: 'retry'},
		perform(asked, {type: 'container.stop', id: idOf(state), graceMs}, step, 'stopped', graceMs + limits.stopSlackMs),
	]);
}

function stopped(
	state: ContainerActorState,
	{outcome}: Reply<ContainerExit | null, 'stopped'>,
	context: Context,
): Next<ContainerActorState> {
	if (state.phase.type !== 'stopping') return next(state);
	if (!outcome.ok) return wait({...state, streak: {restarts: state.streak.restarts + 1}}, 'RuntimeError', outcome.error.message, context);
	return end({...state, lastExit: outcome.value ?? state.lastExit});
}

function end(state: ContainerActorState, events: readonly PodEvent[] = []): Next<ContainerActorState> {
	const ended: ContainerActorState = {...state, phase: {type: 'ended'}};
	return next(ended, [changed(ended, events)]);
}

// ---- what is told ----------------------------------------------------------------------------------------------------------

function changed(state: ContainerActorState, events: readonly PodEvent[] = []): Effect {
	const message: Message & ContainerChanged = {
		type: 'containerChanged',
		name: state.container.name,
		status: containerStatusOf(state),
		ended: state.phase.type === 'ended',
		events,
	};
	return tell(state.owner, message);
}
