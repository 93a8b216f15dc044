// `troupe top pods|nodes|functions`: how much of processors and memory is used now, and how much functions are called. What running actors do is `troupe actor top`.

import {AppError} from '../../api/errors.js';
import {functionFiguresPath, type ColdPhases, type FunctionFigures, type FunctionsAnswer} from '../../api/function-figures.js';
import {memoryBytes, cpuMillis} from '../../api/quantity.js';
import type {ApiObject} from '../../api/object.js';
import {cpuOf, cpuText, memoryOf, memoryText, nodeMetricsKind, podMetricsKind, type PodMetrics} from '../../server/http/metrics-kinds.js';
import type {Client} from '../client.js';
import {usageError, type Invocation} from '../command.js';
import {listAll, type List} from '../cluster/lists.js';
import {pathOf, readTargets, resourceOf} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {listOf, printedWhole} from '../objects/output.js';
import {drawTable} from '../screen/table.js';
import {widthFor} from '../screen/text-width.js';

/** A row, and what it is sorted by. */
type Row = {readonly cells: readonly string[]; readonly cpu: number; readonly memory: number};

type Drawn = {readonly heads: readonly string[]; readonly rows: readonly Row[]};

export async function run(invocation: Invocation): Promise<number> {
	const [word = ''] = invocation.inputs;
	if (word === '') throw usageError('top of what? pods, nodes or functions');
	const [target, ...others] = readTargets(invocation.inputs);
	const names = target?.names ?? [];
	if (others.length > 0 || names.length > 1) throw usageError('top takes one name, or -l for several');
	switch (target?.resource.plural) {
		case 'pods':
			return withClient(invocation, client => topPods(invocation, client, names[0]));
		case 'nodes':
			return withClient(invocation, client => topNodes(invocation, client, names[0]));
		case 'functions':
			return withClient(invocation, client => topFunctions(invocation, client, names[0]));
		default:
			throw usageError(`top is of pods, nodes or functions, not of ${word}`);
	}
}

async function topPods(invocation: Invocation, client: Client, name: string | undefined): Promise<number> {
	const {flags, terminal} = invocation;
	if (isWide(invocation)) throw usageError(notWide);
	const everywhere = flags.on('all-namespaces');
	if (name !== undefined && (everywhere || flags.text('selector') !== undefined))
		throw usageError('a name, -A and -l each say which pods; give one of them');
	const namespace = everywhere ? undefined : namespaceOf(invocation, client);
	const found = (await metricsOf(invocation, client, pathOf(podMetricsKind, namespace, name))) as readonly PodMetrics[];
	if (await printedWhole(invocation, listOf(found))) return 0;
	if (found.length === 0) {
		terminal.note(namespace === undefined ? 'No pods are measured' : `No pods are measured in ${namespace} namespace.`);
		return 0;
	}
	await draw(invocation, podRows(found, {everywhere, containers: flags.on('containers')}));
	return 0;
}

function podRows(
	pods: readonly PodMetrics[],
	{everywhere, containers}: {readonly everywhere: boolean; readonly containers: boolean},
): Drawn {
	const scope = ({metadata}: PodMetrics): readonly string[] => (everywhere ? [metadata.namespace ?? ''] : []);
	const heads = [...(everywhere ? ['NAMESPACE'] : []), ...(containers ? ['POD'] : []), 'NAME', ...usageHeads];
	if (!containers) return {heads, rows: pods.map(pod => row([...scope(pod), pod.metadata.name], cpuOf(pod), memoryOf(pod)))};
	const rows = pods.flatMap(pod =>
		pod.containers.map(({name, usage}) =>
			row([...scope(pod), pod.metadata.name, name], cpuMillis(usage.cpu) ?? 0, memoryBytes(usage.memory) ?? 0),
		),
	);
	return {heads, rows};
}

const notWide = '-o wide is of functions';

const usageHeads = ['CPU(cores)', 'MEMORY(bytes)'];

const row = (cells: readonly string[], cpu: number, memory: number): Row => ({
	cells: [...cells, cpuText(cpu), memoryText(memory)],
	cpu,
	memory,
});

async function topNodes(invocation: Invocation, client: Client, name: string | undefined): Promise<number> {
	const {flags} = invocation;
	if (flags.on('containers')) throw usageError('--containers is of pods');
	if (isWide(invocation)) throw usageError(notWide);
	if (name !== undefined && flags.text('selector') !== undefined) throw usageError('a name and -l each say which nodes; give one of them');
	const found = await metricsOf(invocation, client, pathOf(nodeMetricsKind, undefined, name));
	if (await printedWhole(invocation, listOf(found))) return 0;
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
		return {cells: [metrics.metadata.name, ...cells], ...used};
	});
	if (rows.length === 0) invocation.terminal.note('No nodes are measured');
	else await draw(invocation, {heads: ['NAME', 'CPU(cores)', 'CPU(%)', 'MEMORY(bytes)', 'MEMORY(%)'], rows});
	return 0;
}

type Amounts = {readonly cpu?: string; readonly memory?: string};

const allocatableOf = (node: ApiObject | undefined): Amounts =>
	(node?.status as {readonly allocatable?: Amounts} | undefined)?.allocatable ?? {};

const percent = (used: number, all: number | undefined): string =>
	all === undefined || all === 0 ? '<unknown>' : `${Math.floor((used * 100) / all)}%`;

/** One object, or a list. */
async function metricsOf({flags}: Invocation, client: Client, path: string): Promise<readonly ApiObject[]> {
	const answer = await client.json({path, query: {labelSelector: flags.text('selector')}});
	return (answer as List).items ?? [answer as ApiObject];
}

/** The largest first, where it is sorted. */
async function draw({flags, terminal}: Invocation, {heads, rows}: Drawn): Promise<void> {
	const by = flags.text('sort') as 'cpu' | 'memory' | undefined;
	const cells = (by === undefined ? rows : [...rows].sort((a, b) => b[by] - a[by])).map(each => each.cells);
	terminal.out(drawTable(heads, cells, await widthFor(cells.flat())));
}

// ---- functions ---------------------------------------------------------------------------------------------------------------

async function topFunctions(invocation: Invocation, client: Client, name: string | undefined): Promise<number> {
	const {flags, terminal} = invocation;
	if (flags.on('containers') || flags.text('sort') !== undefined || flags.text('selector') !== undefined)
		throw usageError('top functions takes a name or -A, and none of --containers, --sort and -l');
	const everywhere = flags.on('all-namespaces');
	if (name !== undefined && everywhere) throw usageError('a name and -A each say which functions; give one of them');
	const namespace = everywhere ? undefined : namespaceOf(invocation, client);
	const answer = (await client.json({path: functionFiguresPath, query: {namespace}})) as FunctionsAnswer;
	const functions = answer.functions.filter(each => name === undefined || each.name === name);
	if (name !== undefined && functions.length === 0) throw new AppError('ERR_NOT_FOUND', {resource: 'functions.troupe.dev', name});
	const wide = isWide(invocation);
	if (!wide && (await printedWhole(invocation, {...answer, functions}))) return 0;
	if (functions.length === 0) {
		terminal.note(namespace === undefined ? 'No functions' : `No functions in ${namespace} namespace.`);
		return 0;
	}
	const cells = functions.map(each => [...(everywhere ? [each.namespace] : []), ...figureCells(each), ...(wide ? phaseCells(each) : [])]);
	const heads = [...(everywhere ? ['NAMESPACE'] : []), ...figureHeads, ...(wide ? phaseHeads : [])];
	terminal.out(drawTable(heads, cells, await widthFor(cells.flat())));
	return 0;
}

const figureHeads = ['NAME', 'CALLS', 'HELD', 'INSTANCES', 'ANSWERED', 'FAILED', 'COLD-STARTS', 'COLD-MEAN'];

const figureCells = ({
	name,
	calls,
	held,
	ready,
	desired,
	answered,
	failed,
	coldStarts,
	coldStartMs,
}: FunctionFigures): readonly string[] => [
	name,
	...[calls, held].map(String),
	`${ready}/${desired}`,
	...[answered, failed, coldStarts].map(String),
	coldStarts === 0 ? '<none>' : timeText(coldStartMs / coldStarts),
];

const isWide = ({flags}: Invocation): boolean => flags.text('output') === 'wide';

const phaseHeads = ['PLACE', 'START', 'READY', 'SLOT'];

const phasesInOrder: readonly (keyof ColdPhases)[] = ['placeMs', 'startMs', 'readyMs', 'slotMs'];

/** The mean of each. What they come to is rounded, so that they add up to the mean of all. */
function phaseCells({coldStarts, coldPhases}: FunctionFigures): readonly string[] {
	if (coldStarts === 0) return phasesInOrder.map(() => '<none>');
	let sumMs = 0;
	return phasesInOrder.map(phase => {
		const beforeMs = Math.round(sumMs / coldStarts);
		sumMs += coldPhases[phase];
		return timeText(Math.round(sumMs / coldStarts) - beforeMs);
	});
}

/** `412ms`, `1.4s`. */
const timeText = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)}ms` : `${(ms / 1_000).toFixed(1)}s`);
