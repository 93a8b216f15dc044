// Whether a node has room: number of pods, cpu, memory and ports.

import type {Pod} from '../../../api/kinds/pod.js';
import {cpuText, memoryText} from '../../../api/quantity.js';
import type {Candidate} from './candidate.js';
import {needsOf, type PodNeeds} from './needs.js';

/** Who asks for room: a pod does not stand in its own way. */
export type Asker = {readonly uid: string; readonly needs: PodNeeds};

/** Whether a bound or about-to-be-bound pod has a port of a node, some pods aside. */
export type PortCheck = (node: string, port: string, without: readonly Pod[]) => boolean;

/** What pods give back when they go. */
export type Freed = {readonly pods: number; readonly cpuMillis: number; readonly memoryBytes: number};

const nothingFreed: Freed = {pods: 0, cpuMillis: 0, memoryBytes: 0};

/** What is given back when this pod goes as well (1), or stays after all (-1). */
export function freedWith({pods, cpuMillis, memoryBytes}: Freed, {spec}: Pod, sign: 1 | -1): Freed {
	if (spec === undefined) return {pods, cpuMillis, memoryBytes};
	const needs = needsOf(spec);
	return {pods: pods + sign, cpuMillis: cpuMillis + sign * needs.cpuMillis, memoryBytes: memoryBytes + sign * needs.memoryBytes};
}

export const freedBy = (gone: readonly Pod[]): Freed => gone.reduce((freed, pod) => freedWith(freed, pod, 1), nothingFreed);

/**
 * Why there is no room; undefined when there is. `without` are pods of the node that are thought away. The words name what the pod asks
 * for and what the node has in all, never what is free at the moment: they must not change with each pod that comes and goes.
 */
export function roomMisfit(
	asker: Asker,
	node: Candidate,
	holdsPort: PortCheck,
	without: readonly Pod[],
	freed: Freed = freedBy(without),
): string | undefined {
	const {needs} = asker;
	const most = exceeds(needs, node);
	if (most !== undefined) return most;
	let pods = node.pods - freed.pods;
	let usedCpu = node.usedCpu - freed.cpuMillis;
	let usedMemory = node.usedMemory - freed.memoryBytes;
	for (const nominee of node.nominees.values()) {
		if (!isKept(nominee, asker)) continue;
		pods++;
		usedCpu += nominee.needs.cpuMillis;
		usedMemory += nominee.needs.memoryBytes;
	}
	if (pods >= node.maxPods) return `full: ${node.maxPods} pods`;
	// What asks for nothing fits even where more is taken than there is.
	if (needs.cpuMillis > 0 && usedCpu + needs.cpuMillis > node.cpuMillis) return `too little cpu is free for ${cpuText(needs.cpuMillis)}`;
	if (needs.memoryBytes > 0 && usedMemory + needs.memoryBytes > node.memoryBytes)
		return `too little memory is free for ${memoryText(needs.memoryBytes)}`;
	return portMisfit(asker, node, holdsPort, without);
}

/** What no deletion mends: the node has not so much at all. */
export function exceeds({cpuMillis, memoryBytes}: PodNeeds, node: Candidate): string | undefined {
	if (cpuMillis > node.cpuMillis) return `has ${cpuText(node.cpuMillis)} cpu, ${cpuText(cpuMillis)} is asked for`;
	if (memoryBytes > node.memoryBytes) return `has ${memoryText(node.memoryBytes)} memory, ${memoryText(memoryBytes)} is asked for`;
	return undefined;
}

/** Room is kept against everyone who does not count more. */
const isKept = (nominee: Asker, asker: Asker): boolean => nominee.uid !== asker.uid && nominee.needs.priority >= asker.needs.priority;

function portMisfit(asker: Asker, node: Candidate, holdsPort: PortCheck, without: readonly Pod[]): string | undefined {
	const {ports} = asker.needs;
	if (ports.length === 0) return undefined;
	const taken = ports.find(
		port =>
			holdsPort(node.name, port, without) ||
			[...node.nominees.values()].some(nominee => isKept(nominee, asker) && nominee.needs.ports.includes(port)),
	);
	return taken === undefined ? undefined : `port ${taken} is taken`;
}
