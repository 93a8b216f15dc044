// What a record does when things fail: writes of others, its own commits, its kind.

import test from 'ava';
import {failure} from '../../api/errors.js';
import type {Reply} from '../../system/kernel/behavior.js';
import {aNamespace, aPod, aReplicaSet, contextWith, indexOf, now, nowMs, openWrites, ownedBy} from './_objects.js';
import {records, restored, signalRecord, tellRecord, type Told} from './_records.js';

const store = failure('ERR_STORE', {message: 'disk full'});
const failed: Reply<unknown, 'outcome'> = {type: 'outcome', id: 'create/x', outcome: {ok: false, error: store}};
const conflict: Reply<unknown, 'outcome'> = {
	type: 'outcome',
	id: 'create/x',
	outcome: {ok: false, error: failure('ERR_CONFLICT', {name: 'x'})},
};
const fine: Reply<unknown, 'outcome'> = {type: 'outcome', id: 'create/x', outcome: {ok: true, value: null}};
const wake = {type: 'wake'};
const retry = {type: 'retry'};
const retryIn = (delayMs: number): object => ({type: 'wakeAt', name: 'retry', atMs: nowMs + delayMs, message: retry});

const set = aReplicaSet({spec: {replicas: 2}});
const context = contextWith(indexOf(set));
const creates = (effects: readonly {readonly type: string}[]): number => effects.filter(({type}) => type === 'create').length;

test('a write that failed is told, and tried again after a while', t => {
	const {effects, state} = tellRecord(set, [failed], context);
	t.deepEqual(effects, [
		{type: 'event', event: 'Warning', reason: 'FailedCreate', message: `Error creating: ${store.message}`},
		retryIn(1000),
	]);
	t.deepEqual(tellRecord(set, [wake], context, state).effects, []);
	t.is(creates(tellRecord(set, [retry], context, state).effects), 1, 'one alone: it may be refused again');
});

test('a hundred writes that fail together are one failure', t => {
	const {state, effects} = tellRecord(
		set,
		Array.from({length: 100}, () => failed),
		context,
	);
	t.like(state, {failures: {rounds: 1}, rest: {from: 'creates'}});
	t.deepEqual(effects, []);
});

test('what succeeds in a round that failed does not end its rest', t => {
	t.like(tellRecord(set, [failed, fine, conflict], context).state, {failures: {rounds: 1}, rest: {from: 'creates'}});
});

test('rounds that fail in a row wait ever longer, up to five minutes', t => {
	let {state} = tellRecord(set, [], context);
	const delays: number[] = [];
	for (let round = 0; round < 12; round++) {
		const step = tellRecord(set, [failed], context, state);
		const [, timer] = step.effects;
		delays.push(timer?.type === 'wakeAt' ? timer.atMs - nowMs : -1);
		state = tellRecord(set, [retry], context, step.state).state;
	}
	t.deepEqual(delays, [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000, 300_000]);
});

test('a success forgets the failures before it', t => {
	const {state, effects} = tellRecord(set, [failed, retry, fine], context);
	t.is(state.failures.rounds, 0);
	t.deepEqual(effects, [{type: 'tell', to: context.self, message: wake}]);
});

test('failures are forgotten once nothing is left to write', t => {
	const idle = aReplicaSet({spec: {replicas: 0}});
	const {state} = tellRecord(idle, [failed, retry], contextWith(indexOf(idle)));
	t.like(state, {failures: {rounds: 0}, rest: undefined});
});

test('a spec write ends the rest', t => {
	const {state} = tellRecord(set, [failed, {type: 'patch', patch: {spec: {replicas: 1}}}], context);
	t.like(state, {failures: {rounds: 0}, rest: undefined});
	const labelled = tellRecord(set, [failed, {type: 'patch', patch: {metadata: {labels: {a: 'b'}}}}], context);
	t.like(labelled.state, {failures: {rounds: 1}, rest: {from: 'creates'}});
});

test('a record that rests begins to go with its namespace, and goes as soon as nothing holds it', t => {
	const {state} = tellRecord(set, [failed], context);
	const leaving = contextWith(indexOf(aNamespace('default', {deletionTimestamp: now}), set));
	t.is(tellRecord(set, [wake], leaving, state).state.object, undefined);
	const held = {...set, metadata: {...set.metadata, deletionTimestamp: now, finalizers: ['orphan']}};
	const pod = aPod({metadata: {ownerReferences: [ownedBy(set)]}});
	const resting = {...state, object: held};
	t.truthy(tellRecord(held, [wake], contextWith(indexOf(held, pod)), resting).object);
	const {effects, object} = tellRecord(held, [fine], contextWith(indexOf(held)), resting);
	t.deepEqual(effects, [{type: 'tell', to: context.self, message: wake}]);
	t.truthy(object);
	t.is(tellRecord(held, [wake], contextWith(indexOf(held)), resting).object, undefined);
});

test('a failure that only says that the index moved on is looked at again at once', t => {
	const {state, effects} = tellRecord(set, [conflict], context);
	t.is(state.failures.rounds, 0);
	t.deepEqual(effects, [{type: 'tell', to: context.self, message: wake}]);
});

test('a commit that failed is tried again after a second', t => {
	t.deepEqual(signalRecord(set, {type: 'commitFailed', error: store}, context).effects, [retryIn(1000)]);
});

const crash = failure('ERR_ACTOR_CRASHED', {address: 'x', message: 'boom'});
const {parking} = records.ReplicaSet;

test('a parked record says so in a condition and an event, once', t => {
	const step = parking?.park(restored(set), crash, context);
	t.like(step?.state.object, {
		status: {replicas: 0, conditions: [{type: 'ActorFailed', status: 'True', reason: 'Parked', message: crash.message}]},
	});
	t.like(step?.effects, [{type: 'event', event: 'Warning', reason: 'ActorFailed'}]);
	const again = step && parking?.park(step.state, crash, contextWith(indexOf(), {nowMs: nowMs + 1000}));
	t.is(again?.state.object, step?.state.object);
});

test('a parked record rests from wakes and handles everything else', t => {
	t.true(parking?.rests(wake));
	t.true(parking?.rests(retry));
	for (const type of ['patch', 'replace', 'delete', 'create', 'outcome', 'bind']) t.false(parking?.rests({type}));
});

test('an unparked record drops the condition and takes up its work', t => {
	const parked = parking?.park(
		{...restored(set), failures: {rounds: 3, last: 'x'}, rest: {from: 'creates', quota: undefined}},
		crash,
		context,
	);
	const step = parked && parking?.unpark(parked.state, context);
	t.deepEqual((step?.state.object?.status as {conditions: unknown}).conditions, []);
	t.like(step?.state, {failures: {rounds: 0}, rest: undefined});
	t.is(openWrites(step?.effects ?? []).size, 2);
});

// ---- what goes on while a record is parked ------------------------------------------------------------------------------------

const leaving = aNamespace('leaving', {deletionTimestamp: '2023-11-14T22:13:20Z'});
const inside = aPod({metadata: {namespace: 'leaving'}});
const parkedNamespace = records.Namespace.parking;
const parkedPod = records.Pod.parking;

test('a parked record that is being deleted goes as soon as nothing holds it', t => {
	const held = parkedNamespace?.meanwhile?.(restored(leaving), contextWith(indexOf(leaving, inside)));
	t.is(held?.state.object, leaving);
	const free = parkedNamespace?.meanwhile?.(restored(leaving), contextWith(indexOf(leaving)));
	t.is(free?.state.object, undefined);
});

test('a parked record whose owner or namespace goes begins to be deleted', t => {
	const step = parkedPod?.meanwhile?.(restored(inside), contextWith(indexOf(leaving, inside)));
	t.is(step?.state.object, undefined, 'an unbound pod goes at once');
	t.like(step?.effects, [{type: 'event', reason: 'GarbageCollected'}]);
	const other = aPod();
	const rests = parkedPod?.meanwhile?.(restored(other), contextWith(indexOf(aNamespace(), other)));
	t.is(rests?.state.object, other);
	t.deepEqual(rests?.effects, []);
});

test('what cannot be read is removed by a deletion that asks for no grace and means this very object, and by nothing else', t => {
	const pod = aPod();
	const forces = (message: object): boolean => parkedPod?.forces?.(pod, message as Told) === true;
	t.true(forces({type: 'delete', graceSeconds: 0}));
	t.true(forces({type: 'delete', graceSeconds: 0, uid: pod.metadata.uid}));
	t.false(forces({type: 'delete', graceSeconds: 0, uid: 'another'}));
	t.false(forces({type: 'delete', graceSeconds: 0, dryRun: true}));
	for (const message of [{type: 'delete'}, {type: 'delete', graceSeconds: 30}, {type: 'patch'}, {type: 'wake'}]) t.false(forces(message));
});
