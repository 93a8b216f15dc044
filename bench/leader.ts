// A server that leads a thousand nodes: joins, memory, processor time and writes while nothing happens and while pods are changed, and
// how long a change takes into the cache of its node. Everything shares one machine: the nodes need their part of the processors, too.

import {fileURLToPath} from 'node:url';
import type {Pod} from '../api/kinds/pod.js';
import {tokensPath, type TokenAnswer} from '../api/join.js';
import {limits} from '../api/limits.js';
import {assignmentVersion} from '../actors/control/sync/assignment.js';
import type {Client} from '../cli/client.js';
import type {Benchmark} from './harness/benchmark.js';
import {startCluster, temporaryHome} from './rigs/cluster/cluster.js';
import {within} from './harness/deadline.js';
import type {Nodes} from './leader-nodes.js';
import {startPart, type Remote} from './rigs/remote.js';
import {createReplicaSet, podPath, replicaSetPath, scale, type SeenReplicaSet} from './rigs/cluster/objects.js';
import {pause} from './harness/pause.js';
import {cpuSeconds, peakRssBytes, rssBytes, writtenBytes} from './harness/process-figures.js';
import type {Scope} from './harness/scope.js';
import {changes as changedFiles, filesIn} from './start.js';
import {percentile, type Row} from './harness/table.js';

const mebibyte = 1_048_576;
const processesOfNodes = 2;
const joinsAtOnce = 8;
const joinMs = 600_000;
const podsMs = 120_000;
const changesPerSecond = 100;
const longestSpellSeconds = 30;
/** Events of what was before are written by then. */
const settleMs = limits.eventFlushMs + 5_000;
const arriveMs = 10_000;
const set = 'spread';

export const leaderBenchmark: Benchmark = {
	name: 'leader',
	about: 'troupe server with nodes connected over TLS, LevelDB: idle, and with 100 changes of pods a second',
	async run({nodes: count, idleSeconds, nodeFlags}, scope) {
		const seconds = Math.min(idleSeconds, longestSpellSeconds);
		const home = temporaryHome(scope);
		const server = await startCluster(scope, home, {
			command: 'server',
			flags: ['--store=level'],
			nodeFlags,
			abrupt: nodeFlags.length === 0,
		});
		const {client, pid} = server;
		const fresh = rssBytes(pid);
		const startedAt = performance.now();
		const parts = await joinNodes(scope, client, count);
		const joinedMs = performance.now() - startedAt;
		const joinCpu = cpuSeconds(pid);
		const pods = await onePodEach(client, count);
		await pause(settleMs);
		const before = {files: filesIn(home), written: writtenBytes(pid), suspicions: await suspicions(client)};

		const idle = await spell(pid, parts, () => pause(seconds * 1_000));
		const written = writtenBytes(pid) - before.written;
		const files = changedFiles(before.files, filesIn(home));
		const idleRss = rssBytes(pid);

		const loaded = await spell(pid, parts, () => change(client, pods, seconds));
		const {made, refused} = loaded.result;
		const {fromAnswer, fromRequest, missing} = await arrivals(parts, made);
		const lost = (await suspicions(client)) - before.suspicions;
		const cut = (await Promise.all(parts.map(part => part.call('counted', undefined as never)))).reduce(
			(sum, {connectionsLost}) => sum + connectionsLost,
			0,
		);
		const rows: Row[] = [
			{
				what: `${count} nodes joined and connected`,
				values: [joinedMs / 1_000],
				unit: 's',
				note: `${joinCpu.toFixed(1)} s of the processor`,
			},
			{what: 'nodes suspected until then', values: [before.suspicions], unit: ''},
			{what: 'RSS before them', values: [fresh / mebibyte], unit: 'MiB'},
			{what: 'RSS with them, idle', values: [idleRss / mebibyte], unit: 'MiB'},
			{what: 'RSS at its peak', values: [peakRssBytes(pid) / mebibyte], unit: 'MiB'},
			{what: `processor when idle, ${seconds} s`, values: [idle.share], unit: '%', note: nodesNote(idle)},
			{what: 'written when idle, as the kernel counts', values: [written], unit: 'bytes', goal: {atMost: 0}},
			{what: 'files of the home that changed when idle', values: [files.length], unit: '', goal: {atMost: 0}, note: files.join(' ')},
			{what: `processor with ${changesPerSecond} changes/s, ${seconds} s`, values: [loaded.share], unit: '%', note: nodesNote(loaded)},
			...latencyRows(
				'request to answer',
				made.map(({askedAt, answeredAt}) => ms(askedAt, answeredAt)),
			),
			...latencyRows("request to the node's cache", fromRequest),
			...latencyRows("commit's answer to the node's cache", fromAnswer),
			{what: 'changes that failed', values: [refused.length], unit: '', goal: {atMost: 0}, note: refused[0] ?? ''},
			{what: 'changes that no node had in the end', values: [missing], unit: '', goal: {atMost: 0}, note: `of ${made.length}`},
			{what: 'nodes suspected in both spells', values: [lost], unit: '', goal: {atMost: 0}},
			{what: "nodes' connections lost in all", values: [cut], unit: '', goal: {atMost: 0}},
		];
		await server.stop();
		return rows;
	},
};

const nodesNote = ({nodesShare}: Spell<unknown>): string => `processes of the nodes: ${Math.round(nodesShare)} %`;

const latencyRows = (what: string, values: readonly number[]): readonly Row[] => [
	{what: `${what}, p50`, values: values.length === 0 ? [] : [percentile(values, 0.5)], unit: 'ms', note: `of ${values.length}`},
	{what: `${what}, p99`, values: values.length === 0 ? [] : [percentile(values, 0.99)], unit: 'ms'},
];

const ms = (from: bigint, to: bigint): number => Number(to - from) / 1e6;

// ---- nodes -----------------------------------------------------------------------------------------------------------------

async function joinNodes(scope: Scope, client: Client, count: number): Promise<readonly Remote<Nodes>[]> {
	const {token} = (await client.json({method: 'POST', path: tokensPath, body: {join: true}})) as TokenAnswer;
	const names = Array.from({length: count}, (_, index) => `node-${index + 1}`);
	const program = fileURLToPath(new URL('leader-nodes.js', import.meta.url));
	const parts = Array.from({length: processesOfNodes}, () => startPart<Nodes>({teardown: scope.defer}, program));
	const joined = parts.map((part, at) =>
		part.call('join', {
			server: client.server,
			token,
			names: names.filter((_, index) => index % processesOfNodes === at),
			atOnce: joinsAtOnce,
		}),
	);
	try {
		await within(joinMs, `${count} nodes`, Promise.all(joined));
	} catch (error) {
		const told = await Promise.all(parts.map(part => part.call('counted', undefined as never)));
		throw new Error(`${error instanceof Error ? error.message : String(error)} (${told.map(({problem}) => problem).join('; ')})`, {
			cause: error,
		});
	}
	await within(joinMs, 'all nodes Ready', ready(client, count));
	return parts;
}

type SeenNode = {readonly status?: {readonly conditions?: readonly {readonly type: string; readonly status: string}[]}};

async function ready(client: Client, count: number): Promise<void> {
	for (;;) {
		const {items} = (await client.json({path: '/api/v1/nodes'})) as {readonly items: readonly SeenNode[]};
		const isReady = ({status}: SeenNode): boolean =>
			status?.conditions?.some(({type, status}) => type === 'Ready' && status === 'True') === true;
		if (items.filter(isReady).length >= count) return;
		await pause(500);
	}
}

type SeenEvent = {readonly reason: string; readonly count: number};

/** How often any node was taken for silent. */
async function suspicions(client: Client): Promise<number> {
	const {items} = (await client.json({path: '/api/v1/events'})) as {readonly items: readonly SeenEvent[]};
	return items.filter(({reason}) => reason === 'NodeSuspect' || reason === 'NodeLost').reduce((sum, {count}) => sum + count, 0);
}

// ---- pods ------------------------------------------------------------------------------------------------------------------

/** As many pods as nodes, spread over them; their names. */
async function onePodEach(client: Client, count: number): Promise<readonly string[]> {
	await createReplicaSet(client, set, ['/bin/sleep', 'infinity']);
	await scale(client, set, count);
	await within(podsMs, `${count} pods Running`, running(client, count));
	const {items} = (await client.json({path: '/api/v1/namespaces/default/pods'})) as {readonly items: readonly Pod[]};
	return items.map(({metadata}) => metadata.name);
}

async function running(client: Client, count: number): Promise<void> {
	for (;;) {
		const {status} = (await client.json({path: replicaSetPath(set)})) as SeenReplicaSet;
		if (status?.readyReplicas === count) return;
		await pause(100);
	}
}

type Made = {readonly askedAt: bigint; readonly answeredAt: bigint; readonly version: string};
type Changes = {readonly made: readonly Made[]; readonly refused: readonly string[]};

/** Labels and annotations of one pod after the other, whether the last change was answered or not. */
async function change(client: Client, pods: readonly string[], seconds: number): Promise<Changes> {
	const asked: Promise<Made | string>[] = [];
	const startedAt = performance.now();
	for (let turn = 0; turn < seconds * changesPerSecond; turn++) {
		const early = startedAt + (turn * 1_000) / changesPerSecond - performance.now();
		if (early > 0) await pause(early);
		asked.push(patch(client, pods[turn % pods.length] ?? '', turn).catch(String));
	}
	const answers = await Promise.all(asked);
	return {made: answers.filter(answer => typeof answer !== 'string'), refused: answers.filter(answer => typeof answer === 'string')};
}

async function patch(client: Client, pod: string, turn: number): Promise<Made> {
	const askedAt = process.hrtime.bigint();
	const answer = await client.json({
		method: 'PATCH',
		path: podPath(pod),
		contentType: 'application/merge-patch+json',
		body: {metadata: {[turn % 2 === 0 ? 'annotations' : 'labels']: {turn: String(turn)}}},
	});
	return {askedAt, answeredAt: process.hrtime.bigint(), version: assignmentVersion(answer as Pod)};
}

/** Of each change until its version was in the cache of its node; waits for those that are still on their way. */
async function arrivals(parts: readonly Remote<Nodes>[], made: readonly Made[]) {
	const endMs = performance.now() + arriveMs;
	for (;;) {
		const taken = await Promise.all(parts.map(part => part.call('taken', undefined as never)));
		const arrived = made.flatMap(change => {
			const takenAt = taken.map(versions => versions.get(change.version)).find(at => at !== undefined);
			return takenAt === undefined ? [] : [{...change, takenAt}];
		});
		const missing = made.length - arrived.length;
		if (missing === 0 || performance.now() > endMs) {
			return {
				fromAnswer: arrived.map(({answeredAt, takenAt}) => ms(answeredAt, takenAt)),
				fromRequest: arrived.map(({askedAt, takenAt}) => ms(askedAt, takenAt)),
				missing,
			};
		}
		await pause(500);
	}
}

// ---- processors ------------------------------------------------------------------------------------------------------------

type Spell<Result> = {
	/** Of one processor, in percent. */
	readonly share: number;
	readonly nodesShare: number;
	readonly result: Result;
};

async function spell<Result>(pid: number, parts: readonly Remote<Nodes>[], during: () => Promise<Result>): Promise<Spell<Result>> {
	const ofNodes = (): number => parts.reduce((sum, part) => sum + cpuSeconds(part.pid), 0);
	const before = {cpu: cpuSeconds(pid), nodes: ofNodes(), at: performance.now()};
	const result = await during();
	const seconds = (performance.now() - before.at) / 1_000;
	return {share: (100 * (cpuSeconds(pid) - before.cpu)) / seconds, nodesShare: (100 * (ofNodes() - before.nodes)) / seconds, result};
}
