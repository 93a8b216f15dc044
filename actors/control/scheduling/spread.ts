// Evenly over zones, racks or hosts. After Kubernetes' PodTopologySpread: parts are those of all nodes that the pod's node selector and node
// affinity name; taints and readiness do not matter, and a pod that is being deleted does not count.

import type {Pod} from '../../../api/kinds/pod.js';
import {matches} from '../../../api/selector.js';
import type {TopologySpreadConstraint} from '../../../api/shapes/pod.js';
import type {Known} from '../../../system/index/object-index.js';
import {isDeleting} from '../objects/garbage.js';
import type {Candidate} from './candidate.js';
import {count, countAt, counterOf, countOne, partOf, type Counter} from './counter.js';
import {matchesNode} from './node-affinity.js';
import {visitPlaced, type Asked} from './placed.js';

/** One constraint in one round. */
export type Spread = {
	readonly constraint: TopologySpreadConstraint;
	readonly isHard: boolean;
	/** Has each part that counts, also those without any such pod. */
	readonly counter: Counter;
	/** The nodes that count. */
	readonly eligible: ReadonlySet<Candidate>;
	/** 1 when the pod is one of those that are spread. */
	readonly self: 0 | 1;
	/** The fewest that a part has; undefined until somebody asks. */
	fewest: number | undefined;
};

export function spreadsOf(
	pod: Pod,
	known: Known,
	asked: Asked,
	candidates: readonly Candidate[],
	candidateOf: (node: string) => Candidate | undefined,
): readonly Spread[] {
	const {spec, metadata} = pod;
	const constraints = spec?.topologySpreadConstraints ?? [];
	if (spec === undefined || constraints.length === 0) return [];
	const keys = constraints.filter(isHard).map(({topologyKey}) => topologyKey);
	const eligible = new Set(
		candidates.filter(candidate => matchesNode(spec, candidate) && keys.every(key => partOf(key, candidate.labels) !== undefined)),
	);
	return constraints.map(constraint => {
		const {topologyKey, labelSelector} = constraint;
		const isMeant = (other: Pod): boolean =>
			labelSelector !== undefined &&
			other.metadata.namespace === metadata.namespace &&
			!isDeleting(other) &&
			matches(labelSelector, other.metadata.labels);
		const counter = counterOf(topologyKey, other => (isMeant(other) ? 1 : 0));
		for (const {labels} of eligible) {
			const part = partOf(topologyKey, labels);
			if (part !== undefined) counter.counts.set(part, 0);
		}
		visitPlaced(known, asked, [metadata.namespace ?? ''], labelSelector, (other, node) => {
			const candidate = candidateOf(node);
			if (candidate !== undefined && eligible.has(candidate) && !isDeleting(other)) countOne(counter, candidate.labels);
		});
		return {constraint, isHard: isHard(constraint), counter, eligible, self: isMeant(pod) ? 1 : 0, fewest: undefined};
	});
}

const isHard = ({whenUnsatisfiable}: TopologySpreadConstraint): boolean => whenUnsatisfiable === 'DoNotSchedule';

/** Takes in a pod that was just placed. */
export function addSpread(spreads: readonly Spread[], pod: Pod, candidate: Candidate): void {
	for (const spread of spreads) {
		if (!spread.eligible.has(candidate)) continue;
		const before = countAt(spread.counter, candidate.labels, []);
		count(spread.counter, pod, candidate.labels);
		// Only where the fewest were there may be other fewest now.
		if (before === spread.fewest) spread.fewest = undefined;
	}
}

function fewestOf(spread: Spread): number {
	spread.fewest ??= lowest(spread.counter.counts.values());
	return spread.fewest;
}

function lowest(counts: Iterable<number>): number {
	let fewest = Number.POSITIVE_INFINITY;
	for (const count of counts) if (count < fewest) fewest = count;
	return fewest;
}

/** Why the pod would be too many there; undefined when it would not. */
export function spreadMisfit(spreads: readonly Spread[], {labels}: Candidate, without: readonly Pod[]): string | undefined {
	for (const spread of spreads) {
		const {constraint, counter, self} = spread;
		if (!spread.isHard) continue;
		const there = countAt(counter, labels, without);
		if (there === undefined) return `no label ${constraint.topologyKey}, over which it is spread`;
		const skew = there + self - Math.min(fewestOf(spread), there);
		if (skew > constraint.maxSkew) return `too many such pods in its ${constraint.topologyKey}`;
	}
	return undefined;
}

/** How many such pods there are where the pod would rather not be one more; a node without the label comes last. */
export const spreadCrowd = (spreads: readonly Spread[], {labels}: Candidate): number =>
	spreads.reduce((sum, {isHard: hard, counter}) => sum + (hard ? 0 : (countAt(counter, labels, []) ?? Number.POSITIVE_INFINITY)), 0);
