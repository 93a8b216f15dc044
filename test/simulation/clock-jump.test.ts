// A wall clock that is set, by an hour forth or back, on one host or on all: nobody loses a pod and nobody works more for it. What lasts
// is counted by a clock that never jumps; wall time is for people, and for what must outlive a restart.

import test from 'ava';
import type {Act, Plan} from './plan.js';
import {runPlan} from './run.js';

const hour = 3_600_000;

const asked: readonly Act[] = [
	{type: 'create', set: 'web', replicas: 4, program: 'serves', atMs: 0},
	{type: 'createPod', pod: 'alone', exclusive: true, atMs: 0},
	{type: 'create', set: 'broken', replicas: 1, program: 'fails', atMs: 0},
];

const jumps: readonly Act[] = [hour, -hour, -hour, hour].flatMap((byMs, round) =>
	(['control', 0, 0.9] as const).map(place => ({type: 'clockJump', place, byMs, atMs: 20_000 + 5_000 * round}) as const),
);

const planOf = (seed: number, acts: readonly Act[]): Plan => ({
	seed,
	scenario: 'clock',
	nodes: 2,
	servers: 1,
	externalBroker: false,
	localNodes: false,
	watcher: false,
	// So that both take as long.
	aftermathMs: 60_000 - (acts.at(-1)?.atMs ?? 0),
	acts,
});

test('clocks that jump by an hour kill no pod, and nobody spins', t => {
	for (const seed of [1, 2, 3]) {
		const calm = runPlan(planOf(seed, asked), {trace: true});
		const jumped = runPlan(planOf(seed, [...asked, ...jumps]), {trace: true});
		t.deepEqual(jumped.violations, []);
		const startsOf = ({history}: typeof calm, pod: RegExp): number => history.filter(line => pod.test(line)).length;
		for (const pod of [/start of web-/, /start of alone/]) {
			t.true(startsOf(calm, pod) > 0, String(pod));
			t.is(startsOf(jumped, pod), startsOf(calm, pod), String(pod));
		}
		// One that fails may be started once more for each jump: its back-off is counted from when it ended.
		t.true(startsOf(jumped, /start of broken-/) <= startsOf(calm, /start of broken-/) + 4);
		t.true(jumped.steps < 1.2 * calm.steps, `${jumped.steps} steps, ${calm.steps} without a jump`);
	}
});
