// What stands around the hands of a node: who starts them, and who clears up what belongs to none.

import test from 'ava';
import {failed} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {assignmentObject, have} from '../../actors/node/cache/assignment-object.js';
import {nodeBehaviors, nodeRoot} from '../../actors/node/root.js';
import {leases} from '../../actors/node/pods/leases.js';
import {pods} from '../../actors/node/pods/pods.js';
import {runtimeActor, type RuntimeMessage} from '../../actors/node/runtime-actor.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import {play, playContext} from '../../system/kernel/play.js';
import {anAssignment} from './_agent.js';
import {nowMs} from './_objects.js';

function cacheOf(...assignments: readonly ReturnType<typeof anAssignment>[]): ObjectIndex {
	const index = new ObjectIndex();
	for (const assignment of assignments) {
		const object = assignmentObject(assignment, `v-${assignment.uid}`, nowMs);
		index.apply(`assignments/${assignment.namespace}/${assignment.name}`, index.version + 1, object, () => '');
	}
	return index;
}

const self = 'troupe://node-a/pods';
const replyTo = {to: 'troupe://node-a/sync', as: 'assigned', id: '1 pods/default/web'};
const assign = {type: 'assign', key: 'pods/default/web', version: 'v1', assignment: anAssignment(), replyTo} as const;
const cache = cacheOf(anAssignment(), anAssignment({name: 'db', uid: 'uid-of-db', namespace: 'shop'}));

test('no actor of a node does anything for a message that it does not know', t => {
	for (const [name, {receive}] of Object.entries(nodeBehaviors)) t.is(receive({}, {type: 'zzz'}, playContext()), undefined, name);
});

test('the hands of everything in the cache are started', t => {
	t.deepEqual(play(pods, null, [], playContext({self, known: cache})).effects, [
		{type: 'spawn', name: 'default.web', behavior: 'Hand', snapshot: 'assignments/default/web'},
		{type: 'spawn', name: 'shop.db', behavior: 'Hand', snapshot: 'assignments/shop/db'},
	]);
});

test('a hello tells what the cache holds', t => {
	t.deepEqual(have(cache), {'pods/default/web': 'v-uid-of-web', 'pods/shop/db': 'v-uid-of-db'});
});

test('an assignment goes to its hand, or starts one', t => {
	t.deepEqual(play(pods, null, [assign], playContext({self})).effects, [
		{type: 'spawn', name: 'default.web', behavior: 'Hand', input: assign},
	]);
	t.deepEqual(play(pods, null, [assign], playContext({self, children: ['default.web']})).effects, [
		{type: 'tell', to: `${self}/default.web`, message: assign},
	]);
});

test('the end of a pod that is not here is taken at once', t => {
	const effects = play(pods, null, [{...assign, assignment: null}], playContext({self})).effects;
	t.deepEqual(effects, [{type: 'reply', to: replyTo, outcome: {ok: true, value: null}}]);
});

test('every hand reports when control may have forgotten', t => {
	t.deepEqual(play(pods, null, [{type: 'reportAll'}], playContext({self, children: ['default.web', 'shop.db']})).effects, [
		{type: 'tell', to: `${self}/default.web`, message: {type: 'reportAgain'}},
		{type: 'tell', to: `${self}/shop.db`, message: {type: 'reportAgain'}},
	]);
});

test('every hand hears when the leases were forgotten', t => {
	const [begun] = play(leases, {node: 'node-a'}, [], playContext()).effects;
	const message = {type: 'leasesForgotten'} as const;
	t.deepEqual(begun, {type: 'tell', to: self, message});
	t.deepEqual(play(pods, null, [message], playContext({self, children: ['default.web']})).effects, [
		{type: 'tell', to: `${self}/default.web`, message},
	]);
});

test('sandboxes without an assignment are removed once node and control agree', t => {
	const context = playContext({known: cache});
	t.like(play(runtimeActor, null, [{type: 'synced'}], context).effects, [{type: 'perform', command: {type: 'sandbox.list'}}]);
	const listed: RuntimeMessage = {type: 'sandboxes', id: 'sandbox/list', outcome: {ok: true, value: ['uid-of-web', 'lost', 'uid-of-db']}};
	t.deepEqual(play(runtimeActor, null, [listed], context).effects, [
		{type: 'perform', command: {type: 'sandbox.remove', uid: 'lost'}, key: 'lost/sandbox/remove', as: 'surplusRemoved'} as never,
	]);
	const broken: RuntimeMessage = {type: 'sandboxes', id: 'sandbox/list', outcome: failed('ERR_RUNTIME', {message: 'disk error'})};
	const again = {type: 'wakeAt', name: 'surplus', atMs: context.nowMs + limits.helloMaxMs, message: {type: 'synced'}} as const;
	t.deepEqual(play(runtimeActor, null, [broken], context).effects, [again]);
	const outcome = failed('ERR_RUNTIME', {message: 'disk error'});
	const stays: RuntimeMessage = {type: 'surplusRemoved', id: 'lost/sandbox/remove', outcome};
	t.deepEqual(play(runtimeActor, null, [stays], context).effects, [again], 'what could not be removed is looked for again');
});

const request = {id: {uid: 'u', container: 'main'}, previous: false, offset: 0, tailLines: undefined, maxBytes: 100, waitMs: 0};

test('each reader of a log gets its own answer', t => {
	const readers = ['1', '2'].map(id => ({to: 'troupe://control/edge', as: 'edge', id}));
	const asks = readers.map((to): RuntimeMessage => ({type: 'readLog', request, replyTo: to}));
	const chunk = {data: '', nextOffset: 0, endOffset: 0, end: true, attempt: 0};
	const answer: RuntimeMessage = {type: 'logRead', id: 'read/1', outcome: {ok: true, value: chunk}};
	const {effects, state} = play(runtimeActor, null, [...asks, answer]);
	t.deepEqual(effects, [{type: 'reply', to: readers[1] as (typeof readers)[0], outcome: {ok: true, value: chunk}}]);
	t.is(state.reading.size, 1);
});

test('too many readers at once are sent away', t => {
	const ask: RuntimeMessage = {type: 'readLog', request, replyTo};
	const {effects} = play(
		runtimeActor,
		null,
		Array.from({length: 257}, () => ask),
	);
	t.like(effects, [{type: 'reply', outcome: {ok: false, error: {code: 'ERR_BUSY'}}}]);
});

test('questions of sessions become commands of the runtime, and each gets its own answer', t => {
	const id = {uid: 'u', container: 'main'};
	const asks = [
		{type: 'execOpen', request: {id, argv: ['sh'], tty: false, stdin: true, rows: 24, columns: 80}},
		{type: 'execWrite', session: 's', data: 'eA==', isLast: false},
		{type: 'execRead', session: 's', maxBytes: 10, waitMs: 5},
		{type: 'execResize', session: 's', rows: 1, columns: 2},
		{type: 'execClose', session: 's'},
		{type: 'stdinWrite', id, data: '', isLast: true},
	] as const;
	const effects = asks.flatMap(ask => play(runtimeActor, null, [{...ask, replyTo}]).effects);
	t.deepEqual(
		effects.map(effect => (effect.type === 'perform' ? effect.command.type : effect.type)),
		['exec.open', 'exec.write', 'exec.read', 'exec.resize', 'exec.close', 'stdin.write'],
	);
	t.deepEqual(effects[1], {
		type: 'perform',
		command: {type: 'exec.write', session: 's', data: 'eA==', isLast: false},
		key: 'session/0',
		as: 'sessionAnswered',
		deadlineMs: limits.execInputStallMs,
	} as never);
	const outcome = failed('ERR_RUNTIME', {message: 'x'});
	const ask: RuntimeMessage = {type: 'execClose', session: 's', replyTo};
	const answered = play(runtimeActor, null, [ask, {type: 'sessionAnswered', id: 'session/0', outcome}]);
	t.deepEqual(answered.effects, [{type: 'reply', to: replyTo, outcome}]);
	t.is(answered.state.sessions.size, 0);
});

test('sessions and readers of logs do not take each other the room, and a session can always be ended', t => {
	const of = (count: number, ask: RuntimeMessage): RuntimeMessage[] => Array.from({length: count}, () => ask);
	const look: RuntimeMessage = {type: 'execRead', session: 's', maxBytes: 1, waitMs: 1, replyTo};
	const open: RuntimeMessage = {
		type: 'execOpen',
		request: {id: request.id, argv: ['sh'], tty: false, stdin: false, rows: 1, columns: 1},
		replyTo,
	};
	const last = (messages: readonly RuntimeMessage[]): unknown => {
		const effect = play(runtimeActor, null, messages).effects.at(-1);
		return effect?.type === 'reply' && !effect.outcome.ok ? effect.outcome.error.code : effect?.type;
	};
	t.is(last([...of(limits.logReaders, {type: 'readLog', request, replyTo}), open]), 'perform');
	t.is(last([...of(limits.execAsksToOpen, look), open]), 'ERR_BUSY');
	t.is(last([...of(limits.execAsksToOpen, look), look]), 'perform');
	t.is(last([...of(limits.execAsks, look), look]), 'ERR_BUSY');
	t.is(last([...of(limits.execAsks, look), {type: 'execClose', session: 's', replyTo}]), 'perform');
});

test('that somebody does not want to wait is told to the hand of that pod, and to nobody else', t => {
	const context = playContext({known: cache, self: 'troupe://node-a/runtime'});
	const ask = {type: 'retryContainer', namespace: 'default', name: 'web', container: 'main', replyTo} as const;
	t.deepEqual(play(runtimeActor, null, [{...ask, uid: 'uid-of-web'}], context).effects, [
		{type: 'tell', to: 'troupe://node-a/pods/default.web', message: {type: 'retryNow', container: 'main', replyTo}},
	]);
	const {effects} = play(runtimeActor, null, [{...ask, uid: 'of-an-earlier-web'}], context);
	t.like(effects, [{type: 'reply', outcome: {ok: false, error: {code: 'ERR_NOT_FOUND'}}}]);
});

test('the root starts runtime, hands and sync, and knows every behaviour by name', t => {
	const {effects} = play(nodeRoot, {} as never);
	t.deepEqual(
		effects.map(effect => (effect.type === 'spawn' ? [effect.name, effect.restart] : [])),
		[
			['runtime', 'permanent'],
			['named', 'permanent'],
			['network', 'permanent'],
			['relay', 'permanent'],
			['pods', 'permanent'],
			['leases', 'permanent'],
			['volume-usage', 'permanent'],
			['usage', 'permanent'],
			['sync', 'permanent'],
			['inspector', 'permanent'],
		],
	);
	t.deepEqual(Object.keys(nodeBehaviors), [
		'NodeRoot',
		'Runtime',
		'Inspector',
		'Leases',
		'ConfigCache',
		'ConfigCopy',
		'Network',
		'NodeRelay',
		'VolumeRemoval',
		'VolumeUsage',
		'Usage',
		'Pods',
		'SyncClient',
		'Hand',
		'Infra',
		'PodVolumes',
		'Container',
		'Prober',
	]);
});
