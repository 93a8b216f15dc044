import {setImmediate} from 'node:timers/promises';
import test from 'ava';
import {controlDesign} from '../../actors/control/design.js';
import type {SystemDesign} from '../../system/commit/durable-system.js';
import {Recorder} from '../../system/inspect/recorder.js';
import {replay} from '../../system/inspect/replay.js';
import type {StepRecord} from '../../system/inspect/step-record.js';
import type {AnyBehavior, Context, Message, Next, Signal} from '../../system/kernel/behavior.js';
import {runCall, type StepCall} from '../../system/kernel/step-call.js';
import {runPlan} from './run.js';
import {planOf} from './scenarios.js';

/** The design, with each step of its behaviours recorded. */
function recorded(design: SystemDesign, records: StepRecord[]): SystemDesign {
	const recorder = new Recorder();
	const recording = (name: string, behavior: AnyBehavior): AnyBehavior => {
		const {signal} = behavior;
		const step = (state: unknown, call: StepCall, context: Context): Next<unknown> => {
			const {context: watched, done, threw} = recorder.begin({address: context.self, behavior: name, from: '', state, call}, context);
			try {
				const next = runCall(behavior, state, call, watched);
				records.push(done(next));
				return next;
			} catch (error) {
				records.push(threw(error));
				throw error;
			}
		};
		return {
			...behavior,
			init: (input: unknown, context: Context) => step(undefined, {type: 'init', input}, context),
			receive: (state: unknown, message: Message, context: Context) => step(state, {type: 'receive', message}, context),
			...(signal === undefined
				? {}
				: {signal: (state: unknown, told: Signal, context: Context) => step(state, {type: 'signal', signal: told}, context)}),
		};
	};
	return {...design, behaviors: Object.fromEntries(Object.entries(design.behaviors).map(([name, each]) => [name, recording(name, each)]))};
}

test('what control did in simulated histories is replayed as it happened, from JSON text: every state, every effect, of every kind', async t => {
	const kinds = new Set<string>();
	let steps = 0;
	for (const seed of [3, 8, 21, 40]) {
		await setImmediate();
		const records: StepRecord[] = [];
		runPlan(planOf(seed), {design: recorded(controlDesign, records)});
		for (const step of replay(JSON.parse(JSON.stringify(records)) as StepRecord[], controlDesign.behaviors)) {
			const where = `seed ${seed}: ${step.record.address}`;
			if (step.type === 'skipped') return t.fail(`${where}: ${step.why}`);
			const {isSame, notes, state, effects} = step;
			t.true(isSame && notes.length === 0, `${where}: ${JSON.stringify({call: step.call, notes, state, effects})}`);
			steps++;
			kinds.add(step.record.behavior);
		}
	}
	t.true(steps > 1_000, `${steps} steps`);
	const some = ['Pod', 'Node', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Scheduler', 'Detector', 'PersistentVolume', 'NodeDispatcher'];
	t.deepEqual(
		some.filter(kind => !kinds.has(kind)),
		[],
	);
});
