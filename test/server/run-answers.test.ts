// Answers to tasks of runs by MQTT: what is taken, what is told, and what is to be sent again.

import test from 'ava';
import {failed, succeeded, type ErrorCode, type Outcome} from '../../api/errors.js';
import {objectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Identity} from '../../api/roles.js';
import {isMetered, mayRetain} from '../../api/roles.js';
import {eachIts} from '../../server/message-taker.js';
import {createRunAnswers} from '../../server/workflows/run-answers.js';
import {event, loggedIn, passwordOf, startBroker} from '../system/broker/broker-rig.js';

const ann: Identity = {name: 'ann', role: 'edit'};
const topic = 'troupe/v1/runs/default/one/answer';

type Asked = {readonly to: string; readonly message: unknown; readonly cause: string};

function aDoor(answer: () => Outcome<unknown> | Promise<Outcome<unknown>> = () => succeeded(null)) {
	const asked: Asked[] = [];
	const replies: (readonly [string, unknown])[] = [];
	const refused: (readonly [ErrorCode, string, string | undefined])[] = [];
	const answers = createRunAnswers({
		control: {
			index: {entry: key => (key === objectKey('runs', 'default', 'one') ? ({} as never) : undefined)},
			async ask<Value>(to: string, message: object, {cause}: {readonly cause: string}) {
				asked.push({to, message, cause});
				return (await answer()) as Outcome<Value>;
			},
		},
		publish: (at, text) => void replies.push([at, JSON.parse(String(text))]),
		onRefused: ({code}, {topic: at, login}) => refused.push([code, at, login]),
	});
	const say = (payload: unknown, qos: 0 | 1 | 2 = 1, at = topic, identity: Identity | undefined = ann) =>
		answers.accept(identity, {topic: at, payload: Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)), qos});
	return {answers, asked, refused, replies, say};
}

test('an answer by its token goes to the record of the run, and is taken once that has committed it', async t => {
	let commit: (outcome: Outcome<unknown>) => void = () => undefined;
	const {asked, refused, say} = aDoor(() => new Promise(resolve => (commit = resolve)));
	let isTaken = false;
	const taken = say({token: 't~1', output: {ok: true}})?.then(() => (isTaken = true));
	await new Promise(resolve => setImmediate(resolve));
	t.false(isTaken);
	commit(succeeded(null));
	await taken;
	t.true(isTaken);
	t.deepEqual(asked, [
		{
			to: 'troupe://control/runs/default.one',
			message: {type: 'taskAnswered', task: {token: 't~1'}, outcome: {type: 'succeeded', output: {ok: true}}},
			cause: 'mqtt ann runs/default/one',
		},
	]);
	t.deepEqual(refused, []);
	t.is(say({token: 't'}, 1, 'troupe/v1/functions/default/one/invoke'), undefined);
	t.is(say({token: 't'}, 1, 'sensors/a'), undefined);
});

test('an answer that will never be one is taken and told, and no run hears of it', async t => {
	const {asked, refused, say} = aDoor();
	for (const payload of [
		'',
		'text',
		'[1]',
		Buffer.from([0xff]).toString('latin1'),
		{},
		{token: 't'},
		{state: 'Ask', output: 1},
		{key: 'k', output: 1},
		'{"token": "t", "output": [1e999]}',
		'{"token": "t", "output": {"a": {"__proto__": 1}}}',
	])
		await say(payload);
	await say({token: 't', output: '['.repeat(10)}, 1, 'troupe/v1/runs/default/none/answer');
	await say({token: 't', output: 1}, 1, 'troupe/v1/runs/default/No!/answer');
	t.deepEqual(asked, []);
	t.deepEqual(
		refused.map(([code]) => code),
		[...Array.from({length: 10}, () => 'ERR_BAD_REQUEST'), 'ERR_NOT_FOUND', 'ERR_NOT_FOUND'],
	);
	const conflict = aDoor(() => failed('ERR_CONFLICT', {resource: 'runs', name: 'one', message: 'it does not wait any more'}));
	await conflict.say({token: 't', output: 1});
	t.deepEqual(conflict.refused, [['ERR_CONFLICT', topic, 'ann']]);
});

test('a login that gives its answer an id is told what came of it, and one that is to send it again is not', async t => {
	const taken = aDoor();
	await taken.say({token: 't', output: 1});
	await taken.say({id: 'a', token: 't', output: 1}, 0);
	t.like(taken.asked.at(-1)?.message, {task: {token: 't'}});
	t.deepEqual(taken.replies, [['troupe/v1/replies/ann/a', {id: 'a', taken: true}]]);
	const message = 'that task of it does not wait, or not any more';
	const late = aDoor(() => failed('ERR_CONFLICT', {resource: 'runs', name: 'one', message}));
	await late.say({id: 'b', token: 't', output: 1}, 2);
	await late.say({id: 'c', token: 't', otput: 1});
	await late.say({id: 'a/b', token: 't', output: 1});
	const [conflict, wrong, ...more] = late.replies;
	t.like(conflict, ['troupe/v1/replies/ann/b', {id: 'b', error: {code: 'ERR_CONFLICT'}}]);
	t.true(JSON.stringify(conflict).includes(message));
	t.regex(JSON.stringify(wrong), /ann\/c.*no member \\"otput\\"; it has token, output/);
	t.deepEqual([more, late.refused.length], [[], 3]);
	const full = aDoor(() => failed('ERR_STORE', {message: 'the disk is full'}));
	await t.throwsAsync(full.say({id: 'd', token: 't', output: 1}) ?? Promise.resolve(), {code: 'ERR_STORE'});
	t.deepEqual(full.replies, []);
	await full.say({id: 'd', token: 't', output: 1}, 0);
	t.is(full.replies.length, 1);
});

test('an answer that may be taken later is to be sent again, but for QoS 0', async t => {
	for (const code of ['ERR_STORE', 'ERR_BUSY', 'ERR_ACTOR_STOPPED', 'ERR_TIMEOUT'] as const) {
		const {refused, say} = aDoor(() => failed(code, {message: 'so', address: 'a', deadlineMs: 1}));
		await t.throwsAsync(say({token: 't', heartbeat: true}) ?? Promise.resolve(), {code});
		await t.notThrowsAsync(say({token: 't', heartbeat: true}, 0) ?? Promise.resolve());
		t.is(refused.length, 2);
	}
});

test('at QoS 0 so many answers of a login are under way; of a broker elsewhere nobody knows whose they are', async t => {
	const open: ((outcome: Outcome<unknown>) => void)[] = [];
	const {asked, refused, say} = aDoor(() => new Promise(resolve => open.push(resolve)));
	const all = Array.from({length: limits.invokesPerLogin + 1}, () => say({token: 't', output: 1}, 0));
	await all.at(-1);
	t.deepEqual(refused, [['ERR_BUSY', topic, 'ann']]);
	const other = createRunAnswers({
		control: {index: {entry: () => ({}) as never}, ask: () => Promise.resolve(succeeded(null as never))},
		publish: () => t.fail(),
		onRefused: () => t.fail(),
	}).accept(undefined, {topic, payload: Buffer.from('{"token":"t","output":1,"id":"1"}'), qos: 0});
	await other;
	t.is(asked.length, limits.invokesPerLogin);
	for (const settle of open) settle(succeeded(null));
	for (const each of all) await each;
	const again = say({token: 't', output: 1}, 0);
	open.at(-1)?.(succeeded(null));
	await again;
	t.is(refused.length, 1);
});

test('at the broker an answer is acknowledged when it is committed, and its connection ends where it is not', async t => {
	let isFull = false;
	const {answers, asked} = aDoor(() => (isFull ? failed('ERR_STORE', {message: 'the disk is full'}) : succeeded(null)));
	const logins: readonly Identity[] = [ann, {name: 'gw', role: 'tool', topics: {publish: ['runs/#']}}];
	const {broker, port} = await startBroker(t, {
		authenticate: (name, password) => (password === passwordOf(name ?? '') ? logins.find(each => each.name === name) : undefined),
		mayRetain,
		metered: isMetered,
		accept: eachIts({accept: () => undefined}, answers).accept,
	});
	const [one, gw] = await Promise.all([loggedIn(t, port, 'ann'), loggedIn(t, port, 'gw')]);
	await one.publishAsync(topic, '{"token": "t", "output": 1}', {qos: 1});
	t.is(asked.length, 1);
	await gw.publishAsync(topic, '{"token": "t", "output": 1}', {qos: 1});
	await one.publishAsync(topic, '{"token": "t", "output": 1}', {qos: 1, retain: true});
	t.is(asked.length, 1);
	t.is(broker.counters().publishesRefused, 2);
	isFull = true;
	one.publish(topic, '{"token": "t", "output": 2}', {qos: 1});
	await event(one, 'close');
	t.is(broker.counters().cutNotTaken, 1);
});
