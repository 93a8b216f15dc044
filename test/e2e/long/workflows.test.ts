// Runs of workflows while the control plane is killed: every run ends as it should, and no step whose answer was committed is done again.

import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import test from 'ava';
import type {Run} from '../../../api/kinds/run.js';
import {eventually, followObjects} from '../../../bench/rigs/cluster/waiting.js';
import {deploy} from '../_functions.js';
import {nodeName, openFileHome} from '../_rig.js';

const {cluster} = openFileHome(test, '--network=shared');

/** What the function was called for: the keys of the attempts, in order. */
const keys: string[] = [];
let listener: Server;

test.before(async () => {
	listener = createServer((request, response) => {
		request.resume().once('end', () => {
			keys.push(decodeURIComponent((request.url ?? '/').slice(1)));
			response.end();
		});
	});
	await new Promise<void>(resolve => void listener.listen(0, '127.0.0.1', resolve));
});

test.after.always(() => void listener.close().closeAllConnections());

const task = (Next?: string, more: object = {}): object => ({
	Type: 'Task',
	Resource: 'step',
	...(Next === undefined ? {End: true} : {Next}),
	...more,
});

const definition = {
	StartAt: 'One',
	States: {
		One: task('Two'),
		Two: task('Each'),
		Each: {
			Type: 'Map',
			ItemsPath: '$.items',
			MaxConcurrency: 2,
			ItemProcessor: {StartAt: 'Item', States: {Item: task()}},
			ResultPath: '$.items',
			Next: 'Pause',
		},
		Pause: {Type: 'Wait', Seconds: 1, Next: 'Both'},
		Both: {
			Type: 'Parallel',
			Branches: [
				{StartAt: 'Left', States: {Left: task('Left2', {ResultPath: '$.left'}), Left2: task()}},
				{StartAt: 'Right', States: {Right: task()}},
			],
			ResultSelector: {'n.$': '$[0].n', 'items.$': '$[0].items'},
			Next: 'Last',
		},
		Last: task('Far'),
		Far: {Type: 'Choice', Choices: [{Variable: '$.n', NumericGreaterThan: 3, Next: 'Done'}], Default: 'Bad'},
		Bad: {Type: 'Fail', Error: 'Bad'},
		Done: {Type: 'Succeed'},
	},
};

const expected = {n: 4, items: [{n: 11}, {n: 21}, {n: 31}], skipped: true};

/** The stages of each run in the order of its calls: those of one stage may be under way together. */
function stagesByRun(): ReadonlyMap<string, readonly number[]> {
	const stageOf: Readonly<Record<string, number>> = {One: 0, Two: 1, Item: 2, Left: 3, Right: 3, Left2: 3, Last: 4};
	const stages = new Map<string, number[]>();
	for (const key of keys) {
		const run = key.slice(0, key.indexOf('/'));
		const state = /\d+-(\w+)\.\d+$/.exec(key)?.[1] ?? '';
		stages.set(run, [...(stages.get(run) ?? []), stageOf[state] ?? Number.NaN]);
	}
	return stages;
}

test.serial('runs go on where they were after the control plane is killed, and end as they would have', async t => {
	t.timeout(280_000);
	const count = 20;
	const {port} = listener.address() as AddressInfo;
	// It tells its key before it answers: a call whose answer got lost shows as the same key once more.
	await deploy(
		cluster,
		'step',
		`export default async (input, {headers}) => {
	await fetch('http://127.0.0.1:${port}/' + encodeURIComponent(headers['x-troupe-task-key']), {method: 'POST'});
	return input.n === 3 ? {...input, n: 4, skipped: true} : {...input, n: input.n + 1};
};
`,
		{concurrency: 16},
	);
	await cluster.apply({apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name: 'steps'}, spec: {definition}});
	const {mqtt, api, web} = cluster.endpoints();
	const hostOf = (url: string): string => new URL(url).host;
	const input = {n: 0, items: [{n: 10}, {n: 20}, {n: 30}]};
	await cluster.apply(
		...Array.from({length: count}, (_, n) => ({
			apiVersion: 'troupe.dev/v1',
			kind: 'Run',
			metadata: {name: `run-${n}`},
			spec: {workflow: 'steps', input},
		})),
	);
	/** Each run calls nine times. */
	for (const part of [0.15, 0.4, 0.7, 0.9]) {
		await eventually(
			`${part} of the calls were made`,
			() => new Set(keys).size >= part * 9 * count,
			() => `${new Set(keys).size} calls`,
			60_000,
		);
		await cluster.killCluster();
		const up = await cluster.troupe(
			...['up', '--detach', `--node=${nodeName}`, '--network=shared'],
			...[`--api=${hostOf(api)}`, `--web=${hostOf(web)}`, `--mqtt=${hostOf(mqtt)}`],
		);
		t.is(up.code, 0, up.err);
	}
	const runs = await followObjects(await cluster.client(), 'runs');
	t.teardown(runs.close);
	const found = await runs.until('all runs are over', objects => {
		const all = [...objects.values()] as readonly Run[];
		return all.every(({status}) => status?.completionTime !== undefined) && all;
	});
	t.is(found.length, count);
	for (const {status, metadata} of found) t.deepEqual(status?.output, expected, metadata.name);
	t.is(new Set(keys).size, 9 * count, 'no step was left out, and none has had another key');
	for (const [run, stages] of stagesByRun()) t.deepEqual(stages, stages.toSorted(), `no committed step of ${run} was called again`);
	const again = keys.length - new Set(keys).size;
	t.log(`${keys.length} calls, ${again} of them with a key that was there before`);
});
