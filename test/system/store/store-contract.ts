// What every store driver promises. A driver that passes is a real one, whatever is below it.

import type {ExecutionContext, TestFn} from 'ava';
import {limits} from '../../../api/limits.js';
import {noMeta} from '../../../system/store/meta.js';
import {commitTo, metaFrom, recordsFrom} from '../../../system/store/store-calls.js';
import type {Batch, Meta, MetaOutcome, Snapshot, StoreDriver, StoredRecord, Write} from '../../../system/store/store.js';

export {commitTo};

export async function metaOf(driver: StoreDriver): Promise<MetaOutcome> {
	const outcome = await metaFrom(driver);
	return outcome.ok ? {...outcome, meta: fenceIn(outcome.meta)} : outcome;
}

/** Without the totals of the records, which not every driver keeps. */
export function fenceIn(meta: Meta | undefined): Meta | undefined {
	const {records: _totals, ...fence} = meta ?? noMeta;
	return meta === undefined ? undefined : fence;
}

export async function loadFrom(driver: StoreDriver, prefix: string): Promise<readonly StoredRecord[] | string> {
	const outcome = await recordsFrom(driver, prefix);
	return outcome.ok ? [...outcome.records] : outcome.message;
}

export const writing = (key: string, body: string | undefined): Write => ({key, body: body === undefined ? undefined : () => body});

/** The batch that follows on `expected`, one version a write. */
export const batchOf = (expected: Meta, ...writes: readonly Write[]): Batch => ({
	writes,
	expected,
	next: {version: expected.version + writes.length, epoch: Math.max(1, expected.epoch), lineage: 'a'},
});

/** Writes each key, its name as body, in batches of the size that a pipeline makes; the meta they end with. */
export async function fill(driver: StoreDriver, keys: readonly string[], from: Meta = noMeta): Promise<Meta> {
	let meta = from;
	for (let at = 0; at < keys.length; at += limits.batchOperations) {
		const batch = batchOf(meta, ...keys.slice(at, at + limits.batchOperations).map(key => writing(key, key)));
		const outcome = await commitTo(driver, batch);
		if (outcome.type !== 'committed') throw new Error(outcome.message);
		meta = batch.next;
	}
	return meta;
}

export async function readAll({records}: Snapshot): Promise<readonly StoredRecord[]> {
	const all: StoredRecord[] = [];
	for await (const portion of records) all.push(...portion);
	return all;
}

export type StoreUnderTest = {
	readonly driver: StoreDriver;
	/** Ends the driver without closing what a SIGKILL would not close either, and opens another one over the same data. */
	readonly reopen: () => Promise<StoreDriver>;
};

/** `name`: what the tests are called by; the contract of several stores may be run by one process. */
export function storeContract(
	declare: TestFn,
	name: string,
	make: (t: {teardown: (end: () => void | Promise<void>) => void}) => Promise<StoreUnderTest>,
): void {
	const test = (title: string, implementation: (t: ExecutionContext) => Promise<void>): void =>
		declare(`${name}: ${title}`, implementation);
	test('an empty store has no meta and no records', async t => {
		const {driver} = await make(t);
		t.deepEqual(await metaOf(driver), {ok: true, meta: undefined});
		t.deepEqual(await loadFrom(driver, '/troupe/'), []);
	});

	test('a batch writes its records and its meta together', async t => {
		const {driver} = await make(t);
		const batch = batchOf(noMeta, writing('/troupe/registry/pods/a/x', 'one'), writing('/troupe/events/pods/a/x', 'two'));
		t.deepEqual(await commitTo(driver, batch), {type: 'committed'});
		t.deepEqual(await metaOf(driver), {ok: true, meta: batch.next});
		t.deepEqual(await loadFrom(driver, '/troupe/'), [
			{key: '/troupe/events/pods/a/x', body: 'two'},
			{key: '/troupe/registry/pods/a/x', body: 'one'},
		]);
	});

	test('a batch that expects another meta is fenced and leaves everything as it was', async t => {
		const {driver} = await make(t);
		const first = batchOf(noMeta, writing('/troupe/registry/a', 'old'));
		await commitTo(driver, first);
		for (const expected of [noMeta, {...first.next, epoch: 2}, {...first.next, version: 2}, {...first.next, lineage: 'b'}]) {
			const outcome = await commitTo(driver, batchOf(expected, writing('/troupe/registry/a', 'new'), writing('/troupe/registry/b', 'new')));
			t.is(outcome.type, 'fenced');
		}
		t.deepEqual(await metaOf(driver), {ok: true, meta: first.next});
		t.deepEqual(await loadFrom(driver, '/troupe/'), [{key: '/troupe/registry/a', body: 'old'}]);
	});

	test('a body of undefined removes the key, and removing what is not there is no error', async t => {
		const {driver} = await make(t);
		const first = batchOf(noMeta, writing('/troupe/registry/a', '1'), writing('/troupe/registry/b', '2'));
		await commitTo(driver, first);
		const outcome = await commitTo(
			driver,
			batchOf(first.next, writing('/troupe/registry/a', undefined), writing('/troupe/registry/c', undefined)),
		);
		t.is(outcome.type, 'committed');
		t.deepEqual(await loadFrom(driver, '/troupe/'), [{key: '/troupe/registry/b', body: '2'}]);
	});

	test('records are loaded by prefix, in key order, without their neighbours', async t => {
		const {driver} = await make(t);
		const keys = ['/troupe/registry/pods/b/2', '/troupe/registry/pods/a/9', '/troupe/registry/podsets/a/1', '/troupe/registry/pods/a/10'];
		await commitTo(driver, batchOf(noMeta, ...keys.map(key => writing(key, key)), writing('/troupe/vault/ca', 'sealed')));
		const records = await loadFrom(driver, '/troupe/registry/pods/');
		const expected = ['/troupe/registry/pods/a/10', '/troupe/registry/pods/a/9', '/troupe/registry/pods/b/2'];
		t.deepEqual(
			records,
			expected.map(key => ({key, body: key})),
		);
	});

	test('more records than one portion come back complete and in order', async t => {
		const {driver} = await make(t);
		const keys = Array.from({length: 2_500}, (_, at) => `/troupe/registry/pods/a/${String(at).padStart(5, '0')}`);
		await fill(driver, keys);
		const records = await loadFrom(driver, '/troupe/');
		t.deepEqual(typeof records === 'string' ? records : records.map(({key}) => key), keys);
	});

	test('a full batch of the largest size is taken whole, with its header and its meta', async t => {
		const {driver} = await make(t);
		const body = 'x'.repeat(Math.floor(limits.batchBytes / limits.batchOperations));
		const keys = Array.from({length: limits.batchOperations}, (_, at) => `/troupe/registry/pods/a/${at}`);
		t.is((await commitTo(driver, batchOf(noMeta, ...keys.map(key => writing(key, body))))).type, 'committed');
		const large = batchOf(
			{...noMeta, version: 100, epoch: 1, lineage: 'a'},
			writing('/troupe/registry/large', 'x'.repeat(limits.objectBytes + 25)),
		);
		t.is((await commitTo(driver, large)).type, 'committed');
		const records = await loadFrom(driver, '/troupe/registry/');
		t.is(typeof records === 'string' ? records : records.length, 101);
	});

	test('a value of 1 MiB and text of any script come back as they were', async t => {
		const {driver} = await make(t);
		const text = 'a\u0000\n"\u{1F3AD}語';
		const large = 'é'.repeat(524_288);
		await commitTo(driver, batchOf(noMeta, writing('/troupe/registry/large', large), writing('/troupe/registry/text', text)));
		const records = await loadFrom(driver, '/troupe/registry/');
		t.deepEqual(records, [
			{key: '/troupe/registry/large', body: large},
			{key: '/troupe/registry/text', body: text},
		]);
	});

	test('a snapshot holds one moment with its meta, whatever is written while it is read', async t => {
		const {driver} = await make(t);
		const keys = Array.from({length: 1_500}, (_, at) => `/troupe/registry/pods/a/${String(at).padStart(5, '0')}`);
		const meta = await fill(driver, keys);
		const snapshot = await driver.snapshot('/troupe/');
		await commitTo(
			driver,
			batchOf(meta, writing(keys[1_400] ?? '', undefined), writing(keys[3] ?? '', 'later'), writing('/troupe/z', 'new')),
		);
		t.deepEqual(fenceIn(snapshot.meta), meta);
		t.deepEqual(
			await readAll(snapshot),
			keys.map(key => ({key, body: key})),
		);
		t.deepEqual(fenceIn((await driver.snapshot('/troupe/')).meta), {...meta, version: meta.version + 3});
	});

	test('a snapshot of an empty store has no meta', async t => {
		const {driver} = await make(t);
		const snapshot = await driver.snapshot('/troupe/');
		t.is(snapshot.meta, undefined);
		t.deepEqual(await readAll(snapshot), []);
	});

	test('what was committed is there for the next driver, whose epoch fences the one before', async t => {
		const {driver, reopen} = await make(t);
		const first = batchOf(noMeta, writing('/troupe/registry/a', 'kept'));
		await commitTo(driver, first);
		const second = await reopen();
		t.deepEqual(await metaOf(second), {ok: true, meta: first.next});
		t.deepEqual(await loadFrom(second, '/troupe/'), [{key: '/troupe/registry/a', body: 'kept'}]);
		const term = {writes: [], expected: first.next, next: {...first.next, epoch: 7}};
		t.is((await commitTo(second, term)).type, 'committed');
		t.not((await commitTo(driver, batchOf(first.next, writing('/troupe/registry/a', 'late')))).type, 'committed');
		t.deepEqual(await loadFrom(second, '/troupe/'), [{key: '/troupe/registry/a', body: 'kept'}]);
	});

	test('a closed store fails every call', async t => {
		const {driver} = await make(t);
		await driver.close();
		t.deepEqual(await commitTo(driver, batchOf(noMeta, writing('/troupe/registry/a', '1'))), {
			type: 'failed',
			message: 'the store is closed',
		});
		t.deepEqual(await metaOf(driver), {ok: false, message: 'the store is closed'});
		t.is(await loadFrom(driver, '/troupe/'), 'the store is closed');
		await t.throwsAsync(driver.snapshot('/troupe/'), {message: 'the store is closed'});
	});

	test('no callback comes before its call has returned', async t => {
		const {driver} = await make(t);
		let returned = false;
		const seen: boolean[] = [];
		const calls = [
			new Promise<void>(resolve => driver.commit(batchOf(noMeta), () => resolve(void seen.push(returned)))),
			new Promise<void>(resolve => driver.readMeta(() => resolve(void seen.push(returned)))),
			new Promise<void>(resolve => driver.load('/troupe/', () => resolve(void seen.push(returned)))),
		];
		returned = true;
		await Promise.all(calls);
		t.deepEqual(seen, [true, true, true]);
	});
}
