// Control's end of node sync: the difference, deltas within a window, and statuses that reach the right record or are corrected.

import test from 'ava';
import {failure} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ApiObject, OwnerReference} from '../../api/object.js';
import type {Pod} from '../../api/kinds/pod.js';
import {unreachableTaint} from '../../api/rules/taints.js';
import {assignmentOf, assignmentVersion} from '../../actors/control/sync/assignment.js';
import {
	nodeDispatcher,
	type NodeDispatcherInput,
	type NodeDispatcherMessage,
	type NodeDispatcherState,
} from '../../actors/control/sync/node-dispatcher.js';
import type {Delta, DeltaEntry, ObservedPod} from '../../actors/protocol/sync-message.js';
import type {Context, Effect} from '../../system/kernel/behavior.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {play, playFrom, type Played} from '../../system/kernel/play.js';
import {aContainer, aNode, aPod, aReadyPod, contextWith, drop, indexOf, keyOf, now, nowMs, put} from './_objects.js';
import {aHello, aRuntimeInfo} from './_agent.js';

type Result = Played<NodeDispatcherState>;

const input: NodeDispatcherInput = {node: 'node-a', epoch: 7, lineage: 'ours', version: '0.1.0'};
const self = 'troupe://control/sync/node-a';
const around = (known: ObjectIndex): Context => contextWith(known, {self});

const deltasOf = (effects: readonly Effect[]): Delta[] =>
	effects.flatMap(effect =>
		effect.type === 'tell' && effect.to === 'troupe://node-a/sync' && effect.message.type === 'delta' ? [effect.message as Delta] : [],
	);
const entriesOf = (effects: readonly Effect[]): DeltaEntry[] => deltasOf(effects).flatMap(({entries}) => entries);
const shown = (effects: readonly Effect[]): [string, string | undefined][] =>
	entriesOf(effects).map(({key, assignment}) => [key, assignment?.uid]);
const askedAs = (effects: readonly Effect[], as: string) =>
	effects.flatMap(effect => (effect.type === 'ask' && effect.as === as ? [effect] : []));

const greet = (known: ObjectIndex, hello = aHello()): Result => play(nodeDispatcher, input, [hello], around(known));
const on = ({state}: Result, known: ObjectIndex, ...messages: readonly NodeDispatcherMessage[]): Result =>
	playFrom(nodeDispatcher, state, messages, around(known));
const changed = (result: Result, known: ObjectIndex, ...keys: readonly string[]): Result =>
	on(result, known, ...keys.map(key => ({type: 'dirty', key}) as const), {type: 'flush'});

const web = aReadyPod();
const ours = (name: string, parts: Parameters<typeof aReadyPod>[0] = {}): Pod => aReadyPod({...parts, name});

test('a hello is answered with what the node lacks, has otherwise, and should not have', t => {
	const same = ours('same');
	const index = indexOf(web, same, ours('changed'), aReadyPod({name: 'elsewhere', spec: {nodeName: 'node-b'}}));
	const have = {
		'pods/default/same': assignmentVersion(same),
		'pods/default/changed': 'old',
		'pods/default/elsewhere': 'x',
		'pods/default/removed': 'y',
	};
	const {effects} = greet(index, aHello({have}));
	t.deepEqual(shown(effects).sort(), [
		['pods/default/changed', 'uid-of-changed'],
		['pods/default/elsewhere', undefined],
		['pods/default/removed', undefined],
		['pods/default/web', 'uid-of-web'],
	]);
	t.like(deltasOf(effects).at(-1), {complete: true, session: 'session-1', epoch: 7, lineage: 'ours'});
});

test('a hello that has it all is answered with an empty delta', t => {
	const {effects} = greet(indexOf(web), aHello({have: {'pods/default/web': assignmentVersion(web)}}));
	t.like(deltasOf(effects), [{number: 1, entries: [], complete: true}]);
});

test('what a node has of another lineage is never right, whatever its version says', t => {
	const have = {'pods/default/web': assignmentVersion(web), 'pods/default/theirs': 'v'};
	t.deepEqual(shown(greet(indexOf(web), aHello({have, lineage: 'foreign'})).effects).sort(), [
		['pods/default/theirs', undefined],
		['pods/default/web', 'uid-of-web'],
	]);
});

test('the node’s record hears of the hello, and again later when it could not be written', t => {
	const {effects, state} = greet(indexOf());
	t.like(askedAs(effects, 'heardTaken'), [
		{to: 'troupe://control/nodes/node-a', message: {type: 'heard', info: aRuntimeInfo(), version: '0.1.0'}},
	]);
	const broken = {type: 'heardTaken', id: 'heard', outcome: {ok: false, error: failure('ERR_STORE', {message: 'full'})}} as const;
	const later = playFrom(nodeDispatcher, state, [broken], around(indexOf()));
	t.deepEqual(later.effects, [{type: 'wakeAt', name: 'hearAgain', atMs: nowMs + 1000, message: {type: 'hearAgain'}}]);
	t.is(askedAs(on(later, indexOf(), {type: 'hearAgain'}).effects, 'heardTaken').length, 1);
});

test('a hello that comes while the record is told of another one is told after that', t => {
	const first = greet(indexOf());
	const other = aHello({session: 'second', info: aRuntimeInfo({cpuMillis: 7})});
	const second = on(first, indexOf(), other);
	t.deepEqual(askedAs(second.effects, 'heardTaken'), []);
	const taken = {type: 'heardTaken', id: 'heard', outcome: {ok: true, value: null}} as const;
	const after = on(second, indexOf(), taken);
	t.like(askedAs(after.effects, 'heardTaken'), [{message: {type: 'heard', info: {cpuMillis: 7}}}]);
	t.deepEqual(askedAs(on(after, indexOf(), taken).effects, 'heardTaken'), []);
});

test('what changes is sent once, and what does not concern the node is not', t => {
	const index = indexOf();
	const greeted = greet(index);
	put(index, web);
	const sent = changed(greeted, index, keyOf(web));
	t.deepEqual(shown(sent.effects), [['pods/default/web', 'uid-of-web']]);
	t.deepEqual(changed(sent, index, keyOf(web)).effects, []);
	put(index, {...web, status: {phase: 'Failed'}});
	t.deepEqual(changed(sent, index, keyOf(web)).effects, []);
	put(index, {...web, metadata: {...web.metadata, deletionTimestamp: now, deletionGracePeriodSeconds: 5}});
	t.is(entriesOf(changed(sent, index, keyOf(web)).effects)[0]?.assignment?.deletionGraceSeconds, 5);
	drop(index, web);
	t.deepEqual(shown(changed(sent, index, keyOf(web)).effects), [['pods/default/web', undefined]]);
});

test('versions differ exactly when assignments do', t => {
	const metadata = web.metadata;
	const variants: Pod[] = [
		web,
		{...web, metadata: {...metadata, uid: 'other'}},
		{...web, metadata: {...metadata, generation: 2}},
		{...web, metadata: {...metadata, labels: {a: 'b'}}},
		{...web, metadata: {...metadata, annotations: {a: 'b'}}},
		{...web, metadata: {...metadata, deletionTimestamp: now, deletionGracePeriodSeconds: 30}},
		{...web, metadata: {...metadata, deletionTimestamp: now, deletionGracePeriodSeconds: 3}},
		{...web, spec: {containers: [], nodeName: 'node-b'}},
	];
	t.is(new Set(variants.map(assignmentVersion)).size, variants.length);
	t.is(assignmentVersion({...web, status: {phase: 'Failed'}}), assignmentVersion(web));
	t.is(assignmentVersion({...web, metadata: {...metadata, resourceVersion: '99', ownerReferences: []}}), assignmentVersion(web));
	t.is(assignmentOf(aPod(), indexOf()), undefined);
});

test('a node is told by name what a pod comes of in the end, so that it is the same after whatever is made anew', t => {
	const ref = (kind: string, name: string, controller = true) => ({apiVersion: 'apps/v1', kind, name, uid: `uid-of-${name}`, controller});
	const controllerOf = (pod: Pod, ...above: readonly ApiObject[]) =>
		assignmentOf(pod, {byUid: uid => above.find(object => object.metadata.uid === uid)})?.controller;
	const owned = (...ownerReferences: readonly OwnerReference[]): Pod => ({...web, metadata: {...web.metadata, ownerReferences}});
	const set = (...ownerReferences: readonly OwnerReference[]): ApiObject => ({
		...web,
		kind: 'ReplicaSet',
		metadata: {...web.metadata, name: 'set', uid: 'uid-of-set', ownerReferences},
	});
	t.is(controllerOf(web), 'default/Pod/web');
	t.is(controllerOf(owned(ref('Job', 'j', false))), 'default/Pod/web');
	t.is(controllerOf(owned(ref('ReplicaSet', 'set'))), 'default/ReplicaSet/set');
	t.is(controllerOf(owned(ref('ReplicaSet', 'set')), set(ref('Deployment', 'top'))), 'default/Deployment/top');
	t.is(controllerOf(owned(ref('ReplicaSet', 'set')), set(ref('ReplicaSet', 'set'))), 'default/ReplicaSet/set');
});

const large = (count: number): Pod[] =>
	Array.from({length: count}, (_, i) => ours(`p${i}`, {spec: {containers: [aContainer({args: ['x'.repeat(30_000)]})]}}));

test('no more than the window is under way; an acknowledgement opens it, and the newest goes', t => {
	const pods = large(20);
	const index = indexOf(...pods);
	const first = greet(index);
	const sent = new Set(entriesOf(first.effects).map(({key}) => key));
	t.true(sent.size < 20 && sent.size >= 8, `${sent.size} sent`);
	t.false(deltasOf(first.effects).some(({complete}) => complete));
	t.deepEqual(on(first, index, {type: 'flush'}).effects, []);
	const waiting = pods.find(pod => !sent.has(keyOf(pod))) as Pod;
	drop(index, waiting);
	const seen = [...sent];
	let result = first;
	for (let number = deltasOf(first.effects).at(-1)?.number ?? 0, rounds = 0; rounds < 20 && result.state.greeting; rounds++) {
		result = on(result, index, {type: 'deltaTaken', session: 'session-1', number});
		seen.push(...entriesOf(result.effects).map(({key}) => key));
		number = deltasOf(result.effects).at(-1)?.number ?? number;
	}
	t.is(seen.length, 19);
	t.is(new Set(seen).size, 19);
	t.true(deltasOf(result.effects).at(-1)?.complete);
});

test('an object larger than the window goes alone', t => {
	const huge = ours('huge', {spec: {containers: [aContainer({args: ['x'.repeat(400_000)]})]}});
	const first = greet(indexOf(huge, web));
	t.is(entriesOf(first.effects).length >= 1, true);
	const rest = on(first, indexOf(huge, web), {type: 'deltaTaken', session: 'session-1', number: 99});
	t.deepEqual([...shown(first.effects), ...shown(rest.effects)].map(([key]) => key).sort(), ['pods/default/huge', 'pods/default/web']);
});

test('whatever makes a pod large counts: no delta of several is larger than one may be', t => {
	const annotations = {note: 'x'.repeat(40_000)};
	const initContainers = [aContainer({name: 'first', args: ['x'.repeat(40_000)]})];
	const pods = Array.from({length: 4}, (_, i) => ours(`p${i}`, i % 2 === 0 ? {metadata: {annotations}} : {spec: {initContainers}}));
	const deltas = deltasOf(greet(indexOf(...pods)).effects);
	t.deepEqual(
		deltas.map(({entries}) => entries.length),
		[1, 1, 1, 1],
	);
	for (const {entries} of deltas) t.true(JSON.stringify(entries).length <= limits.nodeSyncDeltaBytes);
});

test('an object larger than what is left of the window waits until there is room, or nothing is under way', t => {
	const small = ours('small');
	const huge = ours('huge', {spec: {containers: [aContainer({args: ['x'.repeat(900_000)]})]}});
	const index = indexOf(small);
	const greeted = greet(index);
	t.deepEqual(shown(greeted.effects), [['pods/default/small', 'uid-of-small']]);
	put(index, huge);
	const waiting = changed(greeted, index, keyOf(huge));
	t.deepEqual(shown(waiting.effects), []);
	const taken = on(waiting, index, {type: 'deltaTaken', session: 'session-1', number: 1});
	t.deepEqual(shown(taken.effects), [['pods/default/huge', 'uid-of-huge']]);
});

test('acknowledgements and reports of an earlier hello are ignored', t => {
	const index = indexOf(...large(20));
	const first = greet(index);
	t.deepEqual(on(first, index, {type: 'deltaTaken', session: 'earlier', number: 99}).effects, []);
	t.deepEqual(on(first, index, {type: 'observed', session: 'earlier', number: 1, pods: []}).effects, []);
});

const observedOf = (pod: ApiObject, overrides: Partial<ObservedPod> = {}): ObservedPod => ({
	key: keyOf(pod),
	uid: pod.metadata.uid,
	status: {phase: 'Running'},
	events: [],
	cause: 'exit of main',
	...overrides,
});
const observe = (pods: readonly ObservedPod[], number = 1): NodeDispatcherMessage => ({
	type: 'observed',
	session: 'session-1',
	number,
	pods,
});
const statusTaken = (
	effect: {readonly id: string} | undefined,
	code?: 'ERR_STORE' | 'ERR_CONFLICT' | 'ERR_NO_SUCH_ACTOR',
): NodeDispatcherMessage => ({
	type: 'statusTaken',
	id: effect?.id ?? '',
	outcome: code === undefined ? {ok: true, value: null} : {ok: false, error: failure(code, {name: 'x', address: 'x', message: 'x'})},
});
const takenOf = (effects: readonly Effect[]): unknown[] =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.message.type === 'observedTaken' ? [effect.message] : []));

test('a status goes to its record; the node hears when all of a message are committed', t => {
	const other = ours('other');
	const index = indexOf(web, other);
	const told = on(greet(index), index, observe([observedOf(web), observedOf(other)]));
	const asks = askedAs(told.effects, 'statusTaken');
	t.like(asks, [
		{to: 'troupe://control/pods/default.web', message: {type: 'observed', uid: 'uid-of-web', status: {phase: 'Running'}}},
		{to: 'troupe://control/pods/default.other'},
	]);
	const half = on(told, index, statusTaken(asks[0]));
	t.deepEqual(half.effects, []);
	t.deepEqual(takenOf(on(half, index, statusTaken(asks[1])).effects), [
		{type: 'observedTaken', session: 'session-1', number: 1, failed: []},
	]);
});

test('each status keeps the cause it came with, whatever else was in the message', t => {
	const other = ours('other');
	const index = indexOf(web, other);
	const told = on(greet(index), index, observe([observedOf(web, {cause: 'exit of web'}), observedOf(other, {cause: 'http admin POST'})]));
	t.like(askedAs(told.effects, 'statusTaken'), [{cause: 'exit of web'}, {cause: 'http admin POST'}]);
});

test('what could not be committed is named, what the record refused or is gone is not', t => {
	const pods = ['a', 'b', 'c'].map(name => ours(name));
	const index = indexOf(...pods);
	const told = on(greet(index), index, observe(pods.map(pod => observedOf(pod))));
	const asks = askedAs(told.effects, 'statusTaken');
	const taken = on(
		told,
		index,
		statusTaken(asks[0], 'ERR_STORE'),
		statusTaken(asks[1], 'ERR_CONFLICT'),
		statusTaken(asks[2], 'ERR_NO_SUCH_ACTOR'),
	);
	t.deepEqual(takenOf(taken.effects), [{type: 'observedTaken', session: 'session-1', number: 1, failed: ['pods/default/a']}]);
});

test('outcomes of an earlier session do not count for this one', t => {
	const index = indexOf(web);
	const told = on(greet(index), index, observe([observedOf(web)]));
	const [old] = askedAs(told.effects, 'statusTaken');
	const again = on(told, index, aHello({session: 'session-2', have: {}}));
	const fresh = on(again, index, {...(observe([observedOf(web)]) as object), session: 'session-2'} as NodeDispatcherMessage);
	const [asked] = askedAs(fresh.effects, 'statusTaken');
	t.not(asked?.id, old?.id);
	t.is(on(fresh, index, statusTaken(old)).state, fresh.state);
	t.is(takenOf(on(fresh, index, statusTaken(asked)).effects).length, 1);
});

test('a status of a pod that is not there, is another, or is elsewhere is answered with the truth', t => {
	const moved = aReadyPod({name: 'moved', spec: {nodeName: 'node-b'}});
	const index = indexOf(web, moved);
	const greeted = greet(index);
	const removed = aReadyPod({name: 'removed'});
	const told = on(greeted, index, observe([observedOf(removed), observedOf(web, {uid: 'before'}), observedOf(moved)]));
	t.deepEqual(askedAs(told.effects, 'statusTaken'), []);
	t.deepEqual(takenOf(told.effects), [{type: 'observedTaken', session: 'session-1', number: 1, failed: []}]);
	t.deepEqual(shown(told.effects).sort(), [
		['pods/default/moved', undefined],
		['pods/default/removed', undefined],
	]);
});

test('an empty message is answered', t => {
	t.is(takenOf(on(greet(indexOf()), indexOf(), observe([])).effects).length, 1);
});

const ending = ours('ending', {metadata: {deletionTimestamp: now, deletionGracePeriodSeconds: 30}});
const gone = (pod: ApiObject, uid = pod.metadata.uid): NodeDispatcherMessage => ({type: 'podGone', key: keyOf(pod), uid});
const goneTaken = (effect: {readonly id: string} | undefined, ok = true): NodeDispatcherMessage => ({
	type: 'goneTaken',
	id: effect?.id ?? '',
	outcome: ok ? {ok: true, value: null} : {ok: false, error: failure('ERR_STORE', {message: 'full'})},
});
const confirmed = (effects: readonly Effect[]): unknown[] =>
	effects.flatMap(effect =>
		effect.type === 'tell' && effect.message.type === 'podGoneTaken' ? [(effect.message as unknown as {uid: string}).uid] : [],
	);

test('that a pod is gone is told to its record and confirmed once that is committed', t => {
	const index = indexOf(ending);
	const told = on(greet(index), index, gone(ending));
	const [ask] = askedAs(told.effects, 'goneTaken');
	t.like(ask, {to: 'troupe://control/pods/default.ending', message: {type: 'gone', uid: 'uid-of-ending'}});
	t.deepEqual(on(told, index, goneTaken(ask, false)).effects, []);
	drop(index, ending);
	const taken = on(told, index, goneTaken(ask));
	t.deepEqual(confirmed(taken.effects), ['uid-of-ending']);
	t.deepEqual(deltasOf(taken.effects), []);
});

test('a gone pod that finalizers hold is not sent to its node again', t => {
	const held = ours('held', {metadata: {deletionTimestamp: now, deletionGracePeriodSeconds: 0, finalizers: ['a.example/x']}});
	const index = indexOf(held);
	t.deepEqual(entriesOf(greet(index).effects), []);
	const told = on(greet(index), index, gone(held));
	const taken = on(told, index, goneTaken(askedAs(told.effects, 'goneTaken')[0]));
	t.deepEqual(entriesOf(taken.effects), []);
	t.deepEqual(entriesOf(changed(taken, index, keyOf(held)).effects), []);
	t.deepEqual(shown(greet(index, aHello({have: {'pods/default/held': 'v'}})).effects), [['pods/default/held', undefined]]);
});

test('a pod that is gone though nobody deleted it is sent again', t => {
	const index = indexOf(web);
	const told = on(greet(index), index, gone(web));
	const taken = on(told, index, goneTaken(askedAs(told.effects, 'goneTaken')[0]));
	t.deepEqual(shown(taken.effects), [['pods/default/web', 'uid-of-web']]);
});

test('a node cannot end what is not its own', t => {
	const elsewhere = aReadyPod({
		name: 'elsewhere',
		spec: {nodeName: 'node-b'},
		metadata: {deletionTimestamp: now, deletionGracePeriodSeconds: 30},
	});
	const index = indexOf(elsewhere);
	const home = index.get('namespaces/_/default') as ApiObject;
	for (const message of [gone(elsewhere), gone(home), gone(web)]) {
		const {effects} = on(greet(index), index, message);
		t.deepEqual(askedAs(effects, 'goneTaken'), []);
		t.is(confirmed(effects).length, 1);
	}
});

test('after a crash nothing is known of the node: it is called, once, and its hello brings everything', t => {
	const index = indexOf(web);
	const start = play(nodeDispatcher, input, [], around(index));
	const called = on(start, index, {type: 'dirty', key: keyOf(web)});
	t.deepEqual(called.effects, [{type: 'tell', to: 'troupe://node-a/sync', message: {type: 'callHello'}}]);
	for (const message of [observe([observedOf(web)]), gone(web), {type: 'flush'} as const])
		t.deepEqual(on(called, index, message).effects, []);
	t.deepEqual(shown(on(called, index, aHello()).effects), [['pods/default/web', 'uid-of-web']]);
});

test('after a crash the node is called though nobody says anything: it may wait for an answer that is forgotten', t => {
	const index = indexOf(web);
	const begun = play(nodeDispatcher, input, [], around(index));
	t.deepEqual(begun.effects, [{type: 'wakeAt', name: 'begin', atMs: nowMs + 1000, message: {type: 'flush'}}]);
	t.deepEqual(on(begun, index, {type: 'flush'}).effects, [{type: 'tell', to: 'troupe://node-a/sync', message: {type: 'callHello'}}]);
	t.deepEqual(on(greet(index, aHello({have: {'pods/default/web': assignmentVersion(web)}})), index, {type: 'flush'}).effects, []);
});

test('a node whose record is deleted is called as often as that happens: its hello registers it anew', t => {
	const call = {type: 'tell', to: 'troupe://node-a/sync', message: {type: 'callHello'}};
	const index = indexOf(web);
	const once = on(greet(index), index, {type: 'nodeRemoved'});
	t.deepEqual(once.effects as unknown[], [call]);
	t.deepEqual(on(once, index, aHello(), {type: 'nodeRemoved'}).effects as unknown[], [call]);
});

test('so many small deltas are under way at most; the rest goes together when one is taken', t => {
	const index = indexOf();
	let result = on(greet(index), index, {type: 'deltaTaken', session: 'session-1', number: 1});
	const names = Array.from({length: limits.nodeSyncDeltas + 5}, (_, number) => `p${number}`);
	let sent = 0;
	for (const name of names) {
		put(index, ours(name));
		result = changed(result, index, `pods/default/${name}`);
		sent += deltasOf(result.effects).length;
	}
	t.is(sent, limits.nodeSyncDeltas);
	const {effects} = on(result, index, {type: 'deltaTaken', session: 'session-1', number: 2});
	t.deepEqual(
		deltasOf(effects).map(({entries}) => entries.length),
		[5],
	);
});

test('a lease is renewed for exclusive pods that are the node’s own, and for none while the node is lost', t => {
	const exclusive = (name: string, parts: Parameters<typeof aReadyPod>[0] = {}): Pod =>
		ours(name, {...parts, metadata: {annotations: {'troupe.dev/exclusive': 'true'}}});
	const over = exclusive('over');
	const index = indexOf(aNode(), exclusive('mine'), ours('plain'), exclusive('elsewhere', {spec: {nodeName: 'node-b'}}), {
		...over,
		metadata: {...over.metadata, deletionTimestamp: now, deletionGracePeriodSeconds: 0},
	});
	const pods = ['mine', 'plain', 'elsewhere', 'over', 'gone'].map(name => ({key: `pods/default/${name}`, uid: `uid-of-${name}`}));
	const asked = {type: 'renewLeases', number: 3, pods} as const;
	const renewed = (...uids: readonly string[]) => [
		{type: 'tell', to: 'troupe://node-a/leases', message: {type: 'leasesRenewed', number: 3, uids}},
	];
	const greeted = greet(index);
	t.like(on(greeted, index, asked).effects, renewed('uid-of-mine'));
	const another = {...asked, pods: [{key: 'pods/default/mine', uid: 'uid-of-one-before'}]};
	t.like(on(greeted, index, another).effects, renewed(), 'a pod of that name before it');
	put(index, aNode({spec: {taints: [{key: unreachableTaint, effect: 'NoExecute'}]}}));
	t.like(on(greeted, index, asked).effects, renewed(), 'its pods are being taken');
	drop(index, aNode());
	t.like(on(greeted, index, asked).effects, renewed(), 'it has no record any more');
});

test('what a node repeats waits once', t => {
	const keys = [gone(web), gone(ours('other')), observe([]), aHello(), {type: 'deltaTaken', session: 'session-1', number: 1} as const].map(
		message => nodeDispatcher.coalesce?.(message),
	);
	t.is(new Set(keys).size, keys.length);
	t.is(nodeDispatcher.coalesce?.(gone(web)), keys[0]);
	t.is(keys[4], undefined, 'each acknowledgement is heard');
});
