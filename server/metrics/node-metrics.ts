// Figures of each node: whether it is ready, its pods, what it has and what is asked for and used of that. Of more nodes than `limits.metricsNodes` the
// rest, by name, is told as one.

import type {NodeObject} from '../../api/kinds/node.js';
import {limits} from '../../api/limits.js';
import {gauge, usageMetrics, type Metric, type NodeFigures, type Sample} from '../../api/metrics.js';
import {cpuMillis, memoryBytes} from '../../api/quantity.js';
import {isNodeReady} from '../../actors/control/scheduling/node-info.js';
import {cpuOnNode, memoryOnNode, occupies} from '../../actors/control/pods/pod-terms.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {someAtATime} from '../inspect/some-at-a-time.js';

/** No node is called so. */
export const otherNodes = '_other';

type Figures = {
	readonly node: string;
	readonly ready: number;
	readonly cordoned: number;
	readonly pods: number;
	readonly allocatableCpu: number;
	readonly allocatableMemory: number;
	readonly requestedCpu: number;
	readonly requestedMemory: number;
};

const gauges: readonly {readonly name: string; readonly help: string; readonly of: (figures: Figures) => number}[] = [
	{name: 'troupe_node_ready', help: 'Whether the node is ready; how many of the others are.', of: ({ready}) => ready},
	{name: 'troupe_node_cordoned', help: 'Whether the node takes no new pods; how many of the others do not.', of: ({cordoned}) => cordoned},
	{name: 'troupe_node_pods', help: 'Pods that take resources of the node.', of: ({pods}) => pods},
	{
		name: 'troupe_node_allocatable_cpu_cores',
		help: 'Processors that pods may have of the node.',
		of: ({allocatableCpu}) => allocatableCpu / 1_000,
	},
	{
		name: 'troupe_node_allocatable_memory_bytes',
		help: 'Memory that pods may have of the node.',
		of: ({allocatableMemory}) => allocatableMemory,
	},
	{
		name: 'troupe_node_requested_cpu_cores',
		help: 'Processors that pods on the node ask for.',
		of: ({requestedCpu}) => requestedCpu / 1_000,
	},
	{name: 'troupe_node_requested_memory_bytes', help: 'Memory that pods on the node ask for.', of: ({requestedMemory}) => requestedMemory},
];

/** What a node uses; undefined: it does not answer. */
export type ReadNodeFigures = (node: string) => Promise<NodeFigures | undefined>;

export async function nodeMetrics(index: ObjectIndex, read: ReadNodeFigures): Promise<readonly Metric[]> {
	const nodes = ([...index.list('nodes')] as NodeObject[]).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
	const own = nodes.slice(0, limits.metricsNodes).map(node => figuresOf(node, index));
	const rest = nodes.slice(limits.metricsNodes).map(node => figuresOf(node, index));
	const told = rest.length === 0 ? own : [...own, sumOf(rest)];
	const samplesOf = (of: (figures: Figures) => number): readonly Sample[] =>
		told.map(figures => ({labels: {node: figures.node}, value: of(figures)}));
	const usages: NodeFigures[] = [];
	await someAtATime(
		own.filter(({ready}) => ready > 0).map(({node}) => node),
		async node => {
			const usage = await read(node);
			if (usage !== undefined) usages.push(usage);
		},
	);
	usages.sort((a, b) => (a.node < b.node ? -1 : 1));
	return [...gauges.map(({name, help, of}) => gauge(name, help, samplesOf(of))), ...usageMetrics(usages)];
}

function figuresOf(node: NodeObject, index: ObjectIndex): Figures {
	const {
		metadata: {name},
		spec,
		status,
	} = node;
	const {cpu, memory} = status?.allocatable ?? {};
	return {
		node: name,
		ready: Number(isNodeReady(node)),
		cordoned: Number(spec?.unschedulable === true),
		pods: index.countByTerm('pods', occupies(name)),
		allocatableCpu: cpu === undefined ? 0 : (cpuMillis(cpu) ?? 0),
		allocatableMemory: memory === undefined ? 0 : (memoryBytes(memory) ?? 0),
		requestedCpu: index.sumByTerm('pods', cpuOnNode(name)),
		requestedMemory: index.sumByTerm('pods', memoryOnNode(name)),
	};
}

const sumOf = (all: readonly Figures[]): Figures => {
	const sum = (of: (figures: Figures) => number): number => all.reduce((total, each) => total + of(each), 0);
	return {
		node: otherNodes,
		ready: sum(({ready}) => ready),
		cordoned: sum(({cordoned}) => cordoned),
		pods: sum(({pods}) => pods),
		allocatableCpu: sum(({allocatableCpu}) => allocatableCpu),
		allocatableMemory: sum(({allocatableMemory}) => allocatableMemory),
		requestedCpu: sum(({requestedCpu}) => requestedCpu),
		requestedMemory: sum(({requestedMemory}) => requestedMemory),
	};
};
