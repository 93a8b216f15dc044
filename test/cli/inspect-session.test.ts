// The inspector's session over MQTT: requests, answers in parts, streams, and connections that are lost.

import test from 'ava';
import {failure} from '../../api/errors.js';
import type {InspectReply, RequestSequel, ToolRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import {interruptible, isInterrupted} from '../../cli/inspect/interruptible.js';
import {createMqttSession} from '../../cli/inspect/mqtt-session.js';
import {ManualClock} from '../../system/time/manual-clock.js';

type Sent = {readonly id: string; readonly request: ToolRequest | RequestSequel};

/** A link that keeps what is published, and says what the test says. */
function connected() {
	const clock = new ManualClock();
	const sent: Sent[] = [];
	const news: string[] = [];
	let listener: (topic: string, payload: string, retained: boolean) => void = () => undefined;
	let isUp = true;
	const session = createMqttSession(
		{
			publish: (topic, payload) => {
				t1(topic);
				sent.push({id: topic.split('/').at(-1) ?? '', request: JSON.parse(payload) as Sent['request']});
			},
			subscribe(filter, onMessage) {
				listener = onMessage;
				return () => news.push(`no more of ${filter}`);
			},
			connected: () => isUp,
			close: () => Promise.resolve(),
		},
		{login: 'ann', prefix: 'p', about: () => 'the cluster as ann', clock},
	);
	const t1 = (topic: string): void => {
		if (!topic.startsWith('troupe/v1/inspect/requests/ann/p.')) throw new Error(`published to ${topic}`);
	};
	session.onNews(line => news.push(line));
	return {
		session,
		clock,
		sent,
		news,
		reply: (id: string, reply: InspectReply): void => listener(`troupe/v1/inspect/replies/ann/${id}`, JSON.stringify(reply), false),
		say: (topic: string, payload: string): void => listener(topic, payload, false),
		lose: (): void => {
			isUp = false;
			session.disconnected('it restarts');
		},
		findAgain: (): void => {
			isUp = true;
			session.connected();
		},
	};
}

const tree = {verb: 'tree', place: 'control'} as const;

test('a question is one message, and its answer comes by its id; what others say is passed over', async t => {
	const {session, sent, reply, say} = connected();
	const asked = session.ask(tree);
	t.deepEqual(sent, [{id: 'p.1', request: tree}]);
	reply('other.1', {ok: true, value: 'no', end: true, seq: 0});
	say('troupe/v1/inspect/replies/ann/p.1', 'no JSON');
	reply('p.1', {ok: true, value: {name: 'yes'}, end: true, seq: 0});
	t.deepEqual(await asked, {name: 'yes'} as never);
});

test('what every system says comes in parts; a part that is lost is no answer', async t => {
	const {session, reply} = connected();
	const whole = session.askAll({verb: 'stats', place: ''});
	reply('p.1', {ok: true, value: {systems: [{system: 'control', value: 1}]}, end: false, seq: 0});
	reply('p.1', {ok: true, value: {systems: [{system: 'vm', problem: 'silent'}]}, end: true, seq: 1});
	t.deepEqual(await whole, [
		{system: 'control', value: 1},
		{system: 'vm', problem: 'silent'},
	] as never);

	const torn = session.askAll({verb: 'stats', place: ''});
	reply('p.2', {ok: true, value: {systems: []}, end: true, seq: 1});
	await t.throwsAsync(torn, {code: 'ERR_NOT_REACHABLE', message: /a part of the answer .* was lost/});
});

test('a refusal is the error that the server says; silence is one, too', async t => {
	const {session, reply, clock} = connected();
	const refused = session.ask({verb: 'kill', place: 'control/x'});
	reply('p.1', {ok: false, error: failure('ERR_FORBIDDEN', {message: 'only admins may'}), end: true, seq: 0});
	await t.throwsAsync(refused, {code: 'ERR_FORBIDDEN', message: 'only admins may'});
	const silent = session.ask(tree);
	clock.advance(limits.inspectPatienceMs);
	await t.throwsAsync(silent, {code: 'ERR_NOT_REACHABLE', message: 'the cluster as ann did not answer within 15 s'});
});

test('when the connection was lost a look is asked again, and a change is not: its outcome is unknown', async t => {
	const {session, sent, news, reply, lose, findAgain} = connected();
	const look = session.ask(tree);
	const change = session.ask({verb: 'kill', place: 'control/x'});
	lose();
	await t.throwsAsync(change, {code: 'ERR_OUTCOME_UNKNOWN'});
	findAgain();
	t.deepEqual(sent.slice(2), [{id: 'p.1', request: tree}]);
	reply('p.1', {ok: true, value: 'again', end: true, seq: 0});
	t.is(await look, 'again' as never);
	t.deepEqual(news, ['the connection is lost (it restarts); trying again', 'connected again: the cluster as ann']);
});

const trace = {verb: 'trace', filter: {places: ['control']}} as const;

test('a stream goes on until its end, is renewed meanwhile, and says what was lost on the way', async t => {
	const {session, sent, reply, clock} = connected();
	const told: [number, string | undefined][] = [];
	const reading = (async () => {
		for await (const {dropped, ended} of session.stream(trace, new AbortController().signal)) told.push([dropped, ended]);
	})();
	await Promise.resolve();
	reply('p.1', {ok: true, value: {entries: [], dropped: 2}, end: false, seq: 0});
	clock.advance(limits.inspectRenewMs);
	t.deepEqual(sent.at(-1), {id: 'p.1', request: {verb: 'renew'}});
	reply('p.1', {ok: true, value: {entries: [], dropped: 0, ended: 'count'}, end: true, seq: 5});
	await reading;
	t.deepEqual(told, [
		[2, undefined],
		[1, 'count'],
	]);
	clock.advance(limits.inspectRenewMs);
	t.is(sent.length, 2, 'what has ended is neither renewed nor closed');
});

test('who wants no more of a stream says so; one whose connection is lost is told', async t => {
	const {session, sent, lose} = connected();
	const ended = new AbortController();
	const closed = session.stream(trace, ended.signal)[Symbol.asyncIterator]().next();
	ended.abort();
	t.true((await closed).done);
	t.deepEqual(sent.at(-1), {id: 'p.1', request: {verb: 'close'}});
	const cut = session.stream(trace, new AbortController().signal)[Symbol.asyncIterator]().next();
	lose();
	await t.throwsAsync(cut, {code: 'ERR_NOT_REACHABLE', message: 'the connection was lost'});
});

test('a stream that the server has no more was on at another one: it is lost, as with the connection', async t => {
	const {session, reply} = connected();
	const stream = session.stream({verb: 'watch', place: 'control'}, new AbortController().signal)[Symbol.asyncIterator]();
	const next = stream.next();
	reply('p.1', {ok: false, error: failure('ERR_NOT_FOUND', {resource: 'streams', name: 'p.1'}), end: true, seq: 0});
	await t.throwsAsync(next, {code: 'ERR_NOT_REACHABLE', message: 'another server leads'});
});

test('who leaves closes its streams', async t => {
	const {session, sent, news} = connected();
	void session.stream(trace, new AbortController().signal)[Symbol.asyncIterator]().next();
	await session.close();
	t.deepEqual(sent.at(-1), {id: 'p.1', request: {verb: 'close'}});
	t.deepEqual(news, ['no more of troupe/v1/inspect/replies/ann/+']);
});

test('a question is given up when a person wants it: of a change it is said that its outcome is unknown, and it is not sent any more', async t => {
	const {session, sent, lose, findAgain} = connected();
	lose();
	const ended = new AbortController();
	const interrupted = interruptible(session, ended.signal);
	const asked = [interrupted.ask(tree), interrupted.askAll(tree), interrupted.ask({verb: 'kill', place: 'control/x'})] as const;
	ended.abort();
	for (const one of asked.slice(0, 2)) t.true(isInterrupted(await t.throwsAsync(one)));
	t.regex((await t.throwsAsync(asked[2])).message, /whether it was carried out is unknown/);
	t.true(isInterrupted(await t.throwsAsync(interrupted.ask(tree))));
	findAgain();
	t.deepEqual(sent, []);
});
