// One scheduling cycle: what is committed, what is asked for, and what the cycle itself has decided so far. It places as many pods as one step
// of the scheduler may.

import {defaultStrategy, type ClusterConfig} from '../../../api/kinds/clusterconfig.js';
import type {SchedulerStrategy} from '../../../api/scheduler-strategies.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {ObjectKey} from '../../../api/keys.js';
import type {Context, Pending} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {clusterConfigKey} from '../../addresses.js';
import type {PodMessage} from '../pods/pod.js';
import {belowDefault, hostPortOnNode, nominated, portOnNode, portTerms, withAntiAffinity} from '../pods/pod-terms.js';
import {addToClass, type ClusterView} from './equivalence-class.js';
import {portsOn, type PortCheck} from './filters.js';
import {addNominee, addRequests, dropNominee, nodeInfosOf, type NodeInfo} from './node-info.js';
import type {NodeUses} from './node-use.js';
import {requirementsOf, requiresAntiAffinity} from '../pods/pod-requirements.js';

export type Cycle = ClusterView & {
	readonly strategy: SchedulerStrategy;
	/** Pods whose bind is not committed, those of this cycle included; by uid. */
	readonly assumed: Map<string, {readonly pod: Pod; readonly node: string}>;
	/** Uids of pods that are asked to leave. */
	readonly leaving: Set<string>;
	/** The nominated nodes of pods, as committed or asked for; undefined: no more. By uid. */
	readonly nominations: Map<string, string | undefined>;
	/** The lowest priority of the pods of a node, as far as it is known. */
	readonly lowestPriority: Map<NodeInfo, number>;
	/** Ports of assumed pods, as terms of the index. */
	readonly assumedPorts: Set<string>;
	readonly random: () => number;
	/** Whether there is a bound pod of less than the default priority. */
	readonly hasBelowDefault: boolean;
	hasAntiAffinity: boolean;
	/** The round-robin's place in the list of nodes. */
	turn: number;
	/** Decided since the scheduler began. */
	binds: number;
};

/** The words of the cluster's configuration. */
export const strategyOf = (known: Known): SchedulerStrategy =>
	(known.get(clusterConfigKey) as ClusterConfig | undefined)?.spec?.scheduler?.strategy ?? defaultStrategy;

export function cycleOf({known, pending, random}: Context, turn: number, binds: number, uses?: NodeUses): Cycle {
	const nodes = nodeInfosOf(known, uses);
	const assumedPorts = new Set<string>();
	const cycle: Cycle = {
		known,
		strategy: strategyOf(known),
		nodes,
		nodeByName: new Map(nodes.map(node => [node.name, node])),
		assumed: new Map(),
		leaving: new Set(),
		nominations: new Map(),
		holdsPort: portCheck(known, assumedPorts),
		lowestPriority: new Map(),
		assumedPorts,
		classes: new Map(),
		random: random.next,
		hasBelowDefault: known.countByTerm('pods', belowDefault) > 0,
		hasAntiAffinity: known.countByTerm('pods', withAntiAffinity) > 0,
		turn,
		binds,
		comparisons: nodes.length,
	};
	const writes = [...pending.values()];
	for (const write of writes) takePending(cycle, write);
	reserveForNominated(cycle);
	return cycle;
}

/** Whether another pod than those thought away has the port. */
function portCheck(known: Known, assumed: ReadonlySet<string>): PortCheck {
	return (node, port, without) => {
		const term = (node.isRouted ? hostPortOnNode : portOnNode)(node.name, port);
		if (assumed.has(term)) return true;
		const holders = known.countByTerm('pods', term);
		if (holders === 0 || without.length === 0) return holders > 0;
		return holders > without.filter(({spec}) => spec !== undefined && portsOn(node, requirementsOf(spec)).includes(port)).length;
	};
}

/** A write that is asked for counts as done. */
function takePending(cycle: Cycle, write: Pending): void {
	if (write.type !== 'update') return;
	const message = write.message as PodMessage;
	const pod = podAt(cycle.known, write.key);
	if (pod === undefined) return;
	const {uid} = pod.metadata;
	if (message.type === 'preempt') cycle.leaving.add(uid);
	if (message.type === 'nominate') cycle.nominations.set(uid, message.nodeName);
	// One whose bind is committed and not yet answered is in the index already.
	if (message.type !== 'bind' || pod.spec?.nodeName !== undefined) return;
	const node = cycle.nodeByName.get(message.nodeName);
	if (node === undefined) cycle.assumed.set(uid, {pod, node: message.nodeName});
	else assume(cycle, node, pod);
}

const podAt = (known: Known, key: ObjectKey): Pod | undefined => known.get(key) as Pod | undefined;

/** Reserves resources for the pods that are nominated and neither bound nor assumed. */
function reserveForNominated(cycle: Cycle): void {
	const {known, nominations} = cycle;
	for (const object of known.byTerm('pods', nominated)) {
		const {metadata, status} = object as Pod;
		if (!nominations.has(metadata.uid)) nominations.set(metadata.uid, status?.nominatedNodeName);
	}
	for (const [uid, node] of nominations) {
		const pod = known.byUid(uid) as Pod | undefined;
		if (pod !== undefined && pod.spec?.nodeName === undefined && !cycle.assumed.has(uid)) nominate(cycle, pod, node);
	}
}

/** Reserves the pod's resources on a node and nowhere else; undefined: nowhere. */
export function nominate(cycle: Cycle, {metadata: {uid}, spec}: Pod, nodeName: string | undefined): void {
	const before = cycle.nodeByName.get(cycle.nominations.get(uid) ?? '');
	if (before !== undefined) dropNominee(before, uid);
	cycle.nominations.set(uid, nodeName);
	const node = cycle.nodeByName.get(nodeName ?? '');
	if (node !== undefined && spec !== undefined) addNominee(node, {uid, requirements: requirementsOf(spec)});
}

/** What one decision takes, the next of the same cycle finds taken. */
export function bind(cycle: Cycle, node: NodeInfo, pod: Pod): void {
	if (cycle.nominations.has(pod.metadata.uid)) nominate(cycle, pod, undefined);
	assume(cycle, node, pod);
	cycle.binds++;
	if (cycle.strategy === 'round-robin') cycle.turn = (node.index + 1) % cycle.nodes.length;
}

function assume(cycle: Cycle, node: NodeInfo, pod: Pod): void {
	const {spec} = pod;
	if (spec === undefined) return;
	const requirements = requirementsOf(spec);
	addRequests(node, requirements);
	cycle.assumed.set(pod.metadata.uid, {pod, node: node.name});
	for (const term of portTerms(node.name, requirements)) cycle.assumedPorts.add(term);
	if (requiresAntiAffinity(spec) && !cycle.hasAntiAffinity) {
		// As long as there was none, no class has counted the pods that others keep away.
		cycle.hasAntiAffinity = true;
		cycle.classes.clear();
	} else for (const podClass of cycle.classes.values()) addToClass(podClass, pod, node);
}
