// Which containers of a pod may start: init containers one after another, each to success, then all main ones. Pure.
//
// It goes by what is known of them alone, so that it is the same after a restart of the agent.

import type {Container, ContainerStatus, PodSpec} from '../../../api/kinds/pod.js';
import {neverStarted, type ContainerRole} from '../containers/container-status.js';
import type {Sandbox} from '../runtime/runtime-port.js';

type Statuses = {readonly [name: string]: ContainerStatus};

export type StartOrder = {
	/** Nothing of initialising is left to do. */
	readonly initialized: boolean;
	/** An init container failed and is not tried again. */
	readonly failed: boolean;
	/** Init containers that did not succeed yet. */
	readonly incomplete: readonly string[];
	/** Containers that may start, as far as the order goes. */
	readonly mayStart: readonly string[];
};

/** All of them, in the order in which they start. */
export const containersIn = ({
	initContainers = [],
	containers,
}: PodSpec): readonly {readonly container: Container; readonly role: ContainerRole}[] => [
	...initContainers.map(container => ({container, role: 'init' as const})),
	...containers.map(container => ({container, role: 'main' as const})),
];

/** `firstAttempts`: of a sandbox that was made anew; what ran before them has to be done again. */
export function startOrderOf(
	{initContainers = [], containers, restartPolicy}: PodSpec,
	statuses: Statuses,
	firstAttempts?: Sandbox['firstAttempts'],
): StartOrder {
	const mains = containers.map(({name}) => name);
	// Of what was over before the sandbox died nothing is to be done again.
	const isOver = firstAttempts !== undefined && mains.every(name => statuses[name]?.state?.terminated !== undefined);
	const since = (name: string): ContainerStatus | undefined => {
		const status = statuses[name];
		return status === undefined || status.restartCount >= (firstAttempts?.[name] ?? 0) ? status : undefined;
	};
	// Once a main container has begun, init containers are over for good (HasAnyRegularContainerCreated of the kubelet).
	const incomplete =
		isOver || mains.some(name => hasBegun(since(name)))
			? []
			: initContainers.map(({name}) => name).filter(name => !hasSucceeded(since(name)));
	const [current] = incomplete;
	if (current === undefined) return {initialized: true, failed: false, incomplete, mayStart: mains};
	const end = statuses[current]?.state?.terminated;
	const failed = restartPolicy === 'Never' && end !== undefined && end.exitCode !== 0;
	return {initialized: false, failed, incomplete, mayStart: failed ? [] : [current]};
}

/** What was stopped before it ever ran has not. */
export const hasSucceeded = (status: ContainerStatus | undefined): boolean =>
	status?.state?.terminated?.exitCode === 0 && status.state.terminated.reason !== neverStarted;

/** It lives or has lived. */
const hasBegun = (status: ContainerStatus | undefined): boolean =>
	status?.state?.running !== undefined || hasEnded(status?.state?.terminated) || hasEnded(status?.lastState?.terminated);

const hasEnded = (end: {readonly reason?: string} | undefined): boolean => end !== undefined && end.reason !== neverStarted;
