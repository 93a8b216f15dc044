// How a container is, and how Kubernetes words that. Pure.

import type {Container, ContainerState, ContainerStatus} from '../../api/kinds/pod.js';
import type {ContainerExit, RunningContainer} from './runtime-port.js';

/** What becomes of a container. */
export type Phase =
	| {readonly type: 'inspecting'}
	| {readonly type: 'starting'}
	| {readonly type: 'running'; readonly running: RunningContainer}
	| {readonly type: 'waiting'; readonly reason: string; readonly message: string; readonly retryAtMs: number | undefined}
	| {readonly type: 'stopping'}
	/** Over for good: the policy wants no restart, or a stop was asked for. */
	| {readonly type: 'ended'};

/** What of the actor shows in the status. */
export type ContainerView = {
	readonly container: Container;
	readonly phase: Phase;
	/** The attempt that runs, or comes next. */
	readonly attempt: number;
	readonly lastExit: ContainerExit | undefined;
};

/** The status as Kubernetes words it. */
export function containerStatusOf({container: {name, image}, phase, lastExit, attempt}: ContainerView): ContainerStatus {
	const last = lastExit === undefined ? undefined : {terminated: terminatedOf(lastExit)};
	const isRunning = phase.type === 'running';
	const showsLast = phase.type !== 'ended' && phase.type !== 'stopping' && last !== undefined;
	return {
		name,
		state: shownState(phase, last),
		...(showsLast ? {lastState: last} : {}),
		ready: isRunning,
		started: isRunning,
		restartCount: restartsOf(phase, attempt, lastExit),
		image,
		imageID: '',
		...(isRunning ? {containerID: `process://${phase.running.handle}`} : {}),
	};
}

/** Attempts that followed a first one and came to life. */
const restartsOf = (phase: Phase, attempt: number, lastExit: ContainerExit | undefined): number =>
	phase.type === 'running' || phase.type === 'stopping' ? attempt : (lastExit?.attempt ?? 0);

function shownState(phase: Phase, last: ContainerState | undefined): ContainerState {
	switch (phase.type) {
		case 'running':
			return {running: {startedAt: isoOf(phase.running.startedAtMs)}};
		case 'waiting':
			return {
				waiting: {
					reason: phase.reason,
					message: phase.message,
					...(phase.retryAtMs === undefined ? {} : {retryAt: isoOf(phase.retryAtMs)}),
				},
			};
		case 'ended':
			return last ?? {terminated: {exitCode: 0, reason: 'NeverStarted'}};
		case 'inspecting':
		case 'starting':
		case 'stopping':
			return {waiting: {reason: phase.type === 'stopping' ? 'Stopping' : 'ContainerCreating'}};
	}
}

const terminatedOf = ({exitCode, signal, reason, startedAtMs, finishedAtMs}: ContainerExit): NonNullable<ContainerState['terminated']> => ({
	exitCode: exitCode ?? -1,
	...(signal === undefined ? {} : {signal}),
	reason,
	startedAt: isoOf(startedAtMs),
	finishedAt: isoOf(finishedAtMs),
});

const isoOf = (ms: number): string => new Date(ms).toISOString();
