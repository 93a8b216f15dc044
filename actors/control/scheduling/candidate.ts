// A node as one round of the scheduler sees it. Binds that are asked for and not yet committed count as done.

import {isConditionTrue} from '../../../api/conditions.js';
import type {NodeObject, Taint} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {Labels} from '../../../api/object.js';
import {cpuMillis, memoryBytes} from '../../../api/quantity.js';
import type {Known} from '../../../system/index/object-index.js';
import {isLost} from '../pods/eviction.js';
import {cpuOnNode, memoryOnNode, occupies} from '../pod-terms.js';
import type {PodNeeds} from './needs.js';

/** What only the node's own record says. */
type Traits = {
	readonly name: string;
	readonly labels: Labels;
	/** Why nothing new runs there, whatever the pod. */
	readonly closed: string | undefined;
	readonly isCordoned: boolean;
	readonly taints: readonly Taint[];
	readonly features: readonly string[];
	readonly maxPods: number;
	readonly cpuMillis: number;
	readonly memoryBytes: number;
	/** Terms of the index. */
	readonly podsTerm: string;
	readonly cpuTerm: string;
	readonly memoryTerm: string;
};

/** A pod for which room is kept: others of its priority and below do not get it. */
export type Nominee = {readonly uid: string; readonly needs: PodNeeds};

export type Candidate = Omit<Traits, 'podsTerm' | 'cpuTerm' | 'memoryTerm'> & {
	/** Its place in the list of all. */
	readonly index: number;
	/** Bound and about to be, and what they ask for; raised as the round goes on. */
	pods: number;
	usedCpu: number;
	usedMemory: number;
	nominees: ReadonlyMap<string, Nominee>;
};

export const isNodeReady = (node: NodeObject): boolean =>
	node.metadata.deletionTimestamp === undefined && isConditionTrue(node.status?.conditions, 'Ready');

/** The nodes of one round, by name. */
export const candidatesOf = (known: Known): Candidate[] =>
	([...known.list('nodes')] as NodeObject[]).sort(byName).map((node, index) => candidateOf(traitsOf(node), index, known));

/** Written out: a thousand of them are made in each round, and a spread costs more than all the rest. */
const candidateOf = (traits: Traits, index: number, known: Known): Candidate => ({
	name: traits.name,
	labels: traits.labels,
	closed: traits.closed,
	isCordoned: traits.isCordoned,
	taints: traits.taints,
	features: traits.features,
	maxPods: traits.maxPods,
	cpuMillis: traits.cpuMillis,
	memoryBytes: traits.memoryBytes,
	index,
	pods: known.countByTerm('pods', traits.podsTerm),
	usedCpu: known.sumByTerm('pods', traits.cpuTerm),
	usedMemory: known.sumByTerm('pods', traits.memoryTerm),
	nominees: nobody,
});

const nobody: ReadonlyMap<string, Nominee> = new Map();

/** Keeps room for a pod. */
export function addNominee(candidate: Candidate, nominee: Nominee): void {
	candidate.nominees = new Map([...candidate.nominees, [nominee.uid, nominee]]);
}

export function dropNominee(candidate: Candidate, uid: string): void {
	if (candidate.nominees.has(uid)) candidate.nominees = new Map([...candidate.nominees].filter(([other]) => other !== uid));
}

/** What a decision takes of the node. */
export function occupy(candidate: Candidate, needs: PodNeeds): void {
	candidate.pods++;
	candidate.usedCpu += needs.cpuMillis;
	candidate.usedMemory += needs.memoryBytes;
}

const byName = (a: NodeObject, b: NodeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);

/** By the revision of the node: a round looks at all nodes, and hardly any has changed since the last. */
const traits = new WeakMap<NodeObject, Traits>();

function traitsOf(node: NodeObject): Traits {
	const found = traits.get(node);
	if (found !== undefined) return found;
	const {allocatable = {}, runtimeFeatures = []} = node.status ?? {};
	const {name} = node.metadata;
	const made: Traits = {
		name,
		labels: node.metadata.labels ?? {},
		closed: closedBecause(node),
		isCordoned: node.spec?.unschedulable === true,
		taints: node.spec?.taints ?? [],
		features: runtimeFeatures,
		maxPods: amountOf(allocatable['pods'], Number),
		cpuMillis: amountOf(allocatable['cpu'], cpuMillis),
		memoryBytes: amountOf(allocatable['memory'], memoryBytes),
		podsTerm: occupies(name),
		cpuTerm: cpuOnNode(name),
		memoryTerm: memoryOnNode(name),
	};
	traits.set(node, made);
	return made;
}

/** What a node does not say has no bound. */
const amountOf = (quantity: string | undefined, read: (quantity: string) => number | undefined): number =>
	(quantity === undefined ? undefined : read(quantity)) ?? Number.POSITIVE_INFINITY;

function closedBecause(node: NodeObject): string | undefined {
	if (isLost(node)) return 'lost';
	return isNodeReady(node) ? undefined : 'not ready';
}

/** Pods that take room on a node. */
export const podsThere = (known: Known, node: string): Iterable<Pod> => known.byTerm('pods', occupies(node)) as Iterable<Pod>;
