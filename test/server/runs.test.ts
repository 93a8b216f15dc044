// The doors of runs: what is under way, the history, and answers to tasks that wait.

import test from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import {objectAddress, objectKey} from '../../api/keys.js';
import type {Run, RunStatus} from '../../api/kinds/run.js';
import {limits} from '../../api/limits.js';
import type {Frame} from '../../actors/workflows/run.js';
import type {RunLook} from '../../server/http/runs.js';
import type {HistoryPage, HistoryRecord} from '../../server/workflows/run-history.js';
import {testCluster} from './cluster.js';
import {openDoor, type StatusBody} from './door.js';

const path = '/troupe/v1/runs/default/one';
const key = objectKey('runs', 'default', 'one');
const viewer = {authorization: 'Bearer viewer'};

const aRun = (status: RunStatus = {}): Run => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Run',
	metadata: {
		name: 'one',
		namespace: 'default',
		uid: 'u-1',
		resourceVersion: '0',
		generation: 1,
		creationTimestamp: '2026-01-01T00:00:00Z',
	},
	spec: {workflow: 'order', input: {n: 1}},
	status: {phase: 'Running', revisionName: 'order-1', startTime: '2026-01-01T00:00:00.000Z', steps: 2, ...status},
});

const frame: Frame = {
	...{id: '', parent: null, scope: [], index: 0, state: 'Charge', visit: 3, enteredAtMs: 1_000},
	...{input: {}, attempt: 2, retries: []},
	phase: {type: 'task', input: {}, timeoutAtMs: 61_000, heartbeatSeconds: null, heartbeatAtMs: null},
};

const record = (number: number): HistoryRecord => ({
	number,
	atMs: number,
	news: [{type: 'entered', frame: '', state: `S${number}`, input: 1}],
});

function aCluster() {
	const cluster = testCluster();
	cluster.put(aRun({output: 'large', at: [{state: 'Charge', count: 1}]}));
	cluster.control.index.parts.apply(key, {parts: new Map([['frame/', frame]])});
	return cluster;
}

test('a run is shown with what is under way of it, and without what may be large, to who may get runs', async t => {
	const {json} = await openDoor(t, aCluster());
	const look = await json<RunLook>(200, 'GET', path, undefined, viewer);
	t.deepEqual(look, {
		run: {
			...{namespace: 'default', name: 'one', uid: 'u-1', workflow: 'order', suspend: false, cancel: false},
			...{phase: 'Running', revisionName: 'order-1', startTime: '2026-01-01T00:00:00.000Z', steps: 2},
			at: [{state: 'Charge', count: 1}],
		},
		states: [
			{
				...{key: 'u-1/3-Charge.2', frame: '', state: 'Charge', visit: 3, attempt: 2, enteredAtMs: 1_000},
				...{phase: 'task', untilMs: 61_000},
			},
		],
		more: 0,
	});
	for (const other of ['/troupe/v1/runs/default/none', '/troupe/v1/runs/none/one', '/troupe/v1/runs/default/No!'])
		t.regex((await json<StatusBody>(404, 'GET', other)).message, /runs\.troupe\.dev ".*" not found/);
	await json(403, 'GET', path, undefined, {authorization: 'Bearer node-a'});
});

test('a history is read in pages', async t => {
	const cluster = aCluster();
	cluster.histories.set(
		key,
		Array.from({length: limits.runHistoryPage + 300}, (_, number) => record(number)),
	);
	const {json} = await openDoor(t, cluster);
	const page = (query: string) => json<HistoryPage>(200, 'GET', `${path}/history${query}`, undefined, viewer);
	t.deepEqual(await page('?from=3&limit=2'), {records: [record(3), record(4)], next: 5});
	t.deepEqual(await page(`?from=${limits.runHistoryPage + 299}`), {records: [record(limits.runHistoryPage + 299)]});
	t.deepEqual(await page(`?from=${limits.runHistoryPage + 300}`), {records: []});
	for (const query of ['', '?limit=0', '?limit=100000']) {
		const {records, next} = await page(query);
		t.deepEqual([records.length, next], [limits.runHistoryPage, limits.runHistoryPage]);
	}
	t.regex((await json<StatusBody>(400, 'GET', `${path}/history?from=-1`)).message, /from must be a whole number/);
	await json(404, 'GET', '/troupe/v1/runs/default/none/history');
	await json(403, 'GET', `${path}/history`, undefined, {authorization: 'Bearer node-a'});
});

test('an answer goes to the record of its run, by what it names its task, and who may not update runs gives none', async t => {
	const cluster = aCluster();
	cluster.answers.set(objectAddress(key), () => succeeded(aRun({steps: 3})));
	const {json} = await openDoor(t, cluster);
	const answers: readonly [body: object, task: object, outcome: object][] = [
		[{state: 'Ask', output: {yes: true}}, {state: 'Ask'}, {type: 'succeeded', output: {yes: true}}],
		[{key: 'u-1/1-Ask.1', output: null}, {key: 'u-1/1-Ask.1'}, {type: 'succeeded', output: null}],
		[{token: 't~1', error: {error: 'No'}}, {token: 't~1'}, {type: 'failed', error: {Error: 'No', Cause: ''}}],
		[{state: 'Ask', error: {error: 'No', cause: 'not now'}}, {state: 'Ask'}, {type: 'failed', error: {Error: 'No', Cause: 'not now'}}],
		[{state: 'Ask', heartbeat: true}, {state: 'Ask'}, {type: 'heartbeat'}],
	];
	for (const [body, task, outcome] of answers) {
		const {run} = await json<RunLook>(200, 'POST', `${path}/answer`, body, {authorization: 'Bearer editor'});
		t.is(run.steps, 3);
		t.deepEqual(cluster.asked.at(-1)?.message as unknown, {type: 'taskAnswered', task, outcome});
	}
	t.is(cluster.asked.at(-1)?.options.cause, 'http ed POST runs/default/one');
	const asked = cluster.asked.length;
	await json(403, 'POST', `${path}/answer`, {state: 'Ask', output: 1}, viewer);
	await json(404, 'POST', '/troupe/v1/runs/default/none/answer', {state: 'Ask', output: 1});
	t.is(cluster.asked.length, asked);
	cluster.answers.set(objectAddress(key), () =>
		failed('ERR_CONFLICT', {resource: 'runs.troupe.dev', name: 'one', message: 'no state "Ask" of it waits for an answer'}),
	);
	t.regex((await json<StatusBody>(409, 'POST', `${path}/answer`, {state: 'Ask', output: 1})).message, /no state "Ask" of it waits/);
});

test('an answer that cannot be one is refused before the run hears of it', async t => {
	const cluster = aCluster();
	const {json} = await openDoor(t, cluster);
	const wrong: readonly [body: object, message: RegExp][] = [
		[{}, /names its task by one of state, key and token/],
		[{state: 'A', token: 't', output: 1}, /names its task by one of/],
		[{state: '', output: 1}, /state must be a text of 1 to 4096 characters/],
		[{key: 7, output: 1}, /key must be a text .* got 7/],
		[{token: 'x'.repeat(limits.taskNameCharacters + 1), output: 1}, /token must be a text/],
		[{state: 'A'}, /has one of output, error and heartbeat/],
		[{state: 'A', output: 1, heartbeat: true}, /has one of output, error and heartbeat/],
		[{state: 'A', heartbeat: false}, /heartbeat must be true, got false/],
		[{state: 'A', error: 'No'}, /error must be \{"error": NAME/],
		[{state: 'A', error: {error: 'No', Cause: ''}}, /error must be/],
		[{state: 'A', error: {error: 'States.Runtime'}}, /is one of the language/],
		[{state: 'A', error: {error: 'x'.repeat(limits.statesErrorCharacters + 1)}}, /a name of at most 256/],
		[{state: 'A', output: 'x'.repeat(limits.statesDataBytes)}, /output has more than 262144 bytes/],
		[{state: 'A', output: 1, outptu: 1}, /has no member "outptu"; it has state, key, token, output, error, heartbeat/],
	];
	for (const [body, message] of wrong) t.regex((await json<StatusBody>(400, 'POST', `${path}/answer`, body)).message, message);
	t.deepEqual(cluster.asked, []);
});
