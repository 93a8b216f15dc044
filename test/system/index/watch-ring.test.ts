import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import test from 'ava';
import {limits} from '../../../api/limits.js';
import {ObjectIndex, type Change} from '../../../system/index/object-index.js';
import {WatchRing} from '../../../system/index/watch-ring.js';
import {aPod, podKey} from '../commit/pipeline-world.js';

/** A ring with changes 1 to `count` of one pod; `version` is where it began. */
function aRing(count: number, maxChanges?: number, maxBytes?: number, text = '') {
	const index = new ObjectIndex();
	const ring = new WatchRing(0, maxChanges, maxBytes);
	const push = (version: number): Change => {
		const object = aPod('web', {text: text + String(version)});
		const change = index.apply(podKey('web'), version, object, () => JSON.stringify(object));
		ring.push(change);
		return change;
	};
	for (let version = 1; version <= count; version++) push(version);
	return {ring, push};
}

const heard = (ring: WatchRing, version: number): number[] | undefined => {
	const versions: number[] = [];
	const started = ring.watch(version, change => versions.push(change.version));
	if (!started.ok) return undefined;
	started.cancel();
	return versions;
};

test('a watch gets every change above its version, and nothing else', t => {
	const {ring} = aRing(20);
	for (let version = 0; version <= 20; version++) {
		t.deepEqual(
			heard(ring, version),
			Array.from({length: 20 - version}, (_, index) => version + 1 + index),
		);
	}
});

test('a watch follows what comes after, without a gap or a repetition, until it is cancelled', t => {
	const {ring, push} = aRing(3);
	const versions: number[] = [];
	const started = ring.watch(1, ({version}) => versions.push(version));
	push(4);
	ring.advance(5);
	push(6);
	if (started.ok) started.cancel();
	push(7);
	t.deepEqual(versions, [2, 3, 4, 6]);
});

test('a version from before the ring is refused and told the oldest; so is one above the counter', t => {
	const {ring} = aRing(25, 10);
	t.is(ring.floor, 15);
	t.is(heard(ring, 15)?.length, 10);
	t.deepEqual(
		ring.watch(14, () => t.fail()),
		{ok: false, oldest: 15},
	);
	t.deepEqual(
		ring.watch(26, () => t.fail()),
		{ok: false, oldest: 15},
	);
	ring.advance(26);
	t.deepEqual(heard(ring, 26), []);
});

test('a ring is empty at the start: what is older than the store’s counter is refused', t => {
	const ring = new WatchRing(1_000);
	t.deepEqual(heard(ring, 1_000), []);
	t.false(ring.watch(999, () => t.fail()).ok);
	t.false(ring.watch(1_001, () => t.fail()).ok);
});

test('the ring holds at most so many changes, over any length of time', t => {
	const {ring} = aRing(3 * limits.watchRingChanges);
	t.is(ring.floor, 2 * limits.watchRingChanges);
	const versions = heard(ring, ring.floor);
	t.is(versions?.length, limits.watchRingChanges);
	t.is(versions?.[0], 2 * limits.watchRingChanges + 1);
	t.is(versions?.at(-1), 3 * limits.watchRingChanges);
});

test('the ring holds at most so many bytes', t => {
	const text = 'x'.repeat(1_000);
	const size = JSON.stringify(aPod('web', {text: `${text}1`})).length;
	const {ring} = aRing(9, 1_000, 5 * size, text);
	t.is(ring.floor, 4);
	t.is(heard(ring, 4)?.length, 5);
});

test('a change larger than the whole ring is told to those who listen, and leaves an empty ring', t => {
	const {ring, push} = aRing(3, 1_000, 1_000);
	const versions: number[] = [];
	const started = ring.watch(3, ({version}) => versions.push(version));
	t.true(started.ok);
	const index = new ObjectIndex();
	const object = aPod('large', {text: 'x'.repeat(2_000)});
	ring.push(index.apply(podKey('large'), 4, object, () => JSON.stringify(object)));
	push(5);
	t.deepEqual(versions, [4, 5]);
	t.is(ring.floor, 4);
});

test('a ring that keeps nothing still tells, and continues only from its newest', t => {
	const {ring, push} = aRing(3, 0);
	t.is(ring.floor, 3);
	const versions: number[] = [];
	ring.watch(3, ({version}) => versions.push(version));
	push(4);
	t.deepEqual(versions, [4]);
	t.false(ring.watch(3, () => t.fail()).ok);
});

test('a watcher that leaves while it is told keeps nothing from the others', t => {
	const {ring, push} = aRing(0);
	const told: string[] = [];
	const first = ring.watch(0, () => {
		told.push('first');
		if (first.ok) first.cancel();
	});
	ring.watch(0, () => told.push('second'));
	push(1);
	push(2);
	t.deepEqual(told, ['first', 'second', 'second']);
});

test('what fell out of it is in memory no more, also where few large changes fill it', async t => {
	const {ring, push} = aRing(0, 1_000, 4_000, 'x'.repeat(1_000));
	const first = new WeakRef(push(1));
	for (let version = 2; version <= 20; version++) push(version);
	t.true(ring.floor > 10);
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc') as () => void;
	// What was looked at by a weak reference lives to the end of its turn.
	await new Promise(resolve => void setImmediate(resolve));
	collect();
	t.is(first.deref(), undefined);
});
