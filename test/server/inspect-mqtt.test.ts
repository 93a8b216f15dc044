// The inspector's door over MQTT: whose a request is, what is none, and what comes twice.

import test from 'ava';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import type {InspectReply, SystemRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import {mayRetain, type Identity} from '../../api/roles.js';
import {createChangeIds} from '../../server/inspect/change-ids.js';
import {createInspection, type Answer, type Inspection} from '../../server/inspect/inspection.js';
import {openMqttDoor} from '../../server/inspect/mqtt-door.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {testCluster} from './cluster.js';

const prefix = 'troupe/v1/inspect';

function rig(made?: Inspection) {
	const cluster = testCluster();
	const asked: SystemRequest[] = [];
	const look: {at: (request: SystemRequest) => Outcome<unknown> | Promise<Outcome<unknown>>} = {at: ({verb}) => succeeded(verb)};
	cluster.onInspect((_system, request) => {
		asked.push(request);
		return look.at(request);
	});
	const clock = new ManualClock();
	const inspection = made ?? createInspection({control: cluster.control, clock, auditLog: () => undefined});
	const identities = new Map<string, Identity>([
		['ann', {name: 'ann', role: 'admin'}],
		['eve', {name: 'eve', role: 'view'}],
	]);
	const published: {topic: string; payload: string; retain: boolean}[] = [];
	const refused: string[] = [];
	let listener: ((topic: string, payload: string, retained?: boolean) => void) | undefined;
	const door = openMqttDoor({
		inspection,
		pubsub: {
			publish: (topic, payload, {retain}) => void published.push({topic, payload, retain}),
			subscribe(_filter, heard) {
				listener = heard;
				return () => (listener = undefined);
			},
		},
		clock,
		identityOf: login => identities.get(login),
		onRefused: (why, login) => refused.push(`${why} ${login}`),
	});
	const settle = async (): Promise<void> => {
		for (let turn = 0; turn < 50; turn++) await Promise.resolve();
	};
	return {
		asked,
		look,
		clock,
		identities,
		published,
		refused,
		door,
		settle,
		isListening: () => listener !== undefined,
		hear: async (login: string, id: string, payload: unknown, retained = false): Promise<void> => {
			listener?.(`${prefix}/requests/${login}/${id}`, typeof payload === 'string' ? payload : JSON.stringify(payload), retained);
			await settle();
		},
		/** What was answered, and forgets it. */
		replies: (login: string, id: string): readonly InspectReply[] => {
			const mine = published.filter(({topic, retain}) => topic === `${prefix}/replies/${login}/${id}` && !retain);
			published.splice(0);
			return mine.map(({payload}) => JSON.parse(payload) as InspectReply);
		},
	};
}

const stats = {verb: 'stats', place: 'control'};

test('a request is answered to its own login and id, with what went wrong as well', async t => {
	const {hear, replies} = rig();
	await hear('eve', '1', stats);
	t.deepEqual(replies('eve', '1'), [{ok: true, value: 'stats', end: true, seq: 0}]);
	await hear('eve', '2', '{"verb":');
	t.like(replies('eve', '2'), [{ok: false, seq: 0, end: true, error: {code: 'ERR_BAD_REQUEST'}}]);
	await hear('eve', '3', {verb: 'kill', place: 'control/pods'});
	t.like(replies('eve', '3'), [{ok: false, error: {code: 'ERR_FORBIDDEN'}}]);
	await hear('ann', '3', {verb: 'kill', place: 'control/pods'});
	t.like(replies('ann', '3'), [{ok: true}]);
});

test('what is retained, of no login, empty or under too long an id is no request', async t => {
	const {hear, published, refused, asked, identities, clock} = rig();
	await hear('ann', '1', {verb: 'kill', place: 'control/pods'}, true);
	clock.advance(limits.inspectFlushMs);
	t.deepEqual(published.splice(0), [{topic: `${prefix}/requests/ann/1`, payload: '', retain: true}]);
	await hear('ann', '1', '');
	await hear('bob', '1', stats);
	identities.delete('eve');
	await hear('eve', '1', stats);
	await hear('ann', 'x'.repeat(limits.inspectIdCharacters + 1), stats);
	t.deepEqual(refused, ['retained ann', 'unknownLogin bob', 'unknownLogin eve', 'wrongId ann']);
	t.deepEqual([published, asked], [[], []]);
	t.false(mayRetain(`${prefix}/requests/ann/1`));
	t.true(mayRetain('troupe/v1/nodes/vm/presence'));
});

test('a change that comes twice is carried out once; a look is answered again', async t => {
	const {hear, replies, asked, clock} = rig();
	const kill = {verb: 'kill', place: 'control/pods'};
	await hear('ann', '1', kill);
	await hear('ann', '1', kill);
	t.like(replies('ann', '1'), [{ok: true}, {ok: false, error: {code: 'ERR_BAD_REQUEST'}}]);
	t.is(asked.length, 1);
	await hear('ann', '2', stats);
	await hear('ann', '2', stats);
	t.like(replies('ann', '2'), [
		{ok: true, seq: 0},
		{ok: true, seq: 0},
	]);
	const left = limits.inspectIds - 1;
	for (let id = 0; id <= left; id++) {
		clock.advance(1_000);
		await hear('ann', `of-${id}`, kill);
		if (id < left) continue;
		await hear('ann', `of-${id}`, kill);
		t.like(replies('ann', `of-${id}`), [{ok: true}, {ok: false}]);
	}
	await hear('ann', '1', kill);
	t.like(replies('ann', '1'), [{ok: true}], 'so many ids are remembered');
});

test('a stream lives as long as it is renewed, and is closed by its tool', async t => {
	const {hear, replies, clock, look, settle} = rig();
	look.at = ({verb}) => (verb === 'read' ? new Promise(() => undefined) : succeeded({stream: 's'}));
	const watch = {verb: 'watch', place: 'control/pods', forMs: 500_000};
	await hear('eve', 'w', watch);
	t.like(replies('eve', 'w'), [{seq: 0, end: false, value: {entries: []}}]);
	for (let at = 0; at < 3; at++) {
		clock.advance(limits.inspectUnreadMs - 1);
		await hear('eve', 'w', {verb: 'renew'});
	}
	await hear('ann', 'w', {verb: 'close'});
	t.deepEqual(replies('eve', 'w'), []);
	await hear('eve', 'w', {verb: 'close'});
	t.like(replies('eve', 'w'), [{seq: 1, end: true, value: {ended: 'closed'}}]);
	await hear('eve', 'w', {verb: 'close'});
	t.deepEqual(replies('eve', 'w'), []);
	await hear('eve', 'w', {verb: 'renew'});
	t.like(replies('eve', 'w'), [{seq: 0, end: true, error: {code: 'ERR_NOT_FOUND'}}]);

	await hear('eve', 'v', watch);
	clock.advance(limits.inspectUnreadMs);
	await settle();
	t.like(replies('eve', 'v'), [{seq: 0}, {seq: 1, end: true, value: {ended: 'unread'}}]);
});

test('a stream that is asked for again begins anew, and the one before is heard no more', async t => {
	const {hear, replies, look, asked} = rig();
	look.at = ({verb}) => (verb === 'read' ? new Promise(() => undefined) : succeeded({stream: 's'}));
	for (let at = 0; at < 2; at++) await hear('eve', 'w', {verb: 'watch', place: 'control/pods'});
	t.like(replies('eve', 'w'), [
		{seq: 0, end: false},
		{seq: 0, end: false},
	]);
	t.is(asked.filter(({verb}) => verb === 'close').length, 1);
	await hear('eve', 'w', {verb: 'close'});
	t.like(replies('eve', 'w'), [{seq: 1, end: true}]);
});

test('an answer that is too large for a message is a failure that says so', async t => {
	const {hear, replies, look} = rig();
	look.at = () => succeeded('x'.repeat(limits.inspectReplyBytes));
	await hear('eve', '1', stats);
	t.like(replies('eve', '1'), [{ok: false, end: true, seq: 0, error: {code: 'ERR_TOO_LARGE'}}]);
	look.at = () => failed('ERR_NO_SUCH_ACTOR', {address: 'troupe://control/x'});
	await hear('eve', '2', {verb: 'state', place: 'control/x'});
	t.like(replies('eve', '2'), [{ok: false, error: {code: 'ERR_NO_SUCH_ACTOR'}}]);
});

test('a portion that is too large for a message ends the call, and that is told once', async t => {
	let answer: Answer = () => undefined;
	let closed = 0;
	const ask: Inspection['ask'] = (_asker, _read, onAnswer) => {
		answer = onAnswer;
		return {renew: () => undefined, close: () => void closed++};
	};
	const {hear, replies} = rig({ask, partitionOf: () => undefined, endOf: () => undefined, close: () => undefined});
	await hear('eve', 'w', {verb: 'watch', place: 'control/pods'});
	for (let at = 0; at < 3; at++) answer({ok: true, value: 'x'.repeat(limits.inspectReplyBytes), end: false});
	t.like(replies('eve', 'w'), [{seq: 0, end: true, error: {code: 'ERR_TOO_LARGE'}}]);
	t.is(closed, 1);
	await hear('eve', 'w', {verb: 'close'});
	t.is(closed, 1, 'nothing of it is left');
});

test('ids of changes are remembered of so many logins, those that asked last', t => {
	const {isFirst} = createChangeIds(2);
	t.deepEqual(
		['ann', 'bob', 'ann', 'cid', 'ann', 'bob'].map(login => isFirst(login, '1')),
		[true, true, false, true, false, true],
	);
});

test('what a login asks for that may change nothing is refused each time, and no id of it is remembered', async t => {
	const {hear, replies} = rig();
	for (let at = 0; at < 2; at++) {
		await hear('eve', '1', {verb: 'kill', place: 'control/pods'});
		t.like(replies('eve', '1'), [{ok: false, error: {code: 'ERR_FORBIDDEN'}}]);
	}
});

test('nobody listens when the door is closed', t => {
	const {door, isListening} = rig();
	t.true(isListening());
	door.close();
	t.false(isListening());
});
