// The broker under load: readers that read nothing, a slow node, bursts, a hundred thousand objects with two hundred subscribers, and tools
// that flood a whole cluster while the API is asked for its pods.
// In each case another node asks all the time how long a message to control and back takes.

import {fileURLToPath} from 'node:url';
import {limits} from '../api/limits.js';
import type {Benchmark} from './harness/benchmark.js';
import {tokensPath} from '../api/join.js';
import {readEndpoints} from '../cli/files/endpoints.js';
import {startCluster, temporaryHome, type BenchCluster} from './rigs/cluster/cluster.js';
import {within} from './harness/deadline.js';
import {attacks, type Attackers} from './rigs/load/attackers.js';
import type {Host} from './rigs/load/host.js';
import type {Peers, Trips} from './rigs/load/peers.js';
import {startPart, type Remote} from './rigs/remote.js';
import {runSlowNode} from './rigs/load/slow-node.js';
import {pause} from './harness/pause.js';
import {peakRssBytes, rssBytes} from './harness/process-figures.js';
import {createScope, type Scope} from './harness/scope.js';
import {percentile, type Row} from './harness/table.js';

const mebibyte = 1_048_576;
const probeEveryMs = 5;
const quietMs = 3_000;
const replayMs = 1_200_000;
const slowMs = 300_000;

/** A message of a node, whatever else goes on. */
const tripGoalMs = 50;

export const brokerLoadBenchmark: Benchmark = {
	name: 'broker-load',
	about: 'stuck readers, bursts, many objects and subscribers, and what a node notices of them',
	async run({nodeFlags}, scope) {
		const rows: Row[] = [];
		for (const scenario of [stuckReaders, slowNode, burstOfOne, burstToOne, manySubscribers, hostileTools]) {
			const inner = createScope();
			scope.defer(inner.close);
			rows.push(...(await scenario(inner, nodeFlags)));
			await inner.close();
		}
		return rows;
	},
};

type Stage = {readonly host: Remote<Host>; readonly peers: Remote<Peers>; readonly probe: Remote<Peers>; readonly port: number};

const program = (name: string): string => fileURLToPath(new URL(`rigs/load/${name}.js`, import.meta.url));

async function openStage(scope: Scope, nodeFlags: readonly string[]): Promise<Stage> {
	const owner = {teardown: scope.defer};
	const host = startPart<Host>(owner, program('host'), nodeFlags);
	const [peers, probe] = [startPart<Peers>(owner, program('peers')), startPart<Peers>(owner, program('peers'))];
	return {host, peers, probe, port: await host.call('port', undefined)};
}

const trips = ({probe, port}: Stage, ms: number): Promise<Trips> => probe.call('trips', {port, ms, everyMs: probeEveryMs});

const tripRows = (what: string, {ms, lost, longestGapMs}: Trips): readonly Row[] => [
	{what: `${what}: a node's message, p99`, values: [percentile(ms, 0.99)], unit: 'ms', goal: {atMost: tripGoalMs}, note: `of ${ms.length}`},
	{what: `${what}: longest gap between two`, values: [longestGapMs], unit: 'ms'},
	{what: `${what}: lost`, values: [lost], unit: '', goal: {atMost: 0}},
];

const memoryRow = (what: string, {host}: Stage, beforeBytes: number, atMost: number): Row => ({
	what: `${what}: memory of the broker, above before`,
	values: [(peakRssBytes(host.pid) - beforeBytes) / mebibyte],
	unit: 'MiB',
	goal: {atMost},
});

/** Twenty tools that take nothing while every second a megabyte is told to each. */
async function stuckReaders(scope: Scope, nodeFlags: readonly string[]): Promise<readonly Row[]> {
	const what = '20 stuck readers';
	const stage = await openStage(scope, nodeFlags);
	const {host, peers, port} = stage;
	const before = await trips(stage, quietMs);
	await peers.call('open', {port, count: 20, name: 'tool-stuck', filter: 'troupe/v1/objects/#', stuck: true});
	const rest = rssBytes(host.pid);
	const startedAt = performance.now();
	let cutMs = Number.NaN;
	const cut = (async () => {
		while ((await host.call('counters', undefined)).cutStalled < 20) await pause(20);
		cutMs = performance.now() - startedAt;
	})();
	const [during] = await Promise.all([
		trips(stage, 12_000),
		host.call('change', {count: 12_000, perTurn: 10, everyMs: 10, bytes: 2_000}),
		Promise.race([cut, pause(20_000)]),
	]);
	return [
		...tripRows(`before`, before),
		...tripRows(what, during),
		{
			what: `${what}: all cut after`,
			values: Number.isNaN(cutMs) ? [] : [cutMs / 1_000],
			unit: 's',
			note: `patience ${limits.toolStallMs} ms`,
		},
		memoryRow(what, stage, rest, 200),
	];
}

/** 50 MB that one node publishes as fast as it can, heard by one reader. */
async function burstOfOne(scope: Scope, nodeFlags: readonly string[]): Promise<readonly Row[]> {
	const what = 'burst of 50 MB by one client';
	const stage = await openStage(scope, nodeFlags);
	const {host, peers, port} = stage;
	await peers.call('open', {port, count: 1, name: 'tool', filter: 'troupe/v1/nodes/#', stuck: false});
	const writer = startPart<Peers>({teardown: scope.defer}, program('peers'));
	const rest = rssBytes(host.pid);
	const startedAt = performance.now();
	const topic = 'troupe/v1/nodes/writer/presence';
	const [during, , arrived] = await Promise.all([
		trips(stage, quietMs),
		writer.call('flood', {port, name: 'writer', topic, count: 50, bytes: 1_000_000}),
		peers.call('until', {messages: 50, withinMs: 30_000}).then(isDone => (isDone ? performance.now() - startedAt : Number.NaN)),
	]);
	return [...tripRows(what, during), arrivedRow(what, arrived), await readersRow(what, stage, 1), memoryRow(what, stage, rest, 200)];
}

/** 50 MB of changes, commit by commit, to one reader. */
async function burstToOne(scope: Scope, nodeFlags: readonly string[]): Promise<readonly Row[]> {
	const what = 'burst of 50 MB to one client';
	const stage = await openStage(scope, nodeFlags);
	const {host, peers, port} = stage;
	await peers.call('open', {port, count: 1, name: 'tool', filter: 'troupe/v1/objects/#', stuck: false});
	const rest = rssBytes(host.pid);
	const startedAt = performance.now();
	const [during, , arrived] = await Promise.all([
		trips(stage, quietMs),
		host.call('change', {count: 50, perTurn: 1, everyMs: 0, bytes: 1_000_000}),
		peers.call('until', {messages: 50, withinMs: 30_000}).then(isDone => (isDone ? performance.now() - startedAt : Number.NaN)),
	]);
	return [...tripRows(what, during), arrivedRow(what, arrived), await readersRow(what, stage, 1), memoryRow(what, stage, rest, 300)];
}

/** 44 MB of pods for a node that takes 1 MB a second, in this process. */
async function slowNode(scope: Scope): Promise<readonly Row[]> {
	const what = 'a node at 1 MB/s';
	const [pods, podBytes] = [110, 400_000];
	const figures = await runSlowNode({teardown: scope.defer}, {pods, podBytes, bytesPerSecond: 1_000_000, withinMs: slowMs});
	return [
		{what: `${what}: ${pods} pods of ${podBytes / 1_000} kB, in step after`, values: [figures.inStepMs / 1_000], unit: 's'},
		{
			what: `${what}: under way to it, at most`,
			values: [figures.mostUnderWayBytes / 1_024],
			unit: 'KiB',
			goal: {atMost: (limits.nodeSyncWindowBytes + podBytes) / 1_024},
		},
		{what: `${what}: connections cut`, values: [figures.cut], unit: '', goal: {atMost: 0}},
		{what: `${what}: a question to another node before, p99`, values: [percentile(figures.quietMs, 0.99)], unit: 'ms'},
		{
			what: `${what}: a question to another node meanwhile, p99`,
			values: [percentile(figures.meanwhileMs, 0.99)],
			unit: 'ms',
			goal: {atMost: tripGoalMs},
		},
	];
}

const arrivedRow = (what: string, ms: number): Row => ({
	what: `${what}: all arrived after`,
	values: Number.isNaN(ms) ? [] : [ms / 1_000],
	unit: 's',
});

/** Healthy readers are never cut. */
async function readersRow(what: string, {peers}: Stage, of: number): Promise<Row> {
	const {closed} = await peers.call('counts', undefined);
	return {what: `${what}: readers that were cut`, values: [closed], unit: `of ${of}`, goal: {atMost: 0}};
}

/** Everything to everybody at once, then a thousand changes. */
async function manySubscribers(scope: Scope, nodeFlags: readonly string[]): Promise<readonly Row[]> {
	const objects = 100_000;
	const subscribers = 200;
	const what = `${objects} objects, ${subscribers} subscribers`;
	const stage = await openStage(scope, nodeFlags);
	const {host, peers, port} = stage;
	await host.call('fill', {count: objects, bytes: 100});
	const rest = rssBytes(host.pid);
	const startedAt = performance.now();
	let isOver = false;
	const all = (async () => {
		await peers.call('open', {port, count: subscribers, name: 'tool', filter: 'troupe/v1/objects/#', stuck: false});
		await within(replayMs, 'the replay', peers.call('until', {messages: objects, withinMs: replayMs}));
		isOver = true;
	})();
	const replay: Trips[] = [];
	const turns: number[] = [];
	while (!isOver) {
		replay.push(await trips(stage, 1_000));
		// One after the other: to be looked at makes the loop turn faster.
		if (!isOver) turns.push(...(await host.call('turns', {ms: 500})));
	}
	await all;
	const replaySeconds = (performance.now() - startedAt) / 1_000;
	const {bytes} = await peers.call('counts', undefined);
	const changedAt = performance.now();
	const [during, , arrived] = await Promise.all([
		trips(stage, quietMs),
		host.call('change', {count: 1_000, perTurn: 10, everyMs: 10, bytes: 100}),
		peers
			.call('until', {messages: objects + 1_000, withinMs: 60_000})
			.then(isDone => (isDone ? performance.now() - changedAt : Number.NaN)),
	]);
	return [
		{what: `${what}: replay to all`, values: [replaySeconds], unit: 's'},
		{
			what: `${what}: messages a second`,
			values: [(objects * subscribers) / replaySeconds],
			unit: '/s',
			note: `${Math.round(bytes / mebibyte)} MiB`,
		},
		{what: `${what}: a turn of the loop, p99 of processor time`, values: [percentile(turns, 0.99)], unit: 'ms', goal: {atMost: 20}},
		{what: `${what}: the longest turn`, values: [Math.max(...turns.slice(-100_000))], unit: 'ms'},
		...tripRows(`${what}: during the replay`, joined(replay)),
		...tripRows(`${what}: during 1000 changes`, during),
		arrivedRow(`${what}: 1000 changes`, arrived),
		await readersRow(what, stage, subscribers),
		memoryRow(what, stage, rest, 500),
	];
}

const joined = (all: readonly Trips[]): Trips => ({
	ms: all.flatMap(each => each.ms),
	lost: all.reduce((sum, {lost}) => sum + lost, 0),
	longestGapMs: Math.max(...all.map(each => each.longestGapMs)),
});

const hostileMs = 20_000;
const hostileCount = 20;
const askEveryMs = 10;

/** Tools with a login each, which flood from another process, each in its own way and then all in the same; meanwhile the API is asked. */
async function hostileTools(scope: Scope, nodeFlags: readonly string[]): Promise<readonly Row[]> {
	const what = `${hostileCount} hostile tools`;
	const cluster = await startCluster(scope, temporaryHome(scope), {nodeFlags});
	const port = Number(new URL(readEndpoints(cluster.home)?.mqtt ?? '').port);
	const logins = await Promise.all(Array.from({length: hostileCount}, async (_, at) => viewer(cluster, `eve-${at}`)));
	const quiet = await asked(cluster, quietMs);
	const rest = rssBytes(cluster.pid);
	const rows: Row[] = [{what: `${what}: a GET before, p99`, values: [percentile(quiet, 0.99)], unit: 'ms'}];
	for (const same of [undefined, 'publishes', 'all', 'onAndOff'] as const) {
		const attackers = startPart<Attackers>({teardown: scope.defer}, program('attackers'));
		for (const [at, login] of logins.entries())
			await attackers.call('start', {port, ...login, what: same ?? attacks[at % attacks.length] ?? 'pings', connections: 1});
		const meanwhile = await asked(cluster, hostileMs);
		const {bytes, ended} = await attackers.call('stop', undefined);
		const how = same ?? 'each in its own way';
		rows.push(
			{
				what: `${what}, ${how}: a GET meanwhile, p99`,
				values: [percentile(meanwhile, 0.99)],
				unit: 'ms',
				goal: {atMost: tripGoalMs},
				note: `of ${meanwhile.length}`,
			},
			{what: `${what}, ${how}: the longest GET`, values: [Math.max(...meanwhile)], unit: 'ms'},
			{
				what: `${what}, ${how}: connections that were ended`,
				values: [ended],
				unit: '',
				note: `${Math.round(bytes / mebibyte)} MiB were taken of them`,
			},
		);
	}
	return [
		...rows,
		{
			what: `${what}: memory of the server, above before`,
			values: [(peakRssBytes(cluster.pid) - rest) / mebibyte],
			unit: 'MiB',
			goal: {atMost: limits.brokerBacklogBytes / mebibyte},
			note: 'what may wait for clients',
		},
	];
}

async function viewer({client}: BenchCluster, name: string): Promise<{readonly user: string; readonly password: string}> {
	const {token} = (await client.json({method: 'POST', path: tokensPath, body: {name, role: 'view'}})) as {readonly token: string};
	return {user: name, password: token};
}

/** How long each of one GET after the other takes. */
async function asked({client}: BenchCluster, forMs: number): Promise<readonly number[]> {
	const taken: number[] = [];
	for (const endMs = performance.now() + forMs; performance.now() < endMs;) {
		const startedAt = performance.now();
		await client.json({method: 'GET', path: '/api/v1/namespaces/default/pods'});
		taken.push(performance.now() - startedAt);
		await pause(askEveryMs);
	}
	return taken;
}
