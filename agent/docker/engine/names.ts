// How containers of ours are told from others: by labels, which only their maker sets. Names and what stands for a pod are for people.

import type {ContainerId} from '../../../actors/node/runtime/runtime-port.js';

export const labels = {
	/** The home whose agent made it: an id that its directory keeps. Containers without it are never touched. */
	owner: 'troupe.dev/owner',
	podUid: 'troupe.dev/pod-uid',
	/** `infraName` for the one that owns the pod's namespaces. */
	container: 'troupe.dev/container',
	attempt: 'troupe.dev/attempt',
	/** `warm`: made in advance, of no pod yet. `runner`: the same of a container in which a runner of functions waits. */
	sandbox: 'troupe.dev/sandbox',
	pod: 'troupe.dev/pod',
	namespace: 'troupe.dev/namespace',
} as const;

/** No container of a pod is called like that: names are labels of DNS. */
export const infraName = '_infra';

/** Whose it is, for labels and names. */
export type Made = {
	readonly owner: string;
	readonly namespace: string;
	readonly podName: string;
	readonly id: ContainerId;
	readonly attempt: number;
};

export const labelsOf = ({owner, namespace, podName, id, attempt}: Made): Record<string, string> => ({
	[labels.owner]: owner,
	[labels.podUid]: id.uid,
	[labels.container]: id.container,
	[labels.attempt]: String(attempt),
	[labels.pod]: podName,
	[labels.namespace]: namespace,
});

/** As the kubelet named them: one of each attempt, so that a second one of it cannot be made. */
export const nameOf = ({owner, namespace, podName, id, attempt}: Made): string =>
	['troupe', id.container.replace('_', ''), podName, namespace, id.uid, attempt, owner.slice(0, 8)].join('_');

/** What the labels of a container of ours say; undefined: it is of no pod. */
export function madeOf(said: Readonly<Record<string, string>>): {readonly id: ContainerId; readonly attempt: number} | undefined {
	const {[labels.podUid]: uid, [labels.container]: container, [labels.attempt]: attempt} = said;
	if (uid === undefined || container === undefined) return undefined;
	return {id: {uid, container}, attempt: Number(attempt)};
}

/** Whether it was made for no pod, as a runner of functions: its labels never say whose it has become. */
export const wasRunner = (said: Readonly<Record<string, string>>): boolean => said[labels.sandbox] === 'runner';
