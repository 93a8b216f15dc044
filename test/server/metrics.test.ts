// `metrics.k8s.io`: what kubectl top reads, made of what the nodes tell.

import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {UsageReport} from '../../actors/node/usage/report.js';
import type {Message} from '../../system/kernel/behavior.js';
import type {TestCluster} from './cluster.js';
import {openDoor, type StatusBody} from './door.js';

const root = '/apis/metrics.k8s.io/v1beta1';
const atMs = 1_700_000_000_000;
const used = (cpuNanocores: number | undefined, memoryBytes: number | undefined, windowMs = 15_000) => ({
	cpuNanocores,
	windowMs,
	memoryBytes,
});

type Metrics = {metadata: {name: string; namespace?: string}; timestamp: string; window: string; usage?: object; containers?: object[]};
type List = {kind: string; items: Metrics[]};

function aNode(cluster: TestCluster, name: string, ready: 'True' | 'Unknown' = 'True'): void {
	cluster.put({
		apiVersion: 'v1',
		kind: 'Node',
		metadata: {name, uid: name, resourceVersion: '0', generation: 1, creationTimestamp: '2023-01-01T00:00:00Z', labels: {zone: name}},
		spec: {},
		status: {conditions: [{type: 'Ready', status: ready}]},
	});
}

/** A pod that runs on a node; its uid. */
function runs(cluster: TestCluster, name: string, node: string, containers: readonly string[] = ['main'], namespace = 'default'): string {
	const pod = cluster.pod(name, {metadata: {labels: {app: name}}}, namespace);
	const spec = {nodeName: node, containers: containers.map(each => ({name: each, image: 'none', command: ['x']}))};
	cluster.put({...pod, spec, status: {phase: 'Running'}});
	return pod.metadata.uid;
}

/** What a node tells; the questions that it got. */
function tells(cluster: TestCluster, node: string, report: () => unknown): Message[] {
	const asked: Message[] = [];
	cluster.answers.set(`troupe://${node}/usage`, message => {
		asked.push(message);
		return succeeded(report());
	});
	return asked;
}

const reportOf = (containers: UsageReport['containers'], node: UsageReport['node'] = used(1_500_000_000, 1_073_741_824)): UsageReport => ({
	atMs,
	node,
	totals: {},
	containers,
});

const named = ({items}: List): string[] => items.map(({metadata}) => metadata.name);

test('pods are told with their containers, as metrics-server words it', async t => {
	const {json, cluster, call} = await openDoor(t);
	aNode(cluster, 'node-a');
	const uid = runs(cluster, 'web', 'node-a', ['main', 'side']);
	const asked = tells(cluster, 'node-a', () =>
		reportOf([
			{uid, container: 'main', ...used(250_000_000, 67_108_864)},
			{uid, container: 'side', ...used(0, 1_024, 5_500)},
		]),
	);
	const metrics = {
		kind: 'PodMetrics',
		apiVersion: 'metrics.k8s.io/v1beta1',
		timestamp: '2023-11-14T22:13:20Z',
		window: '15s',
		containers: [
			{name: 'main', usage: {cpu: '250000000n', memory: '65536Ki'}},
			{name: 'side', usage: {cpu: '0n', memory: '1Ki'}},
		],
	};
	for (const path of [`${root}/pods`, `${root}/namespaces/default/pods`, `${root}/namespaces/default/pods?labelSelector=app%3Dweb`]) {
		const list = await json<List>(200, 'GET', path);
		t.is(list.kind, 'PodMetricsList');
		t.like(list.items, [metrics], path);
		t.like(list.items[0]?.metadata, {name: 'web', namespace: 'default', labels: {app: 'web'}});
	}
	t.like(await json<Metrics>(200, 'GET', `${root}/namespaces/default/pods/web`), metrics);
	t.deepEqual(asked[0], {type: 'readUsage', uids: [uid]} as never);
	t.is(cluster.asked[0]?.options.deadlineMs, limits.usageAnswerMs);
	const table = await call('GET', `${root}/pods`, undefined, {accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'});
	t.deepEqual((JSON.parse(table.text) as {rows: {cells: unknown[]}[]}).rows[0]?.cells.slice(0, 4), ['web', '250m', '64Mi', '15s']);
});

test('namespaces and selectors leave what they leave, and nodes are asked for that alone', async t => {
	const {json, cluster} = await openDoor(t);
	aNode(cluster, 'node-a');
	aNode(cluster, 'node-b');
	const web = runs(cluster, 'web', 'node-a');
	const other = runs(cluster, 'db', 'node-b', ['main'], 'other');
	const all = [web, other].map(uid => ({uid, container: 'main', ...used(1, 1_024)}));
	const askedA = tells(cluster, 'node-a', () => reportOf(all));
	const askedB = tells(cluster, 'node-b', () => reportOf(all));
	t.deepEqual(
		named(await json<List>(200, 'GET', `${root}/pods`)),
		['web', 'db'].sort((a, b) => (a < b ? 1 : -1)),
		'each from its own node',
	);
	t.deepEqual(named(await json<List>(200, 'GET', `${root}/namespaces/other/pods`)), ['db']);
	t.deepEqual(named(await json<List>(200, 'GET', `${root}/pods?labelSelector=app%3Ddb`)), ['db']);
	t.deepEqual(named(await json<List>(200, 'GET', `${root}/pods?fieldSelector=spec.nodeName%3Dnode-b`)), ['db']);
	t.deepEqual([askedA.length, askedB.length], [1, 4]);
	t.is((await json<StatusBody>(400, 'GET', `${root}/pods?labelSelector=!!`)).reason, 'BadRequest');
	await json(405, 'GET', `${root}/pods?watch=true`);
	await json(405, 'POST', `${root}/namespaces/default/pods`, {});
});

test('nodes are told as a whole', async t => {
	const {json, cluster} = await openDoor(t);
	aNode(cluster, 'node-a');
	aNode(cluster, 'node-b');
	for (const node of ['node-a', 'node-b']) tells(cluster, node, () => reportOf([]));
	const list = await json<List>(200, 'GET', `${root}/nodes`);
	t.is(list.kind, 'NodeMetricsList');
	t.deepEqual(named(list), ['node-a', 'node-b']);
	t.deepEqual(list.items[0]?.usage, {cpu: '1500000000n', memory: '1048576Ki'});
	t.deepEqual(named(await json<List>(200, 'GET', `${root}/nodes?labelSelector=zone%3Dnode-b`)), ['node-b']);
	t.like(await json<Metrics>(200, 'GET', `${root}/nodes/node-b`), {kind: 'NodeMetrics', window: '15s'});
	t.is((await json<StatusBody>(404, 'GET', `${root}/nodes/node-x`)).reason, 'NotFound');
});

test('a node that does not answer is left out and named; one that is not heard of is not even waited for', async t => {
	const {call, json, cluster} = await openDoor(t);
	for (const [node, ready] of [
		['node-a', 'True'],
		['node-b', 'True'],
		['node-c', 'Unknown'],
	] as const)
		aNode(cluster, node, ready);
	const web = runs(cluster, 'web', 'node-a');
	runs(cluster, 'db', 'node-b');
	runs(cluster, 'old', 'node-c');
	tells(cluster, 'node-a', () => reportOf([{uid: web, container: 'main', ...used(1, 1_024)}]));
	cluster.answers.set('troupe://node-b/usage', () => failed('ERR_TIMEOUT', {address: 'troupe://node-b/usage', deadlineMs: 1}));
	const answer = await call('GET', `${root}/pods`);
	t.deepEqual(named(JSON.parse(answer.text) as List), ['web']);
	t.is(
		answer.headers['warning'] as string,
		['node-b', 'node-c'].map(node => `299 - "node \\"${node}\\" does not answer: what it and its pods use is not known"`).join(', '),
	);
	t.false(cluster.asked.some(({to}) => to.startsWith('troupe://node-c/')));
	const {message} = await json<StatusBody>(404, 'GET', `${root}/namespaces/default/pods/db`);
	t.is(message, 'pods.metrics.k8s.io "db" not found: node "node-b" does not answer: what it and its pods use is not known');
});

test('a pod of which not all is measured is left out, and so is one that does not run', async t => {
	const {json, cluster} = await openDoor(t);
	aNode(cluster, 'node-a');
	const web = runs(cluster, 'web', 'node-a', ['main', 'side']);
	cluster.pod('waits');
	tells(cluster, 'node-a', () =>
		reportOf([
			{uid: web, container: 'main', ...used(1, 1_024)},
			{uid: web, container: 'side', ...used(undefined, 1_024)},
		]),
	);
	t.deepEqual(named(await json<List>(200, 'GET', `${root}/pods`)), []);
	await json(404, 'GET', `${root}/namespaces/default/pods/web`);
	const {message} = await json<StatusBody>(404, 'GET', `${root}/namespaces/default/pods/waits`);
	t.is(message, 'pods.metrics.k8s.io "waits" not found: nothing is measured of this pod');
	await json(404, 'GET', `${root}/namespaces/default/pods/none`);
	await json(404, 'GET', `${root}/namespaces/default/pods/..%2Fx`);
});

test('what a node says is looked at: no rubbish, no pods of others, no containers that are none', async t => {
	const {json, cluster} = await openDoor(t);
	aNode(cluster, 'node-a');
	const web = runs(cluster, 'web', 'node-a');
	let said: unknown;
	tells(cluster, 'node-a', () => said);
	const fine = {uid: web, container: 'main', ...used(1, 1_024)};
	for (const rubbish of [
		null,
		'x',
		7,
		[],
		{},
		{atMs, containers: 'all'},
		{atMs: 1e300, containers: [fine]},
		{atMs: '1', containers: [fine]},
		{atMs, containers: [null, 7, {uid: web}, {uid: web, container: 7}]},
		{atMs, containers: [{...fine, uid: 'another'}]},
		{atMs, containers: [{...fine, container: 'main\u001b[2J'}]},
		...[Number.NaN, -1, '1', Number.POSITIVE_INFINITY, null, 1e300, 0.5, Number.MAX_SAFE_INTEGER + 1].flatMap(wrong => [
			{atMs, containers: [{...fine, cpuNanocores: wrong}]},
			{atMs, containers: [{...fine, memoryBytes: wrong}]},
			{atMs, containers: [{...fine, windowMs: wrong}]},
		]),
		{atMs, containers: [{...fine, windowMs: Number.MAX_SAFE_INTEGER}]},
	]) {
		said = rubbish;
		t.deepEqual(named(await json<List>(200, 'GET', `${root}/pods`)), [], JSON.stringify(rubbish));
		t.deepEqual(named(await json<List>(200, 'GET', `${root}/nodes`)), []);
	}
	said = {atMs, node: null, containers: [fine]};
	t.deepEqual(named(await json<List>(200, 'GET', `${root}/pods`)), ['web']);
});

test('who may read pods may read what they use, and nobody else', async t => {
	const {json, cluster} = await openDoor(t);
	aNode(cluster, 'node-a');
	tells(cluster, 'node-a', () => reportOf([]));
	for (const path of [`${root}/pods`, `${root}/nodes`, `${root}/nodes/node-a`, `${root}/namespaces/default/pods`]) {
		await json(200, 'GET', path, undefined, {authorization: 'Bearer viewer'});
		const refused = await json<StatusBody>(403, 'GET', path, undefined, {authorization: 'Bearer node-b'});
		t.regex(refused.message, /User "node-b" cannot (get|list) resource "(pods|nodes)" in API group "metrics\.k8s\.io"/);
		await json(401, 'GET', path, undefined, {authorization: ''});
	}
});

test('discovery has the group, as kubectl looks for it', async t => {
	const {json} = await openDoor(t);
	const {groups} = await json<{groups: {name: string; versions: {version: string}[]}[]}>(200, 'GET', '/apis');
	t.like(
		groups.find(({name}) => name === 'metrics.k8s.io'),
		{versions: [{version: 'v1beta1'}]},
	);
	const {resources} = await json<{resources: {name: string; kind: string; namespaced: boolean; verbs: string[]}[]}>(200, 'GET', root);
	t.deepEqual(
		resources.map(({name, kind, namespaced, verbs}) => [name, kind, namespaced, ...verbs]),
		[
			['nodes', 'NodeMetrics', false, 'get', 'list'],
			['pods', 'PodMetrics', true, 'get', 'list'],
		],
	);
});

test('the last minutes are told where they are asked for, of a pod the sum of its containers', async t => {
	const {json, cluster} = await openDoor(t);
	aNode(cluster, 'node-a');
	const uid = runs(cluster, 'web', 'node-a', ['main', 'side']);
	const past = {cpuNanocores: [null, 1_000_000, 2_000_000], memoryBytes: [null, 10, 'x']};
	const asked = tells(cluster, 'node-a', () => ({
		...reportOf([
			{uid, container: 'main', ...used(1, 1), rates: {read: 1, written: 2}},
			{uid, container: 'side', ...used(1, 1), rates: {read: 3}},
		]),
		traffic: [{uid, rates: {received: 5, sent: -1}}, {uid: 'other', rates: {received: 1}}, null],
		history: {stepMs: 300_000, node: past, containers: [{uid, container: 'main', ...past}, {uid, container: 'side', ...past}, 7]},
	}));
	const told = await json<object>(200, 'GET', `${root}/namespaces/default/pods/web?history=3`);
	t.like(told, {rates: {received: 5, read: 4, written: 2}, history: {stepSeconds: 300, cpu: [null, 2, 4], memory: [null, 20, null]}});
	t.like(asked[0], {type: 'readUsage', steps: 3});
	t.like(await json<object>(200, 'GET', `${root}/nodes/node-a?history=3`), {
		history: {stepSeconds: 300, cpu: [null, 1, 2], memory: [null, 10, null]},
	});
	t.false(Object.hasOwn(await json<object>(200, 'GET', `${root}/namespaces/default/pods/web`), 'history'));
	for (const steps of ['0', '61', '-1', 'x', '1e9'])
		t.like(await json<StatusBody>(400, 'GET', `${root}/nodes?history=${steps}`), {code: 400}, steps);
	tells(cluster, 'node-a', () => ({...reportOf([{uid, container: 'main', ...used(1, 1)}]), history: 'rubbish', traffic: {}}));
	t.false(Object.hasOwn(await json<object>(200, 'GET', `${root}/namespaces/default/pods/web?history=3`), 'history'));
});
