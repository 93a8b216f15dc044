// What a cold start is told to have waited for, by what the commits of its instance say.

import test from 'ava';
import type {FunctionObject} from '../../api/kinds/function.js';
import {limits} from '../../api/limits.js';
import type {Pod} from '../../api/kinds/pod.js';
import {createCallCounters} from '../../server/functions/call-counters.js';
import {coldPhasesOf, waitedMsOf, type InstanceTimes} from '../../server/functions/cold-phases.js';
import {createInstanceStarts} from '../../server/functions/instance-starts.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {aFunction, anInstance, aVersion} from '../actors/_functions.js';
import {ready, scheduled} from '../actors/_objects.js';

const times: InstanceTimes = {placedAtMs: 112, runsAtMs: 172, readyAtMs: 175};

const split = (fromMs: number, toMs: number, of?: InstanceTimes): readonly number[] => {
	const {placeMs, startMs, readyMs, slotMs} = coldPhasesOf(fromMs, toMs, of);
	return [placeMs, startMs, readyMs, slotMs];
};

test('what a call waited is split by how far its instance was, and begins with what that did when the call began', t => {
	t.deepEqual(split(100, 176, times), [12, 60, 3, 1]);
	t.deepEqual(split(130, 176, times), [0, 42, 3, 1]);
	t.deepEqual(split(173, 176, times), [0, 0, 2, 1]);
	t.deepEqual(split(175, 176, times), [0, 0, 0, 1]);
	t.deepEqual(split(300, 340, times), [0, 0, 0, 40]);
	t.deepEqual(split(300, 340), [0, 0, 0, 40], 'one of which nothing is known');
	t.deepEqual(split(100, 176, {...times, readyAtMs: Infinity}), [12, 60, 4, 0], 'it is not ready any more');
	t.deepEqual(split(100, 176, {...times, runsAtMs: Infinity, readyAtMs: Infinity}), [12, 64, 0, 0]);
});

test('the four are whole and add up to what the call waited, whatever the clock says', t => {
	const some = [-Infinity, 0.4, 0.5, 1.5, 2.499, 7.3, 7.7, Infinity];
	for (const placedAtMs of some)
		for (const runsAtMs of some)
			for (const readyAtMs of some)
				for (const toMs of [0.3, 1.5, 7.5, 8]) {
					const phases = coldPhasesOf(0.3, toMs, {placedAtMs, runsAtMs, readyAtMs});
					t.is(waitedMsOf(phases), Math.round(toMs - 0.3));
					for (const ms of Object.values(phases)) t.true(Number.isInteger(ms) && ms >= 0);
				}
});

/** A function whose instances are committed, and what is made of that. */
function followed(most?: number) {
	const clock = new ManualClock();
	const starts = createInstanceStarts(clock, most);
	const counters = createCallCounters(clock);
	const index = new ObjectIndex();
	const fn: FunctionObject = aFunction();
	let version = 0;
	const commit = (pod: Pod, isGone = false): void => {
		const change = index.apply(`pods/default.${pod.metadata.name}`, ++version, isGone ? undefined : pod, () => '');
		starts.hear(change);
	};
	/** What this call, another cold start, waited. */
	const phasesOf = (calling: ReturnType<typeof counters.begun>, uid: string): readonly number[] => {
		const before = counters.of(fn).coldPhases;
		calling.goes(starts.of(uid));
		const after = counters.of(fn).coldPhases;
		return (['placeMs', 'startMs', 'readyMs', 'slotMs'] as const).map(phase => after[phase] - before[phase]);
	};
	return {clock, starts, counters, fn, index, commit, phasesOf, calls: () => counters.begun(fn)};
}

const waiting = (name = 'add-1'): Pod => {
	const pod = anInstance(aVersion(aFunction(), 1), name);
	return {...pod, spec: {containers: []}, status: {phase: 'Pending'}};
};

const placed = (pod: Pod): Pod => ({
	...pod,
	spec: {containers: [], nodeName: 'node-a'},
	status: {phase: 'Pending', conditions: [scheduled]},
});

const runs = (pod: Pod, start = 1, isReady = false): Pod => ({
	...placed(pod),
	status: {
		phase: 'Running',
		conditions: isReady ? [scheduled, ready] : [scheduled],
		containerStatuses: [
			{
				...{name: 'function', image: '', imageID: '', restartCount: start - 1, started: isReady, ready: isReady},
				state: {running: {startedAt: `2030-01-01T00:00:0${start}.000Z`}},
			},
		],
	},
});

const takesCalls = (pod: Pod, start = 1): Pod => runs(pod, start, true);

test('the commits of an instance say what its first calls waited for', t => {
	const {clock, commit, phasesOf, calls, counters, fn} = followed();
	const first = calls();
	clock.advance(5);
	commit(waiting());
	clock.advance(7);
	commit(placed(waiting()));
	clock.advance(40);
	const second = calls();
	clock.advance(20);
	commit(runs(waiting()));
	clock.advance(2);
	// Nothing of it has got any further.
	commit({...runs(waiting()), metadata: {...waiting().metadata, resourceVersion: '9'}});
	clock.advance(1);
	commit(takesCalls(waiting()));
	clock.advance(1);
	const {uid} = waiting().metadata;
	t.deepEqual(phasesOf(first, uid), [12, 60, 3, 1]);
	t.deepEqual(phasesOf(second, uid), [0, 20, 3, 1]);
	t.like(counters.of(fn), {coldStarts: 2, coldStartMs: 100, coldPhases: {placeMs: 12, startMs: 80, readyMs: 6, slotMs: 2}});
});

test('where a node tells at once that an instance runs and is ready, all that is its start', t => {
	const {clock, commit, phasesOf, calls} = followed();
	const call = calls();
	commit(placed(waiting()));
	clock.advance(50);
	commit(takesCalls(waiting()));
	t.deepEqual(phasesOf(call, waiting().metadata.uid), [0, 50, 0, 0]);
});

test('starts that failed before the one that takes the call are its start, also where their end was not told', t => {
	const {clock, commit, phasesOf, calls} = followed();
	const call = calls();
	commit(placed(waiting()));
	clock.advance(10);
	commit(runs(waiting(), 1));
	clock.advance(10);
	commit(placed(waiting()));
	clock.advance(10);
	commit(runs(waiting(), 2));
	clock.advance(10);
	commit(runs(waiting(), 3));
	clock.advance(5);
	commit(takesCalls(waiting(), 3));
	t.deepEqual(phasesOf(call, waiting().metadata.uid), [0, 40, 5, 0]);
	const later = calls();
	clock.advance(10);
	commit(runs(waiting(), 4));
	clock.advance(10);
	commit(takesCalls(waiting(), 4));
	t.deepEqual(phasesOf(later, waiting().metadata.uid), [0, 10, 10, 0], 'one that ended and began again');
	const last = calls();
	clock.advance(10);
	commit(takesCalls(waiting(), 5));
	t.deepEqual(phasesOf(last, waiting().metadata.uid), [0, 10, 0, 0], 'one that was ready again before its end was told');
});

test('an instance that a server finds when it begins to lead goes on from where it was', t => {
	const {clock, commit, index, phasesOf, calls, starts} = followed();
	const pod = placed(waiting());
	index.load('pods/default.add-1', {...pod, metadata: {...pod.metadata, resourceVersion: '1'}}, () => '');
	const call = calls();
	clock.advance(30);
	commit(runs(waiting()));
	clock.advance(4);
	commit(takesCalls(waiting()));
	t.deepEqual(phasesOf(call, waiting().metadata.uid), [0, 30, 4, 0]);
	const other = takesCalls(waiting('add-2'));
	index.load('pods/default.add-2', {...other, metadata: {...other.metadata, resourceVersion: '1'}}, () => '');
	commit({...other, metadata: {...other.metadata, resourceVersion: '9'}});
	t.is(starts.of(other.metadata.uid), undefined);
});

test('an instance is forgotten when it is gone, and when no call of before it was ready can wait any more', t => {
	const {clock, commit, starts} = followed();
	const [a, b, c] = [waiting('add-1'), waiting('add-2'), waiting('add-3')];
	commit(takesCalls(a));
	commit(takesCalls(b));
	clock.advance(limits.functionHoldMs);
	commit(takesCalls(c));
	const known = (): readonly boolean[] => [a, b, c].map(({metadata}) => starts.of(metadata.uid) !== undefined);
	t.deepEqual(known(), [true, true, true]);
	commit(b, true);
	t.deepEqual(known(), [true, false, true]);
	clock.advance(1);
	commit(placed(waiting('add-4')));
	t.deepEqual(known(), [false, false, true]);
	commit({...takesCalls(c), metadata: {...c.metadata, uid: 'another'}});
	t.deepEqual(known(), [false, false, false], 'one of the same name took its place');
	t.not(starts.of('another'), undefined);
	commit({...takesCalls(c), metadata: {...c.metadata, uid: 'another', labels: {}}});
	t.is(starts.of('another'), undefined, 'it is none any more');
});

test('of more instances than are followed the one that changed least recently is forgotten', t => {
	const {commit, starts} = followed(2);
	const pods = ['add-1', 'add-2', 'add-3'].map(name => placed(waiting(name)));
	const [a, b, c] = pods;
	if (a === undefined || b === undefined || c === undefined) throw new Error('three were made');
	commit(a);
	commit(b);
	commit(runs(a));
	commit(c);
	t.deepEqual(
		pods.map(({metadata}) => starts.of(metadata.uid) !== undefined),
		[true, false, true],
	);
});
