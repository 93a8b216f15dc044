// One ReplicaSet scaled to thousands of pods on a thousand simulated nodes, over the embedded store: pods a second, memory, and
// how long somebody waits who looks at one pod meanwhile.

import {createPod, createReplicaSet, podPath, replicaSetPath, scale, type SeenPod, type SeenReplicaSet} from './rigs/cluster/objects.js';
import {startCluster, temporaryHome, type BenchCluster} from './rigs/cluster/cluster.js';
import type {Benchmark} from './harness/benchmark.js';
import {heardLater, within} from './harness/deadline.js';
import {pause} from './harness/pause.js';
import {cpuSeconds, peakRssBytes, rssBytes} from './harness/process-figures.js';
import {percentile, type Row} from './harness/table.js';

const set = 'many';
const witness = 'witness';
const words = ['/bin/sleep', 'infinity'];
/** Between two looks at one pod: somebody who looks without a pause would take part of the processor for himself. */
const betweenGetsMs = 5;
const betweenLooksMs = 25;
const readyMs = 120_000;

export const scaleBenchmark: Benchmark = {
	name: 'scale',
	about: 'one ReplicaSet scaled up on simulated nodes, LevelDB',
	async run(options, scope) {
		const {pods, nodes} = options;
		const home = temporaryHome(scope);
		const cluster = await startCluster(scope, home, {
			flags: ['--runtime=simulated', `--simulated-nodes=${nodes - 1}`, '--store=level'],
			nodeFlags: options.nodeFlags,
			abrupt: options.nodeFlags.length === 0,
		});
		const {client, pid} = cluster;
		await createPod(client, witness, words);
		await running(cluster, witness);
		await createReplicaSet(client, set, words);
		const restBytes = rssBytes(pid);
		const cpuBefore = cpuSeconds(pid);
		await scale(client, set, pods);
		const startedAt = performance.now();
		const gets = keepGetting(cluster);
		await within(readyMs, `${pods} pods Running`, allReady(cluster, pods));
		const tookMs = performance.now() - startedAt;
		const cpuMs = (cpuSeconds(pid) - cpuBefore) * 1_000;
		const waits = await gets.end();
		const mebibyte = 1_048_576;
		const rows: Row[] = [
			{what: `${pods} pods on ${nodes} nodes, all Running`, values: [tookMs / 1_000], unit: 's'},
			{what: 'rate', values: [(pods * 1_000) / tookMs], unit: 'pods/s', goal: {atLeast: 2_000}},
			{what: 'processor time of the cluster, a pod', values: [cpuMs / pods], unit: 'ms'},
			{
				what: 'GET of one pod meanwhile, p99',
				values: [percentile(waits, 0.99)],
				unit: 'ms',
				goal: {atMost: 50},
				note: `of ${waits.length}`,
			},
			{what: 'GET of one pod meanwhile, all', values: waits, unit: 'ms'},
			{what: 'RSS with the nodes, before', values: [restBytes / mebibyte], unit: 'MiB'},
			{what: 'RSS at its peak', values: [peakRssBytes(pid) / mebibyte], unit: 'MiB', goal: {atMost: 400}},
		];
		await cluster.stop();
		return rows;
	},
};

async function running({client}: BenchCluster, name: string): Promise<void> {
	for (;;) {
		const {status} = (await client.json({path: podPath(name)})) as SeenPod;
		if (status?.phase === 'Running') return;
		await pause(betweenLooksMs);
	}
}

/** Looks at the set, not at the pods: a list of thousands would be part of the load. */
async function allReady({client}: BenchCluster, pods: number): Promise<void> {
	for (;;) {
		const {status} = (await client.json({path: replicaSetPath(set)})) as SeenReplicaSet;
		if (status?.readyReplicas === pods) return;
		await pause(betweenLooksMs);
	}
}

/** One look after the other, over one kept connection. */
function keepGetting({client}: BenchCluster): {readonly end: () => Promise<readonly number[]>} {
	const waits: number[] = [];
	const ending = new AbortController();
	const work = async (): Promise<void> => {
		while (!ending.signal.aborted) {
			const askedAt = performance.now();
			await client.json({path: podPath(witness)});
			waits.push(performance.now() - askedAt);
			await pause(betweenGetsMs);
		}
	};
	const done = heardLater(work());
	return {
		async end() {
			ending.abort();
			await done;
			return waits;
		},
	};
}
