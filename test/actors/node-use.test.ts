// The strategies least-cpu and least-memory go by what nodes really use.

import test from 'ava';
import {limits} from '../../api/limits.js';
import {succeeded, failed} from '../../api/errors.js';
import {cpuLoad, memoryLoad, type NodeUse} from '../../actors/control/scheduling/node-use.js';
import {scheduler, type SchedulerState} from '../../actors/control/scheduling/scheduler.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {playFrom, play} from '../../system/kernel/play.js';
import {aClusterConfig, aNode, aPod, contextWith, indexOf, put, ready} from './_objects.js';

const use: NodeUse = {cpuMillis: 500, memoryBytes: 1_000, before: {pods: 2, requestedCpu: 100, requestedMemory: 10}, atMs: 0};

test('what came since a node was measured counts by what it asks for, and a little where it asks for nothing', t => {
	const now = {pods: 2, requestedCpu: 100, requestedMemory: 10};
	t.is(cpuLoad(now, use), 500);
	t.is(cpuLoad({...now, pods: 3, requestedCpu: 400}, use), 800);
	t.is(cpuLoad({...now, pods: 4}, use), 700);
	t.is(cpuLoad({...now, pods: 1, requestedCpu: 0}, use), 500, 'what went meanwhile is still in the figure');
	t.is(cpuLoad(now, undefined), 100);
	t.is(memoryLoad({...now, requestedMemory: 1_010}, use), 2_000);
	t.is(memoryLoad(now, undefined), 10);
});

const nodes = ['a', 'b'].map(name => aNode({name, status: {conditions: [ready], allocatable: {cpu: '4', memory: '4Gi', pods: '100'}}}));
const asks = (effects: readonly Effect[]) => effects.flatMap(effect => (effect.type === 'ask' ? [effect.to] : []));
const bound = (effects: readonly Effect[]) =>
	effects.flatMap(effect =>
		effect.type === 'update' && effect.message.type === 'bind' ? [(effect.message as never as {nodeName: string}).nodeName] : [],
	);
const told = (id: string, cpuNanocores: unknown) =>
	({type: 'used', id, outcome: succeeded({atMs: 1, containers: [], node: {cpuNanocores, windowMs: 5_000, memoryBytes: 1}})}) as const;

function aScheduler(strategy: Parameters<typeof aClusterConfig>[0]) {
	const index = indexOf(aClusterConfig(strategy), ...nodes);
	let atMs = 0;
	const context = () => contextWith(index, {self: 'troupe://control/scheduler', monotonicMs: atMs, nowMs: atMs});
	const first = play(scheduler, null, [], context());
	let state: SchedulerState = first.state;
	return {
		index,
		first: first.effects,
		say(message: Parameters<typeof scheduler.receive>[1], afterMs = 0): readonly Effect[] {
			atMs += afterMs;
			const played = playFrom(scheduler, state, [message], context());
			state = played.state;
			return played.effects;
		},
	};
}

test('nodes are asked as long as the strategy goes by it, and a pod goes where least is used', t => {
	t.deepEqual(asks(aScheduler('least-pods').first), []);
	const it = aScheduler('least-cpu');
	t.deepEqual(asks(it.first), ['troupe://a/usage', 'troupe://b/usage']);
	it.say(told('a', 3_000_000_000));
	it.say(told('b', 1_000_000_000));
	put(it.index, aPod({name: 'one'}));
	t.deepEqual(bound(it.say({type: 'more'})), ['b']);
	const again = it.say({type: 'measure'}, limits.usageSampleMs);
	t.deepEqual(asks(again), ['troupe://a/usage', 'troupe://b/usage']);
	it.say(told('b', 3_900_000_000));
	t.deepEqual(bound(it.say({type: 'more'})), ['a']);
	put(it.index, aClusterConfig('least-pods'));
	t.deepEqual(asks(it.say({type: 'measure'})), []);
});

test('rubbish, silence and old words leave what is asked for', t => {
	const it = aScheduler('least-cpu');
	for (const rubbish of [-1, 'x', null, Number.NaN, 1e300]) it.say(told('a', rubbish));
	it.say({type: 'used', id: 'b', outcome: failed('ERR_TIMEOUT', {address: 'troupe://b/usage', deadlineMs: 1})});
	it.say(told('nobody', 1));
	put(it.index, aPod({name: 'one'}));
	t.deepEqual(bound(it.say({type: 'more'})), ['a'], 'the first by name');
	it.say(told('a', 3_000_000_000));
	t.deepEqual(bound(it.say({type: 'more'})), ['b']);
	t.deepEqual(bound(it.say({type: 'more'}, limits.nodeUseMs)), ['a']);
});
