// Sessions in which people bring an image to an Engine: they pass on what comes, keep nothing of it, and each has an end.

import test, {type ExecutionContext} from 'ava';
import {createImageSessions, type Bringing} from '../../../agent/docker/images/image-sessions.js';
import {createSessions, type Sessions} from '../../../agent/exec-sessions.js';
import {limits} from '../../../api/limits.js';
import type {ExecOutput, ImageRequest} from '../../../actors/node/runtime/runtime-port.js';
import type {Outcome} from '../../../api/errors.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';

type Work = (bringing: Bringing) => Promise<void>;

function opened(work: Work, engineProblem: () => string | undefined = () => undefined) {
	const clock = new ManualClock();
	const sessions = createSessions(clock);
	const images = createImageSessions({sessions, clock, engineProblem, bring: (_request, bringing) => work(bringing)});
	const open = (request: ImageRequest = {action: 'load'}): string => {
		const outcome = images.open(request);
		if (!outcome.ok) throw new Error(outcome.error.message);
		return outcome.value.session;
	};
	return {clock, sessions, images, open};
}

const read = (sessions: Sessions, id: string): Promise<Outcome<ExecOutput>> =>
	new Promise(resolve => sessions.read(id, 1_000_000, 1_000, resolve));
const write = (sessions: Sessions, id: string, text: string, isLast = false): Promise<Outcome<null>> =>
	new Promise(resolve => sessions.write(id, Buffer.from(text), isLast, resolve));

/** All that a session says until it is over. */
async function rest(t: ExecutionContext, sessions: Sessions, id: string): Promise<{said: string; errors: string; code: number}> {
	const all = {stdout: '', stderr: ''};
	for (;;) {
		const outcome = await read(sessions, id);
		if (!outcome.ok) throw new Error(outcome.error.message);
		for (const {stream, data} of outcome.value.parts) all[stream] += Buffer.from(data, 'base64').toString();
		if (outcome.value.end !== undefined) {
			t.is(sessions.count(), 0);
			return {said: all.stdout, errors: all.stderr, code: outcome.value.end.exitCode};
		}
	}
}

async function textOf({input}: Bringing): Promise<string> {
	let text = '';
	for await (const piece of input?.stream ?? []) text += String(piece);
	return text;
}

/** So long and a look more, with readers that ask again meanwhile. */
async function pass(clock: ManualClock, ms: number): Promise<void> {
	for (let passed = 0; passed <= ms; passed += limits.imageSessionLookMs) {
		clock.advance(limits.imageSessionLookMs);
		await new Promise(resolve => setImmediate(resolve));
	}
}

/** Ends only when it is told to. */
const hanging: Work = ({signal}) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));

test('what is written goes to the work, and what that tells comes back, with its end', async t => {
	const {sessions, open} = opened(async bringing => bringing.tell({said: await textOf(bringing)}));
	const id = open();
	t.true((await write(sessions, id, 'one ')).ok);
	t.true((await write(sessions, id, 'two', true)).ok);
	t.deepEqual(await rest(t, sessions, id), {said: '{"said":"one two"}\n', errors: '', code: 0});
});

test('a failure is told in its words', async t => {
	const {sessions, open} = opened(() => Promise.reject(new Error('images: (HTTP code 500) server error - no space left on device')));
	t.deepEqual(await rest(t, sessions, open()), {said: '', errors: 'no space left on device\n', code: 1});
});

test('input that nobody takes is held up, and not kept', async t => {
	const {sessions, open} = opened(hanging);
	const id = open();
	t.true((await write(sessions, id, 'x'.repeat(10_000))).ok, 'as much as a stream takes ahead');
	let taken = 0;
	for (let i = 0; i < 40; i++) void write(sessions, id, 'x'.repeat(100_000)).then(({ok}) => ok && taken++);
	await new Promise(resolve => setImmediate(resolve));
	t.is(taken, 0);
	const outcome = await write(sessions, id, 'x'.repeat(100_000));
	t.like(outcome, {ok: false, error: {code: 'ERR_BUSY'}}, 'beyond execPendingBytes');
	sessions.close(id);
});

test('an input that stalls, an Engine that does not answer, and what takes too long are ended with words', async t => {
	const silent = opened(hanging);
	const id = silent.open();
	const ended = rest(t, silent.sessions, id);
	await pass(silent.clock, limits.imageInputStallMs);
	t.deepEqual(await ended, {said: '', errors: 'the archive does not go on: its client has sent nothing for 30 s\n', code: 1});

	const full = opened(hanging);
	const fullId = full.open();
	void write(full.sessions, fullId, 'x'.repeat(1_000_000));
	const fullEnded = rest(t, full.sessions, fullId);
	await pass(full.clock, limits.imageInputStallMs);
	t.regex((await fullEnded).errors, /Docker's Engine has taken nothing for 30 s/);

	const hung = opened(hanging, () => "Docker's Engine hangs");
	const hungEnded = rest(t, hung.sessions, hung.open());
	await pass(hung.clock, 0);
	t.deepEqual(await hungEnded, {said: '', errors: "Docker's Engine hangs\n", code: 1});

	const long = opened(hanging);
	const longId = long.open({action: 'pull', image: 'a'});
	const longEnded = rest(t, long.sessions, longId);
	await pass(long.clock, limits.imageSessionMs);
	t.regex((await longEnded).errors, /^it took longer than 7200 s/);
});

test('a build whose folder is all there may be silent', async t => {
	const {sessions, open, clock} = opened(hanging);
	const id = open({action: 'build', tag: 'a', dockerfile: 'Dockerfile', args: {}, labels: {}});
	t.true((await write(sessions, id, 'x', true)).ok);
	let isOver = false;
	void rest(t, sessions, id)
		.finally(() => (isOver = true))
		.catch(() => undefined);
	await pass(clock, 3 * limits.imageInputStallMs);
	await new Promise(resolve => setImmediate(resolve));
	t.false(isOver);
	sessions.close(id);
});

test('a client that goes ends the work', async t => {
	let aborted = 0;
	const {sessions, open} = opened(async bringing => {
		await hanging(bringing).catch(() => aborted++);
		throw new Error('ended');
	});
	sessions.close(open());
	await eventually('the work has ended', () => aborted === 1);
	open();
	sessions.closeAll();
	await eventually('the work has ended', () => aborted === 2);
	t.is(sessions.count(), 0);
});

test('there are so many at a time, and names are looked at first', async t => {
	const {sessions, images, open} = opened(hanging);
	for (let i = 0; i < limits.imageSessions; i++) open();
	t.like(images.open({action: 'load'}), {ok: false, error: {code: 'ERR_BUSY'}});
	sessions.closeAll();
	await eventually('there is room again', () => images.open({action: 'load'}).ok);
	t.like(images.open({action: 'pull', image: 'Not A Name'}), {ok: false, error: {code: 'ERR_IMAGE_NAME'}});
	const wrong = {action: 'build', tag: 'a b', dockerfile: 'D', args: {}, labels: {}} as const;
	t.like(images.open(wrong), {ok: false, error: {code: 'ERR_IMAGE_NAME'}});
	sessions.closeAll();
});

test('a reader that is behind holds the work up', async t => {
	let told = 0;
	const {sessions, open} = opened(async ({tell}) => {
		for (; told < 100; told++) await tell({said: 'x'.repeat(10_000)});
	});
	const id = open();
	await new Promise(resolve => setImmediate(resolve));
	t.true(told < 40, String(told));
	const {said, code} = await rest(t, sessions, id);
	t.is(said.split('\n').length, 101);
	t.is(code, 0);
});
