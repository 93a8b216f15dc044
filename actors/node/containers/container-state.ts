// What the actor of a container knows, what it is told, and how it tells its hand.

import type {Container, ContainerStatus} from '../../../api/kinds/pod.js';
import {next, tell, type Effect, type Message, type Next, type Reply} from '../../../system/kernel/behavior.js';
import type {Streak} from '../../../system/kernel/restart-policy.js';
import type {Assignment, PodEvent} from '../../protocol/sync-message.js';
import {containerStatusOf, type ContainerRole, type ContainerView, type PullProgress} from './container-status.js';
import {perform as performCommand} from '../runtime/perform.js';
import type {ProbeNews} from './prober.js';
import type {
	ActionResult,
	ContainerExit,
	ContainerObservation,
	EnsuredImage,
	RunningContainer,
	RuntimeCommand,
	Sandbox,
} from '../runtime/runtime-port.js';

export type ContainerInput = {
	readonly assignment: Assignment;
	readonly container: Container;
	readonly role: ContainerRole;
	/** It is only looked at until the hand says that its turn has come. */
	readonly held: boolean;
	/** Set once it is to end for good: here, of a pod that ends, or later, when the hand says so. */
	readonly stopGraceMs: number | undefined;
	readonly sandbox: Sandbox;
	/** How often the hand had seen the pod's sandbox change by then: what a container says is of that one. */
	readonly sandboxes: number;
	/** The hand: it hears of every change. */
	readonly owner: string;
};

export type ContainerMessage =
	| Reply<ContainerObservation, 'inspected'>
	| Reply<EnsuredImage, 'imageEnsured'>
	| Pulling
	| Reply<RunningContainer, 'started'>
	| Reply<ContainerExit | null, 'stopped'>
	| Reply<ActionResult, 'postStarted'>
	| Reply<ActionResult, 'preStopped'>
	/** The runtime's word that an attempt is over. */
	| {readonly type: 'exited'; readonly exit: ContainerExit}
	/** What has to be there before it is there. */
	| Begin
	| {readonly type: 'retry'}
	| SkipBackoff
	| ConfigChanged
	| Reassigned
	| SandboxChanged
	| ProbeNews
	/** A hook that sleeps has slept. */
	| {readonly type: 'slept'; readonly hook: 'postStart' | 'preStop'; readonly attempt: number}
	/** The edge had no room for a hook. */
	| {readonly type: 'hookAgain'; readonly hook: 'postStart' | 'preStop'; readonly attempt: number}
	/** The time that preStop may take is over. */
	| {readonly type: 'graceOver'; readonly deadlineMs: number}
	| {readonly type: 'stopContainer'; readonly graceMs: number};

/** The runtime's word of how far the pull of the image is. */
export type Pulling = {readonly type: 'pulling'} & PullProgress;

export type Begin = {readonly type: 'begin'};

/** The next try, before its time: a client asked for it. Containers, volumes and sandbox understand it. */
export type SkipBackoff = {readonly type: 'skipBackoff'};

/** A ConfigMap or Secret that the pod names came, changed or went. */
export type ConfigChanged = {readonly type: 'configChanged'};

/** The pod has other labels or annotations: the next start has them. */
export type Reassigned = {readonly type: 'reassigned'; readonly assignment: Assignment};

/** The pod's sandbox was made anew, and nothing runs in it: everything begins again, when its turn has come. */
export type SandboxChanged = {readonly type: 'sandboxChanged'; readonly sandbox: Sandbox; readonly sandboxes: number};

export type ContainerActorState = ContainerInput &
	ContainerView & {
		readonly streak: Streak;
		/** Tries that brought no attempt to life, since this actor began. */
		readonly failedTries: number;
		/** Pulls of its image that failed in a row. */
		readonly pullFailures: number;
		/** What the pod names has changed since the start was asked for. */
		readonly configChanged: boolean;
	};

/** What a handler of the container's actor makes of its state. */
export type ContainerNext = Next<ContainerActorState>;

/** Told to the hand. */
export type ContainerChanged = {
	readonly type: 'containerChanged';
	readonly name: string;
	readonly status: ContainerStatus;
	/** Nothing runs and nothing will. */
	readonly ended: boolean;
	/** It waits until it is told to begin. */
	readonly held: boolean;
	/** Whether it is ready is not known yet: what was known before stands. */
	readonly isUnsettled: boolean;
	/** Of which sandbox it speaks; see `ContainerInput`. */
	readonly sandboxes: number;
	readonly events: readonly PodEvent[];
};

export const idOf = ({assignment, container: {name}}: ContainerInput): {uid: string; container: string} => ({
	uid: assignment.uid,
	container: name,
});

/** A command for this container. */
export function askRuntime(state: ContainerInput, command: RuntimeCommand, step: string, as: string, deadlineMs?: number): Effect {
	const {uid, container: name} = idOf(state);
	return performCommand(command, `${uid}/${name}/${step}`, as, deadlineMs);
}

/** A timer of this container; a time in the past means now. */
export const timer = (name: string, atMs: number, atMostMs: number, message: ContainerMessage): Effect => ({
	type: 'wakeAt',
	name,
	atMs,
	atMostMs,
	message,
});

/** Asks what there is: attempts of an earlier agent, or of an actor that crashed. */
export const inspect = (state: ContainerActorState): ContainerNext =>
	next({...state, phase: {type: 'inspecting'}}, [askRuntime(state, {type: 'container.inspect', id: idOf(state)}, 'inspect', 'inspected')]);

export function end(state: ContainerActorState, events: readonly PodEvent[] = []): ContainerNext {
	const ended: ContainerActorState = {...state, phase: {type: 'ended'}};
	return next(ended, [changed(ended, events)]);
}

/** Tells the hand how it is. */
export function changed(state: ContainerActorState, events: readonly PodEvent[] = []): Effect {
	const {phase} = state;
	const message: Message & ContainerChanged = {
		type: 'containerChanged',
		name: state.container.name,
		status: containerStatusOf(state),
		ended: phase.type === 'ended',
		held: phase.type === 'held',
		isUnsettled: phase.type === 'running' && phase.isUnsettled,
		sandboxes: state.sandboxes,
		events: events.map(event => ({...event, fieldPath: fieldPathOf(state)})),
	};
	return tell(state.owner, message);
}

/** As the kubelet names a container in its events. */
const fieldPathOf = ({role, container: {name}}: ContainerInput): string =>
	`spec.${role === 'main' ? 'containers' : 'initContainers'}{${name}}`;
