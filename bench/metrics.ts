// What a scrape of a server costs: how long it takes and how many bytes it is, with ten pods and with many; and what others wait meanwhile.
//
// The nodes are simulated, in the server's process, and each is asked at every scrape what it uses.

import type {Client} from '../cli/client.js';
import type {Benchmark} from './harness/benchmark.js';
import {within} from './harness/deadline.js';
import {pause} from './harness/pause.js';
import {percentile, type Row} from './harness/table.js';
import {startCluster, temporaryHome} from './rigs/cluster/cluster.js';
import {createReplicaSet, replicaSetPath, scale, type SeenReplicaSet} from './rigs/cluster/objects.js';

const set = 'many';
const few = 10;
const pods = 1_000;
const nodes = 10;
const objects = 10_000;
const defaultRounds = 100;
const together = 50;
const readyMs = 180_000;

export const metricsBenchmark: Benchmark = {
	name: 'metrics',
	about: `scrapes of a server with ${nodes} simulated nodes and ${pods} pods, then with ${objects} further objects`,
	async run({rounds = defaultRounds, nodeFlags}, scope) {
		const cluster = await startCluster(scope, temporaryHome(scope), {
			flags: ['--runtime=simulated', `--simulated-nodes=${nodes - 1}`, '--store=memory'],
			nodeFlags,
			abrupt: nodeFlags.length === 0,
		});
		const {client} = cluster;
		await createReplicaSet(client, set, ['/bin/sleep', 'infinity']);
		const rows: Row[] = [];
		for (const count of [few, pods]) {
			await scale(client, set, count);
			await within(readyMs, `${count} pods Ready`, allReady(client, count));
			rows.push(...(await scrapes(client, `${count} pods`, rounds)));
		}
		for (let at = 0; at < objects; at += 100)
			await Promise.all(Array.from({length: 100}, (_, each) => createConfigMap(client, `one-${at + each}`)));
		rows.push(...(await scrapes(client, `${pods} pods, ${objects} more objects`, rounds)));
		const beganAt = performance.now();
		await Promise.all(Array.from({length: together}, () => scrape(client)));
		rows.push({what: `${together} scrapes at once`, values: [performance.now() - beganAt], unit: 'ms'});
		await cluster.stop();
		return rows;
	},
};

const createConfigMap = (client: Client, name: string): Promise<unknown> =>
	client.json({
		method: 'POST',
		path: '/api/v1/namespaces/default/configmaps',
		body: {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name}, data: {a: 'b'}},
	});

async function allReady(client: Client, count: number): Promise<void> {
	for (;;) {
		const {status} = (await client.json({path: replicaSetPath(set)})) as SeenReplicaSet;
		if (status?.readyReplicas === count) return;
		await pause(100);
	}
}

/** How long, and how many bytes. */
async function scrape(client: Client): Promise<{readonly ms: number; readonly bytes: number; readonly series: number}> {
	const beganAt = performance.now();
	let text = '';
	for await (const piece of await client.stream({path: '/metrics'})) text += Buffer.from(piece).toString();
	const series = text.split('\n').filter(line => line !== '' && !line.startsWith('#')).length;
	return {ms: performance.now() - beganAt, bytes: Buffer.byteLength(text), series};
}

async function scrapes(client: Client, what: string, rounds: number): Promise<readonly Row[]> {
	// The first one waits until the nodes have measured.
	await scrape(client);
	const seen = [];
	const others: number[] = [];
	for (let round = 0; round < rounds; round++) {
		const other = async (): Promise<void> => {
			const beganAt = performance.now();
			await client.json({path: replicaSetPath(set)});
			others.push(performance.now() - beganAt);
		};
		const [told] = await Promise.all([scrape(client), other()]);
		seen.push(told);
	}
	return [
		{what: `${what}: one scrape`, values: seen.map(({ms}) => ms), unit: 'ms', goal: {atMost: 100}},
		{what: `${what}: its size`, values: seen.map(({bytes}) => bytes), unit: 'bytes', goal: {atMost: 200_000}},
		{what: `${what}: its series`, values: seen.map(({series}) => series), unit: ''},
		{what: `${what}: a GET at the same time, 99 of 100`, values: [percentile(others, 0.99)], unit: 'ms'},
	];
}
