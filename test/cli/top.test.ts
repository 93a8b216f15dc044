// `troupe top`: what pods and nodes use, and which nodes do not tell.

import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import type {FunctionFigures} from '../../api/function-figures.js';
import {answer, openCluster, openScript} from './_rig.js';

const mebibyte = 1_048_576;
const used = (millis: number, mebibytes: number) => ({
	cpuNanocores: millis * 1_000_000,
	windowMs: 15_000,
	memoryBytes: mebibytes * mebibyte,
});

/** Two nodes; one tells of two pods, the other is silent. */
async function withPods(t: Parameters<typeof openCluster>[0]) {
	const rig = await openCluster(t);
	const {cluster} = rig;
	for (const name of ['node-a', 'node-b'])
		cluster.put({
			apiVersion: 'v1',
			kind: 'Node',
			metadata: {name, uid: name, resourceVersion: '0', generation: 1, creationTimestamp: '2023-01-01T00:00:00Z'},
			spec: {},
			status: {conditions: [{type: 'Ready', status: 'True'}], allocatable: {cpu: '2', memory: '1Gi'}},
		});
	const runs = (name: string, containers: readonly string[], namespace?: string): string => {
		const pod = cluster.pod(name, {metadata: {labels: {app: name}}}, namespace);
		const spec = {nodeName: 'node-a', containers: containers.map(each => ({name: each, image: 'none', command: ['x']}))};
		cluster.put({...pod, spec, status: {phase: 'Running'}});
		return pod.metadata.uid;
	};
	const [db, web, far] = [runs('db', ['main']), runs('web', ['main', 'side']), runs('far', ['main'], 'other')];
	const containers = [
		{uid: db, container: 'main', ...used(20, 500)},
		{uid: web, container: 'main', ...used(250, 64)},
		{uid: web, container: 'side', ...used(50, 8)},
		{uid: far, container: 'main', ...used(1, 1)},
	];
	cluster.answers.set('troupe://node-a/usage', () => succeeded({atMs: 1_700_000_000_000, node: used(500, 512), containers}));
	cluster.answers.set('troupe://node-b/usage', () => failed('ERR_TIMEOUT', {address: 'troupe://node-b/usage', deadlineMs: 1}));
	return {...rig, db};
}

const lines = (...rows: readonly (readonly string[])[]): RegExp => new RegExp(`^${rows.map(row => row.join(' +') + '\\n').join('')}$`);
const usageHeads = ['CPU\\(cores\\)', 'MEMORY\\(bytes\\)'];

test('pods are shown by name, by namespace, by container, and sorted', async t => {
	const {troupe} = await withPods(t);
	const [db, web] = [
		['db', '20m', '500Mi'],
		['web', '300m', '72Mi'],
	];
	const {code, out, err} = await troupe(['top', 'pods']);
	t.deepEqual([code, err], [0, '']);
	t.regex(out, lines(['NAME', ...usageHeads], db, web));
	t.regex((await troupe(['top', 'po', '--sort', 'cpu'])).out, lines(['NAME', ...usageHeads], web, db));
	t.regex((await troupe(['top', 'pods', '--sort=memory', '-l', 'app in (web,db)'])).out, lines(['NAME', ...usageHeads], db, web));
	t.regex((await troupe(['top', 'pod', 'web'])).out, lines(['NAME', ...usageHeads], web));
	t.regex((await troupe(['top', 'pod/web'])).out, lines(['NAME', ...usageHeads], web));
	t.regex(
		(await troupe(['top', 'pods', 'web', '--containers'])).out,
		lines(['POD', 'NAME', ...usageHeads], ['web', 'main', '250m', '64Mi'], ['web', 'side', '50m', '8Mi']),
	);
	t.regex(
		(await troupe(['top', 'pods', '-A', '--sort', 'cpu'])).out,
		lines(['NAMESPACE', 'NAME', ...usageHeads], ['default', ...web], ['default', ...db], ['other', 'far', '1m', '1Mi']),
	);
	t.deepEqual(await troupe(['top', 'pods', '-l', 'app=none']), {code: 0, out: '', err: 'No pods are measured in default namespace.\n'});
	const {kind, items} = JSON.parse((await troupe(['top', 'pods', '-o', 'json'])).out) as {kind: string; items: {containers: unknown[]}[]};
	t.is(kind, 'List');
	t.deepEqual(items[0]?.containers, [{name: 'main', usage: {cpu: '20000000n', memory: '512000Ki'}}]);
});

test('nodes are shown with their shares, and one that does not answer is named', async t => {
	const {troupe} = await withPods(t);
	const {code, out, err} = await troupe(['top', 'nodes']);
	t.is(code, 0);
	t.regex(
		out,
		lines(['NAME', 'CPU\\(cores\\)', 'CPU\\(%\\)', 'MEMORY\\(bytes\\)', 'MEMORY\\(%\\)'], ['node-a', '500m', '25%', '512Mi', '50%']),
	);
	t.is(err, 'warning: node "node-b" does not answer: what it and its pods use is not known\n');
	const silent = await troupe(['top', 'node', 'node-b']);
	t.is(silent.code, 3);
	t.regex(silent.err, /nodes\.metrics\.k8s\.io "node-b" not found: node "node-b" does not answer/);
});

test('what top is not for is said', async t => {
	const {troupe} = await withPods(t);
	for (const [words, wrong] of [
		[['top'], /top of what\? pods, nodes or functions/],
		[['top', 'rs'], /top is of pods, nodes or functions, not of rs/],
		[['top', 'pods', 'a', 'b'], /top takes one name, or -l for several/],
		[['top', 'pods', 'a', '-l', 'x=y'], /a name, -A and -l each say which pods/],
		[['top', 'nodes', 'a', '-l', 'x=y'], /a name and -l each say which nodes/],
		[['top', 'nodes', '--containers'], /--containers is of pods/],
		[['top', 'pods', '-o', 'wide', '--containers'], /-o wide is of whole pods/],
		[['top', 'nodes', '-w', '-o', 'json'], /-w draws tables; it cannot be used with -o json/],
		[['top', 'pods', '--sort', 'disk'], /--sort must be cpu, memory/],
		[['top', 'functions', '--sort', 'cpu'], /top functions takes a name or -A/],
		[['top', 'functions', '-l', 'x=y'], /top functions takes a name or -A/],
		[['top', 'fn', 'add', '-A'], /a name and -A each say which functions/],
	] as const) {
		const {code, err} = await troupe(words);
		t.is(code, 2, words.join(' '));
		t.regex(err, wrong);
	}
	t.is((await troupe(['top', 'pods', 'none'])).code, 3);
});

test('functions are shown with their calls, by name, by namespace and as they are told', async t => {
	const rest: FunctionFigures = {
		...{namespace: 'default', name: 'rest', desired: 0, ready: 0, calls: 0, held: 0},
		...{answered: 0, failed: 0, coldStarts: 0, coldStartMs: 0, triggers: []},
		coldPhases: {placeMs: 0, startMs: 0, readyMs: 0, slotMs: 0},
	};
	const busy = {
		...{...rest, name: 'busy', calls: 3, held: 1, desired: 2, ready: 1, answered: 40, failed: 2},
		...{recent: [1, 9], coldStarts: 2, coldStartMs: 824, coldPhases: {placeMs: 33, startMs: 400, readyMs: 388, slotMs: 3}},
	};
	const late = {
		...{...rest, namespace: 'shop', name: 'late'},
		...{coldStarts: 1, coldStartMs: 12_340, coldPhases: {placeMs: 40, startMs: 12_300, readyMs: 0, slotMs: 0}},
	};
	const {troupe, requests} = await openScript(t, ({url}, response) => {
		const namespace = new URL(url, 'https://any').searchParams.get('namespace');
		const functions = [busy, rest, late].filter(each => namespace === null || each.namespace === namespace);
		answer(response, 200, {sinceMs: 1_700_000_000_000, functions});
	});
	const heads = ['NAME', 'CALLS', 'HELD', 'INSTANCES', 'ANSWERED', 'FAILED', 'COLD-STARTS', 'COLD-MEAN'];
	const [busyRow, restRow] = [
		['busy', '3', '1', '1/2', '40', '2', '2', '412ms'],
		['rest', '0', '0', '0/0', '0', '0', '0', '<none>'],
	];
	const {code, out, err} = await troupe(['top', 'functions']);
	t.deepEqual([code, err], [0, '']);
	t.regex(out, lines(heads, busyRow, restRow));
	t.deepEqual(
		requests.map(({method, url}) => `${method} ${url}`),
		['GET /troupe/v1/functions?namespace=default'],
	);
	t.regex((await troupe(['top', 'fn/rest'])).out, lines(heads, restRow));
	t.regex(
		(await troupe(['top', 'fn', '-A'])).out,
		lines(
			['NAMESPACE', ...heads],
			['default', ...busyRow],
			['default', ...restRow],
			['shop', 'late', '0', '0', '0/0', '0', '0', '1', '12.3s'],
		),
	);
	const phaseHeads = ['PLACE', 'START', 'READY', 'SLOT'];
	t.regex(
		(await troupe(['top', 'fn', '-A', '-o', 'wide'])).out,
		lines(
			['NAMESPACE', ...heads, ...phaseHeads, 'CALLS\\(15m\\)'],
			['default', ...busyRow, '17ms', '200ms', '194ms', '1ms', '▁█'],
			['default', ...restRow, '<none>', '<none>', '<none>', '<none>'],
			['shop', 'late', '0', '0', '0/0', '0', '0', '1', '12.3s', '40ms', '12.3s', '0ms', '0ms'],
		),
	);
	t.deepEqual(JSON.parse((await troupe(['top', 'functions', 'busy', '-o', 'json'])).out), {sinceMs: 1_700_000_000_000, functions: [busy]});
	t.is((await troupe(['top', 'functions', '-n', 'none'])).err, 'No functions in none namespace.\n');
	const missing = await troupe(['top', 'functions', 'no-such']);
	t.deepEqual([missing.code, missing.err], [3, 'error: functions.troupe.dev "no-such" not found\n']);
});

test('wide tells of networks, disks and the last minutes, and asks for them', async t => {
	const {troupe, cluster, db} = await withPods(t);
	const asked: unknown[] = [];
	const past = {cpuNanocores: [null, 0, 5_000_000, 10_000_000], memoryBytes: [null, 1, 1, 1]};
	cluster.answers.set('troupe://node-a/usage', message => {
		asked.push(message);
		const rates = {read: 100, written: 3_000_000};
		return succeeded({
			...{atMs: 1_700_000_000_000, node: {...used(500, 512), rates: {received: 2_048}}},
			containers: [{uid: db, container: 'main', ...used(20, 500), rates}],
			traffic: [{uid: db, rates: {received: 10, sent: 20_480}}],
			history: {stepMs: 225_000, node: past, containers: [{uid: db, container: 'main', ...past}]},
		});
	});
	const {code, out} = await troupe(['top', 'pods', 'db', '-o', 'wide']);
	t.is(code, 0);
	const more = ['NET-IN', 'NET-OUT', 'DISK-READ', 'DISK-WRITE', 'CPU\\(15m\\)', 'MEMORY\\(15m\\)'];
	t.regex(out, lines(['NAME', ...usageHeads, ...more], ['db', '20m', '500Mi', '10/s', '20Ki/s', '100/s', '2.9Mi/s', '▁▄█', '███']));
	t.like(asked[0], {type: 'readUsage', steps: 20});
	const nodes = await troupe(['top', 'nodes', '-o', 'wide']);
	t.regex(nodes.out, /^node-a +500m +25% +512Mi +50% +2Ki\/s +<unknown> +<unknown> +<unknown> +▁▄█ +███$/m);
	await troupe(['top', 'pods']);
	t.false(Object.hasOwn(asked.at(-1) as object, 'steps'));
});
