// How many pods of one sort are placed in each topology domain: the parts of a cluster that a label of its nodes makes, such as zones, racks,
// hosts. Placed are pods that are bound or assumed.

import type {Pod} from '../../../api/kinds/pod.js';
import type {Labels} from '../../../api/object.js';
import type {LabelSelector} from '../../../api/selector.js';
import type {Known} from '../../../system/index/object-index.js';
import {isTerminal} from '../pods/pod-lifecycle.js';
import {withAntiAffinity} from '../pods/pod-terms.js';
import {requiresAntiAffinity} from '../pods/pod-requirements.js';

export type DomainCounts = {
	/** The label whose values are the domains. */
	readonly topologyKey: string;
	readonly counts: Map<string, number>;
	/** How often a pod counts. */
	readonly countOf: (pod: Pod) => number;
};

export const domainCounts = (topologyKey: string, countOf: (pod: Pod) => number): DomainCounts => ({
	topologyKey,
	counts: new Map(),
	countOf,
});

/** The domain of a node with these labels; undefined where it has not the label. */
export const domainOf = (topologyKey: string, labels: Labels): string | undefined =>
	Object.hasOwn(labels, topologyKey) ? labels[topologyKey] : undefined;

/** Takes a pod in that is on a node with these labels; `times` where it is known how often it counts. */
export function addPod({topologyKey, counts, countOf}: DomainCounts, pod: Pod, labels: Labels, times?: number): void {
	const domain = domainOf(topologyKey, labels);
	if (domain === undefined) return;
	const more = times ?? countOf(pod);
	if (more > 0) counts.set(domain, (counts.get(domain) ?? 0) + more);
}

/** How many there are in the domain of a node, without some pods of that very node; undefined where it has not the label. */
export function countAt({topologyKey, counts, countOf}: DomainCounts, labels: Labels, without: readonly Pod[]): number | undefined {
	const domain = domainOf(topologyKey, labels);
	if (domain === undefined) return undefined;
	const all = counts.get(domain) ?? 0;
	return without.length === 0 ? all : without.reduce((sum, pod) => sum - countOf(pod), all);
}

/** Pods whose bind is asked for and not committed, with their node; by uid. */
export type AssumedPods = ReadonlyMap<string, {readonly pod: Pod; readonly node: string}>;

/** Is told of one pod and its node. */
type Visit = (pod: Pod, node: string) => void;

/** Visits the placed pods of some namespaces that match; those that are over are nowhere. */
export function visitPlaced(
	known: Known,
	assumed: AssumedPods,
	namespaces: readonly string[],
	selector: LabelSelector | undefined,
	visit: Visit,
): void {
	if (selector === undefined) return; // In Kubernetes no selector selects nothing.
	for (const namespace of namespaces) {
		for (const object of known.select('pods', namespace, selector)) {
			const pod = object as Pod;
			const node = pod.spec?.nodeName ?? assumed.get(pod.metadata.uid)?.node;
			if (node !== undefined && !isTerminal(pod)) visit(pod, node);
		}
	}
}

/** Visits the placed pods that keep others away. */
export function visitAntiAffinity(known: Known, assumed: AssumedPods, visit: Visit): void {
	for (const object of known.byTerm('pods', withAntiAffinity)) {
		const pod = object as Pod;
		if (pod.spec?.nodeName !== undefined) visit(pod, pod.spec.nodeName);
	}
	for (const {pod, node} of assumed.values()) if (pod.spec !== undefined && requiresAntiAffinity(pod.spec)) visit(pod, node);
}
