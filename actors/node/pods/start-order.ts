// Which containers of a pod may start: init containers one after another, each to success, or to its start if it is a sidecar, then all
// main ones. Pure.
//
// It goes by what is known of them alone, so that it is the same after a restart of the agent.

import type {Container, ContainerStatus, PodSpec} from '../../../api/kinds/pod.js';
import {isSidecar} from '../../../api/sidecars.js';
import {neverStarted, type ContainerRole} from '../containers/container-status.js';
import type {Sandbox} from '../runtime/runtime-port.js';

type Statuses = {readonly [name: string]: ContainerStatus};

export type StartOrder = {
	/** Nothing of initialising is left to do. */
	readonly initialized: boolean;
	/** An init container failed and is not tried again. */
	readonly failed: boolean;
	/** No main container runs, and none will. */
	readonly isOver: boolean;
	/** Init containers that did not succeed yet, and sidecars that did not start. */
	readonly incomplete: readonly string[];
	/** Containers that may start, as far as the order goes. */
	readonly mayStart: readonly string[];
};

/** All of them, in the order in which they start. */
export const containersIn = ({
	initContainers = [],
	containers,
}: PodSpec): readonly {readonly container: Container; readonly role: ContainerRole}[] => [
	...initContainers.map(container => ({container, role: isSidecar(container) ? ('sidecar' as const) : ('init' as const)})),
	...containers.map(container => ({container, role: 'main' as const})),
];

/** `firstAttempts`: of a sandbox that was made anew; what ran before them has to be done again. */
export function startOrderOf(
	{initContainers = [], containers, restartPolicy}: PodSpec,
	statuses: Statuses,
	firstAttempts?: Sandbox['firstAttempts'],
): StartOrder {
	const mains = containers.map(({name}) => name);
	const since = (name: string): ContainerStatus | undefined => {
		const status = statuses[name];
		return status === undefined || status.restartCount >= (firstAttempts?.[name] ?? 0) ? status : undefined;
	};
	// Of what was over before a sandbox died nothing is to be done again.
	const isOver = mains.every(name => {
		const end = statuses[name]?.state?.terminated;
		return firstAttempts === undefined ? hasEnded(end) : end !== undefined;
	});
	// Once a main container has begun, init containers are over for good (HasAnyRegularContainerCreated of the kubelet).
	const isPast = isOver || mains.some(name => hasBegun(since(name)));
	const latest = initContainers.findLastIndex(({name}) => hasBegun(since(name)));
	const isDone = (container: Container, at: number): boolean =>
		isSidecar(container) ? at < latest || since(container.name)?.started === true : hasSucceeded(since(container.name));
	const at = isPast ? -1 : initContainers.findIndex((container, i) => !isDone(container, i));
	if (at < 0) {
		const all = [...initContainers.filter(isSidecar).map(({name}) => name), ...mains];
		return {initialized: true, failed: false, isOver, incomplete: [], mayStart: isOver ? [] : all};
	}
	const rest = initContainers.filter((container, i) => i >= at && !isDone(container, i)).map(({name}) => name);
	const turn = initContainers.filter((container, i) => i === at || (i < at && isSidecar(container))).map(({name}) => name);
	const current = initContainers[at];
	const end = current === undefined || isSidecar(current) ? undefined : statuses[current.name]?.state?.terminated;
	const failed = restartPolicy === 'Never' && end !== undefined && end.exitCode !== 0;
	return {initialized: false, failed, isOver: failed, incomplete: rest, mayStart: failed ? [] : turn};
}

/** What was stopped before it ever ran has not. */
export const hasSucceeded = (status: ContainerStatus | undefined): boolean =>
	status?.state?.terminated?.exitCode === 0 && status.state.terminated.reason !== neverStarted;

/** It lives or has lived. */
const hasBegun = (status: ContainerStatus | undefined): boolean =>
	status?.state?.running !== undefined || hasEnded(status?.state?.terminated) || hasEnded(status?.lastState?.terminated);

const hasEnded = (end: {readonly reason?: string} | undefined): boolean => end !== undefined && end.reason !== neverStarted;
