import test from 'ava';
import {describeAct} from './plan.js';
import {runPlan} from './run.js';
import {planOf} from './scenarios.js';
import {shrink} from './shrink.js';

test('the same seed gives the same history', t => {
	for (const seed of [1, 2, 3, 4, 6, 7]) t.deepEqual(runPlan(planOf(seed), {trace: true}), runPlan(planOf(seed), {trace: true}));
});

test('a failing plan shrinks to the acts that it needs', t => {
	const plan = {...planOf(2), acts: Array.from({length: 16}, (_, atMs) => ({type: 'cutWatcher', atMs}) as const)};
	const needs = [3, 11];
	const {plan: small, runs} = shrink(plan, ({acts}) => needs.every(wanted => acts.some(({atMs}) => atMs === wanted)));
	t.deepEqual(
		small.acts.map(({atMs}) => atMs),
		needs,
	);
	t.true(runs < 100, `${runs} runs`);
});

test('an act is told in one line', t => {
	t.is(describeAct({type: 'scale', set: 0.5, replicas: 3, atMs: 7}), 'at 7 ms: scale set=0.5 replicas=3');
});
