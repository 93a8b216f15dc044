// Portions of seeds: `npm test` runs the first 100, the lane of longer tests twice as many after them.

import {setImmediate} from 'node:timers/promises';
import type {TestFn} from 'ava';
import {runPlan} from './run.js';
import {planOf} from './scenarios.js';

const portion = 50;

/** Declares a test for each portion of the seeds from `first` on. Every seed that fails prints how to replay it. */
export function testSeeds(test: TestFn, first: number, count: number): void {
	for (let from = first; from < first + count; from += portion) {
		test(`seeds ${from} to ${from + portion - 1} keep every promise`, async t => {
			const broken: string[] = [];
			for (let seed = from; seed < from + portion; seed++) {
				await setImmediate();
				const {plan, violations} = runPlan(planOf(seed));
				if (violations.length > 0)
					broken.push(`npm run simulate -- --seed ${seed} --scenario ${plan.scenario} --shrink: ${violations.join('; ')}`);
			}
			t.deepEqual(broken, []);
		});
	}
}
