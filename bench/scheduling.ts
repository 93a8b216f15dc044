// How long a pod waits for its node: from when it is asked for to when a watcher sees its bind, with a thousand simulated nodes; at rest,
// and while a thousand others fit nowhere. Before that, what ten thousand that wait cost the scheduler alone.

import {isConditionTrue} from '../api/conditions.js';
import type {NodeObject} from '../api/kinds/node.js';
import type {Json} from '../api/object.js';
import type {Client} from '../cli/client.js';
import type {Benchmark} from './harness/benchmark.js';
import {startCluster, temporaryHome} from './rigs/cluster/cluster.js';
import {within} from './harness/deadline.js';
import {podSpec, watchPods, type PodWatch, type SeenPod} from './rigs/cluster/objects.js';
import {pause} from './harness/pause.js';
import {percentile, type Row} from './harness/table.js';
import {waitingPodsRows} from './waiting-pods.js';

const defaultRounds = 200;
const crowd = 1_000;
/** Different requirements: none is filtered for the others as well. */
const classesOfCrowd = 20;
const words = ['/bin/sleep', 'infinity'];
const deadlineMs = 60_000;
const betweenReadsMs = 250;

export const schedulingBenchmark: Benchmark = {
	name: 'scheduling',
	about: 'from asking for a pod to its bind, simulated nodes, LevelDB',
	async run({rounds, pods, nodes, nodeFlags}, scope) {
		const alone = waitingPodsRows(nodes, pods, rounds);
		const {client} = await startCluster(scope, temporaryHome(scope), {
			flags: ['--runtime=simulated', `--simulated-nodes=${nodes - 1}`, '--store=level'],
			nodeFlags,
			abrupt: nodeFlags.length === 0,
		});
		const watch = await watchPods(client, 'bench=scheduling');
		scope.defer(watch.close);
		await within(deadlineMs, `${nodes} nodes`, allReady(client, nodes));
		const atRest = await bindTimes(client, watch, 'rest', rounds ?? defaultRounds);
		const joining = Array.from({length: crowd}, (_, i) =>
			create(client, `crowd-${i}`, {nodeSelector: {never: String(i % classesOfCrowd)}}),
		);
		await Promise.all(joining);
		const whileOthersWait = await bindTimes(client, watch, 'crowd', rounds ?? defaultRounds);
		return [
			...alone,
			...rowsOf(`${nodes} nodes, at rest`, atRest),
			...rowsOf(`${nodes} nodes, ${crowd} pods that fit nowhere`, whileOthersWait),
		];
	},
};

/** Nodes that come are work for the scheduler. */
async function allReady(client: Client, nodes: number): Promise<void> {
	for (;;) {
		const {items} = (await client.json({path: '/api/v1/nodes'})) as {readonly items: readonly NodeObject[]};
		if (items.filter(({status}) => isConditionTrue(status?.conditions, 'Ready')).length === nodes) return;
		await pause(betweenReadsMs);
	}
}

function rowsOf(what: string, times: readonly number[]): readonly Row[] {
	return [
		{what: `${what}, p50`, values: [percentile(times, 0.5)], unit: 'ms', note: `of ${times.length}`},
		{what: `${what}, p99`, values: [percentile(times, 0.99)], unit: 'ms', goal: {atMost: 50}},
	];
}

const create = (client: Client, name: string, more: {readonly [field: string]: Json}): Promise<unknown> =>
	client.json({
		method: 'POST',
		path: '/api/v1/namespaces/default/pods',
		body: {
			apiVersion: 'v1',
			kind: 'Pod',
			metadata: {name, labels: {bench: 'scheduling'}},
			spec: {...(podSpec(words) as {readonly [field: string]: Json}), ...more},
		},
	});

const isBound = (pod: SeenPod | undefined): boolean => (pod?.spec?.nodeName ?? '') !== '';

/** One pod after the other, as a watcher sees them: the way there and back is in it. */
async function bindTimes(client: Client, watch: PodWatch, prefix: string, rounds: number): Promise<readonly number[]> {
	const times: number[] = [];
	for (let round = 0; round < rounds; round++) {
		const name = `${prefix}-pod-${round}`;
		const askedAt = performance.now();
		const bound = watch.until(pods => isBound(pods.get(name)));
		await Promise.all([create(client, name, {}), within(deadlineMs, `the bind of ${name}`, bound)]);
		times.push(performance.now() - askedAt);
	}
	return times;
}
