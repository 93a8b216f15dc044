// What is kept beside objects: with the object in one transaction, in the index, and gone with it.

import test from 'ava';
import {historyStoreKey, parseBesideStoreKey, partStoreKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import type {Json} from '../../../api/object.js';
import type {Beside} from '../../../system/index/parts.js';
import {emptyMemoryStore} from '../../../system/store/memory-store.js';
import type {StoreDriver} from '../../../system/store/store.js';
import {aPod, podKey, startedPipeline, type Run} from './pipeline-world.js';

const key = podKey('a');

const partsOf = (parts: Record<string, Json | undefined>, history?: Json): Beside => ({
	parts: new Map(Object.entries(parts)),
	...(history === undefined ? {} : {history}),
});

function submit({pipeline, answers}: Run, beside: Beside, name = 'a'): void {
	const done: Parameters<typeof pipeline.submit>[0]['done'] = result =>
		void (answers as [string, unknown][]).push([name, result.ok ? result.change.version : result.error.code]);
	pipeline.submit({key: podKey(name), object: aPod(name), beside, done});
}

const besideIn = ({data}: Run): readonly string[] => [...data.bodies.keys()].filter(each => parseBesideStoreKey(each) !== undefined).sort();

test('parts and history are written with their object, and the index has them', t => {
	const sizes: number[] = [];
	const counting = (driver: StoreDriver): StoreDriver => ({
		...driver,
		commit(batch, done) {
			if (batch.writes.length > 0) sizes.push(batch.writes.length);
			driver.commit(batch, done);
		},
	});
	const run = startedPipeline(counting);
	submit(run, partsOf({x: {n: 1}, 'y/z/': 2}, 'first'));
	run.world.run();
	t.deepEqual(sizes, [4]);
	t.deepEqual(run.index.part(key, 'x'), {n: 1});
	t.deepEqual([...run.index.partsOf(key).keys()], ['x', 'y/z/']);
	t.deepEqual(besideIn(run), [historyStoreKey(key, 0), partStoreKey(key, 'x'), partStoreKey(key, 'y/z/')].sort());
	submit(run, partsOf({x: undefined}, 'second'));
	run.world.run();
	t.is(run.index.part(key, 'x'), undefined);
	t.deepEqual(
		run.applied.flat().map(change => change.history),
		[
			{number: 0, value: 'first'},
			{number: 1, value: 'second'},
		],
	);
	t.deepEqual(besideIn(run), [historyStoreKey(key, 0), historyStoreKey(key, 1), partStoreKey(key, 'y/z/')].sort());
	const kept: unknown[] = [];
	run.pipeline.ring.watch(0, change => kept.push(change.history));
	t.deepEqual(kept, [undefined, undefined], 'what watchers come back for is bounded in bytes, without histories');
});

test('a new start finds what is beside objects, and numbers of histories go on', t => {
	const data = emptyMemoryStore();
	const first = startedPipeline(undefined, data);
	submit(first, partsOf({x: [1, null]}, 1));
	first.world.run();
	const second = startedPipeline(undefined, data);
	t.deepEqual(second.index.part(key, 'x'), [1, null]);
	t.deepEqual(second.index.parts.historyOf(key), {first: 0, next: 1});
	t.deepEqual(second.records, []);
	submit(second, partsOf({}, 2));
	second.world.run();
	t.is(data.bodies.get(historyStoreKey(key, 1))?.(), '2');
});

test('what is beside an object that is removed goes in portions, and not what was written again', t => {
	const run = startedPipeline();
	const count = 3 * limits.leavingParts;
	for (let at = 0; at < count; at += 50)
		submit(run, partsOf(Object.fromEntries(Array.from({length: 45}, (_, n) => [`p${at + n}`, at + n])), at));
	run.world.run();
	run.remove('a');
	while (run.index.get(key) !== undefined && run.world.step());
	t.deepEqual([...run.index.partsOf(key)], []);
	t.true(besideIn(run).length > 0);
	submit(run, partsOf({p1: 'again'}, 'again'));
	run.world.run();
	t.deepEqual(besideIn(run), [historyStoreKey(key, 0), partStoreKey(key, 'p1')].sort());
	t.is(run.index.part(key, 'p1'), 'again');
});

test('writes that come while removals alone are on their way wait for them, and no other writer is seen', t => {
	const count = 3 * limits.leavingParts;
	for (let turns = 0; turns < 40; turns++) {
		const run = startedPipeline();
		for (let at = 0; at < count; at += 45)
			submit(run, partsOf(Object.fromEntries(Array.from({length: 45}, (_, n) => [`p${at + n}`, at + n]))));
		run.world.run();
		run.remove('a');
		for (let turn = 0; turn < turns; turn++) run.world.step();
		run.write('b');
		run.world.run();
		t.deepEqual(run.fenced, [], `${turns} turns`);
		t.deepEqual(run.answers.at(-1), ['b', run.index.entry(podKey('b'))?.version ?? 0]);
		t.deepEqual(besideIn(run), []);
		t.is(run.data.meta?.version, run.pipeline.meta.version);
		t.is(run.index.version, run.pipeline.meta.version);
	}
});

test('removals that the store does not take are tried again with the next write, not at once', t => {
	let fails = false;
	let tries = 0;
	const failing = (driver: StoreDriver, {defer}: Pick<Run['world'], 'defer'>): StoreDriver => ({
		...driver,
		commit(batch, done) {
			if (!fails) return driver.commit(batch, done);
			tries++;
			defer(() => done({type: 'failed', message: 'the disk is full'}));
		},
	});
	const run = startedPipeline(failing);
	submit(run, partsOf({x: 1}, 1));
	run.world.run();
	fails = true;
	run.pipeline.dropHistory(key);
	run.world.run();
	t.is(tries, 1);
	t.is(run.pipeline.problem(), 'the disk is full');
	fails = false;
	run.write('b');
	run.world.run();
	t.deepEqual(besideIn(run), [partStoreKey(key, 'x')]);
});

test('a disk that is full keeps of a history that leaves the last records, and a new start lets these go as well', t => {
	const data = emptyMemoryStore();
	const count = 2 * limits.leavingParts + 5;
	const commits: number[] = [];
	let isFull = false;
	const failing = (driver: StoreDriver, {defer}: Pick<Run['world'], 'defer'>): StoreDriver => ({
		...driver,
		commit(batch, done) {
			commits.push(batch.writes.length);
			if (isFull && batch.writes.every(({body}) => body === undefined))
				return defer(() => done({type: 'failed', message: 'ENOSPC: no space left on device'}));
			driver.commit(batch, done);
		},
	});
	const first = startedPipeline(failing, data);
	for (let at = 0; at < count; at++) submit(first, partsOf({}, at));
	first.world.run();
	isFull = true;
	first.pipeline.dropHistory(key);
	first.world.run();
	t.is(besideIn(first).length, count);
	t.is(commits.at(-1), limits.leavingParts);
	isFull = false;
	first.write('b');
	while (besideIn(first).length === count && first.world.step());
	const left = besideIn(first);
	t.is(left.at(-1), historyStoreKey(key, count - 1));
	t.is(left[0], historyStoreKey(key, count - left.length));
	t.is(left.length, count - limits.leavingParts);
	first.world.die();
	const second = startedPipeline(undefined, data);
	t.deepEqual(second.index.parts.historyOf(key), {first: limits.leavingParts, next: count});
	second.pipeline.dropHistory(key);
	second.world.run();
	t.deepEqual(besideIn(second), []);
	t.is(second.index.parts.historyOf(key), undefined);
});

test('what was left behind by a process that ended in between goes at the next start', t => {
	const data = emptyMemoryStore();
	const first = startedPipeline(undefined, data);
	submit(first, partsOf({x: 1, y: 2}, 1));
	first.world.run();
	first.remove('a');
	while (first.index.get(key) !== undefined && first.world.step());
	first.world.die();
	t.is(besideIn(first).length, 3);
	const second = startedPipeline(undefined, data);
	second.world.run();
	t.deepEqual(besideIn(second), []);
});

/** With so much beside `a` that it goes in three portions; it is asked to go, and another one of its name to come. */
function remade(run: Run): void {
	for (let at = 0; at < 2 * limits.leavingParts; at += 45)
		submit(run, partsOf(Object.fromEntries(Array.from({length: 45}, (_, n) => [`p${at + n}`, 'old'])), 'old'));
	run.world.run();
	run.remove('a');
	submit(run, partsOf({p1: 'new'}, 'new'));
}

test('an object that is made anew finds nothing of the one before it, whenever the process ends', t => {
	const own = [historyStoreKey(key, 0), partStoreKey(key, 'p1')].sort();
	const ends = new Set<string>();
	let isDone = false;
	for (let turns = 0; !isDone; turns++) {
		const data = emptyMemoryStore();
		const first = startedPipeline(undefined, data);
		remade(first);
		for (let turn = 0; turn < turns; turn++) isDone = !first.world.step();
		first.world.die();
		const second = startedPipeline(undefined, data);
		const parts = [...second.index.partsOf(key).values()];
		const all = second.index.entry(key) === undefined ? [] : parts;
		t.true(new Set(all).size < 2, `${turns} turns`);
		if (all[0] === 'new') t.deepEqual(besideIn(second), own, `${turns} turns`);
		ends.add(
			second.index.entry(key) === undefined
				? `none, ${parts.length + besideIn(second).length > 0 ? 'some' : 'nothing'} left`
				: (all[0] as string),
		);
		if (all.length === 0) submit(second, partsOf({p1: 'new'}, 'new'));
		second.world.run();
		if (all[0] !== 'old') t.deepEqual([besideIn(second), second.index.part(key, 'p1')], [own, 'new'], `${turns} turns`);
	}
	t.deepEqual([...ends], ['old', 'none, some left', 'none, nothing left', 'new']);
});

test('what is made anew waits alone: writes of others overtake it, and what it waits for goes before all else', t => {
	const run = startedPipeline();
	for (const half of ['x', 'y']) submit(run, partsOf(Object.fromEntries(Array.from({length: 90}, (_, n) => [`${half}${n}`, n]))), 'c');
	run.world.run();
	remade(run);
	run.world.run();
	const answered = run.answers.length;
	run.remove('c');
	run.remove('a');
	submit(run, partsOf({}, 'again'));
	run.write('b');
	while (run.answers.length < answered + 4 && run.world.step());
	t.deepEqual(
		run.answers.slice(answered).map(([name]) => name),
		['c', 'a', 'b', 'a'],
	);
	t.true(besideIn(run).some(each => each.startsWith(partStoreKey(podKey('c'), ''))));
	run.world.run();
	t.deepEqual(besideIn(run), [historyStoreKey(key, 0)]);
});

test('what is made anew while the store takes no removals fails as other writes do, and comes when it is asked for again', t => {
	let fails = false;
	let tries = 0;
	const run = startedPipeline((driver, {defer}) => ({
		...driver,
		commit(batch, done) {
			if (!fails) return driver.commit(batch, done);
			tries++;
			defer(() => done({type: 'failed', message: 'the disk is full'}));
		},
	}));
	remade(run);
	while (run.index.entry(key) !== undefined && run.world.step());
	fails = true;
	run.world.run();
	t.deepEqual(run.answers.at(-1), ['a', 'ERR_STORE']);
	t.is(tries, 1);
	t.is(run.pipeline.waiting(), 0);
	fails = false;
	submit(run, partsOf({}, 'again'));
	run.world.run();
	t.deepEqual(run.answers.at(-1), ['a', run.index.entry(key)?.version ?? 0]);
	t.deepEqual(besideIn(run), [historyStoreKey(key, 0)]);
});

test('a history that is kept elsewhere leaves the store', t => {
	const run = startedPipeline();
	for (let at = 0; at < 5; at++) submit(run, partsOf({}, at));
	run.world.run();
	run.pipeline.dropHistory(key);
	run.world.run();
	t.deepEqual(besideIn(run), []);
	t.is(run.index.parts.historyOf(key), undefined);
});

test('what is too much for one transaction is refused as a whole', t => {
	const run = startedPipeline();
	submit(run, partsOf(Object.fromEntries(Array.from({length: limits.batchOperations}, (_, n) => [`p${n}`, n]))));
	submit(run, partsOf({x: 'x'.repeat(limits.batchBytes)}), 'b');
	run.world.run();
	t.deepEqual(run.answers, [
		['a', 'ERR_TOO_LARGE'],
		['b', 'ERR_TOO_LARGE'],
	]);
	t.deepEqual(besideIn(run), []);
});

test('keys beside objects are told from all others', t => {
	t.deepEqual(parseBesideStoreKey(partStoreKey(key, 'frame/2-Each.1/')), {key, part: 'frame/2-Each.1/'});
	t.deepEqual(parseBesideStoreKey(historyStoreKey(key, 12)), {key, number: 12});
	t.true(historyStoreKey(key, 9) < historyStoreKey(key, 10));
	for (const other of ['/troupe/registry/pods/default/a', '/troupe/parts/pods/default', '/troupe/history/pods/default/a/x', ''])
		t.is(parseBesideStoreKey(other), undefined);
});

test('what has to go twice is removed once in a transaction: the store counts its records', t => {
	const removed: (readonly string[])[] = [];
	const run = startedPipeline(driver => ({
		...driver,
		commit(batch, done) {
			removed.push(
				batch.writes.flatMap(({key: each, body}) => (body === undefined && parseBesideStoreKey(each) !== undefined ? [each] : [])),
			);
			driver.commit(batch, done);
		},
	}));
	for (let life = 0; life < 2; life++) {
		submit(run, partsOf({}, life));
		while (run.index.parts.historyOf(key) === undefined && run.world.step());
		run.remove('a');
		while (run.index.get(key) !== undefined && run.world.step());
	}
	run.world.run();
	for (const keys of removed) t.is(new Set(keys).size, keys.length);
	t.deepEqual(besideIn(run), []);
});
