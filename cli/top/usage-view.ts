// `top pods` and `top nodes`: how much of processors and memory is used now, and how it was in the last minutes.

import {memoryBytes, cpuMillis} from '../../api/quantity.js';
import type {ApiObject} from '../../api/object.js';
import {
	cpuOf,
	cpuText,
	memoryOf,
	memoryText,
	nodeMetricsKind,
	podMetricsKind,
	type MetricsDetails,
	type NodeMetrics,
	type PodMetrics,
} from '../../server/http/metrics-kinds.js';
import type {Client} from '../client.js';
import {usageError, type Invocation} from '../command.js';
import {listAll, type List} from '../cluster/lists.js';
import {pathOf, resourceOf} from '../cluster/resources.js';
import {namespaceOf} from '../cluster/session.js';
import {listOf} from '../objects/output.js';
import {barsOf, isWide, pastSteps, showsPast, type Row, type View} from './view.js';

export async function podView(invocation: Invocation, client: Client, name: string | undefined): Promise<View> {
	const {flags} = invocation;
	const everywhere = flags.on('all-namespaces');
	if (name !== undefined && (everywhere || flags.text('selector') !== undefined))
		throw usageError('a name, -A and -l each say which pods; give one of them');
	if (flags.on('containers') && isWide(invocation)) throw usageError('-o wide is of whole pods, without --containers');
	const namespace = everywhere ? undefined : namespaceOf(invocation, client);
	const pods = (await metricsOf(invocation, client, pathOf(podMetricsKind, namespace, name))) as readonly PodMetrics[];
	return {
		whole: listOf(pods),
		empty: namespace === undefined ? 'No pods are measured' : `No pods are measured in ${namespace} namespace.`,
		...podRows(invocation, pods),
	};
}

function podRows(invocation: Invocation, pods: readonly PodMetrics[]): Pick<View, 'heads' | 'rows'> {
	const {flags} = invocation;
	const everywhere = flags.on('all-namespaces');
	const scope = ({metadata}: PodMetrics): readonly string[] => (everywhere ? [metadata.namespace ?? ''] : []);
	if (flags.on('containers')) {
		const rows = pods.flatMap(pod =>
			pod.containers.map(({name, usage}) => {
				const used = {cpu: cpuMillis(usage.cpu) ?? 0, memory: memoryBytes(usage.memory) ?? 0};
				return {cells: [...scope(pod), pod.metadata.name, name, cpuText(used.cpu), memoryText(used.memory)], ...used};
			}),
		);
		return {heads: [...(everywhere ? ['NAMESPACE'] : []), 'POD', 'NAME', ...usageHeads], rows};
	}
	const rows = pods.map((pod): Row => {
		const used = {cpu: cpuOf(pod), memory: memoryOf(pod)};
		const cells = [...scope(pod), pod.metadata.name, cpuText(used.cpu), memoryText(used.memory), ...detailCells(invocation, pod)];
		return {cells, ...used};
	});
	return {heads: [...(everywhere ? ['NAMESPACE'] : []), 'NAME', ...usageHeads, ...detailHeads(invocation)], rows};
}

const usageHeads = ['CPU(cores)', 'MEMORY(bytes)'];

export async function nodeView(invocation: Invocation, client: Client, name: string | undefined): Promise<View> {
	const {flags} = invocation;
	if (flags.on('containers')) throw usageError('--containers is of pods');
	if (name !== undefined && flags.text('selector') !== undefined) throw usageError('a name and -l each say which nodes; give one of them');
	const found = (await metricsOf(invocation, client, pathOf(nodeMetricsKind, undefined, name))) as readonly NodeMetrics[];
	const nodes = new Map((await listAll(client, resourceOf('nodes'), undefined)).map(node => [node.metadata.name, node]));
	const rows = found.map((metrics): Row => {
		const {cpu: cpus = '', memory = ''} = allocatableOf(nodes.get(metrics.metadata.name));
		const used = {cpu: cpuOf(metrics), memory: memoryOf(metrics)};
		const cells = [
			cpuText(used.cpu),
			percent(used.cpu, cpuMillis(cpus)),
			memoryText(used.memory),
			percent(used.memory, memoryBytes(memory)),
		];
		return {cells: [metrics.metadata.name, ...cells, ...detailCells(invocation, metrics)], ...used};
	});
	const heads = ['NAME', 'CPU(cores)', 'CPU(%)', 'MEMORY(bytes)', 'MEMORY(%)', ...detailHeads(invocation)];
	return {whole: listOf(found), empty: 'No nodes are measured', heads, rows};
}

type Amounts = {readonly cpu?: string; readonly memory?: string};

const allocatableOf = (node: ApiObject | undefined): Amounts =>
	(node?.status as {readonly allocatable?: Amounts} | undefined)?.allocatable ?? {};

const percent = (used: number, all: number | undefined): string =>
	all === undefined || all === 0 ? '<unknown>' : `${Math.floor((used * 100) / all)}%`;

/** One object, or a list. */
async function metricsOf(invocation: Invocation, client: Client, path: string): Promise<readonly ApiObject[]> {
	const history = showsPast(invocation) && !invocation.flags.on('containers') ? String(pastSteps) : undefined;
	const answer = await client.json({path, query: {labelSelector: invocation.flags.text('selector'), history}});
	return (answer as List).items ?? [answer as ApiObject];
}

// ---- networks, disks, the last minutes ---------------------------------------------------------------------------------------

const detailHeads = (invocation: Invocation): readonly string[] => [
	...(isWide(invocation) ? ['NET-IN', 'NET-OUT', 'DISK-READ', 'DISK-WRITE'] : []),
	...(showsPast(invocation) ? ['CPU(15m)', 'MEMORY(15m)'] : []),
];

function detailCells(invocation: Invocation, {rates = {}, history}: MetricsDetails): readonly string[] {
	return [
		...(isWide(invocation) ? [rates.received, rates.sent, rates.read, rates.written].map(rateText) : []),
		...(showsPast(invocation) ? [history?.cpu, history?.memory].map(figures => barsOf(invocation, figures ?? [])) : []),
	];
}

const kibibyte = 1_024;

/** `12Ki/s`. */
function rateText(bytes: number | undefined): string {
	if (bytes === undefined) return '<unknown>';
	if (bytes < kibibyte) return `${bytes}/s`;
	return bytes < kibibyte ** 2 ? `${Math.round(bytes / kibibyte)}Ki/s` : `${(bytes / kibibyte ** 2).toFixed(1)}Mi/s`;
}
