// How soon pods are there that a load needs: from the moment it begins to the decision, and from there until they are ready. What it is held against is
// the formula's own earliest time: what is measured is an average of some seconds, and looked at every 5 s.

import {limits} from '../api/limits.js';
import type {Benchmark} from './harness/benchmark.js';
import {within} from './harness/deadline.js';
import {pause} from './harness/pause.js';
import {requestMillis, startAutoscaled, type Autoscaled, type Look} from './rigs/cluster/autoscaled.js';
import {startCluster, temporaryHome} from './rigs/cluster/cluster.js';

const defaultRounds = 5;
const targetPercent = 50;
/** One pod has five times what it should then. */
const spikeMillis = 125;
const lookMs = 25;
const deadlineMs = 120_000;
/** Until nothing of the last load is in an average any more. */
const restMs = 2 * limits.usageWindowMs + 2_000;

/** An average of up to two windows is beyond the tolerance once the load was there for this part of it. */
const crossedMs = (2 * limits.usageWindowMs * 1.1 * targetPercent * requestMillis) / 100 / spikeMillis;

export const autoscaleBenchmark: Benchmark = {
	name: 'autoscale',
	about: 'from a load to the pods that it needs, processes',
	async run({rounds = defaultRounds, nodeFlags}, scope) {
		const {client} = await startCluster(scope, temporaryHome(scope), {flags: ['--runtime=process'], nodeFlags});
		const autoscaled = await startAutoscaled(scope, client, {
			minReplicas: 1,
			maxReplicas: 8,
			metrics: [{type: 'Resource', resource: {name: 'cpu', target: {type: 'Utilization', averageUtilization: targetPercent}}}],
			behavior: {scaleDown: {stabilizationWindowSeconds: 0}},
		});
		const times: {readonly decidedMs: number; readonly firstMs: number}[] = [];
		for (let round = 0; round < rounds; round++) {
			autoscaled.load(0);
			await until(autoscaled, 'one pod alone', ({wanted, ready, utilization}) => wanted === 1 && ready === 1 && (utilization ?? 99) < 10);
			// The rounds begin at different times of its look.
			await pause(restMs + (round * limits.autoscaleSyncMs) / rounds);
			const begunAt = performance.now();
			autoscaled.load(spikeMillis);
			const since = async (what: string, isSo: (look: Look) => boolean): Promise<number> => {
				await until(autoscaled, what, isSo);
				return performance.now() - begunAt;
			};
			times.push({
				decidedMs: await since('a decision', ({wanted}) => wanted > 1),
				firstMs: await since('a new pod', ({ready}) => ready > 1),
			});
		}
		const atWorstMs = crossedMs + limits.autoscaleSyncMs;
		return [
			{
				what: 'the earliest decision by the formula, at worst',
				values: [atWorstMs],
				unit: 'ms',
				note: `${Math.round(crossedMs)} ms until the average says so, then the next look`,
			},
			{what: 'load to decision', values: times.map(({decidedMs}) => decidedMs), unit: 'ms'},
			{
				what: 'decision to a new pod that is ready',
				values: times.map(({decidedMs, firstMs}) => firstMs - decidedMs),
				unit: 'ms',
				goal: {atMost: 2_000},
			},
			{what: 'load to a new pod that is ready', values: times.map(({firstMs}) => firstMs), unit: 'ms', goal: {atMost: atWorstMs + 2_000}},
		];
	},
};

const until = (autoscaled: Autoscaled, what: string, isSo: (look: Look) => boolean): Promise<void> =>
	within(
		deadlineMs,
		what,
		(async () => {
			while (!isSo(await autoscaled.look())) await pause(lookMs);
		})(),
	);
