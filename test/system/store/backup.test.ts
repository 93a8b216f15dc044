import test from 'ava';
import {AppError} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import {readBackup, writeBackup} from '../../../system/store/backup.js';
import {createMemoryStore, emptyMemoryStore, type MemoryStoreData} from '../../../system/store/memory-store.js';
import {restoringLineage} from '../../../system/store/meta.js';
import {restore} from '../../../system/store/restore.js';
import type {StoreDriver, StoredRecord} from '../../../system/store/store.js';
import {recordWorld} from '../commit/record-world.js';
import {commitTo, loadFrom, metaOf} from './store-contract.js';

const defer = (callback: () => void): void => void setImmediate(callback);
const meta = {version: 42, epoch: 7, lineage: 'old'};

const records: readonly StoredRecord[] = [
	{key: '/troupe/events/pods/a/x', body: 'plain'},
	{key: '/troupe/registry/pods/a/x', body: '{"schemaVersion":1}\n{"text":"é\\n\u{1F3AD}"}'},
	{key: '/troupe/registry/pods/a/y', body: 'x'.repeat(1_048_576)},
	{key: '/troupe/vault/ca', body: ''},
];

async function* portions(all: readonly StoredRecord[]): AsyncIterable<readonly StoredRecord[]> {
	for (let at = 0; at < all.length; at += 3) yield await Promise.resolve(all.slice(at, at + 3));
}

async function backupOf(all: readonly StoredRecord[] = records): Promise<Buffer> {
	const texts: string[] = [];
	for await (const text of writeBackup({meta, records: portions(all)}, meta, 0)) texts.push(text);
	return Buffer.from(texts.join(''));
}

/** In pieces of an odd size, which no line respects. */
async function* pieces(bytes: Buffer): AsyncIterable<Uint8Array> {
	for (let at = 0; at < bytes.length; at += 7_919) yield await Promise.resolve(bytes.subarray(at, at + 7_919));
}

async function readAll(bytes: Buffer): Promise<readonly StoredRecord[]> {
	const {records: found} = await readBackup(pieces(bytes));
	const all: StoredRecord[] = [];
	for await (const record of found) all.push(record);
	return all;
}

test('a backup is read back as it was written', async t => {
	const bytes = await backupOf();
	t.deepEqual(await readAll(bytes), records);
	t.deepEqual((await readBackup(pieces(bytes))).head, {madeAt: '1970-01-01T00:00:00.000Z', meta});
});

test('a backup of nothing is one of nothing', async t => {
	t.deepEqual(await readAll(await backupOf([])), []);
});

const small = records.filter(({body}) => body.length < 1_000);

test('a byte that changed anywhere is found, with its line', async t => {
	const bytes = await backupOf(small);
	for (let at = 0; at < bytes.length; at++) {
		const damaged = Buffer.from(bytes);
		damaged[at] = (damaged[at] ?? 0) ^ 1;
		const line = bytes.subarray(0, at).filter(byte => byte === 10).length + 1;
		const error = await t.throwsAsync<AppError>(readAll(damaged), {instanceOf: AppError}, `byte ${at}`);
		const [, told] = /line (\d+)/.exec(error?.message ?? '') ?? [];
		// What the head says beside its form is only known to be wrong at the end.
		t.true(
			Number(told) === line || Number(told) === small.length + 2 || Number(told) === line + 1,
			`byte ${at} of line ${line}: ${error?.message}`,
		);
	}
});

test('a backup that was cut off anywhere is refused', async t => {
	const bytes = await backupOf(small);
	for (let length = 0; length < bytes.length; length++)
		await t.throwsAsync(readAll(bytes.subarray(0, length)), {instanceOf: AppError}, `${length}`);
});

test('lines that are missing, twice, swapped or added are refused', async t => {
	const lines = (await backupOf(small)).toString().split('\n').slice(0, -1);
	const [head = '', a = '', b = '', c = '', end = ''] = lines;
	for (const wrong of [
		[head, a, c, end],
		[head, a, a, b, c, end],
		[head, b, a, c, end],
		[head, a, b, c, end, a],
		[head, a, b, c, end, end],
		[a, b, c, end],
		[head, end],
		['rubbish'],
		[''],
	])
		await t.throwsAsync(
			readAll(Buffer.from(`${wrong.join('\n')}\n`)),
			{instanceOf: AppError},
			wrong.map(line => line.slice(0, 20)).join('|'),
		);
});

test('a newer format is refused by name, and a line without an end is not collected for ever', async t => {
	const newer = Buffer.from((await backupOf(small)).toString().replace('"format":1', '"format":2'));
	await t.throwsAsync(readAll(newer), {message: /made by a newer version \(format 2/});
	await t.throwsAsync(readAll(Buffer.alloc(9_000_000, 'x')), {message: /no end within/});
});

const restored = async (driver: StoreDriver, bytes: Buffer) => restore(driver, await readBackup(pieces(bytes)));

/** What a store stands at once that backup is in it. */
const afterwards = {...meta, lineage: '', replaces: [meta.lineage]};

function memory(): {readonly driver: StoreDriver; readonly data: MemoryStoreData} {
	const data = emptyMemoryStore();
	return {driver: createMemoryStore(defer, data), data};
}

test('an empty store is filled, with the counter of the backup and no lineage yet', async t => {
	const {driver} = memory();
	t.deepEqual(await restored(driver, await backupOf()), {meta: afterwards, records: 4});
	t.deepEqual(await metaOf(driver), {ok: true, meta: afterwards});
	t.deepEqual(await loadFrom(driver, '/troupe/'), records);
});

test('a restored store names the lineages that it replaces, through every restore', async t => {
	const {driver} = memory();
	const head = {madeAt: '', meta: {...meta, replaces: ['older', 'oldest']}};
	const {meta: found} = await restore(driver, {head, records: none()}, ['younger', 'old']);
	t.deepEqual(found.replaces, ['old', 'younger', 'older', 'oldest']);
	const many = Array.from({length: 40}, (_, at) => `lineage-${at}`);
	const {meta: bounded} = await restore(memory().driver, {head, records: none()}, many);
	t.is(bounded.replaces?.length, limits.lineagesReplaced);
	t.is(bounded.replaces?.[0], 'old');
});

async function* none(): AsyncIterable<StoredRecord> {
	yield* await Promise.resolve([]);
}

test('a store that holds anything is refused and left as it is', async t => {
	const {driver} = memory();
	await restored(driver, await backupOf(small));
	await t.throwsAsync(restored(driver, await backupOf()), {message: /not empty/});
	t.deepEqual(await loadFrom(driver, '/troupe/'), small);
});

test('a restore that was interrupted stops every start, and is done again from the start by the next', async t => {
	const {driver, data} = memory();
	let commits = 0;
	const breaking: StoreDriver = {
		...driver,
		commit: (batch, done) => (++commits > 2 ? done({type: 'unknown', message: 'gone'}) : driver.commit(batch, done)),
	};
	const many = Array.from({length: 350}, (_, at) => ({key: `/troupe/registry/pods/a/${String(at).padStart(3, '0')}`, body: 'x'}));
	await t.throwsAsync(restored(breaking, await backupOf(many)), {message: /gone/});
	t.is(data.meta?.lineage, restoringLineage);
	t.is(data.bodies.size, 100);
	t.throws(() => recordWorld({data}), {message: /troupe restore/});
	await restored(driver, await backupOf(small));
	t.deepEqual(await loadFrom(driver, '/troupe/'), small);
});

test('a cluster begins its first term on a restored store with a lineage of its own and a later epoch', async t => {
	const world = recordWorld();
	for (const name of ['a', 'b']) world.create({name});
	const {driver, data} = memory();
	const texts: string[] = [];
	const snapshot = await world.durable.snapshot();
	for await (const text of writeBackup(snapshot, snapshot.meta ?? meta, 0)) texts.push(text);
	await restored(driver, Buffer.from(texts.join('')));
	t.is(data.meta?.lineage, '');
	const again = recordWorld({data, clock: world.clock});
	t.is(again.durable.index.size, 2);
	t.is(again.durable.index.version, world.durable.index.version);
	t.true(again.durable.pipeline.epoch() > world.durable.pipeline.epoch());
	t.not(again.durable.pipeline.meta.lineage, '');
	t.deepEqual(again.durable.pipeline.meta.replaces, [world.durable.pipeline.meta.lineage]);
});

test('two that restore into one store at once do not mix', async t => {
	const {driver, data} = memory();
	const many = Array.from({length: 350}, (_, at) => ({key: `/troupe/registry/pods/b/${String(at).padStart(3, '0')}`, body: 'y'}));
	const outcomes = await Promise.allSettled([
		restored(driver, await backupOf(many)),
		restored(createMemoryStore(defer, data), await backupOf(small)),
	]);
	t.is(outcomes.filter(({status}) => status === 'fulfilled').length, 1);
	t.is((await commitTo(driver, {writes: [], expected: afterwards, next: {...meta, epoch: 8}})).type, 'committed');
	const found = await loadFrom(driver, '/troupe/');
	t.true([350, small.length].includes(typeof found === 'string' ? -1 : found.length));
});
