import test from 'ava';
import type {TaskOutcome} from '../../../actors/control/workflows/run-message.js';
import {AppError, type ErrorCode} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {Json, JsonObject} from '../../../api/object.js';
import {callIdOf} from '../../../server/workflows/function-task.js';
import {aTask, failure, settled, taskWorld} from './_tasks.js';

const answered = async (body: Json | Buffer, status?: number): Promise<TaskOutcome> => {
	const {outcome, call} = taskWorld();
	const ended = outcome(aTask('charge'));
	(await call(0)).answer(body, status);
	return ended;
};

test('a function is called with the input, the key of the attempt and an id of its own', async t => {
	const {outcome, call, tasks} = taskWorld();
	const ended = outcome(aTask('charge', {key: 'r/2-Each.1.3/1-Süß.2', input: {order: null}}));
	const {fn, call: made, answer} = await call(0);
	t.deepEqual(fn, {namespace: 'default', name: 'charge'});
	t.is(made.body.toString(), '{"order":null}');
	t.is(made.contentType, 'application/json');
	t.is(made.headers['x-troupe-task-key'], 'r/2-Each.1.3/1-S%C3%BC%C3%9F.2');
	t.regex(made.id, /^1-S__\.2\.[0-9a-f]{20}$/);
	t.is(made.answerBytes, limits.statesDataBytes);
	answer({paid: null});
	t.deepEqual(await ended, {type: 'succeeded', output: {paid: null}});
	t.like(tasks.counts(), {attempts: 0, underWay: 0, waiting: 0});
});

test('a function of another namespace is called where it is', async t => {
	const {outcome, call} = taskWorld();
	void outcome(aTask('function:shop/charge'));
	t.deepEqual((await call(0)).fn, {namespace: 'shop', name: 'charge'});
});

test('a function is called in the version that the task names, and in whatever version where it names none', async t => {
	for (const version of ['bcdf2468', undefined]) {
		const {outcome, call} = taskWorld();
		void outcome(aTask('charge', version === undefined ? {} : {version}));
		t.is((await call(0)).call.version, version);
	}
});

test('ids of calls are legal and tell attempts apart, however long or alike their keys are', t => {
	const keys = ['r/1-A.1', 'r/1-A.2', 'q/1-A.1', `r/${'x'.repeat(500)}`, `r/${'x'.repeat(501)}`, 'r/1-a b.1', 'r/1-a_b.1', 'ü', ''];
	const ids = keys.map(callIdOf);
	for (const id of ids) t.regex(id, /^[\w.-]{1,64}$/);
	t.is(new Set(ids).size, keys.length);
});

test('an answer is JSON of any type, or a text, or nothing', async t => {
	for (const value of [null, true, 7, 'text', [1, null], {a: {b: null}}] as const)
		t.deepEqual(await answered(value), {type: 'succeeded', output: value});
	t.deepEqual(await answered(Buffer.from('no {json')), {type: 'succeeded', output: 'no {json'});
	t.deepEqual(await answered(Buffer.from('{"n":0}\n{"n":1}\n')), {type: 'succeeded', output: '{"n":0}\n{"n":1}\n'});
	t.deepEqual(await answered(Buffer.alloc(0), 204), {type: 'succeeded', output: null});
	t.deepEqual(await answered(Buffer.from([0xef, 0xbb, 0xbf, 0x31])), {type: 'succeeded', output: 1});
});

test('an answer that is larger or deeper than the data of a state may be is an error of the language', async t => {
	const large = await answered('x'.repeat(limits.statesDataBytes));
	t.deepEqual(large, failure('States.DataLimitExceeded', 'the answer has more than 262144 bytes'));
	const deep = await answered(Buffer.from('['.repeat(200) + ']'.repeat(200)));
	t.deepEqual(deep, failure('States.DataLimitExceeded', 'the answer is nested deeper than 60 levels'));
	t.is((await answered('x'.repeat(limits.statesDataBytes - 2))).type, 'succeeded');
});

test('what a function throws has the name of its class, and what it says as its cause', async t => {
	const thrown = (error: JsonObject, status = 500): Promise<TaskOutcome> => answered({error: {code: 'ERR_FUNCTION', ...error}}, status);
	t.deepEqual(await thrown({name: 'CardDeclined', message: 'CardDeclined: no money'}), failure('CardDeclined', 'no money'));
	t.deepEqual(await thrown({name: 'KeyError', message: 'KeyError'}), failure('KeyError', 'KeyError'));
	t.deepEqual(await thrown({name: '', message: 'a'}), failure('Function.Status500', 'a'));
	t.deepEqual(await thrown({message: 'what it returned is no JSON'}), failure('Function.Status500', 'what it returned is no JSON'));
	t.deepEqual(await thrown({code: 'ERR_TIMEOUT', message: 'it took longer'}, 504), failure('Function.Timeout', 'it took longer'));
	t.deepEqual(await thrown({name: 'States.Runtime', message: 'States.Runtime: a'}), failure('States.TaskFailed', 'States.Runtime: a'));
	t.deepEqual(await thrown({name: 'States.TaskFailed', message: 'a'}), failure('States.TaskFailed', 'a'));
});

test('a program that answers with an error has its status as the name, and what it says as the cause', async t => {
	t.deepEqual(
		await answered(Buffer.from('no such order'), 404),
		failure('Function.Status404', 'the function answered with status 404: no such order'),
	);
	t.deepEqual(await answered(Buffer.alloc(0), 400), failure('Function.Status400', 'the function answered with status 400'));
	t.deepEqual(await answered({error: 'odd'}, 500), failure('Function.Status500', 'the function answered with status 500: {"error":"odd"}'));
	t.deepEqual(await answered({moved: true}, 302), {type: 'succeeded', output: {moved: true}});
});

test('the name and the cause of an error are bounded', async t => {
	const ended = await answered({error: {name: 'N'.repeat(1_000), message: 'm'.repeat(100_000)}}, 500);
	if (ended.type === 'failed')
		t.deepEqual([ended.error.Error.length, ended.error.Cause.length], [limits.statesErrorCharacters, limits.statesCauseCharacters]);
	else t.fail();
});

test('a call without an answer tells why', async t => {
	for (const [error, expected] of [
		[
			new AppError('ERR_INSTANCE_ENDED', {message: 'the instance f-1 ended before it answered'}),
			failure('States.TaskFailed', 'the instance f-1 ended before it answered'),
		],
		[
			new AppError('ERR_NOT_FOUND', {resource: 'functions.troupe.dev', name: 'charge'}),
			failure('Function.NotFound', 'there is no function "default/charge"'),
		],
		[
			new AppError('ERR_VERSION_GONE', {message: 'the function "default/charge" has no version "bcdf2468" any more'}),
			failure('Function.VersionGone', 'the function "default/charge" has no version "bcdf2468" any more'),
		],
		[
			new AppError('ERR_TIMEOUT', {address: 'functions/f-1', deadlineMs: 1}),
			failure('Function.Timeout', 'the function "default/charge" did not answer in its time'),
		],
		[
			new AppError('ERR_TOO_LARGE', {message: 'the answer is too large'}),
			failure('States.DataLimitExceeded', 'the function "default/charge": the answer is too large'),
		],
		[new AppError('ERR_INTERNAL', {message: 'odd'}), failure('States.TaskFailed', 'odd')],
	] as const) {
		const {outcome, call} = taskWorld();
		const ended = outcome(aTask('charge'));
		(await call(0)).fail(error);
		t.deepEqual(await ended, expected);
	}
});

test('a call that nobody could begin is made again after growing pauses, and is no failure', async t => {
	const {outcome, call, calls, clock} = taskWorld();
	const ended = outcome(aTask('charge'));
	const codes: readonly ErrorCode[] = [
		'ERR_NOT_REACHABLE',
		'ERR_BUSY',
		'ERR_CONFLICT',
		'ERR_STORE',
		'ERR_ACTOR_STOPPED',
		'ERR_NOT_REACHABLE',
		'ERR_BUSY',
	];
	let pauseMs: number = limits.workflowTaskPauseMs;
	for (const [number, code] of codes.entries()) {
		(await call(number)).fail(new AppError(code, {message: 'not now'}));
		await settled();
		clock.advance(pauseMs - 1);
		await settled();
		t.is(calls.length, number + 1);
		clock.advance(1);
		pauseMs = Math.min(2 * pauseMs, limits.workflowTaskPauseMostMs);
	}
	const last = await call(codes.length);
	t.is(calls[0]?.call.id, last.call.id);
	last.answer('done');
	t.deepEqual(await ended, {type: 'succeeded', output: 'done'});
	t.is(pauseMs, limits.workflowTaskPauseMostMs);
});

test('a call that waits to be made again ends when it is stopped', async t => {
	const {outcome, stop, call, calls, clock, tasks} = taskWorld();
	const ended = outcome(aTask('charge'));
	(await call(0)).fail(new AppError('ERR_BUSY', {message: 'not now'}));
	await settled();
	t.not(clock.nextAtMs(), undefined);
	await stop(aTask('').key);
	t.is((await ended).type, 'failed');
	await settled();
	t.is(clock.nextAtMs(), undefined);
	t.is(calls.length, 1);
	t.deepEqual(tasks.counts(), {attempts: 0, underWay: 0, waiting: 0, followed: 0});
});

test('a call that is stopped is cut, and its answer is nobody’s', async t => {
	const {outcome, stop, call, tasks, problems} = taskWorld();
	const ended = outcome(aTask('charge'));
	const {call: made, answer} = await call(0);
	t.false(made.signal?.aborted);
	await stop(aTask('').key);
	t.true(made.signal?.aborted);
	t.deepEqual(await ended, failure('States.TaskFailed', 'nobody waits for this task any more'));
	answer('late');
	await settled();
	t.deepEqual(tasks.counts(), {attempts: 0, underWay: 0, waiting: 0, followed: 0});
	t.deepEqual(problems, []);
});

test('a function that is called with a token has answered when it has taken it; its error is that of the task', async t => {
	const {outcome, call} = taskWorld();
	const first = outcome(aTask('ask.waitForTaskToken', {key: 'r/1'}));
	const second = outcome(aTask('ask.waitForTaskToken', {key: 'r/2'}));
	(await call(0)).answer({asked: true});
	(await call(1)).answer({error: {name: 'Unknown', message: 'whom?'}}, 500);
	t.deepEqual(await first, {type: 'waiting'});
	t.deepEqual(await second, failure('Unknown', 'whom?'));
});
