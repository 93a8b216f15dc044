// How many pods of one sort there are in each part of a cluster that a label of its nodes makes: zones, racks, hosts.

import type {Pod} from '../../../api/kinds/pod.js';
import type {Labels} from '../../../api/object.js';

export type Counter = {
	/** The label whose values are the parts. */
	readonly topologyKey: string;
	readonly counts: Map<string, number>;
	/** How often a pod counts. */
	readonly worth: (pod: Pod) => number;
};

export const counterOf = (topologyKey: string, worth: (pod: Pod) => number): Counter => ({topologyKey, counts: new Map(), worth});

/** The part of the cluster in which a node with these labels is; undefined where it has not the label. */
export const partOf = (topologyKey: string, labels: Labels): string | undefined =>
	Object.hasOwn(labels, topologyKey) ? labels[topologyKey] : undefined;

/** Takes a pod in that is on a node with these labels. */
export function count({topologyKey, counts, worth}: Counter, pod: Pod, labels: Labels): void {
	const part = partOf(topologyKey, labels);
	const more = part === undefined ? 0 : worth(pod);
	if (part !== undefined && more > 0) counts.set(part, (counts.get(part) ?? 0) + more);
}

/** Takes in one of which it is known that it counts once. */
export function countOne({topologyKey, counts}: Counter, labels: Labels): void {
	const part = partOf(topologyKey, labels);
	if (part !== undefined) counts.set(part, (counts.get(part) ?? 0) + 1);
}

/** How many there are in the part of a node, without some pods of that very node; undefined where it has not the label. */
export function countAt({topologyKey, counts, worth}: Counter, labels: Labels, without: readonly Pod[]): number | undefined {
	const part = partOf(topologyKey, labels);
	if (part === undefined) return undefined;
	const all = counts.get(part) ?? 0;
	return without.length === 0 ? all : without.reduce((sum, pod) => sum - worth(pod), all);
}
