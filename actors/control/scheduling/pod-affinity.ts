// Near to some pods, away from others. After Kubernetes' InterPodAffinity: also a pod that is there already keeps others away.

import type {Pod} from '../../../api/kinds/pod.js';
import {matches} from '../../../api/selector.js';
import type {PodAffinity, PodAffinityTerm} from '../../../api/shapes/pod.js';
import type {Known} from '../../../system/index/object-index.js';
import type {NodeInfo} from './node-info.js';
import {addPod, countAt, domainCounts, domainOf, visitAntiAffinity, visitPlaced, type AssumedPods, type DomainCounts} from './topology.js';

/** The pods that the affinity terms of one sort of pods name, and that name these in theirs, counted by domain in one cycle. */
export type AffinityCounts = {
	/** Pods that all required terms name, for each term; the pod has to be where each has one. */
	readonly required: readonly DomainCounts[];
	/** Whether the required terms name the pod itself: then the first of its sort may be anywhere. */
	readonly matchesItself: boolean;
	/** One for each required anti-affinity term; the pod has to be where none has any. */
	readonly antiAffinity: readonly DomainCounts[];
	/** By topology key: placed pods whose anti-affinity names this one. */
	readonly existingAntiAffinity: Map<string, DomainCounts>;
	readonly preferred: readonly {readonly weight: number; readonly counts: DomainCounts}[];
	readonly pod: Pod;
};

/** The namespaces of a term: the pod's own where it names none. */
const namespacesOf = ({namespaces = []}: PodAffinityTerm, owner: Pod): readonly string[] =>
	namespaces.length > 0 ? namespaces : [owner.metadata.namespace ?? ''];

/** Whether a term of one pod names another one. */
const names = (term: PodAffinityTerm, owner: Pod, other: Pod): boolean =>
	term.labelSelector !== undefined &&
	namespacesOf(term, owner).includes(other.metadata.namespace ?? '') &&
	matches(term.labelSelector, other.metadata.labels);

const requiredOf = (affinity: PodAffinity | undefined): readonly PodAffinityTerm[] =>
	affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];

const antiAffinityOf = ({spec}: Pod): readonly PodAffinityTerm[] => requiredOf(spec?.affinity?.podAntiAffinity);

/** Counts the pods that are placed now. */
export function affinityCountsOf(
	pod: Pod,
	known: Known,
	assumed: AssumedPods,
	nodeOf: (name: string) => NodeInfo | undefined,
): AffinityCounts {
	const {podAffinity, podAntiAffinity} = pod.spec?.affinity ?? {};
	const terms = requiredOf(podAffinity);
	const namesAll = (other: Pod): boolean => terms.every(term => names(term, pod, other));
	const countsOf = (term: PodAffinityTerm, isNamed = (other: Pod) => names(term, pod, other)): DomainCounts => {
		const counts = domainCounts(term.topologyKey, other => (isNamed(other) ? 1 : 0));
		visitPlaced(known, assumed, namespacesOf(term, pod), term.labelSelector, (other, node) => {
			const labels = nodeOf(node)?.labels;
			if (labels !== undefined) addPod(counts, other, labels);
		});
		return counts;
	};
	const affinity: AffinityCounts = {
		// A pod that all terms name is among the pods that one term names.
		required: terms.map(term => countsOf(term, namesAll)),
		matchesItself: terms.length > 0 && namesAll(pod),
		antiAffinity: requiredOf(podAntiAffinity).map(term => countsOf(term)),
		existingAntiAffinity: new Map(),
		preferred: [...preferredOf(podAffinity, 1), ...preferredOf(podAntiAffinity, -1)].map(({weight, term}) => ({
			weight,
			counts: countsOf(term),
		})),
		pod,
	};
	visitAntiAffinity(known, assumed, (other, node) => {
		const labels = nodeOf(node)?.labels;
		if (labels !== undefined) addExistingAntiAffinity(affinity, other, labels);
	});
	return affinity;
}

const preferredOf = (affinity: PodAffinity | undefined, sign: 1 | -1): {readonly weight: number; readonly term: PodAffinityTerm}[] =>
	(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({weight, podAffinityTerm}) => ({
		weight: sign * weight,
		term: podAffinityTerm,
	}));

/** Takes in a pod that was just placed. */
export function addToAffinity(affinity: AffinityCounts, other: Pod, {labels}: NodeInfo): void {
	for (const counts of [...affinity.required, ...affinity.antiAffinity]) addPod(counts, other, labels);
	for (const {counts} of affinity.preferred) addPod(counts, other, labels);
	addExistingAntiAffinity(affinity, other, labels);
}

function addExistingAntiAffinity({existingAntiAffinity, pod}: AffinityCounts, other: Pod, labels: NodeInfo['labels']): void {
	for (const topologyKey of new Set(antiAffinityOf(other).map(term => term.topologyKey))) {
		const counts = existingAntiAffinity.get(topologyKey) ?? domainCounts(topologyKey, owner => termsAgainst(owner, topologyKey, pod));
		existingAntiAffinity.set(topologyKey, counts);
		addPod(counts, other, labels);
	}
}

/** How many terms of one pod keep another away within domains of this sort. */
const termsAgainst = (owner: Pod, topologyKey: string, other: Pod): number =>
	antiAffinityOf(owner).filter(term => term.topologyKey === topologyKey && names(term, owner, other)).length;

/** Why the pods near the node keep the pod away; undefined when they do not. */
export function affinityMisfit(affinity: AffinityCounts, {labels}: NodeInfo, without: readonly Pod[]): string | undefined {
	const {required, antiAffinity, existingAntiAffinity} = affinity;
	if (required.some(({topologyKey}) => domainOf(topologyKey, labels) === undefined)) return 'has not the label of its pod affinity';
	const lacks = required.some(counts => (countAt(counts, labels, without) ?? 0) <= 0);
	if (lacks && !(affinity.matchesItself && required.every(({counts}) => counts.size === 0))) return 'no pod of its pod affinity is there';
	if (antiAffinity.some(counts => (countAt(counts, labels, without) ?? 0) > 0)) return 'a pod of its anti-affinity is there';
	for (const counts of existingAntiAffinity.values())
		if ((countAt(counts, labels, without) ?? 0) > 0) return 'the anti-affinity of a pod there keeps it away';
	return undefined;
}

/** The weights of the preferred terms that a node fulfils, those of anti-affinity less than nothing. */
export const affinityWeight = ({preferred}: AffinityCounts, {labels}: NodeInfo): number =>
	preferred.reduce((sum, {weight, counts}) => sum + ((countAt(counts, labels, []) ?? 0) > 0 ? weight : 0), 0);
