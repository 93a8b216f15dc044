import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {AppError} from '../../api/errors.js';
import {recordsOf, replayed} from '../../cli/inspect/replay.js';
import {drawFaults} from '../../cli/inspect/verbs/faults.js';
import {Recorder} from '../../system/inspect/recorder.js';
import type {AnyBehavior} from '../../system/kernel/behavior.js';
import {playContext} from '../../system/kernel/play.js';
import {runCall, type StepCall} from '../../system/kernel/step-call.js';
import {shellOf} from './_inspected.js';

const source = (step: number): string =>
	`export default {kind: 'Counter', init: () => ({state: 0, effects: []}), receive: count => ({state: count + ${step}, effects: []})};`;

const counter: AnyBehavior = {
	kind: 'Counter',
	init: () => ({state: 0, effects: []}),
	receive: (count: number) => ({state: count + 1, effects: []}),
};

/** What a trace would have written of a counter that was started and told to count twice. */
function trace(): string {
	const recorder = new Recorder();
	const context = playContext({self: 'troupe://mine@admin/main'});
	let state: unknown;
	const count: StepCall = {type: 'receive', message: {type: 'count'}};
	return [{type: 'init', input: null} as const, count, count]
		.map(call => {
			const recording = recorder.begin({address: context.self, behavior: 'Counter', from: '', state, call}, context);
			const next = runCall(counter, state, call, recording.context);
			state = next.state;
			return `${JSON.stringify({type: 'step', recorded: recording.done(next)})}\n`;
		})
		.join('');
}

const failsWith = async (work: Promise<unknown>): Promise<string> =>
	work.then(
		() => 'nothing',
		(error: unknown) => (error instanceof AppError ? error.message : String(error)),
	);

test('replay plays a file again, with the module that is named, and says what is another now; it asks no cluster', async t => {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-replay-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	const file = (name: string, text: string): string => {
		writeFileSync(path.join(folder, name), text);
		return path.join(folder, name);
	};
	const [recording, same, other] = [file('t.jsonl', trace()), file('same.mjs', source(1)), file('other.mjs', source(5))];
	const {type, asked} = shellOf({systems: {}});
	t.is(
		await type(`replay ${recording} --behaviors ${same}`),
		[
			'   1  mine@admin/main  init  as recorded',
			'   2  mine@admin/main  count  as recorded',
			'   3  mine@admin/main  count  as recorded',
			'3 steps played: all as they were recorded',
			'',
		].join('\n'),
	);
	t.regex(
		await type(`replay ${recording} --behaviors ${other}`),
		/ 2 {2}mine@admin\/main {2}count {2}ANOTHER NOW\n {6}state: recorded → now\n {8}~ the state: 1 → 5\n[\s\S]*2 another now, the first is 2 \(--step 2 shows it whole\)\n$/,
	);
	t.regex(
		await type(`replay ${recording} --behaviors ${other} --step 3`),
		/state before\n {8}5\n {6}state after: before → after\n {8}~ the state: 5 → 10\n/,
	);
	const none =
		/^none of the 3 steps could be played: no behaviour called "Counter" is here; name the module that has it with --behaviors FILE/;
	t.regex(await failsWith(type(`replay ${recording}`)), none);
	t.regex(await failsWith(type(`replay ${recording} -o json`)), none);
	t.regex(await failsWith(type(`replay ${recording} --step 2`)), /^the step could not be played: no behaviour called "Counter" is here/);
	const misnamed = file('misnamed.mjs', source(1).replace('Counter', 'Count'));
	t.regex(await failsWith(type(`replay ${recording} --behaviors ${misnamed}`)), /"Counter" is here; \S+misnamed\.mjs has other behaviours/);
	t.regex(await type(`replay ${recording} --behaviors ${misnamed} --behaviors ${same}`), /\n3 steps played: all as they were recorded\n$/);
	t.regex(
		await type(`replay ${recording} --behaviors ${other} -o json`),
		/^\{"step":1,.*"isSame":true.*\n\{"step":2,.*"isSame":false.*"recorded":/,
	);
	t.deepEqual(asked, []);
	t.regex(await failsWith(type(`replay ${recording} --step 9`)), /--step must be one of the 3 steps of the trace, got 9/);
	t.regex(await failsWith(type('replay')), /name the file of a trace; trace PLACE --record FILE makes one/);
	await t.throwsAsync(type(`replay ${folder}/none.jsonl`), {code: 'ERR_USAGE', message: /none\.jsonl cannot be read/});
});

test('steps of several systems are played as they happened, those of one in their order, however their portions arrived', t => {
	const line = (system: string, atMs: number): string =>
		JSON.stringify({type: 'step', atMs, recorded: {address: `troupe://${system}/main`, behavior: 'B', notReplayable: String(atMs)}});
	// The clock of `a` is set back after its second step.
	const text = [line('a', 1), line('a', 50), line('a', 40), line('b', 2), line('b', 60)].join('\n');
	t.deepEqual(
		recordsOf(text).map(record => ('notReplayable' in record ? record.notReplayable : '')),
		['1', '2', '50', '40', '60'],
	);
});

test('a file that is no trace, or was cut, is told by its line; what was not recorded is left out', t => {
	const message = (text: string): string => {
		try {
			return String(replayed(recordsOf(text), {Counter: counter}).length);
		} catch (error) {
			return error instanceof AppError ? error.message : String(error);
		}
	};
	t.is(message(trace()), '3');
	t.is(message(`{"type":"step"}\n\n${trace()}`), '3');
	t.regex(message(`${trace()}{"type":"st`), /line 4 is no JSON/);
	t.regex(message('7'), /line 1 is no entry of a trace/);
	t.regex(message('{"type":"step"}'), /no step of it was recorded/);
	const damaged = trace().replace('"call":{"type":"init"', '"call":{"$":"magic","type":"init"');
	t.regex(message(damaged), /record 1 is damaged: there is no "magic"/);
	t.regex(message(trace().replaceAll('"after":[', '"after":[7,')), /damaged|^3$/);
});

test('faults are listed by their places; what may make none, or does not answer, is named', t => {
	t.is(
		drawFaults([
			{system: 'control', value: {areAllowed: true, faults: []}},
			{
				system: 'vm',
				value: {
					areAllowed: true,
					faults: [{address: 'troupe://vm/', fault: {type: 'partition'}, leftMs: 5_000, text: 'cut off, 5 s left'}],
				},
			},
			{system: 'host-2', value: {areAllowed: false, faults: []}},
			{system: 'host-3', problem: 'it did not answer'},
		]),
		'vm  cut off, 5 s left\nhost-3: it did not answer\nnone are made in host-2: started without --faults\n',
	);
});
