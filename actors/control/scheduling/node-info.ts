// A node as one scheduling cycle sees it: what its record says, and what its pods ask for. Binds that are asked for and not yet committed count
// as done.

import {conditionOf, isConditionTrue} from '../../../api/conditions.js';
import {gpuResource} from '../../../api/gpu.js';
import type {NodeObject, Taint} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {Labels} from '../../../api/object.js';
import {cpuMillis, memoryBytes, quantityValue} from '../../../api/quantity.js';
import {dockerNotReady} from '../../../api/runtime-class.js';
import type {Known} from '../../../system/index/object-index.js';
import {nodeKey} from '../../addresses.js';
import {isLost} from '../pods/eviction.js';
import {cpuOnNode, gpusOnNode, memoryOnNode, occupies} from '../pods/pod-terms.js';
import type {PodRequirements} from '../pods/pod-requirements.js';
import type {NodeUse, NodeUses} from './node-use.js';

/** What only the node's own record says. */
type NodeProperties = {
	readonly name: string;
	readonly labels: Labels;
	/** Why no pod can be started there; undefined when pods can. */
	readonly unavailable: string | undefined;
	readonly isCordoned: boolean;
	readonly taints: readonly Taint[];
	readonly features: readonly string[];
	/** Its pods have a network of their own. */
	readonly isRouted: boolean;
	/** Of pods that it runs now. */
	readonly classes: readonly string[];
	/** Why it runs none of class docker, where it says so. */
	readonly dockerProblem: string | undefined;
	/** Allocatable; infinite where the record does not say. */
	readonly maxPods: number;
	readonly cpuMillis: number;
	readonly memoryBytes: number;
	/** None where the record does not say. */
	readonly gpus: number;
	/** Terms of the index. */
	readonly podsTerm: string;
	readonly cpuTerm: string;
	readonly memoryTerm: string;
	readonly gpusTerm: string;
};

/** A pod that asks for resources of a node. */
export type Requester = {readonly uid: string; readonly requirements: PodRequirements};

export type NodeInfo = Omit<NodeProperties, 'podsTerm' | 'cpuTerm' | 'memoryTerm' | 'gpusTerm'> & {
	/** Its place among all nodes by name. */
	readonly index: number;
	/** Bound pods and assumed ones, and what they ask for; raised as the cycle goes on. */
	pods: number;
	requestedCpu: number;
	requestedMemory: number;
	requestedGpus: number;
	/** What was measured there; undefined: the strategy does not ask, or the node did not tell. */
	readonly use: NodeUse | undefined;
	/** Nominated pods by uid: resources are reserved for them against pods of their priority and below. */
	nominees: ReadonlyMap<string, Requester>;
};

export const isNodeReady = (node: NodeObject): boolean =>
	node.metadata.deletionTimestamp === undefined && isConditionTrue(node.status?.conditions, 'Ready');

/** The nodes of one cycle, by name. */
export const nodeInfosOf = (known: Known, uses?: NodeUses): NodeInfo[] =>
	([...known.list('nodes')] as NodeObject[])
		.sort(byName)
		.map((node, index) => nodeInfoOf(propertiesOf(node), index, known, uses?.get(node.metadata.name)));

/** One of them alone. */
export function nodeInfoNamed(known: Known, name: string): NodeInfo | undefined {
	const node = known.get(nodeKey(name)) as NodeObject | undefined;
	return node === undefined ? undefined : nodeInfoOf(propertiesOf(node), 0, known, undefined);
}

/** Written out: a thousand of them are made in each cycle, and a spread costs more than all the rest. */
const nodeInfoOf = (properties: NodeProperties, index: number, known: Known, use: NodeUse | undefined): NodeInfo => ({
	name: properties.name,
	labels: properties.labels,
	unavailable: properties.unavailable,
	isCordoned: properties.isCordoned,
	taints: properties.taints,
	features: properties.features,
	isRouted: properties.isRouted,
	classes: properties.classes,
	dockerProblem: properties.dockerProblem,
	maxPods: properties.maxPods,
	cpuMillis: properties.cpuMillis,
	memoryBytes: properties.memoryBytes,
	gpus: properties.gpus,
	index,
	pods: known.countByTerm('pods', properties.podsTerm),
	requestedCpu: known.sumByTerm('pods', properties.cpuTerm),
	requestedMemory: known.sumByTerm('pods', properties.memoryTerm),
	requestedGpus: properties.gpus > 0 ? known.sumByTerm('pods', properties.gpusTerm) : 0,
	use,
	nominees: noNominees,
});

const noNominees: ReadonlyMap<string, Requester> = new Map();

/** Reserves resources for a pod. */
export function addNominee(node: NodeInfo, nominee: Requester): void {
	node.nominees = new Map([...node.nominees, [nominee.uid, nominee]]);
}

export function dropNominee(node: NodeInfo, uid: string): void {
	if (node.nominees.has(uid)) node.nominees = new Map([...node.nominees].filter(([other]) => other !== uid));
}

/** Counts a pod whose bind is asked for. */
export function addRequests(node: NodeInfo, requirements: PodRequirements): void {
	node.pods++;
	node.requestedCpu += requirements.cpuMillis;
	node.requestedMemory += requirements.memoryBytes;
	node.requestedGpus += requirements.gpus;
}

const byName = (a: NodeObject, b: NodeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);

/** What nodes ran before there were classes. */
const classesOfBefore: readonly string[] = ['process'];

/** By the revision of the node: a cycle reads all nodes, and hardly any has changed since the last. */
const read = new WeakMap<NodeObject, NodeProperties>();

function propertiesOf(node: NodeObject): NodeProperties {
	const found = read.get(node);
	if (found !== undefined) return found;
	const {allocatable = {}, runtimeFeatures = [], runtimeClasses = classesOfBefore, conditions, network} = node.status ?? {};
	const {name} = node.metadata;
	const made: NodeProperties = {
		name,
		labels: node.metadata.labels ?? {},
		unavailable: unavailableBecause(node),
		isCordoned: node.spec?.unschedulable === true,
		taints: node.spec?.taints ?? [],
		features: runtimeFeatures,
		isRouted: network?.pods === 'routed',
		classes: runtimeClasses,
		dockerProblem: conditionOf(conditions, dockerNotReady)?.message,
		maxPods: amountOf(allocatable['pods'], Number),
		cpuMillis: amountOf(allocatable['cpu'], cpuMillis),
		memoryBytes: amountOf(allocatable['memory'], memoryBytes),
		gpus: quantityValue(allocatable[gpuResource] ?? 0) ?? 0,
		podsTerm: occupies(name),
		cpuTerm: cpuOnNode(name),
		memoryTerm: memoryOnNode(name),
		gpusTerm: gpusOnNode(name),
	};
	read.set(node, made);
	return made;
}

/** What a node does not say has no bound. */
const amountOf = (quantity: string | undefined, parse: (quantity: string) => number | undefined): number =>
	(quantity === undefined ? undefined : parse(quantity)) ?? Number.POSITIVE_INFINITY;

function unavailableBecause(node: NodeObject): string | undefined {
	if (isLost(node)) return 'lost';
	return isNodeReady(node) ? undefined : 'not ready';
}

/** Pods that take resources of a node. */
export const podsOn = (known: Known, node: string): Iterable<Pod> => known.byTerm('pods', occupies(node)) as Iterable<Pod>;
