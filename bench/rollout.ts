// A Deployment rolled over to another version of its pods. On real processes beside the same creates and deletes without a controller; with
// simulated nodes beside a ReplicaSet of as many pods that is merely scaled up.
//
// What is compared runs in turn in one cluster. The bounds are Kubernetes' defaults, a quarter more and a quarter fewer: with 200 pods there
// may be 250, and 150 stay available. The floor has as many creates in flight as may be too many, and as many deletes as may be missing;
// it deletes a pod when one that takes its place runs.

import {startAgent, startCluster, temporaryHome, type BenchCluster} from './rigs/cluster/cluster.js';
import {
	createDeployment,
	createPod,
	createReplicaSet,
	deletePod,
	deploymentPath,
	isRolledOut,
	podsPath,
	replicaSetPath,
	rollOver,
	scale,
	watchPods,
	type PodWatch,
	type SeenPod,
	type SeenReplicaSet,
} from './rigs/cluster/objects.js';
import type {BenchOptions, Benchmark} from './harness/benchmark.js';
import {heardLater, within} from './harness/deadline.js';
import {pause} from './harness/pause.js';
import {cpuSeconds} from './harness/process-figures.js';
import type {Scope} from './harness/scope.js';
import {ratios, type Row} from './harness/table.js';

const rollout = {maxSurge: '25%', maxUnavailable: '25%'};
const words = ['/bin/sleep', 'infinity'];
const defaultRounds = 3;
const deadlineMs = 180_000;
const betweenLooksMs = 25;
/** What one side left behind is over before the next begins. */
const betweenMs = 400;

export const rolloutBenchmark: Benchmark = {
	name: 'rollout',
	about: 'a Deployment rolled over, LevelDB',
	run: async (options, scope) => [...(await ofProcesses(options, scope)), ...(await ofSimulated(options, scope))],
};

/** Times of one side, and what the cluster's own processes took of the processors; one value a round. */
type Times = {readonly tookMs: number[]; readonly cpuMs: number[]};
const noTimes = (): Times => ({tookMs: [], cpuMs: []});

async function measure(what: string, pids: readonly number[], times: Times, work: () => Promise<unknown>): Promise<void> {
	const cpuMs = (): number => pids.reduce((sum, pid) => sum + cpuSeconds(pid) * 1_000, 0);
	const [startedAt, cpuBefore] = [performance.now(), cpuMs()];
	await within(deadlineMs, what, work());
	times.tookMs.push(performance.now() - startedAt);
	times.cpuMs.push(cpuMs() - cpuBefore);
}

/** The first round warms everybody up and does not count. */
async function inRounds(rounds: number, sides: readonly Times[], round: (number: number) => Promise<void>): Promise<void> {
	for (let number = 0; number <= rounds; number++) {
		await round(number);
		if (number === 0) for (const {tookMs, cpuMs} of sides) for (const values of [tookMs, cpuMs]) values.length = 0;
	}
}

const web = 'web';

async function deployed({client}: BenchCluster, replicas: number): Promise<void> {
	await createDeployment(client, web, {replicas, version: 'first', rollout, command: words});
	await within(deadlineMs, `${replicas} pods`, rolledOut(client, replicas));
	await pause(betweenMs);
}

async function rolledOut(client: BenchCluster['client'], replicas: number): Promise<void> {
	while (!(await isRolledOut(client, web, replicas))) await pause(betweenLooksMs);
}

// ---- processes -------------------------------------------------------------------------------------------------------------

const count = 200;
const inFlight = 50;
/** A node takes 110 pods: 250, and those that are just ending, need three. */
const agents = ['agent-a', 'agent-b'];

async function ofProcesses({rounds = defaultRounds, nodeFlags}: BenchOptions, scope: Scope): Promise<readonly Row[]> {
	const cluster = await startCluster(scope, temporaryHome(scope), {nodeFlags});
	const {client} = cluster;
	const pids = [cluster.pid];
	for (const node of agents) pids.push(await startAgent(scope, cluster, node, {nodeFlags}));
	const watch = await watchPods(client, 'set');
	scope.defer(watch.close);
	const [rolled, replaced] = [noTimes(), noTimes()];
	const nothing = (): Promise<void> =>
		within(
			deadlineMs,
			'no pods',
			watch.until(pods => pods.size === 0),
		);
	await inRounds(rounds, [rolled, replaced], async round => {
		await deployed(cluster, count);
		await measure('the rollout', pids, rolled, async () => {
			await rollOver(client, web, 'second');
			await rolledOut(client, count);
			await watch.until(pods => [...pods.values()].every(({metadata}) => metadata.labels?.['version'] === 'second'));
		});
		await client.json({method: 'DELETE', path: deploymentPath(web)});
		await nothing();
		const [old, next] = ['old', 'new'].map(age => names(`bare-${age}-${round}`));
		await inTurn(old ?? [], name => started(cluster, watch, name));
		await pause(betweenMs);
		await measure('the pods replaced', pids, replaced, () => replace(cluster, watch, old ?? [], next ?? []));
		await inTurn(next ?? [], name => deletePod(client, name));
		await nothing();
		await pause(betweenMs);
	});
	return [
		{what: `${count} pods rolled over`, values: rolled.tookMs, unit: 'ms'},
		{what: `${count} pods made and ${count} deleted, ${inFlight} of each in flight`, values: replaced.tookMs, unit: 'ms'},
		{what: 'rolled over / made and deleted', values: ratios(rolled.tookMs, replaced.tookMs), unit: 'x', goal: {atMost: 1.3}},
		{what: 'processor time of the cluster: rolled over / made and deleted', values: ratios(rolled.cpuMs, replaced.cpuMs), unit: 'x'},
	];
}

const names = (prefix: string): readonly string[] => Array.from({length: count}, (_, i) => `${prefix}-${i}`);

async function inTurn(each: readonly string[], work: (name: string) => Promise<unknown>): Promise<void> {
	const left = each.values();
	const worker = async (): Promise<void> => {
		for (const name of left) await work(name);
	};
	await Promise.all(Array.from({length: inFlight}, worker));
}

async function started({client}: BenchCluster, watch: PodWatch, name: string): Promise<void> {
	const running = heardLater(watch.until(pods => pods.get(name)?.status?.phase === 'Running'));
	await createPod(client, name, words, {set: 'bare'});
	await running;
}

async function ended({client}: BenchCluster, watch: PodWatch, name: string): Promise<void> {
	const gone = heardLater(watch.until(pods => !pods.has(name)));
	await deletePod(client, name);
	await gone;
}

/** One of the old pods goes when one more of the next runs; of each sort so many are under way as there are workers. */
async function replace(cluster: BenchCluster, watch: PodWatch, old: readonly string[], next: readonly string[]): Promise<void> {
	const [victims, left] = [old.values(), next.values()];
	const worker = async (): Promise<void> => {
		let ending: Promise<void> = Promise.resolve();
		for (const name of left) {
			await started(cluster, watch, name);
			await ending;
			ending = heardLater(ended(cluster, watch, victims.next().value ?? ''));
		}
		await ending;
	};
	await Promise.all(Array.from({length: inFlight}, worker));
}

// ---- simulated -------------------------------------------------------------------------------------------------------------

const set = 'many';

/** Half of the pods that `scale` has. */
async function ofSimulated({pods, nodes, rounds = defaultRounds, nodeFlags}: BenchOptions, scope: Scope): Promise<readonly Row[]> {
	const replicas = Math.ceil(pods / 2);
	const flags = ['--runtime=simulated', `--simulated-nodes=${nodes - 1}`, '--store=level'];
	const cluster = await startCluster(scope, temporaryHome(scope), {flags, nodeFlags, abrupt: nodeFlags.length === 0});
	const {client, pid} = cluster;
	const [scaled, rolled] = [noTimes(), noTimes()];
	await createReplicaSet(client, set, words);
	await inRounds(rounds, [scaled, rolled], async () => {
		await measure('the set scaled up', [pid], scaled, async () => {
			await scale(client, set, replicas);
			await untilReady(client, replicas);
		});
		await scale(client, set, 0);
		await within(deadlineMs, 'no pods of the set', untilGone(client));
		await deployed(cluster, replicas);
		await measure('the rollout', [pid], rolled, async () => {
			await rollOver(client, web, 'second');
			await rolledOut(client, replicas);
		});
		await client.json({method: 'DELETE', path: deploymentPath(web)});
		await within(deadlineMs, 'no pods of the Deployment', untilGone(client));
		await pause(betweenMs);
	});
	const [rate, scaleRate] = [rolled, scaled].map(({tookMs}) => tookMs.map(ms => (replicas * 1_000) / ms));
	const cpu = (times: Times): readonly number[] => times.cpuMs.map(ms => ms / replicas);
	return [
		{what: `${replicas} pods on ${nodes} simulated nodes rolled over`, values: rate ?? [], unit: 'pods/s'},
		{what: `a ReplicaSet scaled to ${replicas}`, values: scaleRate ?? [], unit: 'pods/s'},
		{what: 'rolled over / scaled, pods/s', values: ratios(rate ?? [], scaleRate ?? []), unit: 'x', goal: {atLeast: 0.6}},
		{what: 'processor time of the cluster, a pod rolled over', values: cpu(rolled), unit: 'ms'},
		{what: 'processor time of the cluster, a pod scaled up', values: cpu(scaled), unit: 'ms'},
	];
}

async function untilReady(client: BenchCluster['client'], replicas: number): Promise<void> {
	for (;;) {
		const {status} = (await client.json({path: replicaSetPath(set)})) as SeenReplicaSet;
		if (status?.readyReplicas === replicas && status.replicas === replicas) return;
		await pause(betweenLooksMs);
	}
}

/** Also those that are just ending. */
async function untilGone(client: BenchCluster['client']): Promise<void> {
	for (;;) {
		const {items} = (await client.json({path: podsPath, query: {limit: 1}})) as {readonly items: readonly SeenPod[]};
		if (items.length === 0) return;
		await pause(betweenLooksMs);
	}
}
