// A node that is short of something says so, ends one pod after the other until it is not, and tells its record, which keeps new pods away.

import test from 'ava';
import {conditionOf} from '../../api/conditions.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {PodSpec} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {nodeController} from '../../actors/control/nodes/node.js';
import {succeeded} from '../../api/errors.js';
import {usualEviction as thresholds} from '../../api/eviction-thresholds.js';
import {asEvicted, assignmentKey, assignmentObject} from '../../actors/node/cache/assignment-object.js';
import {usage, type UsageState} from '../../actors/node/usage/usage.js';
import {pressedAfter, pressureConditions, shortagesOf} from '../../actors/node/usage/pressure.js';
import type {HostRoom} from '../../actors/node/runtime/runtime-port.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {play, playContext, playFrom} from '../../system/kernel/play.js';
import {anAssignment, aRuntimeInfo} from './_agent.js';
import {aContainer, aNode, contextWith, indexOf, nowMs} from './_objects.js';

const mebibyte = 1_048_576;
const memory = (mebibytes: number): HostRoom => ({'memory.available': {free: mebibytes * mebibyte, all: 8_000 * mebibyte}});

test('what is below its threshold is short, as an amount or as a part', t => {
	t.deepEqual(shortagesOf(memory(100), thresholds), []);
	t.deepEqual(
		shortagesOf(memory(99), thresholds).map(({pressure, text}) => [pressure, text]),
		[['MemoryPressure', 'low on resource: memory; threshold: 100Mi, available: 101376Ki']],
	);
	const pids: HostRoom = {'pid.available': {free: 49, all: 1_000}, 'nodefs.inodesFree': {free: 1, all: 1_000}};
	t.deepEqual(
		shortagesOf(pids, thresholds).map(({pressure, resource}) => [pressure, resource]),
		[
			['DiskPressure', 'inodes'],
			['PIDPressure', 'pids'],
		],
	);
	t.deepEqual(shortagesOf(pids, {}), []);
	const small = (free: number): HostRoom => ({'nodefs.available': {free: free * mebibyte, all: 600 * mebibyte}});
	t.deepEqual(shortagesOf(small(500), thresholds), [], 'of a small disk no more than a tenth');
	t.regex(shortagesOf(small(59), thresholds)[0]?.text ?? '', /threshold: 10%, available: 60416Ki$/);
	t.is(shortagesOf(small(500), {'nodefs.available': {text: '1Gi', amount: 1_024 * mebibyte}}).length, 1, 'what somebody asked for holds');
	t.deepEqual(shortagesOf({}, thresholds), []);
});

test('pressure begins at once, keeps its words, and is over only after a while', t => {
	const short = (mebibytes: number) => shortagesOf(memory(mebibytes), thresholds);
	const begun = pressedAfter({}, short(50), 1_000);
	const on = pressedAfter(begun, short(20), 2_000);
	t.is(on.MemoryPressure?.message, begun.MemoryPressure?.message);
	t.is(pressedAfter(on, [], 2_000 + limits.pressureHoldMs - 1).MemoryPressure?.seenMs, 2_000);
	t.deepEqual(pressedAfter(on, [], 2_000 + limits.pressureHoldMs), {});
	t.deepEqual(
		pressureConditions(on).map(({type, status, reason}) => [type, status, reason]),
		[
			['MemoryPressure', 'True', 'AgentHasInsufficientMemory'],
			['DiskPressure', 'False', 'AgentHasNoDiskPressure'],
			['PIDPressure', 'False', 'AgentHasSufficientPID'],
		],
	);
});

type Pod = {
	readonly volumes?: PodSpec['volumes'];
	readonly name: string;
	readonly mebibytes: number;
	readonly request?: string;
	readonly priority?: number;
	readonly startedMs?: number;
	readonly isEvicted?: boolean;
};

/** A node with these pods, whose runtime says what a test says. */
function node(pods: readonly Pod[]) {
	const index = new ObjectIndex(() => []);
	for (const {name, request, priority, volumes, startedMs = 0, isEvicted = false} of pods) {
		const resources = request === undefined ? {} : {resources: {requests: {memory: request}}};
		const spec = {
			containers: [aContainer(resources)],
			...(priority === undefined ? {} : {priority}),
			...(volumes === undefined ? {} : {volumes}),
		};
		const assignment = anAssignment({name, uid: name, spec});
		const object = assignmentObject(assignment, '1', nowMs + startedMs);
		const kept = isEvicted ? asEvicted(object, 'the node was short') : object;
		index.apply(assignmentKey(assignment), index.version + 1, kept, () => '');
	}
	let atMs = 0;
	const context = () => playContext({self: 'troupe://node-a/usage', nowMs: nowMs + atMs, monotonicMs: atMs, known: index});
	let state: UsageState = play(usage, {measuresAlways: true, thresholds}, [], context()).state;
	return {
		/** What a sample brings about, so long after the last. */
		hear: (room: HostRoom, running = pods, afterMs = 5_000): readonly Effect[] => {
			atMs += afterMs;
			const played = playFrom(
				usage,
				state,
				[
					{
						type: 'sampled',
						id: 'usage',
						outcome: succeeded({
							atMs: nowMs + atMs,
							node: {readAtMs: atMs, cpuNanos: 0, memoryBytes: 1},
							room,
							containers: running.map(({name, mebibytes}) => ({
								id: {uid: name, container: 'main'},
								attempt: 0,
								readAtMs: atMs,
								cpuNanos: 0,
								memoryBytes: mebibytes * mebibyte,
							})),
						}),
					},
				],
				context(),
			);
			state = played.state;
			return played.effects;
		},
	};
}

const told = (effects: readonly Effect[], type: string) =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.message.type === type ? [{to: effect.to, ...effect.message}] : []));
const evicted = (effects: readonly Effect[]): readonly string[] => told(effects, 'evict').map(({to}) => to.replace(/^.*\//, ''));

test('who uses more than it asked for goes first, the lower priority before the higher, then who uses most above it', t => {
	const order = (pods: readonly Pod[]) => evicted(node(pods).hear(memory(10)))[0];
	const modest: Pod = {name: 'modest', mebibytes: 500, request: '600Mi', priority: -5};
	t.is(order([modest, {name: 'greedy', mebibytes: 100, request: '50Mi', priority: 9}]), 'default.greedy');
	t.is(order([modest, {name: 'other', mebibytes: 100, request: '200Mi'}]), 'default.modest', 'none does: the lower priority');
	const [low, high]: readonly Pod[] = [
		{name: 'low', mebibytes: 10, priority: 1},
		{name: 'high', mebibytes: 900, priority: 2},
	];
	t.is(order([high as Pod, low as Pod]), 'default.low');
	t.is(
		order([
			{name: 'a', mebibytes: 100},
			{name: 'b', mebibytes: 300, request: '250Mi'},
		]),
		'default.a',
	);
	t.is(
		order([
			{name: 'old', mebibytes: 1},
			{name: 'new', mebibytes: 1, startedMs: 9_000},
		]),
		'default.new',
	);
	t.is(order([{name: 'critical', mebibytes: 900, priority: 2_000_000_000}]), undefined);
	t.is(order([]), undefined);
});

test('one is ended at a time: the next only when it is gone, or takes too long, and the node is still short', t => {
	const pods: readonly Pod[] = [
		{name: 'a', mebibytes: 300},
		{name: 'b', mebibytes: 200},
	];
	const {hear} = node(pods);
	const first = hear(memory(10));
	t.deepEqual(evicted(first), ['default.a']);
	t.regex(
		String(told(first, 'evict')[0]?.['message' as never]),
		/^the node was low on resource: memory; threshold: 100Mi, available: 10240Ki; the pod was using 307200Ki, its request is 0Ki$/,
	);
	t.deepEqual(evicted(hear(memory(10))), [], 'it still runs');
	t.deepEqual(evicted(hear(memory(500), pods.slice(1))), [], 'there is enough');
	t.deepEqual(evicted(hear(memory(10), pods.slice(1))), ['default.b']);
	t.deepEqual(
		evicted(hear(memory(10), pods.slice(1), limits.evictionWaitMs)),
		['default.b'],
		'it takes too long: whoever is first is told again',
	);
});

test('one that the agent before this one has ended has its time', t => {
	const pods: readonly Pod[] = [
		{name: 'a', mebibytes: 300, isEvicted: true},
		{name: 'b', mebibytes: 200},
	];
	const {hear} = node(pods);
	t.deepEqual(evicted(hear(memory(10))), [], 'it still runs');
	t.deepEqual(evicted(hear(memory(10), pods.slice(1))), ['default.b']);
});

test('what a disk had left before the last one was gone ends no other', t => {
	const pods: readonly Pod[] = [
		{name: 'a', mebibytes: 1, startedMs: 9_000, volumes: [{name: 'v', emptyDir: {}}]},
		{name: 'b', mebibytes: 1, volumes: [{name: 'v', emptyDir: {}}]},
	];
	const {hear} = node(pods);
	const disk = (mebibytes: number): HostRoom => ({'nodefs.available': {free: mebibytes * mebibyte, all: 100_000 * mebibyte}});
	t.deepEqual(evicted(hear(disk(10))), ['default.a']);
	t.deepEqual(evicted(hear(disk(10))), [], 'it still runs');
	t.deepEqual(evicted(hear(disk(10), pods.slice(1))), [], 'the disk was asked while it ran');
	t.deepEqual(evicted(hear(disk(10), pods.slice(1))), ['default.b'], 'it is still short');
});

test('node sync is told of the first look, and of changes', t => {
	const {hear} = node([]);
	const changes = (effects: readonly Effect[]) => told(effects, 'pressureChanged').length;
	t.is(changes(hear(memory(500))), 1);
	t.is(changes(hear(memory(400))), 0);
	t.is(changes(hear(memory(10))), 1);
	t.is(changes(hear(memory(11))), 0);
	t.is(changes(hear(memory(500))), 0);
	t.is(changes(hear(memory(500), [], limits.pressureHoldMs)), 1);
});

test('the record of a node has the conditions, a taint for each that holds, and says so; a person’s taints stay', t => {
	const thereBefore = [{key: 'mine', effect: 'NoSchedule'}] as const;
	let record: NodeObject = aNode({spec: {taints: [...thereBefore]}});
	const hear = (pressed: Parameters<typeof pressureConditions>[0] | undefined) => {
		const info = aRuntimeInfo({conditions: pressed === undefined ? [] : pressureConditions(pressed)});
		const handled = nodeController.receive?.(record, {type: 'heard', info, version: '1'} as never, contextWith(indexOf()));
		if (handled?.ok !== true) throw new Error('it did not understand');
		record = handled.object as NodeObject;
		return (handled.effects ?? []).flatMap(effect => (effect.type === 'event' ? [effect.reason] : []));
	};
	const taints = () => (record.spec?.taints ?? []).map(({key}) => key);
	const status = () => conditionOf(record.status?.conditions, 'MemoryPressure')?.status;
	hear(undefined);
	t.deepEqual([status(), taints()], [undefined, ['mine']]);
	hear({});
	t.deepEqual([status(), taints()], ['False', ['mine']]);
	const short = {MemoryPressure: {seenMs: 0, message: 'the node is low'}};
	t.true(hear(short).includes('NodeHasInsufficientMemory'));
	t.deepEqual([status(), taints()], ['True', ['mine', 'node.kubernetes.io/memory-pressure']]);
	t.deepEqual(hear(undefined), [], 'an agent that has not looked yet');
	t.deepEqual([status(), taints()], ['True', ['mine', 'node.kubernetes.io/memory-pressure']]);
	t.true(hear({}).includes('NodeHasSufficientMemory'));
	t.deepEqual([status(), taints()], ['False', ['mine']]);
});

test('of a disk only pods are ended that free something, and what has no victim holds up nothing else', t => {
	const full: HostRoom = {'nodefs.available': {free: 1, all: 1_000 * 1_048_576}};
	const bare: Pod = {name: 'bare', mebibytes: 1};
	const inMemory: Pod = {name: 'memory', mebibytes: 1, volumes: [{name: 'v', emptyDir: {medium: 'Memory'}}]};
	const onDisk: Pod = {name: 'disk', mebibytes: 1, priority: 9, volumes: [{name: 'v', emptyDir: {}}]};
	t.deepEqual(evicted(node([bare, inMemory]).hear(full)), []);
	t.deepEqual(evicted(node([bare, inMemory, onDisk]).hear(full)), ['default.disk']);
	const both: HostRoom = {...full, ...memory(1)};
	t.deepEqual(evicted(node([{...onDisk, priority: 2_000_000_000}, bare]).hear(both)), ['default.bare']);
});
