// `npm run simulate -- [--seed N] [--scenario NAME] [--shrink] [--seeds COUNT] [--from N]`: long runs, or one seed with its history.
// `npm run simulate -- --workflows [--seed N] [--seeds COUNT] [--from N]`: runs of workflows that are killed at any time.

import {setImmediate} from 'node:timers/promises';
import {parseArgs} from 'node:util';
import {violationsOf} from '../actors/workflows/_run-seeds.js';
import {describeAct, type Plan} from './plan.js';
import {runPlan, type Result} from './run.js';
import {isScenario, planOf, scenarios, scenarioOf, type ScenarioName} from './scenarios.js';
import {shrink} from './shrink.js';

const {values} = parseArgs({
	options: {
		seed: {type: 'string'},
		scenario: {type: 'string'},
		shrink: {type: 'boolean', default: false},
		seeds: {type: 'string', default: '10000'},
		from: {type: 'string', default: '1'},
		workflows: {type: 'boolean', default: false},
	},
});

const {scenario} = values;
if (values.workflows) await runWorkflows(Number(values.seed ?? values.from), values.seed === undefined ? Number(values.seeds) : 1);
else if (scenario !== undefined && !isScenario(scenario)) {
	console.error(`there is no scenario "${scenario}"; there are: ${Object.keys(scenarios).join(', ')}`);
	process.exitCode = 2;
} else if (values.seed === undefined) await runMany(Number(values.from), Number(values.seeds), scenario);
else runOne(planOf(Number(values.seed), scenario));

function runOne(plan: Plan): void {
	const shrunk = values.shrink ? shrink(plan, each => runPlan(each).violations.length > 0) : undefined;
	const result = runPlan(shrunk?.plan ?? plan, {trace: true});
	console.log(result.history.join('\n'));
	console.log(
		`seed ${plan.seed}, scenario ${plan.scenario}: ${result.steps} steps, ${Math.round(result.virtualMs / 1000)} s of virtual time`,
	);
	if (shrunk !== undefined) console.log(`${plan.acts.length} acts shrunk to ${shrunk.plan.acts.length} in ${shrunk.runs} runs:`);
	for (const act of result.plan.acts) console.log(`  ${describeAct(act)}`);
	for (const violation of result.violations) console.log(`  broken: ${violation}`);
	if (result.violations.length > 0) process.exitCode = 1;
}

/** Of this process: the machine may have other things to do. */
function cpuMs(): number {
	const {user, system} = process.cpuUsage();
	return (user + system) / 1_000;
}

async function runMany(from: number, count: number, only: ScenarioName | undefined): Promise<void> {
	const startedMs = cpuMs();
	const tookMs = new Map<string, {seeds: number; ms: number}>();
	let failed = 0;
	for (let seed = from; seed < from + count; seed++) {
		// What a world has put off to later is called, and the world freed.
		await setImmediate();
		const beganMs = cpuMs();
		const result = runPlan(planOf(seed, only));
		const name = only ?? scenarioOf(seed);
		const {seeds, ms} = tookMs.get(name) ?? {seeds: 0, ms: 0};
		tookMs.set(name, {seeds: seeds + 1, ms: ms + cpuMs() - beganMs});
		if (result.violations.length === 0) continue;
		failed++;
		console.log(failureOf(result));
	}
	for (const [name, {seeds, ms}] of tookMs) console.log(`${name}: ${seeds} seeds, ${(ms / seeds).toFixed(1)} ms of CPU a seed`);
	console.log(
		`${count} seeds, ${failed} failed, ${((cpuMs() - startedMs) / count).toFixed(1)} ms of CPU a seed, ${Math.round(process.memoryUsage().rss / 1e6)} MB`,
	);
	if (failed > 0) process.exitCode = 1;
}

async function runWorkflows(from: number, count: number): Promise<void> {
	const startedMs = cpuMs();
	let failed = 0;
	for (let seed = from; seed < from + count; seed++) {
		await setImmediate();
		const violations = violationsOf(seed);
		if (violations.length === 0) continue;
		failed++;
		console.log(`npm run simulate -- --workflows --seed ${seed}: ${violations.join('; ')}`);
	}
	console.log(`${count} seeds, ${failed} failed, ${((cpuMs() - startedMs) / count).toFixed(1)} ms of CPU a seed`);
	if (failed > 0) process.exitCode = 1;
}

function failureOf({plan, violations}: Result): string {
	const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : '';
	return `npm run simulate -- --seed ${plan.seed} --scenario ${plan.scenario} --shrink: ${violations[0] ?? ''}${more}`;
}
