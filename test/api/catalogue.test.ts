import test from 'ava';
import {apiVersionOf, findKind, kindByPlural, kindOf, kinds, qualifiedPlural, suggestKind} from '../../api/catalogue.js';
import {endpointSlice} from '../../api/kinds/endpointslice.js';
import {pod, type ContainerStatus, type PodStatus} from '../../api/kinds/pod.js';
import {replicaSet} from '../../api/kinds/replicaset.js';
import {tableOf} from '../../api/table.js';
import validators from '../../api/validators.cjs';
import {aPod, aReplicaSet, committed} from './_objects.js';

test('every kind is found by its plural, by its apiVersion and kind, and by each of its words, alone and with its group', t => {
	for (const kind of kinds) {
		t.is(kindByPlural(kind.plural), kind);
		t.is(kindOf(apiVersionOf(kind), kind.kind), kind);
		for (const word of [kind.plural, kind.singular, kind.kind, ...kind.shortNames]) t.is(findKind(word), kind, word);
		t.is(findKind(qualifiedPlural(kind)), kind);
	}
	t.is(kindOf('v1', 'pod'), undefined);
});

test('every kind and its status have a schema', t => {
	for (const {kind} of kinds) for (const name of [kind, `${kind}Status`]) t.is(typeof validators[name], 'function', name);
});

test('people may call a kind by many words', t => {
	for (const word of ['replicasets', 'replicaset', 'rs', 'ReplicaSet', 'RS', 'replicasets.apps', 'replicaset.v1.apps'])
		t.is(findKind(word)?.kind, 'ReplicaSet', word);
	for (const word of ['po', 'pods', 'Pod']) t.is(findKind(word)?.kind, 'Pod', word);
	t.is(findKind('replicasets.batch'), undefined);
	t.is(findKind('constructor'), undefined);
	t.is(suggestKind('podz'), 'pods');
	t.is(suggestKind('xylophone'), undefined);
	t.deepEqual([pod, replicaSet, endpointSlice].map(qualifiedPlural), ['pods', 'replicasets.apps', 'endpointslices.discovery.k8s.io']);
});

test('no two kinds share a word', t => {
	const words = kinds.flatMap(({plural, singular, shortNames}) => [plural, singular, ...shortNames]);
	t.deepEqual(words, [...new Set(words)]);
});

test('new objects start with the status Kubernetes gives them', t => {
	const statusOf = (plural: string, manifest: unknown): unknown => kindByPlural(plural)?.initialStatus?.(committed(manifest));
	t.like(statusOf('pods', aPod()), {
		phase: 'Pending',
		conditions: [{type: 'PodScheduled', status: 'False', reason: 'Unscheduled'}],
		qosClass: 'BestEffort',
	});
	t.like(statusOf('pods', aPod({nodeName: 'a'})), {conditions: [{type: 'PodScheduled', status: 'True'}]});
	t.deepEqual(statusOf('replicasets', aReplicaSet()), {replicas: 0});
	t.deepEqual(statusOf('namespaces', {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'a'}}), {phase: 'Active'});
	t.like(statusOf('nodes', {apiVersion: 'v1', kind: 'Node', metadata: {name: 'a'}}), {conditions: [{type: 'Ready', status: 'Unknown'}]});
});

const nowMs = Date.parse('2026-01-01T00:03:20Z');
const pods = kindByPlural('pods');

/** The cells of one pod's row. */
function rowOf(status: Partial<PodStatus>, metadata: {readonly deletionTimestamp?: string} = {}): readonly unknown[] {
	const object = committed(aPod({nodeName: 'node-a'}), {phase: 'Running', ...status});
	if (pods === undefined) return [];
	return tableOf(pods, [{...object, metadata: {...object.metadata, ...metadata}}], nowMs).rows[0]?.cells ?? [];
}

const container = (fields: Partial<ContainerStatus>): ContainerStatus => ({
	name: 'main',
	ready: false,
	restartCount: 0,
	image: 'x',
	imageID: '',
	...fields,
});
const ended = {exitCode: 137, finishedAt: '2026-01-01T00:03:10Z'};

test('a running pod has the row kubectl shows', t => {
	const row = rowOf({
		podIP: '127.0.0.9',
		containerStatuses: [container({ready: true, restartCount: 2, state: {running: {}}, lastState: {terminated: ended}})],
	});
	t.deepEqual(row, ['web', '1/1', 'Running', '2 (10s ago)', '3m20s', '127.0.0.9', 'node-a', '<none>', '<none>']);
});

const statuses: readonly [status: Partial<PodStatus>, text: string][] = [
	[{phase: 'Pending'}, 'Pending'],
	[{containerStatuses: [container({state: {waiting: {reason: 'ContainerCreating'}}})]}, 'ContainerCreating'],
	[{containerStatuses: [container({state: {waiting: {reason: 'NoCommand'}}})]}, 'NoCommand'],
	[{containerStatuses: [container({state: {waiting: {reason: 'Pulling', message: 'asking the registry'}}})]}, 'Pulling'],
	[{containerStatuses: [container({state: {waiting: {reason: 'Pulling', message: '43 %, 12 of 28 MB'}}})]}, 'Pulling 43%'],
	[{containerStatuses: [container({state: {waiting: {reason: 'Other', message: '43 %, 12 of 28 MB'}}})]}, 'Other'],
	[{containerStatuses: [container({state: {waiting: {reason: 'CrashLoopBackOff'}}})]}, 'CrashLoopBackOff'],
	[
		{
			containerStatuses: [
				container({
					restartCount: 3,
					lastState: {terminated: ended},
					state: {waiting: {reason: 'CrashLoopBackOff', retryAt: '2026-01-01T00:03:22.500Z'}},
				}),
			],
		},
		'retry 4 in 3 s: exit 137',
	],
	[
		{containerStatuses: [container({lastState: {terminated: {exitCode: -1}}, state: {waiting: {retryAt: '2026-01-01T00:08:20.000Z'}}})]},
		'retry 1 in 5 min: exit code unknown',
	],
	[
		{
			containerStatuses: [
				container({
					lastState: {terminated: ended},
					state: {waiting: {reason: 'RunContainerError', retryAt: '2026-01-01T00:03:22.500Z'}},
				}),
			],
		},
		'retry 1 in 3 s: RunContainerError',
	],
	[
		{containerStatuses: [container({state: {waiting: {reason: 'RunContainerError', retryAt: '2026-01-01T00:07:20.000Z', retry: 9}}})]},
		'retry 9 in 4 min: RunContainerError',
	],
	[{phase: 'Succeeded', containerStatuses: [container({state: {terminated: {exitCode: 0, reason: 'Completed'}}})]}, 'Completed'],
	[{phase: 'Failed', containerStatuses: [container({state: {terminated: {exitCode: 1, reason: 'Error'}}})]}, 'Error'],
	[{phase: 'Failed', containerStatuses: [container({state: {terminated: {exitCode: 3}}})]}, 'ExitCode:3'],
	[{phase: 'Failed', reason: 'Evicted'}, 'Evicted'],
	[
		{
			conditions: [{type: 'Ready', status: 'True'}],
			containerStatuses: [
				container({state: {terminated: {exitCode: 0, reason: 'Completed'}}}),
				container({ready: true, state: {running: {}}}),
			],
		},
		'Running',
	],
];

for (const [status, text] of statuses) {
	test(`a pod reads "${text}"`, t => t.is(rowOf(status)[2], text));
}

test('a pod on its way out is Terminating', t => {
	t.is(rowOf({}, {deletionTimestamp: '2026-01-01T00:03:00Z'})[2], 'Terminating');
});

test('a table has what kubectl needs to print it', t => {
	const replicaSets = kindByPlural('replicasets');
	if (replicaSets === undefined) return t.fail();
	const object = committed(aReplicaSet(), {replicas: 2, readyReplicas: 1});
	const table = tableOf(replicaSets, [object], nowMs, {resourceVersion: '42'});
	t.deepEqual(table.metadata, {resourceVersion: '42'});
	t.deepEqual(table.columnDefinitions[0], {
		name: 'Name',
		type: 'string',
		format: 'name',
		description: 'The name, unique within a namespace and kind.',
		priority: 0,
	});
	t.deepEqual(
		table.columnDefinitions.map(({name}) => name),
		['Name', 'Desired', 'Current', 'Ready', 'Age', 'Containers', 'Images', 'Selector'],
	);
	t.deepEqual(table.rows, [
		{
			cells: ['web', 3, 2, 1, '3m20s', 'main', 'node:20', 'app=web'],
			object: {kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata},
		},
	]);
	t.is(tableOf(replicaSets, [object], nowMs, {includeObject: 'Object', columnDefinitions: false}).rows[0]?.object, object);
});

test('a node’s row says whether it takes pods', t => {
	const nodes = kindByPlural('nodes');
	if (nodes === undefined) return t.fail();
	const manifest = {
		apiVersion: 'v1',
		kind: 'Node',
		metadata: {name: 'a', labels: {'node-role.kubernetes.io/edge': ''}},
		spec: {unschedulable: true},
	};
	const row = (status: unknown): unknown => tableOf(nodes, [committed(manifest, status)], nowMs).rows[0]?.cells.slice(0, 6);
	const ready = {conditions: [{type: 'Ready', status: 'True'}], addresses: [{type: 'InternalIP', address: '10.0.0.1'}]};
	t.deepEqual(row(ready), ['a', 'Ready,SchedulingDisabled', 'edge', '3m20s', '', '10.0.0.1']);
	t.deepEqual(row({conditions: [{type: 'Ready', status: 'Unknown'}]}), ['a', 'Unknown,SchedulingDisabled', 'edge', '3m20s', '', '<none>']);
});
