// The record of a node: what its agent told when it said hello, and whether it is heard.

import {conditionOf, isConditionTrue} from '../../../api/conditions.js';
import {failure} from '../../../api/errors.js';
import {gpuResource} from '../../../api/gpu.js';
import type {NodeCondition, NodeObject, NodeStatus} from '../../../api/kinds/node.js';
import {cpuText} from '../../../api/quantity.js';
import {dockerNotReady, type RuntimeClass} from '../../../api/runtime-class.js';
import {tell, type Effect, type ReplyTo} from '../../../system/kernel/behavior.js';
import {subnetsAddress} from '../../addresses.js';
import type {NetworkInfo, RuntimeInfo} from '../../protocol/runtime-info.js';
import {withCondition, withoutCondition} from '../objects/conditions.js';
import {controller, type Handled} from '../objects/controller.js';
import {normal, warning} from '../objects/event.js';
import {isLost} from '../pods/eviction.js';
import {confirmedLost, findingEvents, withFinding, type Finding} from './node-finding.js';
import {pressureEvents, staysUntold, withPressureTaints} from './node-pressure.js';
import {nodeTerms} from '../pods/node-terms.js';
import {isUnstamped, stamped} from '../pods/taint-eviction.js';

type NodeNews =
	/** Its agent said hello. */
	| {readonly type: 'heard'; readonly info: RuntimeInfo; readonly version: string}
	/** Nothing is known of it: control has just begun to lead. */
	| {readonly type: 'unheard'; readonly reason: string; readonly message: string}
	/** What the detector found about it. */
	| {readonly type: 'found'; readonly finding: Finding}
	/** It has taints without the time when they came. */
	| {readonly type: 'stamp'}
	/** The subnet of its pods; undefined: there is none left. */
	| {readonly type: 'subnetGiven'; readonly podCIDR: string | undefined}
	/** A person says that it is lost; that is over once it is heard. */
	| {readonly type: 'confirmLost'};

/** To what gives nodes the subnets of their pods. */
export type WantSubnet = {readonly type: 'wantSubnet'; readonly node: string};

export type NodeMessage = NodeNews & {readonly replyTo?: ReplyTo | undefined};

const stamp: NodeMessage = {type: 'stamp'};

export const nodeController = controller<NodeObject, NodeMessage>({
	plural: 'nodes',
	terms: nodeTerms,
	reconcile: (node, {self}) => ({effects: [...(isUnstamped(node) ? [tell(self, stamp)] : []), ...subnetWish(node)]}),
	receive(node, message, {nowMs}) {
		switch (message.type) {
			case 'heard':
				return heard(node, message.info, message.version, nowMs);
			case 'unheard':
				return unheard(node, message.reason, message.message, nowMs);
			case 'found':
				return found(node, message.finding, nowMs);
			case 'stamp':
				return stamped(node, nowMs);
			case 'subnetGiven':
				return subnetGiven(node, message.podCIDR, nowMs);
			case 'confirmLost':
				return confirmLost(node, nowMs);
		}
	},
});

function heard(node: NodeObject, info: RuntimeInfo, version: string, nowMs: number): Handled<NodeObject> {
	if (!Number.isFinite(info.cpuMillis) || !Number.isFinite(info.memoryBytes)) {
		return {ok: false, error: failure('ERR_BAD_REQUEST', {message: `node "${node.metadata.name}" reports no usable capacity`})};
	}
	const {gpus = 0} = info;
	const resources = {
		cpu: cpuText(info.cpuMillis),
		memory: `${Math.floor(info.memoryBytes / 1024)}Ki`,
		pods: String(info.maxPods),
		...(gpus > 0 ? {[gpuResource]: String(gpus)} : {}),
	};
	const wasReady = isConditionTrue(node.status?.conditions, 'Ready');
	const {network: _before, ...known} = node.status ?? {};
	const status: NodeStatus = {
		...known,
		capacity: resources,
		allocatable: resources,
		conditions: conditionsOf(node, info, nowMs),
		addresses: [
			{type: 'InternalIP', address: info.hostIP},
			{type: 'Hostname', address: node.metadata.name},
		],
		nodeInfo: nodeInfoOf(info, version),
		runtimeFeatures: info.features,
		runtimeClasses: info.classes ?? classesOfBefore,
		...(info.localVolumes === undefined ? {} : {localVolumes: info.localVolumes}),
		...(info.network === undefined ? {} : {network: networkOf(info.network)}),
	};
	const object = withPressureTaints({...node, status});
	const ready = wasReady ? [] : [normal('NodeReady', `node ${node.metadata.name} is heard: ${info.name} ${info.version}`)];
	return {
		ok: true,
		object,
		effects: [...ready, ...dockerEvents(node, object, info), ...pressureEvents(node, object), ...subnetWish(object)],
	};
}

/** Not more than that: what comes from the agent may be longer some day. */
const networkOf = ({pods, services, reach, occupied}: NetworkInfo): NonNullable<NodeStatus['network']> => ({
	pods,
	services,
	...(reach === 'relayed' ? {reach} : {}),
	...(occupied === undefined || occupied.length === 0 ? {} : {occupied: [...occupied]}),
});

/** Its pods are to have a network of their own, and it has no addresses for them. */
const lacksSubnet = ({spec, status}: NodeObject): boolean => status?.network?.pods === 'routed' && spec?.podCIDR === undefined;

function subnetWish(node: NodeObject): readonly Effect[] {
	if (!lacksSubnet(node)) return [];
	const wish: WantSubnet = {type: 'wantSubnet', node: node.metadata.name};
	return [tell(subnetsAddress, wish)];
}

function subnetGiven(node: NodeObject, podCIDR: string | undefined, nowMs: number): Handled<NodeObject> {
	if (!lacksSubnet(node)) return {ok: true, object: node};
	if (podCIDR !== undefined) {
		const conditions = withoutCondition(node.status?.conditions, noSubnet);
		const status = {...node.status, ...(conditions === undefined ? {} : {conditions})};
		return {ok: true, object: {...node, spec: {...node.spec, podCIDR, podCIDRs: [podCIDR]}, status}};
	}
	const message =
		'no subnet is left for its pods: spec.network.podCIDR of the ClusterConfig is too small, or its hosts use it for something else';
	const conditions = withCondition(node.status?.conditions, {type: noSubnet, status: 'True', reason: 'NoSubnetLeft', message}, nowMs);
	if (conditions === node.status?.conditions) return {ok: true, object: node};
	return {ok: true, object: {...node, status: {...node.status, conditions}}, effects: [warning('NoSubnetLeft', message)]};
}

/** As Kubernetes calls it. */
const noSubnet = 'NetworkUnavailable';

function dockerEvents(before: NodeObject, after: NodeObject, {classes = []}: RuntimeInfo): readonly Effect[] {
	const was = conditionOf(before.status?.conditions, dockerNotReady);
	const is = conditionOf(after.status?.conditions, dockerNotReady);
	if (is !== undefined) return is.reason === was?.reason ? [] : [warning(dockerNotReady, is.message ?? '')];
	return was !== undefined && classes.includes('docker') ? [normal('DockerReady', "Docker's Engine answers again")] : [];
}

/** Of an agent that does not say. */
const classesOfBefore: readonly RuntimeClass[] = ['process'];

function conditionsOf(node: NodeObject, info: RuntimeInfo, nowMs: number): readonly NodeCondition[] {
	const told = info.conditions.map(({type, status = 'True', reason, message}) => ({type, status, reason, message}) as const);
	const ready = {type: 'Ready', status: 'True', reason: 'AgentReady', message: 'the agent is heard'} as const;
	// What the runtime does not say any more is over.
	const present = (node.status?.conditions ?? []).filter(
		({type}) => type === 'ActorFailed' || type === 'Ready' || told.some(each => each.type === type) || staysUntold(type, told),
	);
	return [ready, ...told].reduce(
		(conditions, condition) => withCondition(conditions, condition, nowMs),
		present as readonly NodeCondition[],
	);
}

function nodeInfoOf(info: RuntimeInfo, version: string): NonNullable<NodeStatus['nodeInfo']> {
	return {
		machineID: '',
		systemUUID: '',
		bootID: info.hostBootId,
		kernelVersion: info.kernel,
		osImage: info.os,
		containerRuntimeVersion: `${info.name}://${info.version}`,
		kubeletVersion: `v${version}`,
		kubeProxyVersion: `v${version}`,
		operatingSystem: 'linux',
		architecture: info.architecture,
	};
}

function unheard(node: NodeObject, reason: string, message: string, nowMs: number): Handled<NodeObject> {
	const conditions = withCondition(node.status?.conditions, {type: 'Ready', status: 'Unknown', reason, message}, nowMs);
	return {ok: true, object: conditions === node.status?.conditions ? node : {...node, status: {...node.status, conditions}}};
}

function found(node: NodeObject, finding: Finding, nowMs: number): Handled<NodeObject> {
	const object = withFinding(node, finding, nowMs);
	// Actors that watch one there, or wait for its answer, wait no longer.
	const gone: readonly Effect[] = isLost(object) && !isLost(node) ? [{type: 'declareGone', system: node.metadata.name}] : [];
	return {ok: true, object, effects: [...findingEvents(node, object), ...gone]};
}

function confirmLost(node: NodeObject, nowMs: number): Handled<NodeObject> {
	const message = 'somebody said that the node is lost; its pods are replaced';
	const conditions = withCondition(node.status?.conditions, {type: confirmedLost, status: 'True', reason: confirmedLost, message}, nowMs);
	if (conditions === node.status?.conditions) return {ok: true, object: node};
	return {
		ok: true,
		object: {...node, status: {...node.status, conditions}},
		effects: [warning(confirmedLost, message)],
	};
}
