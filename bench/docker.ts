// Pods of class docker beside the same containers made straight through the Engine's API, in turn, on one daemon.
//
// A raw pod is there when the second start has answered; a pod of ours when a watch of the API says that it runs.

import type {Benchmark} from './harness/benchmark.js';
import {within} from './harness/deadline.js';
import {pause} from './harness/pause.js';
import {rssBytes} from './harness/process-figures.js';
import type {Scope} from './harness/scope.js';
import {ratios, type Row} from './harness/table.js';
import {startCluster, temporaryHome, type BenchCluster} from './rigs/cluster/cluster.js';
import {deletePod, podsPath, replicaSetPath, scale, watchPods, type PodWatch, type SeenPod} from './rigs/cluster/objects.js';
import {startDockerd} from './rigs/servers/dockerd.js';
import {
	engineApi,
	inParallel,
	joinRaw,
	pidOfContainer,
	removeRaw,
	startKept,
	startRawPod,
	type EngineApi,
	type EngineEvent,
} from './rigs/servers/engine-api.js';
import {until} from './rigs/servers/server.js';

const defaultRounds = 15;
/** As a node has them where nothing is said. */
const warmSandboxes = 4;
const crashRounds = 10;
const manyPods = 50;
const width = 8;
const memoryPods = 100;
const deadlineMs = 300_000;
/** What a removal leaves behind is over before the next round. */
const betweenMs = 1_000;

export const dockerBenchmark: Benchmark = {
	name: 'docker',
	about: 'pods of class docker beside the raw Engine API',
	async run({rounds = defaultRounds}, scope) {
		const daemon = await startDockerd({teardown: scope.defer});
		const engine = engineApi(daemon.socketPath);
		scope.defer(() => engine.close());
		const fresh = await podsOn(scope, daemon.url, 0);
		const warm = await podsOn(scope, daemon.url, warmSandboxes);
		return [
			...(await oneByOne(engine, {fresh, warm}, rounds)),
			...(await many(engine, warm)),
			...(await crashes(engine, warm)),
			...(await memory(warm)),
		];
	},
};

type Pods = {readonly cluster: BenchCluster; readonly watch: PodWatch};

async function podsOn(scope: Scope, url: string, sandboxes: number): Promise<Pods> {
	const flags = ['--runtime=docker', `--docker=${url}`, `--warm-sandboxes=${sandboxes}`];
	const cluster = await startCluster(scope, temporaryHome(scope), {flags});
	const watch = await watchPods(cluster.client, '');
	scope.defer(() => watch.close());
	return {cluster, watch};
}

const spec = {
	runtimeClassName: 'docker',
	terminationGracePeriodSeconds: 0,
	containers: [{name: 'main', image: 'busybox:latest', imagePullPolicy: 'IfNotPresent', command: ['sleep', '100000']}],
};

const runs = (pod: SeenPod | undefined): boolean => pod?.status?.phase === 'Running';

// ---- one pod at a time -----------------------------------------------------------------------------------------------------

async function oneByOne(
	engine: EngineApi,
	{fresh, warm}: {readonly fresh: Pods; readonly warm: Pods},
	rounds: number,
): Promise<readonly Row[]> {
	const raw: number[] = [];
	const ours: number[] = [];
	const warmed: number[] = [];
	for (let round = 0; round < rounds; round++) {
		await until('the warm sandboxes to be there', async () => (await runningWarm(engine)) === warmSandboxes);
		await pause(betweenMs);
		const startedAt = performance.now();
		const ids = await startRawPod(engine);
		raw.push(performance.now() - startedAt);
		await removeRaw(engine, ids);
		ours.push(await onePod(fresh, `fresh-${round}`));
		warmed.push(await onePod(warm, `warm-${round}`));
	}
	return [
		{what: 'raw: pause and one joined container', values: raw, unit: 'ms'},
		{what: 'pod of one container, no warm sandboxes', values: ours, unit: 'ms'},
		{what: 'pod of one container, in a warm sandbox', values: warmed, unit: 'ms'},
		{what: 'pod / raw', values: ratios(ours, raw), unit: 'x', goal: {atMost: 1.1}},
		{what: 'pod in a warm sandbox / raw', values: ratios(warmed, raw), unit: 'x', goal: {atMost: 0.4}},
	];
}

/** As long as no pod has one. */
async function runningWarm(engine: EngineApi): Promise<number> {
	const filters = encodeURIComponent(JSON.stringify({label: ['troupe.dev/sandbox=warm'], status: ['running']}));
	const found = await engine.call('GET', `/containers/json?filters=${filters}`);
	return Array.isArray(found) ? found.length : 0;
}

/** Until a watch says that it runs; it is gone afterwards. */
async function onePod({cluster: {client}, watch}: Pods, name: string): Promise<number> {
	const startedAt = performance.now();
	await client.json({method: 'POST', path: podsPath, body: {apiVersion: 'v1', kind: 'Pod', metadata: {name}, spec}});
	await within(
		deadlineMs,
		`${name} to run`,
		watch.until(pods => runs(pods.get(name))),
	);
	const tookMs = performance.now() - startedAt;
	await deletePod(client, name);
	await within(
		deadlineMs,
		`${name} to go`,
		watch.until(pods => !pods.has(name)),
	);
	await pause(betweenMs);
	return tookMs;
}

// ---- many pods -------------------------------------------------------------------------------------------------------------

async function many(engine: EngineApi, pods: Pods): Promise<readonly Row[]> {
	const raw: number[] = [];
	const ours: number[] = [];
	await createSet(pods, 'many');
	for (let round = 0; round < 2; round++) {
		const startedAt = performance.now();
		const made = await inParallel(manyPods, width, () => startRawPod(engine));
		raw.push((performance.now() - startedAt) / 1_000);
		await inParallel(made.length, width, index => removeRaw(engine, made[index] ?? []));
		ours.push((await scaled(pods, 'many', manyPods)) / 1_000);
		await scaled(pods, 'many', 0);
	}
	return [
		{what: `raw: ${manyPods} of them, ${width} at a time`, values: raw, unit: 's'},
		{what: `ReplicaSet of ${manyPods} pods`, values: ours, unit: 's'},
		{what: 'ReplicaSet / raw', values: ratios(ours, raw), unit: 'x', goal: {atMost: 1.1}},
	];
}

function createSet({cluster: {client}}: Pods, name: string): Promise<unknown> {
	const labels = {set: name};
	const body = {
		apiVersion: 'apps/v1',
		kind: 'ReplicaSet',
		metadata: {name},
		spec: {replicas: 0, selector: {matchLabels: labels}, template: {metadata: {labels}, spec}},
	};
	return client.json({method: 'POST', path: replicaSetPath('').replace(/\/$/, ''), body});
}

/** How long it takes until so many run and no others are there, in milliseconds. */
async function scaled({cluster: {client}, watch}: Pods, name: string, replicas: number): Promise<number> {
	const startedAt = performance.now();
	await scale(client, name, replicas);
	const isDone = (pods: ReadonlyMap<string, SeenPod>): boolean => {
		const own = [...pods.values()].filter(({metadata: {labels}}) => labels?.['set'] === name);
		return own.length === replicas && own.every(runs);
	};
	await within(deadlineMs, `${replicas} pods of ${name}`, watch.until(isDone));
	return performance.now() - startedAt;
}

// ---- a crash ---------------------------------------------------------------------------------------------------------------

async function crashes(engine: EngineApi, pods: Pods): Promise<readonly Row[]> {
	const ends = openEnds();
	const close = await engine.follow(ends.hear);
	const die: number[] = [];
	const joined: number[] = [];
	const own: number[] = [];
	const ours: number[] = [];
	try {
		for (let round = 0; round < crashRounds; round++) {
			const [infra, first] = await startRawPod(engine);
			die.push(await killed(engine, first, ends.next('die', first)));
			const startedAt = performance.now();
			const second = await joinRaw(engine, infra);
			joined.push(performance.now() - startedAt);
			await removeRaw(engine, [infra, first, second]);
			const kept = await startKept(engine);
			own.push(await killed(engine, kept, ends.next('start', kept)));
			await removeRaw(engine, [kept]);
			ours.push(await crashOfPod(engine, pods, `crash-${round}`));
		}
	} finally {
		close();
	}
	const floor = die.map((ms, round) => ms + (joined[round] ?? Number.NaN));
	return [
		{what: 'kill -9 until the Engine tells of the end', values: die, unit: 'ms'},
		{what: 'raw: create and start of a joined container', values: joined, unit: 'ms'},
		{what: 'kill -9 of a pod until it runs again', values: ours, unit: 'ms'},
		{what: 'pod, above the two', values: ours.map((ms, round) => ms - (floor[round] ?? Number.NaN)), unit: 'ms', goal: {atMost: 30}},
		{what: "kill -9 until the Engine's own restart", values: own, unit: 'ms', note: 'restart policy always; Swarm: 700 to 5,500'},
	];
}

type Ends = {
	readonly hear: (event: EngineEvent) => void;
	/** Resolves at the next event of that sort of this container. */
	readonly next: (action: string, id: string) => Promise<void>;
};

function openEnds(): Ends {
	const waiting = new Map<string, () => void>();
	return {
		hear({Action, Actor}) {
			waiting.get(`${Action} ${Actor.ID}`)?.();
		},
		next: (action, id) => new Promise(resolve => void waiting.set(`${action} ${id}`, resolve)),
	};
}

async function killed(engine: EngineApi, id: string, told: Promise<void>): Promise<number> {
	const pid = await pidOfContainer(engine, id);
	const startedAt = performance.now();
	process.kill(pid, 'SIGKILL');
	await within(deadlineMs, `news of ${id}`, told);
	return performance.now() - startedAt;
}

/** One that is killed once: then it waits in no back-off. */
async function crashOfPod(engine: EngineApi, {cluster: {client}, watch}: Pods, name: string): Promise<number> {
	await client.json({method: 'POST', path: podsPath, body: {apiVersion: 'v1', kind: 'Pod', metadata: {name}, spec}});
	await within(
		deadlineMs,
		`${name} to run`,
		watch.until(pods => runs(pods.get(name))),
	);
	let id = '';
	await watch.until(pods => {
		id = idIn(pods.get(name));
		return id !== '';
	});
	const pid = await pidOfContainer(engine, id);
	const startedAt = performance.now();
	process.kill(pid, 'SIGKILL');
	await within(
		deadlineMs,
		`${name} to run again`,
		watch.until(pods => !['', id].includes(idIn(pods.get(name)))),
	);
	const tookMs = performance.now() - startedAt;
	await deletePod(client, name);
	await within(
		deadlineMs,
		`${name} to go`,
		watch.until(pods => !pods.has(name)),
	);
	await pause(betweenMs);
	return tookMs;
}

const idIn = (pod: SeenPod | undefined): string =>
	/^docker:\/\/(.+)$/.exec(pod?.status?.containerStatuses?.[0]?.containerID ?? '')?.[1] ?? '';

// ---- memory ----------------------------------------------------------------------------------------------------------------

async function memory(pods: Pods): Promise<readonly Row[]> {
	await createSet(pods, 'memory');
	await scaled(pods, 'memory', memoryPods);
	await pause(betweenMs);
	const mebibyte = 1_048_576;
	const used = rssBytes(pods.cluster.pid) / mebibyte;
	await scaled(pods, 'memory', 0);
	return [{what: `RSS of control plane and node with ${memoryPods} pods`, values: [used], unit: 'MiB', goal: {atMost: 120}}];
}
