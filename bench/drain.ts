// A node with a hundred pods is drained, as `troupe drain` does it: evicted, followed by a watch, and made anew on another node.
//
// The nodes pretend to run pods, so the figure is the control plane's and the client's, not the programs'.

import {setCordon} from '../cli/objects/cordon.js';
import {evictAll, type DrainOptions} from '../cli/drain/evict.js';
import {noDeadline} from '../cli/objects/wait.js';
import type {Benchmark} from './harness/benchmark.js';
import {startCluster, temporaryHome} from './rigs/cluster/cluster.js';
import {heardLater, within} from './harness/deadline.js';
import {createReplicaSet, scale, watchPods, type SeenPod} from './rigs/cluster/objects.js';
import type {Row} from './harness/table.js';

const count = 100;
const set = 'hundred';
const defaultRounds = 10;
const roundMs = 60_000;
const nodes = ['node-a', 'sim-1'] as const;

const options: DrainOptions = {
	force: false,
	deleteEmptyDirData: false,
	ignoreDaemonSets: false,
	graceSeconds: undefined,
	podSelector: undefined,
	disableEviction: false,
	dryRun: false,
};

export const drainBenchmark: Benchmark = {
	name: 'drain',
	about: `a node of ${count} pods drained`,
	async run({rounds = defaultRounds, nodeFlags}, scope): Promise<readonly Row[]> {
		const flags = [`--node=${nodes[0]}`, '--runtime=simulated', '--simulated-nodes=1'];
		const {client} = await startCluster(scope, temporaryHome(scope), {nodeFlags, flags, abrupt: true});
		await createReplicaSet(client, set, ['sleep', '1000']);
		const watch = await watchPods(client, `set=${set}`);
		scope.defer(watch.close);
		const gone: number[] = [];
		const replaced: number[] = [];
		const allOn = (node: string) => (pods: ReadonlyMap<string, SeenPod>) =>
			pods.size === count && [...pods.values()].every(({spec, status}) => spec?.nodeName === node && status?.phase === 'Running');
		await setCordon(client, nodes[1], 'cordon', false);
		await scale(client, set, count);
		await within(roundMs, `${count} pods on ${nodes[0]}`, heardLater(watch.until(allOn(nodes[0]))));
		// The first round warms everybody up and does not count.
		for (let round = 0; round <= rounds; round++) {
			const [from, to] = round % 2 === 0 ? nodes : [nodes[1], nodes[0]];
			await setCordon(client, to, 'uncordon', false);
			const elsewhere = heardLater(watch.until(allOn(to)));
			const startedAt = performance.now();
			await setCordon(client, from, 'cordon', false);
			const watcher = {onGone: () => undefined, onHeld: () => undefined, onProgress: () => undefined};
			await within(roundMs, `${from} drained`, evictAll(client, {node: from, known: []}, options, watcher, noDeadline));
			const goneMs = performance.now() - startedAt;
			await within(roundMs, `${count} pods on ${to}`, elsewhere);
			if (round === 0) continue;
			gone.push(goneMs);
			replaced.push(performance.now() - startedAt);
		}
		return [
			{what: 'until the node has none of them', values: gone, unit: 'ms', goal: {atMost: 1_000}},
			{what: 'until all of them run elsewhere', values: replaced, unit: 'ms'},
		];
	},
};
