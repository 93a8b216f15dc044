// Four nodes on hosts of their own, whose links come and go for eight seconds a round: how many rounds cost pods their place, and what the
// nodes dial meanwhile. Needs root and iproute2: hosts are network namespaces.

import {disturb} from './rigs/fleet/open.js';
import {flappingNames, type Run} from './rigs/fleet/run.js';
import type {Benchmark} from './harness/benchmark.js';
import type {Goal, Row} from './harness/table.js';

const defaultRuns = 200;
const nodes = 4;

/** Undefined: a link that is mostly away promises nothing. */
const goals: Readonly<Record<(typeof flappingNames)[number], Goal | undefined>> = {
	'links flap in turn for 8 s': {atMost: 0},
	'one link flaps for 8 s': undefined,
	'one link flaps unseen for 8 s': undefined,
};

export const flappingBenchmark: Benchmark = {
	name: 'flapping',
	about: 'four nodes: links that are out for 50 to 550 ms and in for up to 300 ms, in turn or one alone',
	async run({rounds = defaultRuns}, scope) {
		const runs: Run[] = [];
		await disturb({teardown: scope.defer}, flappingNames, rounds, run => runs.push(run), {nodes});
		return flappingNames.flatMap(name => {
			const those = runs.filter(({disturbance}) => disturbance === name);
			const harmed = those.filter(each => each.harmed.length > 0);
			const goal = goals[name];
			const rows: Row[] = [
				{what: `${name}: rounds in which pods moved`, values: [harmed.length], unit: '', ...(goal && {goal}), note: `of ${those.length}`},
				{what: `${name}: connections dialled in a round`, values: those.map(({dialled}) => dialled), unit: '', note: 'by all nodes'},
				{what: `${name}: connections that reached the server`, values: those.map(({accepted}) => accepted), unit: ''},
			];
			return rows;
		});
	},
};
