// What an inspector costs the cluster that it looks at, and how long a look at one actor takes.
//
// The inspectors are the commands themselves, in processes of their own: the tree of every system each second, and a trace of the ReplicaSet
// to which the changed pods belong. The same load with and without them, in turn. The nodes are simulated, in the server's process: what
// looks cost on them is counted, too.

import {spawn} from 'node:child_process';
import {homeOf} from '../cli/files/home.js';
import {brokerLoginOf} from '../cli/cluster/broker-login.js';
import {readConnection} from '../cli/cluster/kubeconfig.js';
import {formatTopic, inspectRepliesFilter} from '../api/topics.js';
import type {InspectReply, ToolRequest} from '../api/inspect.js';
import {limits} from '../api/limits.js';
import type {Client} from '../cli/client.js';
import {connectMqttLink, type MqttLink} from '../system/links/mqtt-link.js';
import type {Benchmark} from './harness/benchmark.js';
import {within} from './harness/deadline.js';
import {pause} from './harness/pause.js';
import {cpuSeconds, processorWaitMs} from './harness/process-figures.js';
import type {Scope} from './harness/scope.js';
import {percentile, type Row} from './harness/table.js';
import {startCluster, temporaryHome, type BenchCluster} from './rigs/cluster/cluster.js';
import {createReplicaSet, podPath, podsPath, replicaSetPath, scale, type SeenPod, type SeenReplicaSet} from './rigs/cluster/objects.js';
import {main} from './rigs/main-file.js';

const set = 'many';
const words = ['/bin/sleep', 'infinity'];
const watchedPods = 1_000;
const watchedNodes = 10;
const changesPerSecond = 100;
const defaultRounds = 7;
const spellMs = 10_000;
/** What starts or ends is over before it is counted. */
const settleMs = 4_000;
const actors = 10_000;
/** So many pods on each node. */
const podsPerNode = 100;
const looks = 500;
/** A login has so many requests a second. */
const betweenLooksMs = 2_000 / limits.inspectsPerSecond;
const readyMs = 180_000;
const answerMs = 20_000;

type Options = Parameters<Benchmark['run']>[0];

export const inspectBenchmark: Benchmark = {
	name: 'inspect',
	about: `the tree of all systems each second and a trace, with ${watchedPods} simulated pods and ${changesPerSecond} changes/s; the state of one of ${actors} actors`,
	run: async (options, scope) => [...(await attached(options, scope)), ...(await states(options, scope))],
};

/** A cluster whose pods are simulated and Ready; their names. */
async function startPods(
	{nodeFlags}: Options,
	scope: Scope,
	pods: number,
	nodes: number,
): Promise<{readonly cluster: BenchCluster; readonly names: readonly string[]}> {
	const cluster = await startCluster(scope, temporaryHome(scope), {
		flags: ['--runtime=simulated', `--simulated-nodes=${nodes - 1}`, '--store=level'],
		nodeFlags,
		abrupt: nodeFlags.length === 0,
	});
	const {client} = cluster;
	await createReplicaSet(client, set, words);
	await scale(client, set, pods);
	await within(readyMs, `${pods} pods Running`, allReady(client, pods));
	const {items} = (await client.json({path: podsPath})) as {readonly items: readonly SeenPod[]};
	return {cluster, names: items.map(({metadata}) => metadata.name)};
}

async function allReady(client: Client, pods: number): Promise<void> {
	for (;;) {
		const {status} = (await client.json({path: replicaSetPath(set)})) as SeenReplicaSet;
		if (status?.readyReplicas === pods) return;
		await pause(100);
	}
}

// ---- with an inspector and without -----------------------------------------------------------------------------------------

/** Of one spell: parts of a processor in percent, and what the inspectors were told. */
type Spell = {readonly share: number; readonly made: number; readonly told: readonly Told[]};
type Told = {readonly lines: number; readonly share: number};

async function attached(options: Options, scope: Scope): Promise<readonly Row[]> {
	const {rounds = defaultRounds} = options;
	const {cluster, names} = await startPods(options, scope, watchedPods, watchedNodes);
	const without: Spell[] = [];
	const withThem: Spell[] = [];
	const alone = async (): Promise<void> => void without.push(await spell(cluster, names, []));
	const together = async (): Promise<void> => {
		const inspectors = [
			startInspector(scope, cluster, ['tree', '--watch']),
			startInspector(scope, cluster, ['trace', `replicaset/${set}`, '--for=10m', `--count=${limits.inspectEntries}`, '--output=json']),
		];
		const told = within(answerMs, 'the first tree and the first step', Promise.all(inspectors.map(({first}) => first)));
		// There is no step without a change.
		await Promise.all([told, change(cluster.client, names, settleMs)]);
		withThem.push(await spell(cluster, names, inspectors));
		await Promise.all(inspectors.map(({end}) => end()));
	};
	// The first round warms everybody up and does not count.
	for (let round = 0; round <= rounds; round++) {
		// Neither side is always the later one, when more is compiled.
		for (const side of round % 2 === 0 ? [alone, together] : [together, alone]) await side();
		if (round === 0) without.length = withThem.length = 0;
	}
	await cluster.stop();
	const sharesOf = (spells: readonly Spell[]): readonly number[] => spells.map(({share}) => share);
	const perSecond = (count: number): number => (count * 1_000) / spellMs;
	const made = [...without, ...withThem].map(each => perSecond(each.made));
	return [
		{what: 'changes made', values: made, unit: '/s', goal: {atLeast: changesPerSecond * 0.98}},
		{what: 'processor of the cluster, without', values: sharesOf(without), unit: '%'},
		{what: 'processor of the cluster, with tree and trace', values: sharesOf(withThem), unit: '%'},
		{
			what: 'more with than without',
			values: withThem.map(({share}, round) => share - (without[round]?.share ?? Number.NaN)),
			unit: 'points',
			goal: {atMost: 5},
			note: 'of one core',
		},
		{what: 'trace: steps told', values: withThem.map(({told}) => perSecond(told[1]?.lines ?? 0)), unit: '/s'},
		{what: 'tree: lines drawn', values: withThem.map(({told}) => perSecond(told[0]?.lines ?? 0)), unit: '/s'},
		...['tree', 'trace'].map((what, at) => ({
			what: `processor of ${what} itself`,
			values: withThem.map(({told}) => told[at]?.share ?? Number.NaN),
			unit: '%',
		})),
	];
}

async function spell({client, pid}: BenchCluster, pods: readonly string[], inspectors: readonly Inspector[]): Promise<Spell> {
	await change(client, pods, settleMs);
	const before = inspectors.map(inspector => ({lines: inspector.lines(), cpu: cpuSeconds(inspector.pid)}));
	const cpu = cpuSeconds(pid);
	const startedAt = performance.now();
	const made = await change(client, pods, spellMs);
	const seconds = (performance.now() - startedAt) / 1_000;
	const shareOf = (process: number, since: number): number => (100 * (cpuSeconds(process) - since)) / seconds;
	return {
		share: shareOf(pid, cpu),
		made,
		told: inspectors.map((inspector, at) => ({
			lines: inspector.lines() - (before[at]?.lines ?? 0),
			share: shareOf(inspector.pid, before[at]?.cpu ?? 0),
		})),
	};
}

/** Labels of one pod after the other for so long, whether the last change was answered or not; how many were made. */
async function change(client: Client, pods: readonly string[], ms: number): Promise<number> {
	const asked: Promise<unknown>[] = [];
	const startedAt = performance.now();
	for (let turn = 0; turn < (ms * changesPerSecond) / 1_000; turn++) {
		const early = startedAt + (turn * 1_000) / changesPerSecond - performance.now();
		if (early > 0) await pause(early);
		const body = {metadata: {labels: {turn: `${Math.round(startedAt)}-${turn}`}}};
		const path = podPath(pods[turn % pods.length] ?? '');
		asked.push(client.json({method: 'PATCH', path, contentType: 'application/merge-patch+json', body}));
	}
	return (await Promise.all(asked)).length;
}

type Inspector = {
	readonly pid: number;
	/** Resolves with the first line. */
	readonly first: Promise<void>;
	readonly lines: () => number;
	readonly end: () => Promise<void>;
};

function startInspector(scope: Scope, {home}: BenchCluster, verb: readonly string[]): Inspector {
	if (scope.isClosing()) throw new Error('interrupted');
	const child = spawn(process.execPath, [main, 'actor', ...verb, `--home=${home}`], {
		env: {PATH: process.env['PATH'], HOME: home},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const ended = new Promise<void>(resolve => child.once('exit', () => resolve()));
	const end = async (): Promise<void> => {
		if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
		await ended;
	};
	scope.defer(end);
	let lines = 0;
	let said = '';
	child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-limits.shownMessageBytes)));
	const first = new Promise<void>((resolve, reject) => {
		child.stdout.on('data', (chunk: Buffer) => {
			for (const byte of chunk) if (byte === newline) lines++;
			if (lines > 0) resolve();
		});
		child.once('error', reject);
		child.once('exit', () => reject(new Error(`${verb.join(' ')} ended: ${said.trim()}`)));
	});
	first.catch(() => undefined);
	return {pid: child.pid ?? 0, first, lines: () => lines, end};
}

const newline = 10;

// ---- one of many -----------------------------------------------------------------------------------------------------------

async function states(options: Options, scope: Scope): Promise<readonly Row[]> {
	const {cluster, names} = await startPods(options, scope, actors, actors / podsPerNode);
	const tool = await connectTool(scope, cluster);
	await pause(limits.eventFlushMs + settleMs);
	const waits: Timed[] = [];
	const atNodes: Timed[] = [];
	const gets: Timed[] = [];
	const timed = async (work: () => Promise<unknown>): Promise<Timed> => {
		const waited = (): number => processorWaitMs(cluster.pid) + processorWaitMs(process.pid);
		const before = waited();
		const startedAt = performance.now();
		await work();
		const ms = performance.now() - startedAt;
		return {ms, runningMs: Math.max(0, ms - (waited() - before))};
	};
	for (let look = 0; look < looks; look++) {
		const name = names[(look * (names.length / looks)) | 0] ?? '';
		let node = '';
		gets.push(
			await timed(async () => {
				node = ((await cluster.client.json({path: podPath(name)})) as SeenPod).spec?.nodeName ?? '';
			}),
		);
		waits.push(await timed(() => tool.ask({verb: 'state', place: `control/pods/default.${name}`})));
		await pause(betweenLooksMs);
		atNodes.push(await timed(() => tool.ask({verb: 'state', place: `${node}/pods/default.${name}`})));
		await pause(betweenLooksMs);
	}
	await cluster.stop();
	return [
		...latencyRows(`state of one of ${actors} pods`, waits, {goal: {atMost: 20}}),
		...latencyRows('state of its actor on a node', atNodes, {goal: {atMost: 20}}),
		...latencyRows('GET of that pod, for comparison', gets, {}),
	];
}

/** `runningMs`: less the time in which the cluster or this process could have run and had no processor, as on a machine with other work. */
type Timed = {readonly ms: number; readonly runningMs: number};

const latencyRows = (what: string, values: readonly Timed[], goal: Pick<Row, 'goal'>): readonly Row[] =>
	[0.5, 0.99].map(part => {
		const of = (figure: keyof Timed): number =>
			percentile(
				values.map(each => each[figure]),
				part,
			);
		const note = `of ${values.length}; less waits for a processor: ${of('runningMs').toFixed(1)}`;
		return {what: `${what}, p${part * 100}`, values: [of('ms')], unit: 'ms', ...goal, note};
	});

type Tool = {
	/** Resolves with the whole answer. Rejects when it is none. */
	readonly ask: (request: ToolRequest) => Promise<void>;
};

/** As any tool does: publishes a request, and reads what it is answered (docs/topics.md). */
async function connectTool(scope: Scope, {client, home}: BenchCluster): Promise<Tool> {
	const connection = await readConnection({flag: undefined, fromEnvironment: undefined, ofHome: homeOf(home).kubeconfig});
	const {urls, login, password, ca, trustAnyone} = await brokerLoginOf(connection, client);
	let link: MqttLink | undefined;
	const waiting = new Map<string, (reply: InspectReply) => void>();
	const connected = new Promise<void>(resolve => {
		link = connectMqttLink({
			url: () => urls,
			self: login,
			password,
			clientId: 'bench-inspect',
			...(ca === undefined ? {} : {ca}),
			trustAnyone,
			onConnected: resolve,
		});
	});
	scope.defer(() => link?.close());
	link?.subscribe(inspectRepliesFilter(login), (topic, payload) => {
		const id = topic.slice(topic.lastIndexOf('/') + 1);
		waiting.get(id)?.(JSON.parse(payload) as InspectReply);
	});
	await within(answerMs, 'the broker', connected);
	let count = 0;
	return {
		ask(request) {
			const id = String(++count);
			const answered = new Promise<void>((resolve, reject) => {
				waiting.set(id, reply => {
					waiting.delete(id);
					if (reply.ok) resolve();
					else reject(new Error(reply.error.message));
				});
			});
			link?.publish(formatTopic({type: 'inspectRequest', login, id}), JSON.stringify(request), {retain: false});
			return within(answerMs, JSON.stringify(request), answered);
		},
	};
}
