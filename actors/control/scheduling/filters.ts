// Filters of single nodes: those that read only the node's own record, and those that ask whether its free resources and ports will do.

import {featureText} from '../../../api/features.js';
import {gpuResource} from '../../../api/gpu.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {cpuText, memoryText} from '../../../api/quantity.js';
import type {RuntimeClass} from '../../../api/runtime-class.js';
import {matchesAffinity, missingLabel} from '../pods/node-affinity.js';
import type {NodeInfo, Requester} from './node-info.js';
import {requirementsOf, type PodRequirements} from '../pods/pod-requirements.js';
import {isTolerated, taintText} from '../pods/toleration.js';

/** A cordon is a taint in Kubernetes, so a pod may tolerate it. */
const cordon = {key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule'} as const;

/** Why the node's own record keeps the pod away, which no deletion of other pods mends; undefined when it does not. */
export function nodeMisfit({spec, features, runtimeClass}: PodRequirements, node: NodeInfo): string | undefined {
	if (node.unavailable !== undefined) return node.unavailable;
	const {tolerations} = spec;
	if (node.isCordoned && !isTolerated(cordon, tolerations)) return 'cordoned';
	const missing = missingLabel(spec.nodeSelector, node);
	if (missing !== undefined) return `no label ${missing[0]}=${missing[1]}`;
	if (!matchesAffinity(spec, node)) return 'not among the nodes of its node affinity';
	const taint = node.taints.find(each => each.effect !== 'PreferNoSchedule' && !isTolerated(each, tolerations));
	if (taint !== undefined) return `taint ${taintText(taint)} is not tolerated`;
	if (!node.classes.includes(runtimeClass)) return classMisfit(runtimeClass, node);
	const lacking = features.filter(feature => !node.features.includes(feature));
	return lacking.length === 0 ? undefined : `lacks ${lacking.map(featureText).join(' and ')}`;
}

const classMisfit = (runtimeClass: RuntimeClass, {dockerProblem}: NodeInfo): string =>
	`runs no pods of class ${runtimeClass}${runtimeClass === 'docker' && dockerProblem !== undefined ? `: ${dockerProblem}` : ''}`;

/** Whether a bound or assumed pod has a port of a node, some pods aside. */
export type PortCheck = (node: Pick<NodeInfo, 'name' | 'isRouted'>, port: string, without: readonly Pod[]) => boolean;

/** What pods give back when they go. */
export type Freed = {readonly pods: number; readonly cpuMillis: number; readonly memoryBytes: number; readonly gpus: number};

const nothingFreed: Freed = {pods: 0, cpuMillis: 0, memoryBytes: 0, gpus: 0};

/** What is given back when this pod goes as well (1), or stays after all (-1). */
export function freedWith(freed: Freed, {spec}: Pod, sign: 1 | -1): Freed {
	if (spec === undefined) return freed;
	const its = requirementsOf(spec);
	return {
		pods: freed.pods + sign,
		cpuMillis: freed.cpuMillis + sign * its.cpuMillis,
		memoryBytes: freed.memoryBytes + sign * its.memoryBytes,
		gpus: freed.gpus + sign * its.gpus,
	};
}

export const freedBy = (gone: readonly Pod[]): Freed => gone.reduce((freed, pod) => freedWith(freed, pod, 1), nothingFreed);

/**
 * Why the node's free resources do not do for the pod; undefined when they do. `without` are pods of the node that are thought away. The words
 * name what the pod asks for and what the node has in all, never what is free at the moment: they must not change with each pod that comes
 * and goes.
 */
export function resourcesMisfit(
	requester: Requester,
	node: NodeInfo,
	holdsPort: PortCheck,
	without: readonly Pod[],
	freed: Freed = freedBy(without),
): string | undefined {
	const {requirements} = requester;
	const most = exceeds(requirements, node);
	if (most !== undefined) return most;
	let pods = node.pods - freed.pods;
	let requestedCpu = node.requestedCpu - freed.cpuMillis;
	let requestedMemory = node.requestedMemory - freed.memoryBytes;
	let requestedGpus = node.requestedGpus - freed.gpus;
	for (const nominee of node.nominees.values()) {
		if (!yieldsTo(requester, nominee)) continue;
		pods++;
		requestedCpu += nominee.requirements.cpuMillis;
		requestedMemory += nominee.requirements.memoryBytes;
		requestedGpus += nominee.requirements.gpus;
	}
	if (pods >= node.maxPods) return `full: ${node.maxPods} pods`;
	const {cpuMillis, memoryBytes, gpus} = requirements;
	// What asks for nothing fits even where more is taken than there is.
	if (cpuMillis > 0 && requestedCpu + cpuMillis > node.cpuMillis) return `too little cpu is free for ${cpuText(cpuMillis)}`;
	if (memoryBytes > 0 && requestedMemory + memoryBytes > node.memoryBytes)
		return `too little memory is free for ${memoryText(memoryBytes)}`;
	if (gpus > 0 && requestedGpus + gpus > node.gpus) return `${insufficient}: too few are free for ${gpus}`;
	return portMisfit(requester, node, holdsPort, without);
}

/** Kubernetes' words, which people look for. */
const insufficient = `Insufficient ${gpuResource}`;

/** Why no deletion mends it: the node has not so much at all. */
export function exceeds({cpuMillis, memoryBytes, gpus}: PodRequirements, node: NodeInfo): string | undefined {
	if (cpuMillis > node.cpuMillis) return `has ${cpuText(node.cpuMillis)} cpu, ${cpuText(cpuMillis)} is asked for`;
	if (memoryBytes > node.memoryBytes) return `has ${memoryText(node.memoryBytes)} memory, ${memoryText(memoryBytes)} is asked for`;
	if (gpus > node.gpus) return `${insufficient}: has ${node.gpus}, ${gpus} asked for`;
	return undefined;
}

/** What is reserved for a nominated pod is so against all pods but itself and those of a higher priority. */
const yieldsTo = (requester: Requester, nominee: Requester): boolean =>
	nominee.uid !== requester.uid && nominee.requirements.priority >= requester.requirements.priority;

/** Those that only one pod of this node can have. */
export const portsOn = ({isRouted}: Pick<NodeInfo, 'isRouted'>, {ports, hostPorts}: PodRequirements): readonly string[] =>
	isRouted ? hostPorts : ports;

function portMisfit(requester: Requester, node: NodeInfo, holdsPort: PortCheck, without: readonly Pod[]): string | undefined {
	const ports = portsOn(node, requester.requirements);
	if (ports.length === 0) return undefined;
	const taken = ports.find(
		port =>
			holdsPort(node, port, without) ||
			[...node.nominees.values()].some(nominee => yieldsTo(requester, nominee) && portsOn(node, nominee.requirements).includes(port)),
	);
	return taken === undefined ? undefined : `port ${taken}${isTaken}`;
}

const isTaken = ' is taken';

export const isPortTaken = (misfit: string): boolean => misfit.startsWith('port ') && misfit.endsWith(isTaken);
