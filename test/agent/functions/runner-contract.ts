// What every runner promises, whatever its language: docs/functions.md. Who starts one knows it by nothing else.

import {once} from 'node:events';
import {writeFileSync} from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {within} from '../../../bench/rigs/cluster/waiting.js';
import {readToEnd, type Answer, type Limits, type Runner} from './_runner.js';
import type {FunctionName, Sources} from './runner-functions.js';

export type Language = {
	readonly name: string;
	/** The name of the file that a function is. */
	readonly file: string;
	readonly sources: Sources;
	readonly start: (t: ExecutionContext, files: Readonly<Record<string, string>>, limits?: Partial<Limits>) => Promise<Runner>;
};

type Failure = {readonly error: {readonly code: string; readonly message: string; readonly name?: string; readonly traceback?: string}};

export const errorOf = (answer: Answer): Failure['error'] & {readonly status: number} => ({
	status: answer.status,
	...(JSON.parse(answer.text) as Failure).error,
});

export const codeOf = (answer: Answer): string => `${answer.status} ${errorOf(answer).code}`;

export const valueOf = (answer: Answer): unknown => JSON.parse(answer.text);

/** Lets the calls of the function `gate` end. */
export const openGate = ({folder}: Runner): void => writeFileSync(path.join(folder, 'open'), '');

/** `test` declares a test: one after another, where processes that start side by side would be too slow for the times in them. */
export function runnerContract(test: Parameters<Declare>[0], language: Language): void {
	const claims: readonly Declare[] = [whatIsAsked, whatIsAnswered, streams, errors, bounds, times, logs, life, connections];
	for (const declare of claims) {
		declare(
			(title, run) => test(`${language.name}: ${title}`, run),
			(t, name, limits) => language.start(t, {[language.file]: language.sources[name]}, limits),
		);
	}
}

type Declare = (
	test: (title: string, run: (t: ExecutionContext) => Promise<void>) => void,
	start: (t: ExecutionContext, name: FunctionName, limits?: Partial<Limits>) => Promise<Runner>,
) => void;

const whatIsAsked: Declare = (test, start) => {
	test('a JSON value goes in, and comes out as it was', async t => {
		const {call} = await start(t, 'echo');
		for (const params of [{a: [1, -2.5, null, true], b: {c: 'grüße 🎭'}}, [], 'text', 7, null, false, '\ud800']) {
			const {status, headers, text} = await call({params});
			t.deepEqual([status, headers['content-type'], JSON.parse(text)], [200, 'application/json', params]);
		}
		t.true((await call({params: 'grüße'})).text.includes('grüße'));
		t.deepEqual(valueOf(await call({body: '{"a": 1}', headers: {'content-type': 'application/vnd.a+json; charset=utf-8'}})), {a: 1});
		t.deepEqual(valueOf(await call({body: '{"a": 1}'})), {a: 1});
		t.deepEqual(valueOf(await call({body: '{"a": 1, "b": 2, "a": 3}'})), {a: 3, b: 2});
		t.deepEqual(valueOf(await call({body: [Buffer.from('{"a"'), Buffer.from(': 1}')]})), {a: 1});
	});

	test('without a body the query is what goes in, and a body of another type is for those who ask for it', async t => {
		const {call} = await start(t, 'fields');
		const paramsOf = async (options: Parameters<typeof call>[0]): Promise<unknown> =>
			(valueOf(await call(options)) as {params: unknown}).params;
		t.deepEqual(await paramsOf({}), {});
		t.deepEqual(await paramsOf({path: '/a?x=1&y=%C3%BC+b&x=2&z&x=3'}), {x: ['1', '2', '3'], y: 'ü b', z: ''});
		t.deepEqual(await paramsOf({path: '/?x=1', method: 'POST', headers: {'content-type': 'application/json', 'content-length': '0'}}), {
			x: '1',
		});
		t.deepEqual(await paramsOf({path: '/?x=1', body: 'a=b', headers: {'content-type': 'text/plain'}}), {});
		const form = (body: string) => ({path: '/?x=1', body, headers: {'content-type': 'application/x-www-form-urlencoded'}});
		t.deepEqual(await paramsOf(form('a=b&c=+%C3%BC&a=d')), {a: ['b', 'd'], c: ' ü'});
		t.deepEqual(await paramsOf(form('{"as": "curl -d sends it"}')), {as: 'curl -d sends it'});
	});

	test('a function may look at the request', async t => {
		const {call} = await start(t, 'fields');
		const headers = {'Content-Type': 'text/plain', 'X-Test': 'yes', 'X-Request-Id': 'id.of_this-1'};
		const answer = await call({method: 'PUT', path: '/a/b?c=d', body: 'grüße', headers});
		t.deepEqual(valueOf(answer), {
			params: {},
			id: 'id.of_this-1',
			method: 'PUT',
			path: '/a/b?c=d',
			query: {c: 'd'},
			type: 'text/plain',
			test: 'yes',
			body: 'grüße',
		});
		t.is(answer.headers['x-request-id'], 'id.of_this-1');
	});

	test('a call without an id of its own, or with one that could be anything, gets another', async t => {
		const {call} = await start(t, 'fields');
		const ids = new Set<unknown>();
		for (const id of [undefined, 'with space', 'x'.repeat(65), 'a/b']) {
			const answer = await call({headers: id === undefined ? {} : {'x-request-id': id}});
			const own = (valueOf(answer) as {id: string}).id;
			t.regex(own, /^[\w.-]{1,64}$/);
			t.is(answer.headers['x-request-id'], own);
			ids.add(own).add(id);
		}
		t.is(ids.size, 8);
	});
};

const whatIsAnswered: Declare = (test, start) => {
	test('an answer may be a text, bytes, bit by bit, nothing, or JSON after all', async t => {
		const {call} = await start(t, 'answers');
		const seen = async (form: string): Promise<unknown[]> => {
			const {status, headers, text} = await call({params: {form}});
			return [status, headers['content-type'], text];
		};
		t.deepEqual(await seen('text'), [200, 'text/plain; charset=utf-8', 'grüße']);
		t.deepEqual(await seen('bytes'), [200, 'application/octet-stream', Buffer.from([0, 255, 10]).toString()]);
		t.deepEqual(await seen('iterator'), [200, 'application/octet-stream', 'one two three']);
		t.deepEqual(await seen('nothing'), [200, undefined, '']);
		t.deepEqual(await seen('value'), [200, 'application/json', '{"a":[1]}']);
	});

	test('an answer may have a status and headers, but none of the connection and none that HTTP does not allow', async t => {
		const {call} = await start(t, 'answers');
		const answered = (headers: object, status = 201) => call({params: {form: 'own', status, headers}});
		const own = await answered({'Content-Type': 'text/html', 'X-Own': 'a b'});
		t.deepEqual([own.status, own.headers['content-type'], own.headers['x-own'], own.text], [201, 'text/html', 'a b', 'x']);
		for (const headers of [
			{Connection: 'close'},
			{'content-length': '1'},
			{'Transfer-Encoding': 'chunked'},
			{'a b': 'c'},
			{'': 'c'},
			{a: 'b\r\nc: d'},
			{a: 'b\u0000'},
			{a: '☃'},
		]) {
			t.is(codeOf(await answered(headers)), '500 ERR_FUNCTION', JSON.stringify(headers));
		}
		for (const status of [0, 101, 1000]) t.is(codeOf(await answered({}, status)), '500 ERR_FUNCTION');
		t.is((await answered({}, 404)).status, 404);
	});

	test('HEAD gets the head of the answer', async t => {
		const {call} = await start(t, 'echo');
		const {status, headers, text} = await call({method: 'HEAD', path: '/?a=b'});
		t.deepEqual([status, headers['content-type'], text], [200, 'application/json', '']);
	});
};

const streams: Declare = (test, start) => {
	for (const name of ['numbers', 'numbersAsync'] as const) {
		test(`each value of a generator is a line of JSON (${name})`, async t => {
			const {call} = await start(t, name);
			const {status, headers, text, isWhole} = await call({params: {count: 3}});
			t.deepEqual([status, headers['content-type'], text, isWhole], [200, 'application/x-ndjson', '{"n":0}\n{"n":1}\n{"n":2}\n', true]);
			const none = await call({params: {count: 0}});
			t.deepEqual([none.status, none.text, none.isWhole], [200, '', true]);
		});

		test(`an error in the middle cuts the answer and is in the log (${name})`, async t => {
			const {call, wrote} = await start(t, name);
			const cut = await call({params: {count: 3, failAt: 1}, headers: {'x-request-id': 'half'}});
			t.deepEqual([cut.status, cut.text, cut.isWhole], [200, '{"n":0}\n', false]);
			await wrote(/^\[half\] .*no more$/m);
			t.is((await call({params: {count: 1}})).text, '{"n":0}\n');
		});
	}

	test('a value is sent when it comes, and a generator ends when its client has gone', async t => {
		const {open, wrote, call} = await start(t, 'ticks', {concurrency: 1});
		const response = await open({params: {}, headers: {'x-request-id': 'leaves'}});
		await within('the first line', once(response, 'data'));
		t.is(codeOf(await call()), '429 ERR_BUSY');
		response.destroy();
		await wrote('[leaves] closed\n');
	});
};

const errors: Declare = (test, start) => {
	test('what a function throws is answered with its own lines, and logged with its id', async t => {
		const {call, wrote, output} = await start(t, 'throws');
		const {status, code, message, traceback = ''} = errorOf(await call({headers: {'x-request-id': 'thrown'}}));
		t.deepEqual([status, code], [500, 'ERR_FUNCTION']);
		t.regex(message, /^(Value)?Error: out of grüße$/);
		t.regex(traceback, /deeper/);
		t.regex(traceback, /func\.\w+/);
		t.notRegex(traceback, /runner/);
		const lines = traceback.trimEnd().split('\n');
		await wrote(lines.map(line => `[thrown] ${line}\n`).join(''));
		t.is(output().split('\n').length, lines.length + 1);
	});

	test('the class of what a function throws is told beside its message', async t => {
		const {call} = await start(t, 'throwsNamed');
		for (const [how, name, message] of [
			['own', 'CardDeclined', 'CardDeclined: no money'],
			['usual', 'TypeError', 'TypeError: no number'],
		]) {
			const error = errorOf(await call({params: {how}}));
			t.deepEqual([error.name, error.message], [name, message]);
		}
		t.is(errorOf(await call({params: {how: 'silent'}})).name, 'CardDeclined');
	});

	test('what is no JSON is not answered, and its message logged', async t => {
		const {call, wrote} = await start(t, 'unknownToJson');
		const answer = await call({headers: {'x-request-id': 'odd'}});
		t.is(codeOf(answer), '500 ERR_FUNCTION');
		t.is(errorOf(answer).name, undefined);
		await wrote(`[odd] ${errorOf(answer).message}\n`);
	});

	test('a body that is said to be JSON and is none is refused, and the connection is kept', async t => {
		const {call} = await start(t, 'echo');
		const agent = new http.Agent({keepAlive: true, maxSockets: 1});
		t.teardown(() => agent.destroy());
		for (const body of ['{', 'nothing', '{"a": NaN}', '[1,]', Buffer.from([0x22, 0xff, 0x22]), '['.repeat(90_000)]) {
			const answer = await call({body, agent});
			const {code, message, traceback} = errorOf(answer);
			t.deepEqual([answer.status, code, traceback], [400, 'ERR_BAD_REQUEST', undefined], message);
			t.truthy(answer.headers['x-request-id']);
		}
		t.is(valueOf(await call({params: 1, agent})), 1);
	});

	test('code that cannot be loaded ends the runner with its traceback', async t => {
		const {isReady, ended, output} = await start(t, 'cannotLoad');
		t.false(isReady);
		t.is(await ended(), 1);
		t.regex(output(), /not today/);
		t.regex(output(), /func\.\w+/);
	});
};

const bounds: Declare = (test, start) => {
	test('a body that is too large is refused, with a length and without', async t => {
		const {call} = await start(t, 'echo', {bodyBytes: 10});
		t.is((await call({body: '"23456789"'})).status, 200);
		t.is(codeOf(await call({body: '"234567890"'})), '413 ERR_TOO_LARGE');
		t.is(codeOf(await call({body: [Buffer.from('"234567'), Buffer.from('890"')]})), '413 ERR_TOO_LARGE');
	});

	test('an answer that is too large at once is none, and its error says what to do', async t => {
		const {call} = await start(t, 'large', {answerBytes: 100});
		t.is((await call({params: {bytes: 98}})).status, 200);
		t.is((await call({params: {bytes: 100, plain: true}})).status, 200);
		for (const params of [{bytes: 99}, {bytes: 101, plain: true}]) {
			const error = errorOf(await call({params}));
			t.deepEqual([error.status, error.code], [500, 'ERR_FUNCTION']);
			t.regex(error.message, /iterator|stream/);
		}
	});

	test('more calls than it takes are refused at once, and come again on the same connection', async t => {
		const runner = await start(t, 'gate', {concurrency: 2});
		const calls = ['a', 'b'].map(name => runner.call({params: {name}}));
		for (const name of ['a', 'b']) await runner.wrote(`begun ${name}`);
		const agent = new http.Agent({keepAlive: true, maxSockets: 1});
		t.teardown(() => agent.destroy());
		t.is(codeOf(await runner.call({params: {name: 'c'}, agent})), '429 ERR_BUSY');
		openGate(runner);
		t.deepEqual((await Promise.all(calls)).map(valueOf), ['a', 'b']);
		t.is(valueOf(await runner.call({params: {name: 'c'}, agent})), 'c');
		t.notRegex(runner.output(), /begun c[^]*begun c/);
	});

	test('who has an answer may call at once, also where one call is all it takes', async t => {
		const {call} = await start(t, 'echo', {concurrency: 1});
		for (let count = 0; count < 50; count++) t.is(valueOf(await call({params: count})), count);
	});
};

const times: Declare = (test, start) => {
	test('a call that takes longer than its time is told so, and others go on', async t => {
		const {call} = await start(t, 'sleeps', {timeoutMs: 2000});
		const error = errorOf(await call({params: {ms: 600_000}}));
		t.deepEqual([error.status, error.code], [504, 'ERR_TIMEOUT']);
		t.is(valueOf(await call({params: {}})), 'woke');
	});

	test('who does not send the head or the body in time is cut', async t => {
		const {raw, call} = await start(t, 'echo', {timeoutMs: 2000, concurrency: 1});
		t.notRegex(await raw('POST / HTTP/1.1\r\nHost: a\r\n'), / 200 /);
		t.notRegex(await raw('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"a'), / 200 /);
		t.notRegex(await raw('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n"'), / 200 /);
		t.is(valueOf(await call({params: 1})), 1);
	});

	test('who does not read the answer in time is cut', async t => {
		const {connect, wrote, call} = await start(t, 'flood', {timeoutMs: 1000, concurrency: 1});
		const connection = await connect();
		connection.pause();
		connection.write('GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: slow\r\n\r\n');
		await wrote('[slow] closed\n');
		t.not((await call({method: 'HEAD'})).status, 429);
	});
};

const logs: Declare = (test, start) => {
	test('each line of the log has the id of its call', async t => {
		const {call, wrote} = await start(t, 'prints');
		t.is(valueOf(await call({headers: {'x-request-id': 'it'}})), null);
		for (const line of ['one', 'two', 'aside', 'no end']) await wrote(new RegExp(`^\\[it\\] ${line}$`, 'm'));
	});

	test('lines of calls at the same time are not mixed', async t => {
		const runner = await start(t, 'gate');
		const calls = ['a', 'b', 'c'].map(name => runner.call({params: {name}, headers: {'x-request-id': `id-${name}`}}));
		for (const name of ['a', 'b', 'c']) await runner.wrote(`[id-${name}] begun ${name}\n`);
		openGate(runner);
		await Promise.all(calls);
		for (const name of ['a', 'b', 'c']) await runner.wrote(`[id-${name}] half of ${name}, whole of ${name}\n`);
		t.is(runner.output().split('\n').length, 7);
	});
};

const life: Declare = (test, start) => {
	test('SIGTERM: idle connections end, what is under way is answered, and the runner ends well', async t => {
		const runner = await start(t, 'gate');
		const idle = await runner.connect();
		const idleEnds = readToEnd(idle);
		const call = runner.call({params: {name: 'a'}});
		await runner.wrote('begun a');
		runner.signal('SIGTERM');
		t.is(await within('the end of the idle connection', idleEnds), '');
		await t.throwsAsync(runner.call({params: {name: 'b'}}));
		runner.signal('SIGTERM');
		openGate(runner);
		t.is(valueOf(await call), 'a');
		t.is(await runner.ended(), 0);
	});

	test('SIGTERM: a runner without calls ends at once', async t => {
		const runner = await start(t, 'echo');
		runner.signal('SIGTERM');
		t.is(await runner.ended(), 0);
	});
};

const connections: Declare = (test, start) => {
	test('a connection serves call after call, also when they come together', async t => {
		const {raw} = await start(t, 'echo');
		const one = (value: string, rest = ''): string =>
			`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${value.length}\r\n${rest}\r\n${value}`;
		const text = await raw(one('"first"') + one('"second"', 'Connection: close\r\n'));
		t.deepEqual(text.match(/HTTP\/1\.1 200|"\w+"/g), ['HTTP/1.1 200', '"first"', 'HTTP/1.1 200', '"second"']);
	});

	test('who asks whether to send the body is told to, or refused before', async t => {
		const {raw} = await start(t, 'echo', {bodyBytes: 10});
		const asks = (length: number): string =>
			`POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;
		t.regex(await raw(`${asks(3)}"a"`), /^HTTP\/1\.1 100 [^]*HTTP\/1\.1 200 [^]*\r\n\r\n"a"$/);
		t.regex(await raw(asks(11)), /^HTTP\/1\.1 413 /);
	});

	test('what is no HTTP, or has no clear length, is refused and ends its connection', async t => {
		const {raw, call} = await start(t, 'echo');
		const post = (headers: string, body: string): string => `POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`;
		for (const bytes of [
			'nonsense\r\n\r\n',
			'\u0016\u0003\u0001\u0002\r\n\r\n',
			'GET / HTTP/1.1\r\nHost: a\r\nno header\r\n\r\n',
			'GET / HTTP/1.1\r\nHost: a\r\na b: c\r\n\r\n',
			post('Content-Length: -1\r\n', '"a"'),
			post('Content-Length: 3\r\nContent-Length: 4\r\n', '"a"'),
			post('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', '3\r\n"a"\r\n0\r\n\r\n'),
			post('Content-Length: three\r\n', '"a"'),
			post('Transfer-Encoding: chunked\r\n', 'three\r\n"a"\r\n0\r\n\r\n'),
			post('Transfer-Encoding: chunked\r\n', '3\r\n"a"more\r\n0\r\n\r\n'),
		]) {
			t.regex(await raw(bytes), /^HTTP\/1\.1 4\d\d /, JSON.stringify(bytes));
		}
		t.is(valueOf(await call({params: 1})), 1);
	});

	test('a client of HTTP/1.0 gets a stream until the connection ends', async t => {
		const {raw} = await start(t, 'numbers');
		t.regex(await raw('POST / HTTP/1.0\r\nContent-Length: 11\r\n\r\n{"count":2}'), /^HTTP\/1\.1 200 [^]*\r\n\r\n\{"n":0\}\n\{"n":1\}\n$/);
	});
};
