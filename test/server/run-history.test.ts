// Histories of runs as they are read from the store.

import test from 'ava';
import {historyStoreKey, objectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {openRunHistory, storedRecords, type RunHistoryOptions} from '../../server/workflows/run-history.js';
import type {HistoryRange} from '../../system/index/parts.js';
import type {StoreFailure} from '../../system/store/store.js';

const key = objectKey('runs', 'default', 'one');

const nothing: Pick<RunHistoryOptions, 'uidOf' | 'archived'> = {uidOf: () => undefined, archived: () => Promise.resolve(undefined)};

/** A store that has the records from 0 to `count`. */
function aHistory(count: number, range: HistoryRange | undefined = {first: 0, next: count}, news: (number: number) => string = String) {
	const loaded: string[] = [];
	const bodies = Array.from({length: count}, (_, number) => ({
		key: historyStoreKey(key, number),
		body: JSON.stringify({atMs: number, news: [news(number)]}),
	}));
	const history = openRunHistory({
		...nothing,
		rangeOf: asked => (asked === key ? range : undefined),
		load(prefix) {
			loaded.push(prefix);
			return Promise.resolve({ok: true, records: bodies.filter(each => each.key.startsWith(prefix))});
		},
	});
	const read = async (from: number, limit: number) => {
		const {records, next} = await history.read(key, from, limit);
		return [records.map(({number}) => number), next];
	};
	return {history, read, loaded};
}

test('records of a history are read ten at a time, from any of them, as far as they go', async t => {
	const {history, read, loaded} = aHistory(25);
	t.deepEqual(await read(0, 3), [[0, 1, 2], 3]);
	t.deepEqual(await read(8, 5), [[8, 9, 10, 11, 12], 13]);
	t.deepEqual(await read(18, 100), [[18, 19, 20, 21, 22, 23, 24], undefined]);
	t.deepEqual(await read(20, 5), [[20, 21, 22, 23, 24], undefined]);
	t.deepEqual(await read(25, 5), [[], undefined]);
	t.deepEqual(
		loaded.map(prefix => prefix.slice(-3)),
		['000', '000', '001', '001', '002', '002'],
	);
	t.deepEqual((await history.read(key, 3, 1)).records, [{number: 3, atMs: 3, news: ['3' as never]}]);
	t.deepEqual(await history.read(objectKey('runs', 'default', 'none'), 0, 10), {records: []});
});

test('what is not of the history any more is left out', async t => {
	const {read} = aHistory(25, {first: 7, next: 12});
	t.deepEqual(await read(0, 100), [[7, 8, 9, 10, 11], undefined]);
});

test('an answer has no more bytes than it may, and at least one record', async t => {
	const third = 'x'.repeat(limits.runHistoryPageBytes / 3);
	const {read} = aHistory(20, undefined, () => third);
	t.deepEqual(await read(0, 100), [[0, 1], 2]);
	const whole = 'x'.repeat(limits.runHistoryPageBytes);
	t.deepEqual(await aHistory(20, undefined, () => whole).read(5, 100), [[5], 6]);
});

test('a store that cannot be read is told', async t => {
	const failing = (failure: Omit<StoreFailure, 'ok'>) =>
		openRunHistory({...nothing, rangeOf: () => ({first: 0, next: 1}), load: () => Promise.resolve({ok: false, ...failure})}).read(
			key,
			0,
			1,
		);
	await t.throwsAsync(failing({message: 'no disk'}), {message: /the store cannot be read: no disk/, code: 'ERR_NOT_REACHABLE'});
	await t.throwsAsync(failing({message: 'bad sum', damaged: true}), {code: 'ERR_DAMAGED'});
});

test('what has left the store is read from its file, also where it leaves while it is read', async t => {
	let range: HistoryRange | undefined = {first: 0, next: 3};
	const asked: (readonly [string, number, number])[] = [];
	const lines = Array.from({length: 30}, (_, atMs) => JSON.stringify({atMs, news: []}));
	const history = openRunHistory({
		rangeOf: () => range,
		load: () => {
			range = undefined;
			return Promise.resolve({ok: true, records: []});
		},
		uidOf: asking => (asking === key ? 'u-1' : undefined),
		archived: (uid, from, most) => {
			asked.push([uid, from, most]);
			return Promise.resolve(lines.slice(from, from + most));
		},
	});
	const read = async (from: number, limit: number) => {
		const {records, next} = await history.read(key, from, limit);
		return [records.map(({number, atMs}) => [number, atMs]), next];
	};
	t.deepEqual(await read(0, 2), [
		[
			[0, 0],
			[1, 1],
		],
		2,
	]);
	t.deepEqual(await read(28, 5), [
		[
			[28, 28],
			[29, 29],
		],
		undefined,
	]);
	t.deepEqual(await read(30, 5), [[], undefined]);
	t.deepEqual(asked, [
		['u-1', 0, 3],
		['u-1', 28, 6],
		['u-1', 30, 6],
	]);
	t.deepEqual(await history.read(objectKey('runs', 'default', 'none'), 0, 5), {records: []});
	const damaged = openRunHistory({
		...nothing,
		rangeOf: () => undefined,
		load: () => Promise.reject(new Error('unused')),
		uidOf: () => 'u-1',
		archived: () => Promise.reject(new Error('bad file')),
	});
	await t.throwsAsync(damaged.read(key, 0, 1), {code: 'ERR_DAMAGED'});
	t.deepEqual(
		await openRunHistory({...nothing, rangeOf: () => undefined, load: () => Promise.reject(new Error('unused')), uidOf: () => 'u-1'}).read(
			key,
			0,
			1,
		),
		{records: []},
	);
});

test('who goes through a history has ten records of it at a time', async t => {
	const loaded: string[] = [];
	const load: RunHistoryOptions['load'] = prefix => {
		loaded.push(prefix.slice(-2));
		return Promise.resolve({ok: true, records: Array.from({length: 10}, (_, at) => ({key: `${prefix}${at}`, body: String(at)}))});
	};
	const found: number[] = [];
	for await (const {number} of storedRecords(load, key, {first: 8, next: 31})) {
		found.push(number);
		t.is(loaded.length, Math.floor(number / 10) + 1);
	}
	t.deepEqual(
		found,
		Array.from({length: 23}, (_, at) => at + 8),
	);
	t.deepEqual(loaded, ['00', '01', '02', '03']);
});
