// What one cycle knows of one class of pods: those that may run on the same nodes. Thousands of pods of one ReplicaSet are filtered and scored
// as one.

import type {Pod} from '../../../api/kinds/pod.js';
import type {Known} from '../../../system/index/object-index.js';
import {isPortTaken, nodeMisfit, resourcesMisfit, type Freed, type PortCheck} from './filters.js';
import type {NodeInfo} from './node-info.js';
import {claimsMisfit, keyOfClaims, type PodClaims} from './pod-claims.js';
import {addToAffinity, affinityCountsOf, affinityMisfit, affinityWeight, type AffinityCounts} from './pod-affinity.js';
import {reasonText} from './reasons.js';
import {requirementsOf, sharesPorts, type PodRequirements} from '../pods/pod-requirements.js';
import {targetNode} from '../pods/pod-terms.js';
import {nodeScoreOf, type NodeScore, type Score} from './score.js';
import {addToSpreads, spreadMisfit, spreadScore, spreadsOf, type Spread} from './spread.js';
import type {AssumedPods, DomainCounts} from './topology.js';

export type EquivalenceClass = {
	readonly requirements: PodRequirements;
	/** Where volumes keep them; undefined: nowhere. */
	readonly claims: PodClaims | undefined;
	/** Nodes whose own record does not keep the pods away; by name. */
	readonly candidates: readonly NodeInfo[];
	/** What the nodes' own records make of the score, where that makes a difference. */
	readonly nodeScores: ReadonlyMap<NodeInfo, NodeScore> | undefined;
	readonly affinity: AffinityCounts | undefined;
	readonly spreads: readonly Spread[];
	/** What is said of a pod that fits nowhere, and how many binds were decided by then. */
	unschedulable: {readonly binds: number; readonly why: () => string} | undefined;
	/** Preempting other pods helps none of these on any node. */
	hasNoVictims: boolean;
	/** Nor on those nodes alone that have changed. */
	hasNoVictimsOnChanged: boolean;
};

/** Nodes and pods as a cycle sees them. */
export type ClusterView = {
	readonly known: Known;
	/** By name. */
	readonly nodes: readonly NodeInfo[];
	readonly nodeByName: ReadonlyMap<string, NodeInfo>;
	readonly assumed: AssumedPods;
	readonly holdsPort: PortCheck;
	/** Whether there is a placed pod that keeps others away. */
	readonly hasAntiAffinity: boolean;
	readonly classes: Map<string, EquivalenceClass>;
	/** Nodes and pods that were compared: a measure of time. */
	comparisons: number;
};

/** The class of the pod, made when it is the first; undefined for a pod without a spec, which has none. */
export function classOf(pod: Pod, view: ClusterView, claims?: PodClaims): EquivalenceClass | undefined {
	if (pod.spec === undefined) return undefined;
	const requirements = requirementsOf(pod.spec);
	const placed = claims === undefined ? requirements.key : `${requirements.key} ${keyOfClaims(claims)}`;
	const key = requirements.dependsOnPods || view.hasAntiAffinity ? `${placed} ${identityOf(pod)}` : placed;
	const found = view.classes.get(key);
	if (found !== undefined) return found;
	const made = newClass(pod, requirements, view, claims);
	view.classes.set(key, made);
	return made;
}

/** What the selectors of other pods, and its own, go by. */
const identityOf = ({metadata: {namespace, labels}}: Pod): string => JSON.stringify([namespace, labels]);

function newClass(pod: Pod, requirements: PodRequirements, view: ClusterView, claims: PodClaims | undefined): EquivalenceClass {
	const {known, nodes, assumed} = view;
	const nodeOf = (name: string): NodeInfo | undefined => view.nodeByName.get(name);
	// A pod of a DaemonSet is for one node: of a thousand such pods each is a class of its own, and none looks at a thousand nodes.
	const target = targetNode(pod);
	const possible = target === undefined ? nodes : [nodeOf(target)].filter(node => node !== undefined);
	const candidates = possible.filter(node => recordMisfit({requirements, claims}, node) === undefined);
	const affinity = requirements.dependsOnPods || view.hasAntiAffinity ? affinityCountsOf(pod, known, assumed, nodeOf) : undefined;
	const spreads = spreadsOf(pod, known, assumed, nodes, nodeOf);
	const counted = [...spreads.map(({counts}) => counts), ...(affinity === undefined ? [] : countsIn(affinity))];
	view.comparisons += possible.length + counted.reduce((sum, {counts}) => sum + totalOf(counts), 0);
	return {
		requirements,
		claims,
		candidates,
		nodeScores: nodeScoresOf(requirements, candidates),
		affinity,
		spreads,
		unschedulable: undefined,
		hasNoVictims: false,
		hasNoVictimsOnChanged: false,
	};
}

/** Why the node's own record, or a volume, keeps the pods away. */
const recordMisfit = ({requirements, claims}: Pick<EquivalenceClass, 'requirements' | 'claims'>, node: NodeInfo): string | undefined =>
	nodeMisfit(requirements, node) ?? (claims === undefined ? undefined : claimsMisfit(claims, node, requirements.runtimeClass));

/** Mostly there is nothing to tell the nodes apart. */
function nodeScoresOf(requirements: PodRequirements, candidates: readonly NodeInfo[]): EquivalenceClass['nodeScores'] {
	const areEqual = !requirements.hasPreferences && candidates.every(({taints}) => taints.length === 0);
	return areEqual ? undefined : new Map(candidates.map(node => [node, nodeScoreOf(requirements, node)]));
}

const countsIn = ({required, antiAffinity, preferred, existingAntiAffinity}: AffinityCounts): readonly DomainCounts[] => [
	...required,
	...antiAffinity,
	...preferred.map(({counts}) => counts),
	...existingAntiAffinity.values(),
];

function totalOf(counts: ReadonlyMap<string, number>): number {
	let total = 0;
	for (const count of counts.values()) total += count;
	return total;
}

/** Takes in a pod of any class that was just placed. */
export function addToClass({affinity, spreads}: EquivalenceClass, pod: Pod, node: NodeInfo): void {
	if (affinity !== undefined) addToAffinity(affinity, pod, node);
	addToSpreads(spreads, pod, node);
}

/**
 * Why one of the pods cannot run on a candidate, some pods there thought away, with what they free where that is known; undefined when it
 * can.
 */
export function candidateMisfit(
	{requirements, affinity, spreads}: EquivalenceClass,
	uid: string,
	node: NodeInfo,
	holdsPort: PortCheck,
	without: readonly Pod[] = [],
	freed?: Freed,
): string | undefined {
	return (
		resourcesMisfit({uid, requirements}, node, holdsPort, without, freed) ??
		(affinity === undefined ? undefined : affinityMisfit(affinity, node, without)) ??
		(spreads.length === 0 ? undefined : spreadMisfit(spreads, node, without))
	);
}

/** The way out, told once for all nodes. */
const sharingPorts = '; pods of one node can have the same containerPort where their containers listen on $(POD_IP)';

/** Why a pod fits on none of the nodes, in one line. */
export function unschedulableText(podClass: EquivalenceClass, uid: string, view: ClusterView): string {
	const {nodes, holdsPort} = view;
	view.comparisons += nodes.length;
	const reasons = nodes.map(
		node => [node.name, recordMisfit(podClass, node) ?? candidateMisfit(podClass, uid, node, holdsPort) ?? 'it fits'] as const,
	);
	const isHeldByPorts = reasons.some(([, why]) => isPortTaken(why)) && sharesPorts(podClass.requirements.spec);
	return reasonText(reasons) + (isHeldByPorts ? sharingPorts : '');
}

const equalScore: Score = [0, 0, 0];

/** Whether some candidates may be better than others, whatever the strategy. */
export const hasScores = ({requirements, nodeScores}: EquivalenceClass): boolean => requirements.hasPreferences || nodeScores !== undefined;

export function scoreOf(podClass: EquivalenceClass, node: NodeInfo): Score {
	if (!hasScores(podClass)) return equalScore;
	const {taints, weight} = podClass.nodeScores?.get(node) ?? {taints: 0, weight: 0};
	const nearWeight = podClass.affinity === undefined ? 0 : affinityWeight(podClass.affinity, node);
	return [taints, -(weight + nearWeight), spreadScore(podClass.spreads, node)];
}
