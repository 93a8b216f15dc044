// Runs of workflows: how fast they go, how soon they begin, what those that are over cost, and Maps of ten thousand items.

import type {Benchmark} from './harness/benchmark.js';
import type {Row} from './harness/table.js';
import {finishedRows} from './finished-runs.js';
import {functionRows} from './workflow-functions.js';
import {mapRows} from './workflow-map.js';
import {startRows, stepRows} from './workflow-steps.js';

const defaultRounds = 5;
/** Of Maps, which take longer. */
const mapRounds = 3;

export const workflowsBenchmark: Benchmark = {
	name: 'workflows',
	about: 'runs of workflows, over LevelDB with sync and etcd of one member',
	async run({rounds, runs, nodeFlags}, scope) {
		const parts: readonly (() => Promise<readonly Row[]>)[] = [
			() => stepRows(scope, rounds ?? defaultRounds, nodeFlags),
			() => startRows(scope, nodeFlags),
			() => functionRows(scope, nodeFlags),
			() => mapRows(scope, rounds ?? mapRounds, nodeFlags),
			() => finishedRows(scope, runs, nodeFlags),
		];
		const rows: Row[] = [];
		for (const part of parts) {
			if (scope.isClosing()) throw new Error('interrupted');
			rows.push(...(await part()));
		}
		return rows;
	},
};
