// A function's activator: which call gets which slot, which is held, and how many instances are asked for.

import test from 'ava';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {activator, type ActivatorMessage, type ActivatorState} from '../../actors/control/functions/activator.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {play, playFrom, type Played} from '../../system/kernel/play.js';
import {versionOf} from '../../actors/control/functions/function-version.js';
import {aFunction, anInstance, aVersion, digest, version} from './_functions.js';
import {before, contextWith, indexOf, nowMs} from './_objects.js';

const key = 'functions/default/add';
const replyTo = (id: string) => ({to: 'troupe://control/edge', as: 'edge', id});
const acquire = (ticket: string, ...avoid: readonly string[]): ActivatorMessage => ({
	type: 'acquire',
	function: key,
	ticket,
	replyTo: replyTo(ticket),
	avoid,
});
const release = (ticket: string): ActivatorMessage => ({type: 'release', ticket});

const around = (objects: readonly ApiObject[], atMs = nowMs) => contextWith(indexOf(...objects), {nowMs: atMs});
const played = (objects: readonly ApiObject[], messages: readonly ActivatorMessage[], atMs = nowMs): Played<ActivatorState> =>
	play(activator, {function: key}, messages, around(objects, atMs));
const goesOn = (
	{state}: Played<ActivatorState>,
	objects: readonly ApiObject[],
	messages: readonly ActivatorMessage[],
	atMs = nowMs,
): Played<ActivatorState> => playFrom(activator, state, messages, around(objects, atMs));

/** Who is answered with what: `1: pod-a`, `2: ERR_BUSY`; and what is asked of the function. */
const told = (effects: readonly Effect[]): readonly string[] =>
	effects.flatMap(effect => {
		if (effect.type === 'reply')
			return `${effect.to.id}: ${effect.outcome.ok ? (effect.outcome.value as {pod: string}).pod : effect.outcome.error.code}`;
		return effect.type === 'tell' && effect.message.type === 'demand'
			? `needs ${(effect.message as unknown as {desired: number}).desired}`
			: [];
	});
const looksAt = (effects: readonly Effect[]): number | undefined => effects.find(effect => effect.type === 'wakeAt')?.atMs;

const fn = aFunction();
const set = aVersion(fn, 1);
const one = anInstance(set, 'one');
const two = anInstance(set, 'two');

test('a call of a function without instances is held, and an instance is asked for once', t => {
	const first = played([fn], [acquire('1')]);
	t.deepEqual(told(first.effects), ['needs 1']);
	const second = goesOn(first, [fn], [acquire('2')]);
	t.deepEqual(told(second.effects), [], 'one instance takes two');
	t.deepEqual(told(goesOn(second, [fn], [acquire('3')]).effects), ['needs 2']);
});

test('what is held is answered oldest first, once an instance is ready', t => {
	const held = played([fn], [acquire('1'), acquire('2'), acquire('3')]);
	const {effects, state} = goesOn(held, [fn, set, one], [{type: 'wake'}]);
	t.deepEqual(told(effects), ['1: one', '2: one', 'needs 2']);
	t.deepEqual(
		state.held.map(({ticket}) => ticket),
		['3'],
	);
});

test('a call goes to the least busy instance, and to none beyond what it takes', t => {
	const objects = [aFunction({}, {desired: 2}), set, one, two];
	let now = played(objects, [acquire('1')]);
	const pods = [told(now.effects)[0]];
	for (const ticket of ['2', '3', '4', '5']) {
		now = goesOn(now, objects, [acquire(ticket)]);
		pods.push(told(now.effects)[0]);
	}
	t.deepEqual(pods, ['1: one', '2: two', '3: one', '4: two', 'needs 3']);
	t.deepEqual(told(goesOn(now, objects, [release('2')]).effects)[0], '5: two');
});

test('the newest version takes calls as long as it has room', t => {
	const next = aVersion(fn, 2);
	const objects = [aFunction({}, {desired: 2}), set, next, one, anInstance(next, 'new')];
	const {effects, state} = played(objects, [acquire('1')]);
	t.deepEqual(told(effects), ['1: new']);
	const full = goesOn({effects, state, stopped: false, object: undefined}, objects, [acquire('2')]);
	t.deepEqual(told(full.effects), ['2: new']);
	t.deepEqual(told(goesOn(full, objects, [acquire('3')]).effects), ['3: one']);
});

test('an instance that is to be avoided gets not this call, and what waits behind it goes on', t => {
	const objects = [aFunction({}, {desired: 1}), set, one];
	const held = played(objects, [acquire('1', 'uid-of-one')]);
	t.deepEqual(told(held.effects), []);
	t.deepEqual(told(goesOn(held, objects, [acquire('2')]).effects), ['2: one']);
	t.deepEqual(told(goesOn(held, [...objects, two], [{type: 'wake'}]).effects), ['1: two']);
});

test('an instance that goes takes no more calls, and ends those that it has', t => {
	const objects = [aFunction({}, {desired: 1}), set];
	const busy = played([...objects, one], [acquire('1')]);
	const going = anInstance(set, 'one', 2, {deletionTimestamp: before});
	const held = goesOn(busy, [...objects, going], [{type: 'wake'}, acquire('2')]);
	t.is(held.state.held.length, 1);
	const gone = goesOn(held, objects, [{type: 'wake'}]);
	t.is(gone.state.instances.size, 1);
	t.is(goesOn(gone, objects, [release('1')]).state.instances.get('uid-of-one')?.tickets.length, 0);
	t.is(goesOn(gone, objects, [release('1'), {type: 'wake'}]).state.instances.size, 0);
});

test('a caller that goes while it waits gives its place up, and one unknown is nothing', t => {
	const held = played([fn], [acquire('1'), acquire('2'), release('1'), release('x')]);
	t.deepEqual(
		held.state.held.map(({ticket}) => ticket),
		['2'],
	);
});

test('no more calls wait than the queue takes, and the others are told so', t => {
	const calls = Array.from({length: limits.functionQueue}, (_, i) => acquire(String(i)));
	const full = played([fn], calls);
	t.deepEqual(told(goesOn(full, [fn], [acquire('late')]).effects), ['late: ERR_BUSY']);
	t.is(full.state.needed, limits.functionQueue / 2);
});

test('no more instances are asked for than there may be', t => {
	const calls = Array.from({length: 20}, (_, i) => acquire(String(i)));
	t.is(played([fn], calls).state.told, 3);
});

test('instances that were needed stay for as long as idle says, then as many as were needed meanwhile', t => {
	const objects = [aFunction({}, {desired: 2}), set, one, two];
	const busy = played(objects, [acquire('1'), acquire('2'), acquire('3')]);
	const less = goesOn(busy, objects, [release('1')], nowMs + 10_000);
	t.is(looksAt(less.effects), nowMs + 70_000);
	t.is(less.state.told, 2);
	const idle = goesOn(less, objects, [release('2'), release('3')], nowMs + 20_000);
	t.is(idle.state.told, 2);
	const early = goesOn(idle, objects, [{type: 'look'}], nowMs + 69_999);
	t.is(early.state.told, 2);
	const first = goesOn(early, objects, [{type: 'look'}], nowMs + 70_000);
	t.deepEqual(told(first.effects), ['needs 1']);
	t.is(looksAt(first.effects), nowMs + 80_000);
	const last = goesOn(first, [aFunction({}, {desired: 1}), set, one], [{type: 'look'}], nowMs + 80_000);
	t.deepEqual(told(last.effects), ['needs 0']);
	t.false(last.stopped);
	const over = goesOn(last, [aFunction({}, {desired: 0}), set], [{type: 'wake'}, {type: 'look'}], nowMs + 90_000);
	t.true(over.stopped);
});

test('a new activator keeps what its predecessor asked for, until that has been idle', t => {
	const objects = [aFunction({}, {desired: 2}), set, one, two];
	const {effects, state} = played(objects, []);
	t.deepEqual(told(effects), []);
	t.is(state.told, 2);
	t.is(looksAt(effects), nowMs + 60_000);
});

test('an activator that nobody has called goes only after its time, since a call may be on its way', t => {
	const made = played([fn], []);
	t.false(made.stopped);
	t.is(looksAt(made.effects), nowMs + 60_000);
	t.true(goesOn(made, [fn], [{type: 'look'}], nowMs + 60_000).stopped);
});

test('whoever waits for a function that goes, or has no code, is told', t => {
	t.deepEqual(told(played([], [acquire('1')]).effects), ['1: ERR_NOT_FOUND']);
	const {artifact: _, ...bare} = fn.spec ?? {};
	t.deepEqual(told(played([{...fn, spec: bare}], [acquire('1')]).effects), ['1: ERR_CONFLICT']);
	const held = played([fn], [acquire('1'), acquire('2')]);
	t.deepEqual(told(goesOn(held, [], [{type: 'wake'}]).effects), ['1: ERR_NOT_FOUND', '2: ERR_NOT_FOUND']);
});

// ---- calls of one version ----------------------------------------------------------------------------------------------------

const old = aFunction({artifact: digest('b')});
const setOf = (each: typeof fn, revision: number): ReplicaSet => version(each, revision, 0)[0] as ReplicaSet;
const [oldSet, newSet] = [setOf(old, 1), setOf(fn, 2)];
const oldOne = anInstance(oldSet, 'old');
const newOne = anInstance(newSet, 'new');
const word = versionOf(old) ?? '';
const acquireOf = (ticket: string, wanted: string): ActivatorMessage => ({...acquire(ticket), version: wanted}) as ActivatorMessage;
const now = versionOf(fn) ?? '';

test('a call of one version goes to its instances alone, whoever else has room', t => {
	const objects = [aFunction({}, {desired: 2}), oldSet, newSet, oldOne, newOne];
	t.deepEqual(told(played(objects, [acquireOf('1', word)]).effects), ['1: old']);
	const full = played(objects, [acquireOf('1', now), acquireOf('2', now)]);
	const held = goesOn(full, objects, [acquireOf('3', now)]);
	t.deepEqual(told(held.effects), [], 'the old one is not its version');
	t.deepEqual(told(goesOn(held, objects, [acquire('4')]).effects), ['4: old'], 'who asks for no version does not wait behind it');
	t.deepEqual(told(goesOn(held, objects, [release('1')]).effects), ['3: new']);
});

test('a call of the newest version waits for its first instance, though older ones have room', t => {
	const objects = [aFunction({}, {desired: 1}), oldSet, oldOne];
	const held = played(objects, [acquireOf('1', now)]);
	t.deepEqual(told(held.effects), []);
	t.deepEqual(told(goesOn(held, [...objects, newSet, newOne], [{type: 'wake'}]).effects), ['1: new']);
});

test('calls that wait for one version do not keep those behind them from another one', t => {
	const objects = [aFunction({}, {desired: 2}), oldSet, newSet, oldOne, newOne];
	const held = played(
		objects,
		['1', '2', '3', '4'].map(ticket => acquireOf(ticket, now)),
	);
	t.is(held.state.held.length, 2);
	t.deepEqual(told(goesOn(held, objects, [acquireOf('5', word)]).effects), ['5: old', 'needs 3']);
});

test('instances of a version on its own take no calls but its own', t => {
	const objects = [aFunction({}, {desired: 1, apart: [1]}), oldSet, oldOne];
	t.deepEqual(told(played(objects, [acquire('1')]).effects), []);
	const its = play(activator, {function: key, revision: 1}, [{...acquire('1'), revision: 1} as ActivatorMessage], around(objects));
	t.deepEqual(told(its.effects), ['1: old', 'needs 1']);
});

test('who waits for a version that gets an activator of its own, or is gone, asks again, and the others wait on', t => {
	const objects = [aFunction({}, {desired: 1}), oldSet];
	const held = played(objects, [acquireOf('1', word), acquireOf('2', now)]);
	const moved = [aFunction({}, {desired: 1, apart: [1]}), oldSet];
	t.deepEqual(told(goesOn(held, moved, [{type: 'wake'}]).effects), ['1: ERR_ACTOR_STOPPED']);
	t.deepEqual(told(goesOn(held, [aFunction({}, {desired: 1})], [{type: 'wake'}]).effects), ['1: ERR_ACTOR_STOPPED']);
	t.deepEqual(told(played(moved, [acquireOf('1', word)]).effects), ['1: ERR_ACTOR_STOPPED']);
});

test('the activator of a version that is on its own no more refuses, and needs nothing', t => {
	const apart = [aFunction({}, {apart: [1], demands: [{revision: 1, desired: 1}]}), oldSet];
	const its = (messages: readonly ActivatorMessage[]) => play(activator, {function: key, revision: 1}, messages, around(apart));
	const held = its([{...acquire('1'), revision: 1} as ActivatorMessage]);
	t.deepEqual(told(held.effects), []);
	const over = [aFunction({}, {demands: [{revision: 1, desired: 1}]}), oldSet];
	t.deepEqual(told(goesOn(held, over, [{type: 'wake'}]).effects), ['1: ERR_ACTOR_STOPPED', 'needs 0']);
});
