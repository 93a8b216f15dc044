import {setImmediate} from 'node:timers/promises';
import test from 'ava';
import {controlDesign} from '../../../actors/control/design.js';
import {nodeDesign} from '../../../actors/node/design.js';
import {replay, type Behaviors} from '../../../system/inspect/replay.js';
import type {StepRecord} from '../../../system/inspect/step-record.js';
import type {ActorSystem} from '../../../system/kernel/actor-system.js';
import {record} from '../../actors/_recorded.js';
import {runPlan, type RunOptions} from '../run.js';
import {planOf} from '../scenarios.js';

type Side = {readonly name: string; readonly behaviors: Behaviors; readonly options: (look: (system: ActorSystem) => void) => RunOptions};

const sides: readonly Side[] = [
	{name: 'control', behaviors: controlDesign.behaviors, options: look => ({sabotage: ({system}) => look(system)})},
	{name: 'nodes', behaviors: nodeDesign.behaviors, options: look => ({nodeSabotage: ({system}) => look(system)})},
];

/** None with Secrets: what depends on one that is not recorded may go another way. */
const plans = [
	[3, 'partition'],
	[8, 'named'],
	[21, 'crowded'],
	[40, 'exposed'],
] as const;

for (const {name, behaviors, options} of sides) {
	test(`what actors of ${name} did in simulated histories is replayed as it happened, from JSON text: every state and every effect`, async t => {
		const calls = new Set<string>();
		let steps = 0;
		for (const [seed, scenario] of plans) {
			await setImmediate();
			const systems: (readonly StepRecord[])[] = [];
			runPlan(
				planOf(seed, scenario),
				options(system => void systems.push(record(system))),
			);
			for (const step of systems.flatMap(records => [...replay(JSON.parse(JSON.stringify(records)) as StepRecord[], behaviors)])) {
				const where = `seed ${seed}: ${step.record.address}`;
				if (step.type === 'skipped') return t.fail(`${where}: ${step.why}`);
				const {isSame, notes, state, effects, call} = step;
				t.true(isSame && notes.length === 0, `${where}: ${JSON.stringify({call, notes, state, effects})}`);
				steps++;
				calls.add(`${step.record.behavior} ${call.type}`);
			}
		}
		t.log(`${steps} steps, ${calls.size} sorts`);
		t.true(steps > 1_000 && calls.size > 20, `${steps} steps, ${calls.size} sorts`);
	});
}
