// The node's end of node sync: it says hello until it is answered, acts on what is in its cache, and brings every report up once.

import test from 'ava';
import {failed} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {syncClient, type SyncClientInput, type SyncClientMessage, type SyncClientState} from '../../actors/node/sync/sync-client.js';
import {assignmentObject} from '../../actors/node/cache/assignment-object.js';
import {syncProtocol, type Delta, type DeltaEntry, type Observed, type PodEntry, type PodGone} from '../../actors/protocol/sync-message.js';
import type {Effect, Message} from '../../system/kernel/behavior.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import {play, playContext, playFrom, type Played} from '../../system/kernel/play.js';
import {nowMs} from './_objects.js';
import {anAssignment, aRuntimeInfo} from './_agent.js';

type Result = Played<SyncClientState>;

const self = 'troupe://node-a/sync';
const control = 'troupe://control/sync';
const ourControl = 'troupe://control/sync/node-a';
const input: SyncClientInput = {node: 'node-a', labels: {zone: 'x'}, info: aRuntimeInfo()};
const context = playContext({self});

const told = (effects: readonly Effect[], to: string): Message[] =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.to === to ? [effect.message] : []));
const toldTypes = (effects: readonly Effect[], to: string): string[] => told(effects, to).map(({type}) => type);

const entry = (name = 'web', overrides: Partial<PodEntry> = {}): DeltaEntry => ({
	key: `pods/default/${name}`,
	version: 'v1',
	assignment: anAssignment({name, uid: `uid-of-${name}`}),
	...overrides,
});
const report = (name = 'web', overrides: object = {}): SyncClientMessage => ({
	type: 'podReport',
	key: `pods/default/${name}`,
	uid: `uid-of-${name}`,
	status: {phase: 'Running'},
	events: [],
	...overrides,
});

const fresh = (): Result => play(syncClient, input, [], context);
const on = ({state}: Result, ...messages: readonly SyncClientMessage[]): Result => playFrom(syncClient, state, messages, context);
const delta = ({state}: Result, overrides: Partial<Delta> = {}): Delta => ({
	type: 'delta',
	session: state.session,
	number: 1,
	epoch: 7,
	lineage: 'ours',
	entries: [],
	complete: true,
	...overrides,
});
const assigned = (
	{state}: Result,
	number = 1,
	name = 'web',
	outcome: SyncClientMessage & {type: 'assigned'} extends {outcome: infer O} ? O : never = {ok: true, value: null},
): SyncClientMessage => ({
	type: 'assigned',
	id: `${state.session} ${number} pods/default/${name}`,
	outcome,
});

function inStep(): Result {
	const start = fresh();
	return on(start, delta(start));
}

const observedTaken = ({state}: Result, overrides: object = {}): SyncClientMessage => ({
	type: 'observedTaken',
	session: state.session,
	number: state.underWay?.number ?? 0,
	failed: [],
	...overrides,
});

test('a node says hello with what it has in its cache', t => {
	const known = new ObjectIndex();
	known.apply('assignments/default/web', 1, assignmentObject(anAssignment(), 'v5', nowMs), () => '');
	const {effects, state} = play(syncClient, input, [], playContext({self, known}));
	t.deepEqual(told(effects, control), [
		{
			type: 'hello',
			protocol: syncProtocol,
			node: 'node-a',
			labels: {zone: 'x'},
			session: state.session,
			epoch: 0,
			lineage: '',
			have: {'pods/default/web': 'v5'},
			info: aRuntimeInfo(),
		},
	]);
});

test('the list of servers goes to the edge, which dials them', t => {
	const {effects} = on(fresh(), {type: 'servers', servers: ['https://a:1'], graceMs: 1_000});
	t.deepEqual(effects, [
		{
			type: 'perform',
			command: {type: 'servers.keep', servers: ['https://a:1'], graceMs: 1_000},
			key: 'servers',
			as: 'serversKept',
		} as never,
	]);
});

test('a hello without an answer is said again after 1 s, 2 s, 4 s, 8 s and then every 10 s, each a session of its own', t => {
	let now = fresh();
	const waits: number[] = [];
	const sessions = new Set<string>();
	for (let i = 0; i < 6; i++) {
		sessions.add(now.state.session);
		for (const effect of now.effects) if (effect.type === 'wakeAt') waits.push(effect.atMs - nowMs);
		now = on(now, {type: 'helloAgain'});
	}
	t.deepEqual(waits, [1000, 2000, 4000, 8000, 10_000, 10_000]);
	t.is(sessions.size, 6);
});

test('once it is answered it says no more hellos, until it is called', t => {
	const now = inStep();
	t.true(now.effects.some(effect => effect.type === 'cancelWake' && effect.name === 'hello'));
	t.deepEqual(on(now, {type: 'helloAgain'}).effects, []);
	t.deepEqual(toldTypes(on(now, {type: 'callHello'}).effects, control), ['hello']);
});

test('when the runtime says something else of itself, control hears it at once by another hello', t => {
	const reads = (effects: readonly Effect[]) => effects.filter(effect => effect.type === 'perform' && effect.command.type === 'info.read');
	t.is(reads(fresh().effects).length, 1);
	const now = inStep();
	t.deepEqual(on(now, {type: 'infoChanged'}).effects, reads(fresh().effects));
	t.deepEqual(on(now, {type: 'infoRead', id: 'info', outcome: {ok: true, value: aRuntimeInfo()}}).effects, []);
	const info = {...aRuntimeInfo(), classes: ['process', 'docker'] as const};
	const changed = on(now, {type: 'infoRead', id: 'info', outcome: {ok: true, value: info}});
	t.like(told(changed.effects, control), [{type: 'hello', epoch: 7, info}]);
	t.like(told(on(changed, {type: 'callHello'}).effects, control), [{info}]);
	t.deepEqual(on(changed, {type: 'infoRead', id: 'info', outcome: {ok: true, value: info}}).effects, []);
	t.deepEqual(on(now, {type: 'infoRead', id: 'info', outcome: failed('ERR_INTERNAL', {message: 'x'})}).effects, []);
});

test('the epoch and lineage of control are kept, and told with the next hello', t => {
	const now = inStep();
	t.like(now.object?.spec, {epoch: 7, lineage: 'ours'});
	t.like(told(on(now, {type: 'callHello'}).effects, control)[0], {epoch: 7, lineage: 'ours'});
	t.is(on(now, delta(now, {number: 2})).object, now.object);
});

test('a lower epoch of the same lineage is refused; a lineage that replaces it begins anew', t => {
	const now = inStep();
	const old = on(now, delta(now, {epoch: 6, entries: [entry()]}));
	t.deepEqual(old.effects, []);
	t.is(old.state, now.state);
	t.like(on(now, delta(now, {epoch: 8})).object?.spec, {epoch: 8});
	t.like(on(now, delta(now, {epoch: 1, lineage: 'restored', replaces: ['older', 'ours']})).object?.spec, {epoch: 1, lineage: 'restored'});
});

test('orders of a lineage that does not replace its own are not taken, and whoever looks after the node hears why, once', t => {
	const now = inStep();
	const gone = {key: 'pods/default/web', version: '', assignment: null};
	for (const replaces of [undefined, [], ['another']]) {
		const strange = delta(now, {epoch: 9, lineage: 'strange', entries: [gone], ...(replaces && {replaces})});
		const after = on(now, strange);
		t.is(after.object, now.object);
		t.deepEqual(
			after.effects.map(effect => effect.type === 'perform' && effect.command.type),
			['sync.refused'],
		);
		t.regex(after.state.refusal ?? '', /lineage "ours" and takes no orders of one of lineage "strange".*--new/);
		t.deepEqual(on(after, strange).effects, []);
	}
});

test("by an operator's word a node follows whichever control plane answers, and says nothing of the one before", t => {
	const remembered = inStep().object;
	const now = play(syncClient, {...input, followsAny: true}, [], context);
	const told = playFrom(syncClient, {...now.state, seen: remembered as never}, [{type: 'callHello'}], context);
	t.like(told.effects.map(effect => effect.type === 'tell' && effect.message)[0], {type: 'hello', epoch: 0, lineage: ''});
	t.like(on(told, delta(told, {epoch: 1, lineage: 'strange'})).object?.spec, {epoch: 1, lineage: 'strange'});
});

test('what belongs to an earlier hello is ignored', t => {
	const now = inStep();
	const stale = delta(now, {session: 'earlier', entries: [entry()]});
	t.deepEqual(on(now, stale).effects, []);
	const reported = on(now, report(), {type: 'flush'});
	t.is(on(reported, observedTaken(reported, {session: 'earlier'})).state, reported.state);
});

test('each entry is handed to the hands, and the delta acknowledged when all are kept', t => {
	const start = fresh();
	const taking = on(start, delta(start, {entries: [entry('a'), entry('b', {assignment: null, version: ''})]}));
	const asks = taking.effects.filter(effect => effect.type === 'ask');
	t.like(asks, [
		{to: 'troupe://node-a/pods', message: {type: 'assign', key: 'pods/default/a', version: 'v1'}, as: 'assigned'},
		{to: 'troupe://node-a/pods', message: {type: 'assign', key: 'pods/default/b', assignment: null}},
	]);
	const half = on(taking, assigned(taking, 1, 'a'));
	t.deepEqual(told(half.effects, ourControl), []);
	t.deepEqual(told(on(half, assigned(half, 1, 'b')).effects, ourControl), [
		{type: 'deltaTaken', session: taking.state.session, number: 1} as Message,
	]);
});

test('the same key of two hellos is asked twice, and an answer to the first counts for nothing', t => {
	const first = on(fresh());
	const one = on(first, delta(first, {entries: [entry()]}));
	const again = on(one, {type: 'callHello'});
	const two = on(again, delta(again, {entries: [entry('web', {version: 'v2'})]}));
	const [askedFirst] = one.effects.filter(effect => effect.type === 'ask');
	const [askedAgain] = two.effects.filter(effect => effect.type === 'ask');
	t.not(askedFirst?.id, askedAgain?.id);
	const stale = on(two, assigned(one));
	t.deepEqual(stale.state.taking, two.state.taking);
	t.deepEqual(stale.effects, []);
});

test('a hello does not rely on what the cache is just taking', t => {
	const haveOf = ({effects}: Result): unknown => (told(effects, control)[0] as unknown as {have: unknown}).have;
	const first = on(fresh());
	const one = on(first, delta(first, {entries: [entry()]}));
	const again = on(one, {type: 'callHello'});
	t.deepEqual(haveOf(again), {'pods/default/web': ''});
	t.deepEqual(haveOf(on(again, assigned(one), {type: 'callHello'})), {});
});

test('surplus is cleared up only when everything assigned is in the cache', t => {
	const runtime = 'troupe://node-a/runtime';
	const start = fresh();
	const first = on(start, delta(start, {entries: [entry('a')], complete: false}));
	const complete = on(first, delta(first, {number: 2, entries: [entry('b')]}));
	t.deepEqual(toldTypes(complete.effects, runtime), []);
	const half = on(complete, assigned(complete, 2, 'b'));
	t.deepEqual(toldTypes(half.effects, runtime), []);
	const all = on(half, assigned(half, 1, 'a'));
	t.deepEqual(toldTypes(all.effects, runtime), ['synced']);
	t.deepEqual(toldTypes(all.effects, 'troupe://node-a/pods'), ['reportAll']);
	t.deepEqual(toldTypes(on(all, delta(all, {number: 3, complete: false})).effects, runtime), []);
	t.deepEqual(toldTypes(inStep().effects, runtime), ['synced']);
});

test('leases are renewed at once by a control plane that is there again', t => {
	const leases = 'troupe://node-a/leases';
	const first = inStep();
	t.deepEqual(toldTypes(first.effects, leases), ['renew']);
	const called = on(first, {type: 'callHello'});
	t.deepEqual(toldTypes(called.effects, leases), []);
	t.deepEqual(toldTypes(on(called, delta(called, {epoch: 8})).effects, leases), ['renew']);
});

test('what the cache did not take leads to another hello, and clears up nothing before', t => {
	const start = fresh();
	const failing = failed('ERR_STORE', {message: 'disk full'});
	const first = on(start, delta(start, {entries: [entry('a')], complete: false}));
	const lost = on(first, assigned(first, 1, 'a', failing));
	t.like(lost.effects, [
		{type: 'wakeAt', name: 'hello', atMs: nowMs + 1000, message: {type: 'helloAgain'}},
		{type: 'tell', message: {type: 'deltaTaken'}},
	]);
	const complete = on(lost, delta(lost, {number: 2}));
	t.false(complete.effects.some(effect => effect.type === 'cancelWake'));
	t.deepEqual(toldTypes(complete.effects, 'troupe://node-a/runtime'), []);
	t.deepEqual(toldTypes(on(complete, {type: 'helloAgain'}).effects, control), ['hello']);
});

test('nothing is reported before the hello is answered', t => {
	const waiting = on(fresh(), report(), {type: 'flush'});
	t.deepEqual(waiting.effects, []);
	t.deepEqual(toldTypes(on(on(waiting, delta(waiting)), {type: 'flush'}).effects, ourControl), ['observed']);
});

test('one message of reports is under way at a time; the newest of a pod goes next', t => {
	const first = on(inStep(), report(), {type: 'flush'});
	t.like(told(first.effects, ourControl), [{type: 'observed', number: 1, pods: [{key: 'pods/default/web', status: {phase: 'Running'}}]}]);
	const more = on(first, report('web', {status: {phase: 'Failed'}}), report('web', {status: {phase: 'Succeeded'}}), {type: 'flush'});
	t.deepEqual(more.effects, []);
	const taken = on(more, observedTaken(more));
	t.deepEqual(taken.effects, [{type: 'tell', to: self, message: {type: 'flush'}}]);
	t.like(told(on(taken, {type: 'flush'}).effects, ourControl), [{number: 2, pods: [{status: {phase: 'Succeeded'}}]}]);
});

test('reports that share a message keep the cause of each', t => {
	const because = ({state}: Result, cause: string, message: SyncClientMessage): Result =>
		playFrom(syncClient, state, [message], playContext({self, cause}));
	const both = because(because(inStep(), 'exit of web', report('web')), 'http admin POST', report('other'));
	t.like(told(on(both, {type: 'flush'}).effects, ourControl), [{pods: [{cause: 'exit of web'}, {cause: 'http admin POST'}]}]);
});

test('events of several reports of one pod are kept, the last twenty of them', t => {
	const event = (reason: string) => ({event: 'Normal', reason, message: ''}) as const;
	const reports = Array.from({length: 25}, (_, i) => report('web', {events: [event(`e${i}`)]}));
	const [message] = told(on(inStep(), ...reports, {type: 'flush'}).effects, ourControl);
	t.deepEqual(
		(message as Observed).pods[0]?.events.map(({reason}) => reason),
		Array.from({length: 20}, (_, i) => `e${i + 5}`),
	);
	const other = on(inStep(), report('web', {events: [event('old')]}), report('web', {uid: 'next', events: [event('new')]}), {
		type: 'flush',
	});
	t.deepEqual(
		(told(other.effects, ourControl)[0] as Observed).pods[0]?.events.map(({reason}) => reason),
		['new'],
	);
});

test('reports that are long go in several messages, each of which may pass', t => {
	const message = '\u0000'.repeat(2_048);
	const status = {phase: 'Running', containerStatuses: Array.from({length: 3}, () => ({lastState: {terminated: {message}}}))};
	const reports = Array.from({length: 110}, (_, i) => report(`p${i}`, {status}));
	const [first] = told(on(inStep(), ...reports, {type: 'flush'}).effects, ourControl);
	const {pods} = first as Observed;
	t.true(pods.length > 1 && pods.length < 110);
	t.true(JSON.stringify(first).length < limits.streamBodyBytes);
});

test('reports that control could not commit are sent again after a second, unless there are newer ones', t => {
	const sent = on(inStep(), report('a'), report('b'), report('c'), {type: 'flush'});
	const newer = on(sent, report('b', {status: {phase: 'Failed'}}));
	const lost = on(newer, observedTaken(newer, {failed: ['pods/default/a', 'pods/default/b']}));
	t.deepEqual(lost.effects, [{type: 'wakeAt', name: 'flush', atMs: nowMs + 1000, message: {type: 'flush'}}]);
	const [again] = told(on(lost, {type: 'flush'}).effects, ourControl);
	t.deepEqual(
		(again as Observed).pods.map(({key, status}) => [key, status.phase]),
		[
			['pods/default/a', 'Running'],
			['pods/default/b', 'Failed'],
		],
	);
});

test('reports that were under way when control was lost go again after the next hello', t => {
	const sent = on(inStep(), report('a'), {type: 'flush'}, report('b'));
	const called = on(sent, {type: 'callHello'});
	t.is(called.state.underWay, undefined);
	const back = on(called, delta(called));
	const [again] = told(on(back, {type: 'flush'}).effects, ourControl);
	t.deepEqual(
		(again as Observed).pods.map(({key}) => key),
		['pods/default/a', 'pods/default/b'],
	);
});

test('at most 256 pods are in one message', t => {
	const reports = Array.from({length: 300}, (_, i) => report(`p${i}`));
	const first = on(inStep(), ...reports, {type: 'flush'});
	t.is((told(first.effects, ourControl)[0] as Observed).pods.length, 256);
	const taken = on(first, observedTaken(first), {type: 'flush'});
	t.is((told(taken.effects, ourControl)[0] as Observed).pods.length, 44);
});

const gone = (name = 'web'): SyncClientMessage => ({type: 'podGone', key: `pods/default/${name}`, uid: `uid-of-${name}`});

test('that a pod is gone is said until it is taken, also after a hello', t => {
	const now = on(inStep(), report(), gone());
	t.deepEqual(toldTypes(now.effects, ourControl), ['podGone']);
	t.is(now.state.reports.size, 0);
	t.true(now.effects.some(effect => effect.type === 'wakeAt' && effect.name === 'sayGone'));
	t.deepEqual(toldTypes(on(now, {type: 'sayGone'}).effects, ourControl), ['podGone']);
	const called = on(now, {type: 'callHello'});
	t.deepEqual(on(called, {type: 'sayGone'}).effects, []);
	const back = on(called, delta(called));
	t.true(toldTypes(back.effects, self).includes('sayGone'));
	const taken = on(back, {type: 'podGoneTaken', key: 'pods/default/web', uid: 'uid-of-web'});
	t.deepEqual(taken.effects, [{type: 'cancelWake', name: 'sayGone'}]);
	t.deepEqual(on(taken, {type: 'sayGone'}).effects, []);
});

test('a node that is refused says why and goes on asking', t => {
	const refused = on(fresh(), {type: 'refused', error: {code: 'ERR_BAD_REQUEST', message: 'speaks node sync 1', details: {}}});
	t.is(syncClient.describe?.(refused.state), 'speaks node sync 1');
	t.deepEqual(toldTypes(on(refused, {type: 'helloAgain'}).effects, control), ['hello']);
});

test('of many pods that are gone so many are said at a time, the next when one was taken', t => {
	const count = limits.podGonesUnderWay + 2;
	let result = inStep();
	const said: string[] = [];
	const note = (): void => {
		for (const message of told(result.effects, ourControl)) if (message.type === 'podGone') said.push((message as PodGone).key);
	};
	for (let index = 0; index < count; index++) {
		result = on(result, gone(`p${index}`));
		note();
	}
	t.is(said.length, limits.podGonesUnderWay);
	for (let index = 0; index < count; index++) {
		result = on(result, {type: 'podGoneTaken', key: `pods/default/p${index}`, uid: `uid-of-p${index}`});
		note();
	}
	t.is(new Set(said).size, count);
	t.is(said.length, count);
	t.is(result.state.gone.size, 0);
});
