import {setImmediate} from 'node:timers/promises';
import test from 'ava';
import {describeAct, type Plan} from './plan.js';
import {plantedBugs, type PlantedBug} from './planted.js';
import {runPlan, type Result} from './run.js';
import {planOf} from './scenarios.js';
import {shrink} from './shrink.js';

const seeds = 500;
const tracedLines = 60;
/** A bug may set actors against each other for ever; a world without one takes a quarter of them. */
const mostSteps = 25_000;

const finds = ({options, breaks}: PlantedBug, plan: Plan): boolean =>
	runPlan(plan, {...options, mostSteps}).violations.some(what => breaks.test(what));

async function firstPlan(bug: PlantedBug): Promise<Plan | undefined> {
	for (let seed = 1; seed <= seeds; seed++) {
		await setImmediate();
		const plan = planOf(seed, bug.scenario);
		if (finds(bug, plan)) return plan;
	}
	return undefined;
}

/** What was needed, what happened, and what that broke. */
function story({plan, history, violations}: Result): string {
	return [
		`seed ${plan.seed}, scenario ${plan.scenario}, ${plan.nodes} nodes`,
		...plan.acts.map(act => `  ${describeAct(act)}`),
		...history.slice(0, tracedLines).map(line => `  ${line}`),
		...violations.map(what => `  broken: ${what}`),
	].join('\n');
}

for (const bug of plantedBugs) {
	test(`${bug.name} is found within ${seeds} seeds, and its history shrinks`, async t => {
		const plan = await firstPlan(bug);
		if (plan === undefined) return t.fail('no seed has found it');
		const {plan: small, runs} = shrink(plan, each => finds(bug, each));
		const result = runPlan(small, {...bug.options, mostSteps, trace: true});
		t.log(`${plan.acts.length} acts shrunk to ${small.acts.length} in ${runs} runs\n${story(result)}`);
		t.true(small.acts.length <= plan.acts.length);
		if (bug.shrinks === true) t.true(small.acts.length < plan.acts.length);
		t.true(
			result.violations.some(what => bug.breaks.test(what)),
			'the shrunk history still shows it',
		);
	});
}
