// Evenly over zones, racks or hosts. After Kubernetes' PodTopologySpread: the domains are those of all nodes that the pod's node selector and node
// affinity name; taints and readiness do not matter, and a pod that is being deleted does not count.

import type {Pod} from '../../../api/kinds/pod.js';
import {matches} from '../../../api/selector.js';
import type {TopologySpreadConstraint} from '../../../api/shapes/pod.js';
import type {Known} from '../../../system/index/object-index.js';
import {isDeleting} from '../objects/garbage.js';
import {matchesNode} from '../pods/node-affinity.js';
import type {NodeInfo} from './node-info.js';
import {addPod, countAt, domainCounts, domainOf, visitPlaced, type AssumedPods, type DomainCounts} from './topology.js';

/** One constraint in one cycle. */
export type Spread = {
	readonly constraint: TopologySpreadConstraint;
	readonly isHard: boolean;
	/** Has each domain that counts, also those without any such pod. */
	readonly counts: DomainCounts;
	/** The nodes that count. */
	readonly eligible: ReadonlySet<NodeInfo>;
	/** 1 when the pod is one of those that are spread. */
	readonly self: 0 | 1;
	/** The fewest that a domain has; undefined until it is asked for. */
	fewest: number | undefined;
};

export function spreadsOf(
	pod: Pod,
	known: Known,
	assumed: AssumedPods,
	nodes: readonly NodeInfo[],
	nodeOf: (name: string) => NodeInfo | undefined,
): readonly Spread[] {
	const {spec, metadata} = pod;
	const constraints = spec?.topologySpreadConstraints ?? [];
	if (spec === undefined || constraints.length === 0) return [];
	const keys = constraints.filter(isHard).map(({topologyKey}) => topologyKey);
	const eligible = new Set(nodes.filter(node => matchesNode(spec, node) && keys.every(key => domainOf(key, node.labels) !== undefined)));
	return constraints.map(constraint => {
		const {topologyKey, labelSelector} = constraint;
		const isMeant = (other: Pod): boolean =>
			labelSelector !== undefined &&
			other.metadata.namespace === metadata.namespace &&
			!isDeleting(other) &&
			matches(labelSelector, other.metadata.labels);
		const counts = domainCounts(topologyKey, other => (isMeant(other) ? 1 : 0));
		for (const {labels} of eligible) {
			const domain = domainOf(topologyKey, labels);
			if (domain !== undefined) counts.counts.set(domain, 0);
		}
		visitPlaced(known, assumed, [metadata.namespace ?? ''], labelSelector, (other, name) => {
			const node = nodeOf(name);
			// The selector was asked by the index.
			if (node !== undefined && eligible.has(node) && !isDeleting(other)) addPod(counts, other, node.labels, 1);
		});
		return {constraint, isHard: isHard(constraint), counts, eligible, self: isMeant(pod) ? 1 : 0, fewest: undefined};
	});
}

const isHard = ({whenUnsatisfiable}: TopologySpreadConstraint): boolean => whenUnsatisfiable === 'DoNotSchedule';

/** Takes in a pod that was just placed. */
export function addToSpreads(spreads: readonly Spread[], pod: Pod, node: NodeInfo): void {
	for (const spread of spreads) {
		if (!spread.eligible.has(node)) continue;
		const before = countAt(spread.counts, node.labels, []);
		addPod(spread.counts, pod, node.labels);
		// Only where the fewest were there may be other fewest now.
		if (before === spread.fewest) spread.fewest = undefined;
	}
}

function fewestOf(spread: Spread): number {
	spread.fewest ??= lowest(spread.counts.counts.values());
	return spread.fewest;
}

function lowest(counts: Iterable<number>): number {
	let fewest = Number.POSITIVE_INFINITY;
	for (const count of counts) if (count < fewest) fewest = count;
	return fewest;
}

/** Why the pod would be too many there; undefined when it would not. */
export function spreadMisfit(spreads: readonly Spread[], {labels}: NodeInfo, without: readonly Pod[]): string | undefined {
	for (const spread of spreads) {
		const {constraint, counts, self} = spread;
		if (!spread.isHard) continue;
		const there = countAt(counts, labels, without);
		if (there === undefined) return `no label ${constraint.topologyKey}, over which it is spread`;
		const skew = there + self - Math.min(fewestOf(spread), there);
		if (skew > constraint.maxSkew) return `too many such pods in its ${constraint.topologyKey}`;
	}
	return undefined;
}

/** How many such pods there are where the pod would rather not be one more; a node without the label comes last. */
export const spreadScore = (spreads: readonly Spread[], {labels}: NodeInfo): number =>
	spreads.reduce((sum, {isHard: hard, counts}) => sum + (hard ? 0 : (countAt(counts, labels, []) ?? Number.POSITIVE_INFINITY)), 0);
