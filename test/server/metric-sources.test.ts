// What is collected of objects, nodes, functions and pods, and that it stays bounded.

import test from 'ava';
import type {CallCounts} from '../../api/function-figures.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import {limits} from '../../api/limits.js';
import type {Metric} from '../../api/metrics.js';
import type {ApiObject} from '../../api/object.js';
import {createFunctionMetrics} from '../../server/metrics/function-metrics.js';
import {evictionReasons} from '../../server/metrics/instruments.js';
import {nodeMetrics, otherNodes} from '../../server/metrics/node-metrics.js';
import {objectMetrics} from '../../server/metrics/object-metrics.js';
import {followPods} from '../../server/metrics/pod-news.js';
import {measuredStore, type Committed} from '../../system/store/measured-store.js';
import {createMemoryStore} from '../../system/store/memory-store.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {aFunction} from '../actors/_functions.js';
import {aNode} from '../actors/_objects.js';
import {testCluster} from './cluster.js';

const at = (metrics: readonly Metric[], name: string, labels: Record<string, string> = {}): number | undefined =>
	metrics
		.find(each => each.name === name)
		?.samples.find(sample => Object.entries(labels).every(([label, value]) => sample.labels?.[label] === value))?.value;

const seriesOf = (metrics: readonly Metric[]): number => metrics.reduce((sum, {samples}) => sum + samples.length, 0);

const running = {phase: 'Running', containerStatuses: [{name: 'main', ready: true, restartCount: 0, state: {running: {}}}]};

test('objects are counted by kind and phase in slices, and a thousand more make no further series', async t => {
	const cluster = testCluster();
	const {index} = cluster.control;
	let pauses = 0;
	const pause = (): Promise<void> => {
		pauses++;
		return Promise.resolve();
	};
	const before = await objectMetrics(index, pause);
	t.is(at(before, 'troupe_objects', {kind: 'Pod', phase: 'Running'}), 0);
	t.is(pauses, 0);
	const waits = (reason: string): object => ({
		phase: 'Pending',
		containerStatuses: [{name: 'main', restartCount: 3, state: {waiting: {reason}}}],
	});
	const set = (name: string, status: object): ApiObject => cluster.put({...cluster.pod(name), status: status});
	set('crashing', waits('CrashLoopBackOff'));
	set('strange', waits('SomethingThatAPodMadeUp'));
	set('fits-nowhere', {phase: 'Pending', conditions: [{type: 'PodScheduled', status: 'False', reason: 'Unschedulable'}]});
	set('odd', {phase: 'NoSuchPhase'});
	for (let each = 0; each < limits.metricsTurnObjects; each++) set(`p${each}`, running);
	const after = await objectMetrics(index, pause);
	t.is(at(after, 'troupe_objects', {kind: 'Pod', phase: 'Running'}), limits.metricsTurnObjects);
	t.is(at(after, 'troupe_objects', {kind: 'Pod', phase: 'Pending'}), 4);
	t.is(at(after, 'troupe_objects', {kind: 'Namespace', phase: 'Active'}), 2);
	t.is(at(after, 'troupe_containers_waiting', {reason: 'CrashLoopBackOff'}), 1);
	t.is(at(after, 'troupe_containers_waiting', {reason: 'other'}), 1);
	t.is(at(after, 'troupe_scheduler_unschedulable_pods'), 1);
	t.is(seriesOf(after), seriesOf(before));
	t.is(pauses, 1);
});

test('of more nodes than have series of their own the rest is told as one', async t => {
	const cluster = testCluster();
	const asked: string[] = [];
	const count = limits.metricsNodes + 3;
	const name = (each: number): string => `node-${String(each).padStart(4, '0')}`;
	const status = {conditions: [{type: 'Ready', status: 'True'}], allocatable: {cpu: '4', memory: '1Gi'}};
	for (let each = 0; each < count; each++) cluster.put(aNode({name: name(each), status: status as never}));
	const made = cluster.pod('web');
	cluster.put({
		...made,
		spec: {
			...(made.spec as object),
			nodeName: name(count - 1),
			containers: [{name: 'main', image: 'none', resources: {requests: {cpu: '500m'}}}],
		},
	});
	const metrics = await nodeMetrics(cluster.control.index, node => {
		asked.push(node);
		return Promise.resolve(node === name(0) ? {node, cpuNanocores: 5e8, memoryBytes: 7, moved: {received: 9, written: 0}} : undefined);
	});
	t.is(asked.length, limits.metricsNodes);
	for (const {samples} of metrics) t.true(samples.length <= limits.metricsNodes + 1);
	t.is(at(metrics, 'troupe_node_ready', {node: otherNodes}), 3);
	t.is(at(metrics, 'troupe_node_allocatable_cpu_cores', {node: otherNodes}), 12);
	t.is(at(metrics, 'troupe_node_allocatable_memory_bytes', {node: name(1)}), 1_073_741_824);
	t.is(at(metrics, 'troupe_node_pods', {node: otherNodes}), 1);
	t.is(at(metrics, 'troupe_node_requested_cpu_cores', {node: otherNodes}), 0.5);
	t.is(at(metrics, 'troupe_node_cpu_usage_cores', {node: name(0)}), 0.5);
	t.is(at(metrics, 'troupe_node_memory_usage_bytes', {node: name(1)}), undefined);
	const moved = metrics.filter(metric => /_(?:network|disk)_/.test(metric.name));
	t.deepEqual(
		moved.map(metric => [metric.name, metric.type, metric.samples]),
		[
			['troupe_node_network_received_bytes_total', 'counter', [{labels: {node: name(0)}, value: 9}]],
			['troupe_node_disk_written_bytes_total', 'counter', [{labels: {node: name(0)}, value: 0}]],
		],
		'what nobody knows has no series',
	);
});

test('functions beyond a bound are told as one, and no counter falls when some of them go', t => {
	const cluster = testCluster();
	const {index} = cluster.control;
	const counts = new Map<string, number>();
	const none: CallCounts = {
		calls: 0,
		held: 0,
		answered: 0,
		failed: 0,
		coldStarts: 0,
		coldStartMs: 0,
		coldPhases: {placeMs: 0, startMs: 0, readyMs: 0, slotMs: 0},
	};
	const callsOf = ({metadata}: FunctionObject): CallCounts => ({...none, held: 1, answered: counts.get(metadata.uid) ?? 0});
	const scrape = createFunctionMetrics();
	const look = () => scrape(index, {callsOf, deliveriesOf: () => []});
	t.is(seriesOf(look()), 0);
	const put = (name: string): void => {
		const fn = aFunction({}, {});
		cluster.put({...fn, metadata: {...fn.metadata, name, namespace: 'default', uid: name}});
		counts.set(name, 10);
	};
	for (let each = 0; each < limits.metricsFunctions + 2; each++) put(`f${each}`);
	const answered = {outcome: 'answered'};
	const other = {function: '_other', ...answered};
	const first = look();
	for (const {samples} of first) t.true(samples.length <= (limits.metricsFunctions + 1) * 4);
	t.is(at(first, 'troupe_function_calls_total', {function: 'f0', ...answered}), 10);
	t.is(at(first, 'troupe_function_calls_total', other), 20);
	t.is(at(first, 'troupe_function_calls_in_flight', {function: '_other', state: 'waiting'}), 2);
	counts.set('f0', 14);
	counts.set(`f${limits.metricsFunctions}`, 15);
	cluster.drop(`functions/default/f${limits.metricsFunctions + 1}`);
	const second = look();
	t.is(at(second, 'troupe_function_calls_total', {function: 'f0', ...answered}), 14);
	t.is(at(second, 'troupe_function_calls_total', other), 25);
	// What was counted is forgotten where there are too many, and begins anew.
	counts.set('f0', 1);
	t.is(at(look(), 'troupe_function_calls_total', {function: 'f0', ...answered}), 14);
	counts.set('f0', 3);
	t.is(at(look(), 'troupe_function_calls_total', {function: 'f0', ...answered}), 16);
	cluster.drop('functions/default/f0');
	t.is(at(look(), 'troupe_function_calls_total', {function: 'f0', ...answered}), undefined);
});

test('of a pod it is told once how long it waited for a node and for its start, and each restart', t => {
	const cluster = testCluster();
	const clock = new ManualClock();
	const told: string[] = [];
	const news = followPods(clock, {
		scheduled: seconds => void told.push(`scheduled ${seconds}`),
		started: seconds => void told.push(`started ${seconds}`),
		evicted: reason => void told.push(`evicted ${reason}`),
		containersRestarted: count => void told.push(`restarted ${count}`),
	});
	let pod: ApiObject | undefined;
	const key = 'pods/default/web';
	const entry = (object: ApiObject | undefined) => object && {key, object, json: () => '', version: 1, previous: 0};
	const becomes = (next: ApiObject | undefined): void => {
		news.hear({key, version: 1, previous: 0, before: entry(pod), after: entry(next)});
		pod = next;
	};
	const made = cluster.pod('web');
	const withNode = (node: string | undefined, status: object): ApiObject => ({
		...made,
		spec: {...(made.spec as object), ...(node === undefined ? {} : {nodeName: node})},
		status: status,
	});
	becomes(made);
	clock.advance(250);
	becomes(withNode('a', {phase: 'Pending'}));
	clock.advance(1_000);
	becomes(withNode('a', running));
	becomes(withNode('a', {...running, containerStatuses: [{...running.containerStatuses[0], restartCount: 2}]}));
	// Its node is lost, and it is bound anew.
	becomes(withNode(undefined, {phase: 'Pending'}));
	clock.advance(500);
	becomes(withNode('b', {phase: 'Pending'}));
	becomes(withNode('b', running));
	becomes(undefined);
	t.deepEqual(told, ['scheduled 0.25', 'started 1.25', 'restarted 2', 'scheduled 0.5']);
	told.length = 0;
	const at = {type: 'Warning', message: '', count: 1, firstAtMs: 0, lastAtMs: 0} as const;
	for (const reason of [...evictionReasons, 'BackOff']) news.hearEvent(key, {reason, ...at});
	news.hearEvent('nodes/_/a', {reason: 'Replaced', ...at});
	t.deepEqual(
		told,
		evictionReasons.map(reason => `evicted ${reason}`),
	);
});

test('each commit of a store is timed, and nothing else of it changes', async t => {
	const clock = new ManualClock();
	const told: Committed[] = [];
	const memory = createMemoryStore(callback => callback());
	const store = measuredStore(
		{...memory, commit: (batch, done) => void memory.commit(batch, outcome => (clock.advance(20), done(outcome)))},
		clock,
		committed => told.push(committed),
	);
	const expected = {version: 0, epoch: 0, lineage: ''};
	await new Promise(resolve => store.commit({writes: [{key: 'a', body: () => '{}'}], expected, next: {...expected, version: 1}}, resolve));
	t.deepEqual(told, [{outcome: 'committed', seconds: 0.02, writes: 1}]);
	t.is(store.name, memory.name);
});
