// Messages of MQTT for functions: what is delivered, when it is taken, and what callers are answered.

import test from 'ava';
import {AppError, type ErrorCode} from '../../api/errors.js';
import {objectKey} from '../../api/keys.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import {limits} from '../../api/limits.js';
import type {Identity} from '../../api/roles.js';
import type {CallWhole, Delivery, FunctionAnswer} from '../../server/functions/delivery.js';
import {createFunctionMessages, headerOf} from '../../server/functions/function-messages.js';
import {answerReply} from '../../server/functions/invoke-reply.js';
import {eachIts, type OnRefused} from '../../server/message-taker.js';
import {followOutsideMessages} from '../../server/triggers/outside-messages.js';
import {createTopicMessages} from '../../server/triggers/topic-messages.js';
import {createTopicTriggers} from '../../server/triggers/topic-triggers.js';
import type {TopicListener} from '../../system/links/mqtt-link.js';
import {functionTakers} from './_takers.js';

const ann: Identity = {name: 'ann', role: 'edit'};
const invokeTopic = 'troupe/v1/functions/default/sum/invoke';
const answered: FunctionAnswer = {status: 200, contentType: 'application/json', body: Buffer.from('{"sum":3}')};

type Refused = readonly [ErrorCode, string, string | undefined];

function aDoor(accept: (delivery: Delivery) => Promise<string> = () => Promise.resolve('id'), call?: CallWhole) {
	const made: Delivery[] = [];
	const called: Parameters<CallWhole>[] = [];
	const published: (readonly [string, unknown])[] = [];
	const refused: Refused[] = [];
	const givenUp: string[] = [];
	const triggers = createTopicTriggers();
	const put = (name: string, ...own: readonly object[]): void =>
		triggers.note(objectKey('functions', 'default', name), {
			metadata: {name, namespace: 'default'},
			spec: {triggers: own},
		} as unknown as FunctionObject);
	const deliver = (delivery: Delivery): Promise<string> => {
		made.push(delivery);
		return accept(delivery);
	};
	const onRefused: OnRefused = (why, {topic, login}) => refused.push([why.code, topic, login]);
	const messages = eachIts(
		createTopicMessages({triggers, takers: functionTakers(deliver, ({trigger}) => void givenUp.push(trigger)), onRefused}),
		createFunctionMessages({
			deliveries: {accept: deliver},
			call(...asked) {
				called.push(asked);
				return call?.(...asked) ?? Promise.resolve(answered);
			},
			publish: (topic, payload) => published.push([topic, JSON.parse(payload.toString())]),
			onRefused,
		}),
	);
	const say = (topic: string, payload: string | Buffer | object, qos: 0 | 1 | 2 = 1, identity: Identity | undefined = ann) => {
		const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
		return messages.accept(identity, {topic, payload: bytes, qos});
	};
	return {made, called, published, refused, givenUp, triggers, messages, put, say};
}

const failing = (code: ErrorCode) => () => Promise.reject(new AppError(code, {message: 'so', resource: 'functions', name: 'sum'}));
const turnOver = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

test('a message is delivered to each function that it triggers, in order of its topic', async t => {
	const {made, put, say} = aDoor();
	put('a', {name: 'hot', topic: 'sensors/#', retries: 2, deadLetterTopic: 'dead'});
	put('b', {name: 'all', topic: 'sensors/+'});
	t.is(say('other', 'x'), undefined);
	await say('sensors/ä %', '{"x": 1}');
	const common = {
		queue: 'topic:sensors/ä %',
		by: 'ann',
		contentType: 'application/json',
		body: Buffer.from('{"x": 1}'),
		reply: undefined,
	};
	const headers = {'x-troupe-topic': 'sensors/%C3%A4%20%25'};
	t.deepEqual(
		made.toSorted((x, y) => x.trigger.localeCompare(y.trigger)),
		[
			{
				...common,
				function: {namespace: 'default', name: 'b'},
				trigger: 'all',
				headers: {'x-troupe-trigger': 'all', ...headers},
				retries: limits.deliveryRetries,
				deadLetterTopic: undefined,
			},
			{
				...common,
				function: {namespace: 'default', name: 'a'},
				trigger: 'hot',
				headers: {'x-troupe-trigger': 'hot', ...headers},
				retries: 2,
				deadLetterTopic: 'dead',
			},
		],
	);
});

test('what is no JSON goes as bytes', async t => {
	const {made, put, say} = aDoor();
	put('a', {name: 'any', topic: 'x'});
	for (const payload of ['', 'text', '{', Buffer.from([0x22, 0xff, 0x22]), '[1]', '"a"', 'null']) await say('x', payload);
	const bytes = 'application/octet-stream';
	t.deepEqual(
		made.map(({contentType}) => contentType),
		[bytes, bytes, bytes, bytes, 'application/json', 'application/json', 'application/json'],
	);
});

test('a message is taken once all its deliveries are committed, and not at all where one is not', async t => {
	const settles: (() => void)[] = [];
	const slow = aDoor(() => new Promise(resolve => settles.push(() => resolve('id'))));
	slow.put('a', {name: 'x', topic: 'x'});
	slow.put('b', {name: 'x', topic: 'x'});
	let isTaken = false;
	const taken = slow.say('x', '1')?.then(() => (isTaken = true));
	settles[0]?.();
	await turnOver();
	t.false(isTaken);
	settles[1]?.();
	await taken;
	t.true(isTaken);
	for (const code of ['ERR_BUSY', 'ERR_STORE'] as const) {
		const {put, say, refused, givenUp} = aDoor(failing(code));
		put('a', {name: 'x', topic: 'x'});
		await t.throwsAsync(say('x', '1') ?? Promise.resolve(), {instanceOf: AppError});
		t.deepEqual([refused, givenUp], [[[code, 'x', 'ann']], []]);
	}
});

test('what will never be delivered is taken and told; a function that has gone wants nothing', async t => {
	const large = aDoor(failing('ERR_TOO_LARGE'));
	large.put('a', {name: 'x', topic: 'x'});
	await large.say('x', '1');
	t.deepEqual([large.refused, large.givenUp], [[['ERR_TOO_LARGE', 'x', 'ann']], ['x']]);
	const gone = aDoor(failing('ERR_NOT_FOUND'));
	gone.put('a', {name: 'x', topic: 'x'});
	await gone.say('x', '1');
	t.deepEqual(gone.refused, []);
});

test('a topic that matches more triggers than are allowed is not taken', async t => {
	const {put, say, made, refused} = aDoor();
	for (let at = 0; at <= limits.messageTriggers; at += 1) put(`f${at}`, {name: 'x', topic: 'x'});
	await t.throwsAsync(say('x', '1') ?? Promise.resolve(), {message: /more than 1000 triggers match/});
	t.deepEqual([made.length, refused.length], [0, 1]);
});

test('a call of QoS 1 becomes a delivery whose answer goes to the login that asked', async t => {
	const {made, published, say} = aDoor();
	await say(invokeTopic, {id: 'c-1', params: {x: [1]}});
	await say(invokeTopic, {});
	const common = {
		function: {namespace: 'default', name: 'sum'},
		trigger: '(mqtt)',
		queue: undefined,
		by: 'ann',
		contentType: 'application/json',
		headers: {'x-troupe-topic': invokeTopic},
		retries: limits.deliveryRetries,
		deadLetterTopic: undefined,
	};
	t.deepEqual(made, [
		{...common, body: Buffer.from('{"x":[1]}'), reply: {type: 'topic', topic: 'troupe/v1/replies/ann/c-1', id: 'c-1'}},
		{...common, body: Buffer.from('{}'), reply: undefined},
	]);
	t.deepEqual(published, []);
});

test('a call of QoS 1 that is wrong is taken and told why, if it has an id', async t => {
	const {made, published, refused, say} = aDoor(failing('ERR_NOT_FOUND'));
	await say(invokeTopic, {id: '1', parms: 1});
	await say(invokeTopic, 'no JSON');
	await say(invokeTopic, {id: 'a/b'});
	await say(invokeTopic, {id: '\ud800'});
	await say(invokeTopic, {id: 'x'.repeat(limits.inspectIdCharacters + 1)});
	await say(invokeTopic, `{"id": "deep", "params": ${'['.repeat(60_000)}${']'.repeat(60_000)}}`);
	await say('troupe/v1/functions/default/No!/invoke', {id: '2'});
	t.is(made.length, 0);
	await say(invokeTopic, {id: '3'});
	t.is(made.length, 1);
	const codes = published.map(([topic, reply]) => [topic, (reply as {error: {code: string}}).error.code]);
	const to = (id: string): string => `troupe/v1/replies/ann/${id}`;
	t.deepEqual(codes[0], [to('1'), 'ERR_BAD_REQUEST']);
	t.deepEqual(codes.slice(-2), [
		[to('2'), 'ERR_NOT_FOUND'],
		[to('3'), 'ERR_NOT_FOUND'],
	]);
	t.regex(JSON.stringify(published[0]?.[1]), /no member \\"parms\\"; it has id and params/);
	t.is(refused.length, 8);
});

test('a call of QoS 1 that may be made later is not taken, and nothing is told', async t => {
	const {published, refused, say} = aDoor(failing('ERR_BUSY'));
	await t.throwsAsync(say(invokeTopic, {id: '1'}) ?? Promise.resolve(), {instanceOf: AppError});
	t.deepEqual([published, refused], [[], [['ERR_BUSY', invokeTopic, 'ann']]]);
});

test('a call of QoS 0 is made at once, and its answer published', async t => {
	const {made, called, published, say} = aDoor();
	t.is(say(invokeTopic, {id: '1', params: {x: 1}}, 0), undefined);
	t.is(say(invokeTopic, {params: 2}, 0), undefined);
	await turnOver();
	t.is(made.length, 0);
	t.like(called[0]?.[1], {by: 'ann', contentType: 'application/json', answerBytes: limits.invokeReplyBytes});
	t.deepEqual(
		called.map(([fn, {body}]) => [fn.name, body.toString()]),
		[
			['sum', '{"x":1}'],
			['sum', '2'],
		],
	);
	t.deepEqual(published, [['troupe/v1/replies/ann/1', {id: '1', status: 200, answer: {sum: 3}}]]);
});

test('a call of QoS 0 that fails, or is one too many, is told; it is tried once', async t => {
	let end = (): void => undefined;
	const {called, published, say} = aDoor(undefined, (_, {body}) =>
		body.toString() === '"bad"'
			? Promise.reject(new AppError('ERR_TIMEOUT', {address: 'f', deadlineMs: 1}))
			: new Promise(resolve => {
					const before = end;
					end = () => {
						before();
						resolve(answered);
					};
				}),
	);
	void say(invokeTopic, {id: 'bad', params: 'bad'}, 0);
	await turnOver();
	t.like(published.at(-1)?.[1], {id: 'bad', error: {code: 'ERR_TIMEOUT'}});
	for (let at = 0; at < limits.invokesPerLogin; at += 1) void say(invokeTopic, {id: `${at}`}, 0);
	await t.throwsAsync(say(invokeTopic, {id: 'late'}, 0) ?? Promise.resolve(), {message: /64 calls of "ann" are under way/});
	t.like(published.at(-1)?.[1], {id: 'late', error: {code: 'ERR_BUSY'}});
	void say(invokeTopic, {id: 'other'}, 0, {name: 'bob', role: 'edit'});
	t.is(called.length, limits.invokesPerLogin + 2);
	end();
	await turnOver();
	t.is(say(invokeTopic, {id: 'again'}, 0), undefined);
	t.is(called.length, limits.invokesPerLogin + 3);
});

test('answers are JSON as it came, text, or bytes in base64, and bounded', t => {
	const reply = (contentType: string | undefined, body: Buffer | string): string =>
		answerReply('1', {status: 201, contentType, body: Buffer.from(body)});
	t.is(reply('application/json; charset=utf-8', '[12345678901234567890]'), '{"id":"1","status":201,"answer":[12345678901234567890]}');
	t.is(reply('application/problem+json', 'null'), '{"id":"1","status":201,"answer":null}');
	t.is(reply('application/json', '{'), '{"id":"1","status":201,"answer":"{"}');
	t.is(reply('text/plain', '{"a":1}'), '{"id":"1","status":201,"answer":"{\\"a\\":1}"}');
	t.is(reply(undefined, ''), '{"id":"1","status":201,"answer":""}');
	t.is(reply('image/png', Buffer.from([0xff, 0])), '{"id":"1","status":201,"answer":"/wA=","encoding":"base64"}');
	t.regex(reply('text/plain', 'x'.repeat(limits.invokeReplyBytes)), /ERR_TOO_LARGE/);
	const deep = '['.repeat(100_000) + ']'.repeat(100_000);
	t.regex(reply('application/json', deep), /"answer":/);
});

test('a topic as a header says every byte', t => {
	t.is(headerOf('a/b-c!~'), 'a/b-c!~');
	t.is(headerOf('a b%\u00e9\u{1f600}'), 'a%20b%25%C3%A9%F0%9F%98%80');
	t.is(decodeURIComponent(headerOf('x y/\u00fc%')), 'x y/\u00fc%');
});

test('of a broker elsewhere what is below the first levels of filters is heard, as they come and go', async t => {
	const {messages, triggers, made, put} = aDoor();
	const heard = new Map<string, TopicListener>();
	const tooMany: number[] = [];
	const subscribe = (filter: string, listener: TopicListener) => {
		heard.set(filter, listener);
		return () => heard.delete(filter);
	};
	put('a', {name: 'x', topic: 'sensors/+/t'});
	const {close} = followOutsideMessages({subscribe, triggers, messages, onTooMany: levels => tooMany.push(levels)});
	put('b', {name: 'y', topic: 'sensors/#'}, {name: 'z', topic: 'alerts'});
	const answers = 'troupe/v1/runs/+/+/answer';
	t.deepEqual([...heard.keys()], ['sensors/#', answers, 'alerts/#']);
	const hear = heard.get('sensors/#');
	hear?.('sensors/k/t', 'one', false, Buffer.from([0xff]));
	hear?.('sensors/k/t', 'old', true);
	await turnOver();
	t.deepEqual(made.map(({trigger, by, body}) => [trigger, by, body]).toSorted(), [
		['x', undefined, Buffer.from([0xff])],
		['y', undefined, Buffer.from([0xff])],
	]);
	put('b');
	t.deepEqual([...heard.keys()], ['sensors/#', answers]);
	put('many', ...Array.from({length: limits.outsideTriggerLevels}, (_, at) => ({name: `t${at}`, topic: `l${at}`})));
	t.is(heard.size, limits.outsideTriggerLevels + 1);
	t.deepEqual(tooMany, [limits.outsideTriggerLevels + 1]);
	close();
	t.is(heard.size, 0);
});
