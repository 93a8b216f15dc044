// Near to some pods, away from others. After Kubernetes' InterPodAffinity: also a pod that is there already keeps others away.

import type {Pod} from '../../../api/kinds/pod.js';
import {matches} from '../../../api/selector.js';
import type {PodAffinity, PodAffinityTerm} from '../../../api/shapes/pod.js';
import type {Known} from '../../../system/index/object-index.js';
import type {Candidate} from './candidate.js';
import {count, countAt, counterOf, partOf, type Counter} from './counter.js';
import {visitPlaced, visitRepelling, type Asked} from './placed.js';

/** What pod affinity makes of one sort of pods in one round. */
export type Neighbours = {
	/** Those that all required terms name, for each term; the pod has to be where each has one. */
	readonly wanted: readonly Counter[];
	/** Whether the pod is one of those it wants to be near to: then the first of them may be anywhere. */
	readonly isFirst: boolean;
	/** One for each required term; the pod has to be where none has any. */
	readonly shunned: readonly Counter[];
	/** By topology key: pods there that keep this one away. */
	readonly keepers: Map<string, Counter>;
	readonly liked: readonly {readonly weight: number; readonly counter: Counter}[];
	readonly pod: Pod;
};

/** The namespaces of a term: the pod's own where it names none. */
const namespacesOf = ({namespaces = []}: PodAffinityTerm, owner: Pod): readonly string[] =>
	namespaces.length > 0 ? namespaces : [owner.metadata.namespace ?? ''];

/** Whether a term of one pod names another one. */
export const names = (term: PodAffinityTerm, owner: Pod, other: Pod): boolean =>
	term.labelSelector !== undefined &&
	namespacesOf(term, owner).includes(other.metadata.namespace ?? '') &&
	matches(term.labelSelector, other.metadata.labels);

const requiredOf = (affinity: PodAffinity | undefined): readonly PodAffinityTerm[] =>
	affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];

const repulsionsOf = ({spec}: Pod): readonly PodAffinityTerm[] => requiredOf(spec?.affinity?.podAntiAffinity);

/** Counts what is there now. */
export function neighboursOf(pod: Pod, known: Known, asked: Asked, candidateOf: (node: string) => Candidate | undefined): Neighbours {
	const {podAffinity, podAntiAffinity} = pod.spec?.affinity ?? {};
	const terms = requiredOf(podAffinity);
	const one = (holds: boolean): number => (holds ? 1 : 0);
	const namesAll = (other: Pod): boolean => terms.every(term => names(term, pod, other));
	const filled = (term: PodAffinityTerm, worth: (other: Pod) => number): Counter => {
		const counter = counterOf(term.topologyKey, worth);
		visitPlaced(known, asked, namespacesOf(term, pod), term.labelSelector, (other, node) => {
			const labels = candidateOf(node)?.labels;
			if (labels !== undefined) count(counter, other, labels);
		});
		return counter;
	};
	const counterFor = (term: PodAffinityTerm): Counter => filled(term, other => one(names(term, pod, other)));
	const neighbours: Neighbours = {
		// Whom all terms name, each of them does.
		wanted: terms.map(term => filled(term, other => one(namesAll(other)))),
		isFirst: terms.length > 0 && namesAll(pod),
		shunned: requiredOf(podAntiAffinity).map(counterFor),
		keepers: new Map(),
		liked: [...likesOf(podAffinity, 1), ...likesOf(podAntiAffinity, -1)].map(({weight, term}) => ({weight, counter: counterFor(term)})),
		pod,
	};
	visitRepelling(known, asked, (other, node) => {
		const labels = candidateOf(node)?.labels;
		if (labels !== undefined) countKeeper(neighbours, other, labels);
	});
	return neighbours;
}

const likesOf = (affinity: PodAffinity | undefined, sign: 1 | -1): {readonly weight: number; readonly term: PodAffinityTerm}[] =>
	(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({weight, podAffinityTerm}) => ({
		weight: sign * weight,
		term: podAffinityTerm,
	}));

/** Takes in a pod that was just placed. */
export function addNeighbour(neighbours: Neighbours, other: Pod, {labels}: Candidate): void {
	for (const counter of [...neighbours.wanted, ...neighbours.shunned]) count(counter, other, labels);
	for (const {counter} of neighbours.liked) count(counter, other, labels);
	countKeeper(neighbours, other, labels);
}

function countKeeper({keepers, pod}: Neighbours, other: Pod, labels: Candidate['labels']): void {
	for (const topologyKey of new Set(repulsionsOf(other).map(term => term.topologyKey))) {
		const counter = keepers.get(topologyKey) ?? counterOf(topologyKey, owner => repulsions(owner, topologyKey, pod));
		keepers.set(topologyKey, counter);
		count(counter, other, labels);
	}
}

/** How many terms of one pod keep another away within parts of this sort. */
const repulsions = (owner: Pod, topologyKey: string, other: Pod): number =>
	repulsionsOf(owner).filter(term => term.topologyKey === topologyKey && names(term, owner, other)).length;

/** Why its neighbours are none for the pod; undefined when they are. */
export function neighbourMisfit(neighbours: Neighbours, {labels}: Candidate, without: readonly Pod[]): string | undefined {
	const {wanted, shunned, keepers} = neighbours;
	if (wanted.some(({topologyKey}) => partOf(topologyKey, labels) === undefined)) return 'has not the label of its pod affinity';
	const lacks = wanted.some(counter => (countAt(counter, labels, without) ?? 0) <= 0);
	if (lacks && !(neighbours.isFirst && wanted.every(({counts}) => counts.size === 0))) return 'no pod of its pod affinity is there';
	if (shunned.some(counter => (countAt(counter, labels, without) ?? 0) > 0)) return 'a pod of its anti-affinity is there';
	for (const counter of keepers.values())
		if ((countAt(counter, labels, without) ?? 0) > 0) return 'the anti-affinity of a pod there keeps it away';
	return undefined;
}

/** The weights of the preferred terms that a node fulfils, those of anti-affinity less than nothing. */
export const neighbourPoints = ({liked}: Neighbours, {labels}: Candidate): number =>
	liked.reduce((sum, {weight, counter}) => sum + ((countAt(counter, labels, []) ?? 0) > 0 ? weight : 0), 0);
