// How fast runs of workflows go: through states that call nothing, and from being asked for to their first call. In a process of their own, beside
// the commit pipeline with as many writers and objects as large.

import path from 'node:path';
import {startEtcd} from './rigs/servers/etcd.js';
import {temporaryFolder} from './rigs/cluster/cluster.js';
import {startPart, type Remote} from './rigs/remote.js';
import type {Runs, Stores} from './rigs/workflows/runs-program.js';
import {createScope, type Scope} from './harness/scope.js';
import {median, percentile, ratios, type Row} from './harness/table.js';

/** Goes on at once. */
const runs = 64;
/** Of one side in one round. */
const spellMs = 2_000;
const starts = 200;
const underWay = 100;

/** A process with runs over these stores; it ends with the scope. */
export async function startRuns(scope: Scope, stores: Stores, nodeFlags: readonly string[]): Promise<Remote<Runs>> {
	const program = path.join(import.meta.dirname, 'rigs/workflows/runs-program.js');
	const part = startPart<Runs>({teardown: scope.defer}, program, ['--max-semi-space-size=4', ...nodeFlags]);
	await part.call('open', stores);
	return part;
}

/** Two stores of LevelDB, in folders that go with the scope. */
export function levelStores(scope: Scope): Stores {
	const folder = temporaryFolder(scope, 'runs');
	return {runs: {level: path.join(folder, 'runs')}, writes: {level: path.join(folder, 'writes')}};
}

export async function stepRows(scope: Scope, rounds: number, nodeFlags: readonly string[]): Promise<readonly Row[]> {
	const level = await stepsOver(scope, 'LevelDB', inner => Promise.resolve(levelStores(inner)), rounds, nodeFlags);
	const etcd = await stepsOver(scope, 'etcd', etcdStores, rounds, nodeFlags);
	return [...level, ...etcd];
}

async function etcdStores(scope: Scope): Promise<Stores> {
	const {url} = await startEtcd({teardown: scope.defer});
	return {runs: {etcd: `${url}/runs`}, writes: {etcd: `${url}/writes`}};
}

async function stepsOver(
	scope: Scope,
	store: string,
	open: (inner: Scope) => Promise<Stores>,
	rounds: number,
	nodeFlags: readonly string[],
): Promise<readonly Row[]> {
	const inner = createScope();
	scope.defer(inner.close);
	const what = `${store}, ${runs} at once`;
	try {
		const part = await startRuns(inner, await open(inner), nodeFlags);
		const states: number[] = [];
		const commits: number[] = [];
		const tasks: number[] = [];
		const writes: number[] = [];
		for (let round = 0; round < rounds; round++) {
			const passed = await part.call('steps', {runs, ms: spellMs, of: 'states'});
			const called = await part.call('steps', {runs, ms: spellMs, of: 'tasks'});
			states.push(passed.states);
			commits.push(passed.commits);
			tasks.push(called.states / statesATask);
			writes.push(await part.call('writes', {writers: runs, ms: spellMs, objectBytes: passed.objectBytes}));
		}
		return [
			{what: `${what}: states of Pass and Choice`, values: states, unit: '/s', note: `${Math.round(median(commits))} commits/s`},
			{what: `${what}: tasks that are answered at once, with a Choice`, values: tasks, unit: '/s'},
			{what: `${what}: writes of the pipeline, objects as large`, values: writes, unit: '/s'},
			{what: `${what}: states / writes`, values: ratios(states, writes), unit: 'x', goal: {atLeast: 0.5}},
			{what: `${what}: tasks / writes`, values: ratios(tasks, writes), unit: 'x'},
		];
	} catch (error) {
		return [{what, values: [], unit: '/s', note: error instanceof Error ? error.message : String(error)}];
	} finally {
		await inner.close();
	}
}

/** The Task and the Choice behind it. */
const statesATask = 2;

/** From asking for a run until its first task is called, beside one write of the pipeline. */
export async function startRows(scope: Scope, nodeFlags: readonly string[]): Promise<readonly Row[]> {
	const inner = createScope();
	scope.defer(inner.close);
	const part = await startRuns(inner, levelStores(inner), nodeFlags);
	await part.call('starts', {count: starts, underWay: 0});
	const atRest = await part.call('starts', {count: starts, underWay: 0});
	const busy = await part.call('starts', {count: starts, underWay});
	const writeMs = 1_000 / (await part.call('writes', {writers: 1, ms: spellMs}));
	await inner.close();
	return [
		{what: 'a write of the pipeline alone, LevelDB', values: [writeMs], unit: 'ms'},
		...latencyRows('start to the first call, at rest', atRest),
		{what: 'start to the first call, at rest, p50 / a write', values: [percentile(atRest, 0.5) / writeMs], unit: 'x'},
		...latencyRows(`start to the first call, ${underWay} runs that call what takes a second`, busy),
		{
			what: `start to the first call, p50, ${underWay} runs / at rest`,
			values: [percentile(busy, 0.5) / percentile(atRest, 0.5)],
			unit: 'x',
		},
	];
}

export const latencyRows = (what: string, values: readonly number[]): readonly Row[] => [
	{what: `${what}, p50`, values: [percentile(values, 0.5)], unit: 'ms', note: `of ${values.length}`},
	{what: `${what}, p99`, values: [percentile(values, 0.99)], unit: 'ms'},
];
