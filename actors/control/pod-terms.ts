// The terms under which the index files pods: by node, by port, by owner. Counts come from there, so nobody walks thousands of pods at
// each change of one.

import type {ObjectKey} from '../../api/keys.js';
import type {Labels} from '../../api/object.js';

/** Pods that no node has; those that are over or being deleted aside. */
export const unbound = 'unbound';

/** Pods bound to a node. */
export const onNode = (node: string): string => `node=${node}`;

/** Pods that take room on a node: those that are over do not. */
export const occupies = (node: string): string => `occupies=${node}`;

/** What the pods that take room on a node ask for: amounts, in thousandths of a CPU and in bytes. */
export const cpuOnNode = (node: string): string => `cpu=${node}`;
export const memoryOnNode = (node: string): string => `memory=${node}`;

/** Pods without a node for which room is kept on one. */
export const nominated = 'nominated';

/** Bound pods that keep others away from where they are. */
export const repelling = 'repelling';

/** Bound pods that count less than those who say nothing. */
export const belowDefault = 'below-default';

/** Pods that hold a port of a node. */
export const portOnNode = (node: string, port: string): string => `port=${node}/${port}`;

/** Pods bound to a node that name a ConfigMap or Secret. */
export const namesOnNode = (node: string, key: ObjectKey): string => `names=${node}/${key}`;

/** Pods that name this owner. */
export const ownedTerm = (uid: string): string => `owned=${uid}`;

/** Pods of a namespace that no controller owns. */
export const strayTerm = (namespace: string): string => `stray=${namespace}`;

/** What a pod counts as: it serves, it is on its way, or it is over or being deleted. */
export type Standing = 'ready' | 'unready' | 'over';

/** Pods of an owner that have just these labels, by their standing. */
export const censusTerm = (uid: string, labels: Labels | undefined, standing: Standing): string =>
	`${standing}=${uid}/${labels === undefined ? '' : textOf(labels)}`;

/** In one order, whoever wrote them. */
const textOf = (labels: Labels): string =>
	Object.entries(labels)
		.map(([label, value]) => `${label}=${value}`)
		.sort()
		.join(',');
