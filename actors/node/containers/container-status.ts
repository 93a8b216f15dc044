// How a container is, and how Kubernetes words that. Pure.

import type {Container, ContainerState, ContainerStatus} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import type {ContainerBeginning, ContainerExit, RunningContainer} from '../runtime/runtime-port.js';

/** What becomes of a container. */
export type Phase =
	| {readonly type: 'inspecting'}
	/** Something has to be there first: volumes, init containers. The hand says when. */
	| {readonly type: 'held'}
	/** Its image is looked for, and pulled if need be; undefined: it is not known to be pulled. */
	| {readonly type: 'pulling'; readonly progress: PullProgress | undefined}
	| {readonly type: 'starting'}
	/** It runs, and counts as that once its hook is done. */
	| {readonly type: 'postStart'; readonly running: RunningContainer}
	| RunningPhase
	| {readonly type: 'waiting'; readonly reason: string; readonly message: string; readonly retry: Retry | undefined}
	| StoppingPhase
	/** Over for good: the policy wants no restart, or a stop was asked for. */
	| {readonly type: 'ended'};

/** How much of an image is there; undefined: it is not known. */
export type PullProgress = {
	readonly percent: number | undefined;
	readonly bytes: number | undefined;
	readonly totalBytes: number | undefined;
};

/** The next try: when, and its number among those that followed a first one. */
export type Retry = {readonly atMs: number; readonly number: number};

export type RunningPhase = {
	readonly type: 'running';
	readonly running: RunningContainer;
	/** Its startup probe has passed, or it has none. */
	readonly started: boolean;
	readonly ready: boolean;
	/** It ran already when this actor looked. */
	readonly isAdopted: boolean;
	/** Adopted and not probed yet: until then what was known of it stands. */
	readonly isUnsettled: boolean;
};

export type StoppingPhase = {
	readonly type: 'stopping';
	/** Undefined: it is not known whether something runs. */
	readonly running: RunningContainer | undefined;
	readonly step: 'preStop' | 'stop';
	/** When its grace is over. */
	readonly deadlineMs: number;
	/** How long that was when it was asked for. */
	readonly graceMs: number;
	/** What asked for it. */
	readonly cause: string;
};

/** An init container runs once, to success, before the main ones; a sidecar begins with those, and runs on beside all that come after it. */
export type ContainerRole = 'init' | 'sidecar' | 'main';

/** What of the actor shows in the status. */
export type ContainerView = {
	readonly container: Container;
	readonly role: ContainerRole;
	readonly phase: Phase;
	/** The attempt that runs, or comes next. */
	readonly attempt: number;
	readonly lastExit: ContainerExit | undefined;
};

/** The status as Kubernetes words it. */
export function containerStatusOf({container: {name, image}, role, phase, lastExit, attempt}: ContainerView): ContainerStatus {
	const last = lastExit === undefined ? undefined : {terminated: terminatedOf(lastExit)};
	const running = runningIn(phase);
	const {beginning, handle, imageId = ''} = running ?? lastExit ?? {};
	const showsLast = phase.type !== 'ended' && (phase.type !== 'stopping' || running !== undefined) && last !== undefined;
	return {
		name,
		state: role === 'init' && phase.type === 'held' && lastExit?.exitCode === 0 ? (last ?? {}) : shownState(phase, last),
		...(showsLast ? {lastState: last} : {}),
		ready: role === 'init' ? phase.type === 'ended' && lastExit?.exitCode === 0 : phase.type === 'running' && phase.ready,
		started: phase.type === 'running' && phase.started,
		restartCount: restartsOf(phase, attempt, lastExit),
		image,
		imageID: imageId,
		...(handle === undefined ? {} : {containerID: handle}),
		...(beginning === undefined ? {} : beginningOf(beginning)),
	};
}

/** Kubernetes has words for the user only. */
const beginningOf = ({uid, gid, groups, workingDir, home, path}: ContainerBeginning): Pick<ContainerStatus, 'user' | 'process'> => ({
	user: {linux: {uid, gid, supplementalGroups: [...groups]}},
	process: {workingDir, home, path},
});

/** The attempt that runs, as far as that is known. */
export const runningIn = (phase: Phase): RunningContainer | undefined => ('running' in phase ? phase.running : undefined);

/** Attempts that followed a first one and came to life. */
const restartsOf = (phase: Phase, attempt: number, lastExit: ContainerExit | undefined): number =>
	'running' in phase ? attempt : (lastExit?.attempt ?? 0);

function shownState(phase: Phase, last: ContainerState | undefined): ContainerState {
	switch (phase.type) {
		case 'running':
			return runningState(phase.running);
		case 'waiting':
			return {
				waiting: {
					reason: phase.reason,
					message: phase.message,
					...(phase.retry === undefined ? {} : {retryAt: isoOf(phase.retry.atMs), retry: phase.retry.number}),
				},
			};
		case 'ended':
			return last ?? {terminated: {exitCode: 0, reason: neverStarted}};
		case 'stopping':
			return phase.running === undefined ? {waiting: {reason: 'Stopping'}} : runningState(phase.running);
		case 'pulling':
			if (phase.progress === undefined) return {waiting: {reason: 'ContainerCreating'}};
			return {waiting: {reason: 'Pulling', message: progressText(phase.progress)}};
		case 'held':
			return {waiting: {reason: podInitializing}};
		case 'inspecting':
		case 'starting':
		case 'postStart':
			return {waiting: {reason: 'ContainerCreating'}};
	}
}

/** `43 %, 12 of 28 MB`; what is known of it. */
export function progressText({percent, bytes, totalBytes}: PullProgress): string {
	if (percent === undefined || bytes === undefined) return 'asking the registry';
	if (totalBytes === undefined) return `${percent} %, ${megabytes(bytes)} MB`;
	if (bytes >= totalBytes) return `${percent} %, unpacking ${megabytes(totalBytes)} MB`;
	return `${percent} %, ${megabytes(bytes)} of ${megabytes(totalBytes)} MB`;
}

/** With a decimal where it is little. */
export const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0);

/** Of a container whose turn has not come. */
export const podInitializing = 'PodInitializing';

/** Of a container that was stopped before it ever ran. */
export const neverStarted = 'NeverStarted';

const runningState = ({startedAtMs}: RunningContainer): ContainerState => ({running: {startedAt: isoOf(startedAtMs)}});

const terminatedOf = (exit: ContainerExit): NonNullable<ContainerState['terminated']> => ({
	exitCode: exit.exitCode ?? -1,
	...(exit.signal === undefined ? {} : {signal: exit.signal}),
	reason: exit.reason,
	...(exit.lastLines === undefined || exit.lastLines === '' ? {} : {message: exit.lastLines.slice(-limits.lastLinesBytes)}),
	startedAt: isoOf(exit.startedAtMs),
	finishedAt: isoOf(exit.finishedAtMs),
	...(exit.handle === undefined ? {} : {containerID: exit.handle}),
});

const isoOf = (ms: number): string => new Date(ms).toISOString();
