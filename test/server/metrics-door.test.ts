// Who may scrape a server, and what is told.

import test, {type ExecutionContext} from 'ava';
import {limits} from '../../api/limits.js';
import {metricsType, type Metric} from '../../api/metrics.js';
import {createGateway, type Upstream} from '../../server/gateway.js';
import {createControlMetrics} from '../../server/metrics/control-metrics.js';
import type {AnsweredRequest} from '../../server/metrics/instruments.js';
import {createScrapes} from '../../server/metrics/scrapes.js';
import {systemClock} from '../../system/time/clock.js';
import {openExposition} from '../../cli/serving/process/exposition.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {aNode} from '../actors/_objects.js';
import {testCluster} from './cluster.js';
import {openDoor, type StatusBody} from './door.js';
import {ask} from './support.js';

const as = (login: string) => ({authorization: `Bearer ${login}`});

const textOf = (metrics: readonly Metric[]): Promise<string> => openExposition(systemClock).of(metrics);

function open(t: ExecutionContext) {
	const cluster = testCluster();
	const none = {calls: 0, held: 0, answered: 0, failed: 0, coldStarts: 0, coldStartMs: 0};
	const metrics = createControlMetrics({
		control: cluster.control,
		systems: {control: {kernel: {cells: new Map()}, counters: {}} as never, nodes: () => []},
		store: () => ({waiting: 0, epoch: 7, isInTrouble: false}),
		bus: () => ({refused: 0, full: 0}),
		functions: {
			callsOf: () => ({...none, coldPhases: {placeMs: 0, startMs: 0, readyMs: 0, slotMs: 0}}),
			deliveriesOf: () => [],
		},
		clock: systemClock,
	});
	const made: number[] = [];
	const scrapes = createScrapes({
		term: () => metrics,
		version: '0.1.0',
		ofProcess(all) {
			made.push(all.length);
			return textOf(all);
		},
		of: textOf,
	});
	const answered: AnsweredRequest[] = [];
	return {
		cluster,
		made,
		scrapes,
		answered,
		door: () => openDoor(t, cluster, undefined, undefined, undefined, undefined, {scrapes, onAnswered: request => answered.push(request)}),
	};
}

test('a scraper reads metrics and nothing else; who reads objects may read them, nodes and strangers may not', async t => {
	const {door} = open(t);
	const {call, json} = await door();
	for (const login of ['scraper', 'admin', 'viewer', 'editor', 'tool']) {
		const {status, headers, text} = await call('GET', '/metrics', undefined, as(login));
		t.is(status, 200, login);
		t.is(headers['content-type'], metricsType);
		t.regex(text, /^troupe_leader 1$/m);
		t.regex(text, /^troupe_objects\{kind="Namespace",phase="Active"\} 2$/m);
	}
	for (const path of ['/metrics/nodes', '/metrics/targets'])
		t.deepEqual(await json<unknown>(200, 'GET', path, undefined, as('scraper')), []);
	for (const path of ['/metrics', '/metrics/nodes', '/metrics/nodes/node-a', '/metrics/targets']) {
		t.is((await json<StatusBody>(403, 'GET', path, undefined, as('node-a'))).reason, 'Forbidden', path);
		t.is((await json<StatusBody>(401, 'GET', path, undefined, as('nobody'))).reason, 'Unauthorized', path);
	}
	const others = [
		'/',
		'/version',
		'/api',
		'/openapi/v2',
		'/api/v1/pods',
		'/api/v1/nodes',
		'/troupe/v1/counters',
		'/metricsx',
		'/functions/a/b',
	];
	for (const path of others) await json(403, 'GET', path, undefined, as('scraper'));
	for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) await json(405, method, '/metrics', {}, as('scraper'));
	await json(404, 'GET', '/metrics/', undefined, as('scraper'));
	await json(404, 'GET', '/metrics/nodes/no%20such', undefined, as('scraper'));
	t.is((await call('GET', '/metrics?name=%zz&x[]=1', undefined, as('scraper'))).status, 200);
});

test('scrapes of a server at once are answered with one that is made', async t => {
	const {cluster, scrapes, made} = open(t);
	cluster.put(aNode());
	const asked = (path: string): number => cluster.asked.filter(({to}) => to === `troupe://node-a/${path}`).length;
	const texts = await Promise.all(Array.from({length: 20}, scrapes.ofServer));
	t.is(new Set(texts).size, 1);
	t.deepEqual([made.length, asked('usage')], [1, 1]);
	const ofNode = await Promise.allSettled(Array.from({length: 20}, () => scrapes.ofNode('node-a') ?? Promise.resolve('')));
	t.deepEqual([...new Set(ofNode.map(({status}) => status))], ['rejected']);
	t.deepEqual([asked('usage'), asked('inspector')], [2, 1]);
	t.is(scrapes.ofNode('node-b'), undefined);
	await scrapes.ofServer();
	t.is(made.length, 2);
});

test('pods that are annotated for it are targets while they run, with labels of their own, and only so many', async t => {
	const {cluster, door} = open(t);
	const {json} = await door();
	const pod = (name: string, annotations: Record<string, string>, status: object = {phase: 'Running', podIP: '10.1.0.7'}): void => {
		const made = cluster.pod(name, {
			metadata: {annotations: {'prometheus.io/scrape': 'true', ...annotations}, labels: {app: 'web', 'x.dev/tier': 'front'}},
		});
		cluster.put({...made, spec: {...(made.spec as object), nodeName: 'node-a'}, status: status});
	};
	pod('yes', {'prometheus.io/port': '9100', 'prometheus.io/path': '/stats', 'prometheus.io/scheme': 'https'});
	pod('six', {'prometheus.io/port': '80'}, {phase: 'Running', podIP: 'fd00::7'});
	pod('no', {'prometheus.io/scrape': 'no', 'prometheus.io/port': '80'});
	pod('pending', {'prometheus.io/port': '80'}, {phase: 'Pending', podIP: '10.1.0.8'});
	pod('homeless', {'prometheus.io/port': '80'}, {phase: 'Running'});
	pod('portless', {});
	for (const [at, port] of ['0', '65536', '-1', '80;rm', ''].entries()) pod(`port-${at}`, {'prometheus.io/port': port});
	for (const [at, path] of ['stats', '/a b', '/a\nb', `/${'x'.repeat(300)}`, '/a?b=c'].entries())
		pod(`path-${at}`, {'prometheus.io/port': '80', 'prometheus.io/path': path});
	pod('scheme', {'prometheus.io/port': '80', 'prometheus.io/scheme': 'file'});
	const common = {namespace: 'default', node: 'node-a', __meta_troupe_pod_label_app: 'web', __meta_troupe_pod_label_x_dev_tier: 'front'};
	t.deepEqual(await json<unknown>(200, 'GET', '/metrics/targets', undefined, as('scraper')), [
		{targets: ['[fd00::7]:80'], labels: {__scheme__: 'http', __metrics_path__: '/metrics', pod: 'six', ...common}},
		{targets: ['10.1.0.7:9100'], labels: {__scheme__: 'https', __metrics_path__: '/stats', pod: 'yes', ...common}},
	]);
	for (let at = 0; at < limits.metricsTargets; at++) pod(`many-${at}`, {'prometheus.io/port': '80'});
	const found = await json<unknown[]>(200, 'GET', '/metrics/targets', undefined, as('scraper'));
	t.is(found.length, limits.metricsTargets);
});

test('requests are counted by the words of their routes', async t => {
	const {answered, door} = open(t);
	const {call} = await door();
	const expected: [method: string, path: string, words: string][] = [
		['GET', '/api/v1/namespaces/default/pods', 'list pods 200'],
		['GET', '/api/v1/namespaces/default/pods/nope', 'get pods 404'],
		['GET', '/api/v1/namespaces/default/pods/nope/log', 'get pods/log 404'],
		['DELETE', '/api/v1/namespaces/default/pods/nope', 'delete pods 404'],
		['GET', '/no/such/path', 'other other 404'],
		['GET', '/metrics', 'get metrics 200'],
		['GET', '/api/v1/namespaces/default/pods?watch=perhaps', 'list pods 400'],
	];
	for (const [method, path] of expected) await call(method, path);
	await eventually('all are counted', () => answered.length === expected.length);
	t.deepEqual(
		answered.map(({verb, resource, status}) => `${verb} ${resource} ${status}`),
		expected.map(([, , words]) => words),
	);
	t.true(answered.every(({seconds}) => seconds >= 0 && seconds < 60));
});

test('a server that does not lead tells of itself, to who has a login in the store', async t => {
	const scrapes = createScrapes({term: () => undefined, version: '0.1.0', ofProcess: textOf, of: textOf});
	let upstream: Upstream = {
		type: 'standby',
		leader: 'https://other:6443',
		authenticate: token =>
			Promise.resolve(
				token === 'good' ? {name: 'p', role: 'metrics'} : token === 'node' ? {name: 'n', role: 'node', node: 'n'} : undefined,
			),
	};
	const gateway = createGateway({upstream: () => upstream, tls: undefined, version: '0.1.0', clock: systemClock, scrapes});
	const {port} = await gateway.listen('127.0.0.1', 0);
	t.teardown(() => gateway.close());
	const get = (token: string | undefined, path = '/metrics') =>
		ask(`http://127.0.0.1:${port}${path}`, {headers: token === undefined ? {} : as(token)});
	const {status, text} = await get('good');
	t.is(status, 200);
	t.regex(text, /^troupe_leader 0$/m);
	t.notRegex(text, /troupe_objects/);
	t.is((await get('bad')).status, 401);
	t.is((await get(undefined)).status, 401);
	t.is((await get('node')).status, 403);
	t.is((await get('good', '/metrics/nodes')).status, 503);
	upstream = {type: 'standby', leader: undefined, authenticate: () => Promise.reject(new Error('no store'))};
	t.is((await get('good')).status, 503);
	upstream = {type: 'standby', leader: undefined};
	t.is((await get('good')).status, 503);
});
