// Five nodes on hosts of their own under every disturbance there is, again and again: when what was lost ran elsewhere, and how many pods
// moved that should not have. Needs root and iproute2: hosts are network namespaces.

import {disturb} from './rigs/fleet/open.js';
import {disturbanceNames, type DisturbanceName, type Run} from './rigs/fleet/run.js';
import type {Benchmark} from './harness/benchmark.js';
import {percentile, type Goal, type Row} from './harness/table.js';

const defaultRuns = 50;
/** With the default grace of 5 s. */
const replacementGoal: Goal = {atMost: 8};

export const disturbancesBenchmark: Benchmark = {
	name: 'disturbances',
	about: 'five nodes: hosts that die, agents that stop or are killed, cut links, a restarted control plane, full load',
	async run({rounds = defaultRuns}, scope) {
		const runs: Run[] = [];
		await disturb({teardown: scope.defer}, disturbanceNames, rounds, run => runs.push(run));
		return disturbanceNames.flatMap(name =>
			rowsOf(
				name,
				runs.filter(({disturbance}) => disturbance === name),
			),
		);
	},
};

function rowsOf(name: DisturbanceName, runs: readonly Run[]): readonly Row[] {
	const suspected = secondsOf(runs, ({suspectedMs}) => suspectedMs);
	const replaced = secondsOf(runs, ({replacedMs}) => replacedMs);
	const harmed = runs.flatMap(run => run.harmed);
	const rows: Row[] = [
		{
			what: `${name}: pods that moved or restarted without need`,
			values: [harmed.length],
			unit: '',
			goal: {atMost: 0},
			note: `in ${runs.length} runs ${harmed.slice(0, 3).join(', ')}`.trim(),
		},
	];
	if (replaced.length === 0) return rows;
	return [
		{what: `${name}: noticed`, values: suspected, unit: 's', note: worst(suspected)},
		{what: `${name}: all replaced and ready`, values: replaced, unit: 's', goal: replacementGoal, note: worst(replaced)},
		...rows,
	];
}

const secondsOf = (runs: readonly Run[], figure: (run: Run) => number | undefined): readonly number[] =>
	runs.flatMap(run => {
		const ms = figure(run);
		return ms === undefined ? [] : [ms / 1_000];
	});

const worst = (values: readonly number[]): string => `p90 ${percentile(values, 0.9).toFixed(2)}`;
