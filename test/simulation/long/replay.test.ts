import {setImmediate} from 'node:timers/promises';
import test from 'ava';
import {controlDesign} from '../../../actors/control/design.js';
import {nodeDesign} from '../../../actors/node/design.js';
import {isSecretMember} from '../../../actors/secret-members.js';
import {addProbe} from '../../../system/inspect/probes.js';
import {Recorder, type Recording} from '../../../system/inspect/recorder.js';
import {replay, type Behaviors} from '../../../system/inspect/replay.js';
import type {StepRecord} from '../../../system/inspect/step-record.js';
import type {ActorSystem} from '../../../system/kernel/actor-system.js';
import {runPlan, type RunOptions} from '../run.js';
import {planOf} from '../scenarios.js';

/** Records every step of a system, by what the kernel tells a probe. */
function record({kernel}: ActorSystem): readonly StepRecord[] {
	const recorder = new Recorder(isSecretMember);
	const records: StepRecord[] = [];
	addProbe(kernel, {
		arrives: (_cell, envelope) => envelope,
		happens: () => undefined,
		refused: () => undefined,
		begins({address, spec, state}, trigger, call) {
			let recording: Recording | undefined;
			const seen = {
				span: undefined,
				context(context: Recording['context']) {
					recording = recorder.begin({address, behavior: spec.behavior, from: trigger.from, state, call}, context);
					return recording.context;
				},
				ran(next: Parameters<Recording['done']>[0]) {
					if (recording !== undefined) records.push(recording.done(next));
				},
				real: () => undefined,
				notCommitted: () => undefined,
				notUnderstood: () => undefined,
				crashed: () => undefined,
			};
			return {...trigger, seen};
		},
	});
	return records;
}

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
