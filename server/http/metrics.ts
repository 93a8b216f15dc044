// GET of `metrics.k8s.io/v1beta1`, what `kubectl top` reads: made when it is asked for, from what the nodes tell. Who may read the nodes, or the pods, may
// read what they use.
//
// A node that does not answer in time is left out with all that runs there, and a warning says so. So is a pod of which not every container was measured:
// a sum of some would be too low.
//
// `?history=STEPS`, which is ours, has each say as well what it used in the last minutes, in so many steps, and of networks and disks now.

import {apiVersionOf} from '../../api/catalogue.js';
import {conditionOf} from '../../api/conditions.js';
import {AppError} from '../../api/errors.js';
import {node as nodeKind, type NodeObject} from '../../api/kinds/node.js';
import {pod as podKind, type Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {nodeKey} from '../../actors/addresses.js';
import type {NodeUsage, Past, Rates, Used, UsedInAll} from '../../actors/protocol/usage-message.js';
import type {KindDefinition} from '../../api/kind.js';
import {timestampOf, type ApiObject} from '../../api/object.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {nodeMetricsKind, podMetricsKind, type MetricsDetails, type NodeMetrics, type PodMetrics, type Usage} from './metrics-kinds.js';
import {formOf} from './negotiate.js';
import {usageOfNode} from './node-usage.js';
import {refusal} from './outcome.js';
import {countOf, flagOf} from './query.js';
import {addWarnings, sendJson} from './reply.js';
import {requireRight} from './rights.js';
import {selected, selectionOf} from './selection.js';
import {sendTable} from './table-reply.js';
import {causeOf} from './write.js';

type Measure<Metrics> = (backend: Backend, asked: Asked, objects: readonly ApiObject[]) => Promise<Found<Metrics>>;

/** `steps`: of the last minutes; undefined: they are not asked for. */
type Asked = {readonly cause: string; readonly steps: number | undefined};

/** What was found, and the nodes that did not tell. */
type Found<Metrics> = {readonly metrics: readonly Metrics[]; readonly silent: readonly string[]};

/** GET of the metrics of all nodes that the selectors leave. */
export const listNodeMetrics = (backend: Backend, exchange: Exchange): Promise<void> =>
	listMetrics(backend, exchange, {metricsKind: nodeMetricsKind, kind: nodeKind, measure: measureNodes});

/** GET of the metrics of all pods that the selectors leave, in one namespace if given. */
export const listPodMetrics = (backend: Backend, exchange: Exchange): Promise<void> =>
	listMetrics(backend, exchange, {metricsKind: podMetricsKind, kind: podKind, measure: measurePods});

/** GET of one node's. */
export const readNodeMetrics = (backend: Backend, exchange: Exchange): Promise<void> =>
	readMetrics(backend, exchange, {metricsKind: nodeMetricsKind, kind: nodeKind, measure: measureNodes});

/** GET of one pod's. */
export const readPodMetrics = (backend: Backend, exchange: Exchange): Promise<void> =>
	readMetrics(backend, exchange, {metricsKind: podMetricsKind, kind: podKind, measure: measurePods});

type View = {readonly metricsKind: KindDefinition; readonly kind: KindDefinition; readonly measure: Measure<NodeMetrics | PodMetrics>};

async function listMetrics(backend: Backend, exchange: Exchange, {metricsKind, kind, measure}: View): Promise<void> {
	const {identity, params, query, request, response} = exchange;
	const namespace = params['namespace'];
	const target: Target = {kind: metricsKind, namespace, name: undefined, subresource: undefined};
	requireRight(identity, 'list', target);
	if (flagOf(query, 'watch')) throw new AppError('ERR_METHOD_NOT_ALLOWED');
	countOf(query, 'limit'); // Checked and not applied: metrics of different moments would be in one list.
	const entries = selected(backend.control.index, kind, namespace, selectionOf(query, kind));
	const {metrics, silent} = await measure(
		backend,
		{cause: causeOf(exchange, target), steps: stepsOf(query)},
		entries.map(({object}) => object),
	);
	addWarnings(response, warningsOf(silent));
	const form = formOf(request.headers.accept);
	if (form.type === 'table')
		return sendTable(backend, exchange, {kind: metricsKind, objects: metrics, metadata: {}, version: form.version});
	sendJson(response, 200, {kind: `${metricsKind.kind}List`, apiVersion: apiVersionOf(metricsKind), metadata: {}, items: metrics});
}

async function readMetrics(backend: Backend, exchange: Exchange, {metricsKind, kind, measure}: View): Promise<void> {
	const {identity, params, query, request, response} = exchange;
	const {namespace, name = ''} = params;
	const target: Target = {kind: metricsKind, namespace, name, subresource: undefined};
	requireRight(identity, 'get', target);
	const {object} = entryOf(backend, {...target, kind});
	const {metrics, silent} = await measure(backend, {cause: causeOf(exchange, target), steps: stepsOf(query)}, [object]);
	const [found] = metrics;
	if (found === undefined) {
		const why = warningsOf(silent)[0] ?? `nothing is measured of this ${kind.singular}`;
		throw new AppError('ERR_NOT_FOUND', {resource: `${metricsKind.plural}.${metricsKind.group}`, name, why});
	}
	const form = formOf(request.headers.accept);
	if (form.type === 'table')
		return sendTable(backend, exchange, {kind: metricsKind, objects: [found], metadata: {}, version: form.version});
	sendJson(response, 200, found);
}

function stepsOf(query: URLSearchParams): number | undefined {
	const steps = countOf(query, 'history');
	if (steps !== undefined && (steps < 1 || steps > limits.usageHistorySteps))
		throw refusal(`history must be a number of steps from 1 to ${limits.usageHistorySteps}, got ${steps}`);
	return steps;
}

const warningsOf = (silent: readonly string[]): readonly string[] =>
	silent.map(node => `node "${node}" does not answer: what it and its pods use is not known`);

// ---- what was measured -----------------------------------------------------------------------------------------------------

async function measureNodes(backend: Backend, asked: Asked, nodes: readonly ApiObject[]): Promise<Found<NodeMetrics>> {
	const told = await usages(backend, asked, new Map(nodes.map(({metadata}) => [metadata.name, []])));
	const metrics = nodes.flatMap((object): NodeMetrics[] => {
		const usage = told.get(object.metadata.name);
		if (usage?.node === undefined) return [];
		const details = usage.history === undefined ? {} : detailsOf(usage.node.rates, [usage.history.node]);
		return [{...measured(nodeMetricsKind, object, usage, [usage.node]), usage: quantities(usage.node), ...details}];
	});
	return {metrics, silent: silentOf(told)};
}

async function measurePods(backend: Backend, asked: Asked, objects: readonly ApiObject[]): Promise<Found<PodMetrics>> {
	const pods = (objects as readonly Pod[]).filter(({status}) => status?.phase === 'Running');
	const byNode = new Map<string, string[]>();
	for (const {metadata, spec} of pods) {
		const node = spec?.nodeName ?? '';
		if (node === '') continue;
		const uids = byNode.get(node);
		if (uids === undefined) byNode.set(node, [metadata.uid]);
		else uids.push(metadata.uid);
	}
	const told = await usages(backend, asked, byNode);
	const metrics = pods.flatMap((pod): PodMetrics[] => {
		const usage = told.get(pod.spec?.nodeName ?? '');
		const containers = usage === undefined ? undefined : containersOf(pod, usage);
		if (usage === undefined || containers === undefined) return [];
		const used = containers.map(container => container.used);
		return [
			{
				...measured(podMetricsKind, pod, usage, used),
				containers: containers.map(container => ({name: container.name, usage: quantities(container.used)})),
				...podDetails(pod, usage, used),
			},
		];
	});
	return {metrics, silent: silentOf(told)};
}

/** Undefined: not all that runs of it was measured, or nothing runs. */
function containersOf({metadata, spec}: Pod, usage: NodeUsage): readonly {readonly name: string; readonly used: UsedInAll}[] | undefined {
	const told = usage.pods.get(metadata.uid);
	const names = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
		.map(({name}) => name)
		.filter(name => told?.has(name) === true);
	const containers = names.flatMap(name => {
		const used = told?.get(name);
		return used === undefined ? [] : [{name, used}];
	});
	return containers.length === 0 || containers.length < names.length ? undefined : containers;
}

/** What these nodes tell of these of their pods, all asked at once; undefined of one that is silent. */
async function usages(
	backend: Backend,
	{cause, steps}: Asked,
	byNode: ReadonlyMap<string, readonly string[]>,
): Promise<ReadonlyMap<string, NodeUsage | undefined>> {
	const entries = [...byNode].map(
		async ([node, uids]) => [node, isHeard(backend, node) ? await usageOfNode(backend, {node, uids, steps, cause}) : undefined] as const,
	);
	return new Map(await Promise.all(entries));
}

/** One of which nothing is heard any more is not waited for. */
function isHeard({control}: Backend, name: string): boolean {
	const node = control.index.get(nodeKey(name)) as NodeObject | undefined;
	return node !== undefined && conditionOf(node.status?.conditions, 'Ready')?.status !== 'Unknown';
}

const silentOf = (told: ReadonlyMap<string, NodeUsage | undefined>): readonly string[] =>
	[...told].flatMap(([node, usage]) => (usage === undefined ? [node] : []));

function measured(kind: KindDefinition, {metadata}: ApiObject, {atMs}: NodeUsage, used: readonly Used[]) {
	const {name, namespace, labels} = metadata;
	const timestamp = timestampOf(atMs);
	return {
		kind: kind.kind,
		apiVersion: apiVersionOf(kind),
		metadata: {
			name,
			...(namespace === undefined ? {} : {namespace}),
			...(labels === undefined ? {} : {labels}),
			uid: '',
			resourceVersion: '',
			generation: 0,
			creationTimestamp: timestamp,
		},
		timestamp,
		window: `${Math.max(...used.map(({windowMs}) => windowMs)) / 1_000}s`,
	};
}

function podDetails({metadata: {uid}}: Pod, {history, traffic}: NodeUsage, used: readonly UsedInAll[]): MetricsDetails | object {
	if (history === undefined) return {};
	const sumOf = (name: 'read' | 'written'): object => {
		const known = used.flatMap(({rates}) => rates[name] ?? []);
		return known.length === 0 ? {} : {[name]: known.reduce((sum, bytes) => sum + bytes, 0)};
	};
	return detailsOf({...traffic.get(uid), ...sumOf('read'), ...sumOf('written')}, [...(history.pods.get(uid)?.values() ?? [])]);
}

const detailsOf = (rates: Rates, pasts: readonly Past[]): MetricsDetails => ({
	rates,
	history: {
		stepSeconds: (pasts[0]?.stepMs ?? 0) / 1_000,
		cpu: summed(pasts.map(({cpuNanocores}) => cpuNanocores)).map(nanos => (nanos === null ? null : Math.round(nanos / 1_000_000))),
		memory: summed(pasts.map(({memoryBytes}) => memoryBytes)),
	},
});

/** Step by step; null where none is known. */
const summed = ([first = [], ...others]: readonly (readonly (number | null)[])[]): readonly (number | null)[] =>
	others.reduce((sums, series) => sums.map((sum, step) => (sum === null ? (series[step] ?? null) : sum + (series[step] ?? 0))), first);

/** As metrics-server words them. */
const quantities = ({cpuNanocores, memoryBytes}: Used): Usage => ({
	cpu: `${cpuNanocores}n`,
	memory: `${Math.round(memoryBytes / 1_024)}Ki`,
});
