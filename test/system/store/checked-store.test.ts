import test from 'ava';
import {artifactStoreKey, metaStoreKey, storePrefix} from '../../../api/keys.js';
import {addSums} from '../../../system/store/add-sums.js';
import {checkedStore} from '../../../system/store/checked-store.js';
import {createMemoryStore, emptyMemoryStore, type MemoryStoreData} from '../../../system/store/memory-store.js';
import {formatMeta, noMeta, parseMeta} from '../../../system/store/meta.js';
import type {Meta, StoreDriver, StoredRecord} from '../../../system/store/store.js';
import {batchOf, commitTo, fenceIn, fill, loadFrom, metaOf, readAll, storeContract, writing} from './store-contract.js';

const over = (data: MemoryStoreData): StoreDriver => checkedStore(createMemoryStore(queueMicrotask, data));

storeContract(test, 'checked-store', () => {
	const data = emptyMemoryStore();
	return Promise.resolve({driver: over(data), reopen: () => Promise.resolve(over(data))});
});

const keys = ['/troupe/events/pods/a/x', '/troupe/registry/pods/a/x', '/troupe/registry/pods/a/y', '/troupe/vault/authority'];

/** A store of four records that were written and once rewritten, and what is below it. */
async function filled(): Promise<{readonly data: MemoryStoreData; readonly meta: Meta}> {
	const data = emptyMemoryStore();
	const driver = over(data);
	const meta = await fill(driver, keys);
	const last = batchOf(meta, writing(keys[1] ?? '', 'again'), writing('/troupe/registry/pods/a/z', 'short'));
	await commitTo(driver, last);
	const removal = batchOf(last.next, writing('/troupe/registry/pods/a/z', undefined));
	await commitTo(driver, removal);
	return {data, meta: removal.next};
}

const refusal = async (data: MemoryStoreData): Promise<string> => {
	const loaded = await loadFrom(over(data), storePrefix);
	return typeof loaded === 'string' ? loaded : 'served';
};

test('what was written, rewritten and removed is what is there', async t => {
	const {data} = await filled();
	t.is(await refusal(data), 'served');
	t.is(data.meta?.records?.count, 4);
});

for (const [what, strike, said] of [
	[
		'a changed body',
		({bodies}) => bodies.set(keys[1] ?? '', changed(bodies, keys[1])),
		/a record is not as written: "\/troupe\/registry\/pods\/a\/x"/,
	],
	['a body under another key', ({bodies}) => bodies.set(keys[1] ?? '', bodies.get(keys[2] ?? '') ?? empty), /not as written/],
	['a record without its checksum', ({bodies}) => bodies.set(keys[1] ?? '', () => 'again'), /not as written/],
	['a missing record', ({bodies}) => bodies.delete(keys[3] ?? ''), /^4 records were written, 3 are there; restore a backup$/],
	['a record of another store', ({bodies}) => bodies.set('/troupe/registry/b', bodies.get(keys[1] ?? '') ?? empty), /not as written/],
] as const satisfies readonly (readonly [string, (data: MemoryStoreData) => unknown, RegExp])[]) {
	test(`${what} is never served`, async t => {
		const {data} = await filled();
		strike(data);
		t.regex(await refusal(data), said);
		await t.throwsAsync(async () => readAll(await over(data).snapshot(storePrefix)), undefined, 'nor put into a backup');
		const outcome = await commitTo(over(data), batchOf(data.meta ?? noMeta, writing('/troupe/registry/pods/a/new', 'new')));
		t.is(outcome.type, 'failed', 'nor written to');
	});
}

const empty = (): string => '';
const changed = (bodies: MemoryStoreData['bodies'], key = ''): (() => string) => {
	const text = bodies.get(key)?.() ?? '';
	return () => `${text.slice(0, -1)}!`;
};

test('what is read on demand is left out where all is loaded, and checked all the same', async t => {
	const data = emptyMemoryStore();
	const large = artifactStoreKey('a'.repeat(64), 0);
	await fill(over(data), [...keys, large]);
	const stored = async (prefix: string) => (await loadFrom(over(data), prefix)) as readonly StoredRecord[];
	t.deepEqual(
		(await stored(storePrefix)).filter(({body}) => body === '').map(({key}) => key),
		[large],
	);
	t.deepEqual(await stored(large), [{key: large, body: large}]);
	t.is((await readAll(await over(data).snapshot(storePrefix))).find(({key}) => key === large)?.body, large, 'a backup has it');
	const next = batchOf(data.meta ?? noMeta, writing(large, undefined));
	t.is((await commitTo(over(data), next)).type, 'committed', 'its sum is known when it goes');
	t.is(await refusal(data), 'served');
	await fill(over(data), [large], data.meta ?? noMeta);
	data.bodies.set(large, changed(data.bodies, large));
	t.regex(await refusal(data), /a record is not as written: "\/troupe\/artifacts/);
	const loaded = await loadFrom(over(data), large);
	t.regex(typeof loaded === 'string' ? loaded : 'served', /a record is not as written/);
});

test('a record that is older than what was written last is never served', async t => {
	const data = emptyMemoryStore();
	const driver = over(data);
	const meta = await fill(driver, keys);
	const old = data.bodies.get(keys[1] ?? '') ?? empty;
	await commitTo(driver, batchOf(meta, writing(keys[1] ?? '', 'again')));
	data.bodies.set(keys[1] ?? '', old);
	t.regex(await refusal(data), /some records are older than what was written last/);
});

test('records of an older version get their checksums once, and are refused without from then on', async t => {
	const data = emptyMemoryStore();
	const old = createMemoryStore(queueMicrotask, data);
	const many = Array.from({length: 230}, (_, at) => `/troupe/registry/pods/a/${1_000 + at}`);
	const before = await fill(old, many);
	const records = many.map(key => ({key, body: key}));
	t.deepEqual(await loadFrom(over(data), storePrefix), records, 'they can be read before');

	await addSums(over(data));
	t.deepEqual(await loadFrom(over(data), storePrefix), records);
	t.is(data.meta?.records?.count, 230);
	t.true((data.meta?.version ?? 0) > before.version, 'whoever wrote before is fenced');
	const done = data.meta;
	await addSums(over(data));
	t.is(data.meta, done, 'once');
	data.bodies.set(many[7] ?? '', () => many[7] ?? '');
	t.regex(await refusal(data), /not as written/);
});

test('an upgrade that was interrupted is no damage, and is done again', async t => {
	const data = emptyMemoryStore();
	const before = await fill(createMemoryStore(queueMicrotask, data), keys);
	await commitTo(over(data), batchOf(before, writing(keys[0] ?? '', 'new')));
	t.is(data.meta?.records, undefined);
	t.is(await refusal(data), 'served');
	await addSums(over(data));
	t.is(data.meta?.records?.count, 4);
	t.is(await refusal(data), 'served');
});

test('an empty store of an older version is upgraded as well', async t => {
	const data = emptyMemoryStore();
	await commitTo(createMemoryStore(queueMicrotask, data), batchOf(noMeta));
	await addSums(over(data));
	t.is(data.meta?.records?.count, 0);
});

test('a batch whose outcome is told later counts once it is known', async t => {
	for (const taken of [true, false]) {
		const {data, meta} = await filled();
		const below = createMemoryStore(queueMicrotask, data);
		let silent = true;
		const driver = checkedStore({
			...below,
			commit(batch, done) {
				if (!silent) return below.commit(batch, done);
				const unknown = (): void => done({type: 'unknown', message: 'no answer'});
				if (taken) below.commit(batch, unknown);
				else queueMicrotask(unknown);
			},
		});
		const batch = batchOf(meta, writing(keys[1] ?? '', 'late'), writing('/troupe/registry/new', 'new'));
		t.is((await commitTo(driver, batch)).type, 'unknown');
		silent = false;
		t.deepEqual(await metaOf(driver), {ok: true, meta: taken ? batch.next : meta});
		t.is((await commitTo(driver, batchOf(taken ? batch.next : meta, writing(keys[2] ?? '', 'next')))).type, 'committed');
		t.is(await refusal(data), 'served');
		t.is(data.meta?.records?.count, taken ? 5 : 4);
	}
});

test('a batch without an outcome is no damage to who loads: taken before, or while the records are read', async t => {
	for (const when of ['before', 'meanwhile', 'never'] as const) {
		const {data, meta} = await filled();
		const below = createMemoryStore(queueMicrotask, data);
		let late: (() => void) | undefined;
		const driver = checkedStore({
			...below,
			commit(batch, done) {
				const unknown = (): void => done({type: 'unknown', message: 'no answer'});
				if (when === 'before') return below.commit(batch, unknown);
				if (when === 'meanwhile') late = () => below.commit(batch, () => undefined);
				queueMicrotask(unknown);
			},
			load(prefix, done) {
				late?.();
				late = undefined;
				below.load(prefix, done);
			},
		});
		// All is known of what is there, and then one batch is lost sight of.
		const loadAll = () => loadFrom(driver, storePrefix);
		t.is((await loadAll()).length, 4);
		t.is((await commitTo(driver, batchOf(meta, writing('/troupe/registry/new', 'new')))).type, 'unknown');
		t.is((await loadAll()).length, when === 'never' ? 4 : 5, when);
		data.bodies.delete(keys[3] ?? '');
		const damaged = await loadAll();
		t.regex(typeof damaged === 'string' ? damaged : 'served', /records were written/, 'damage is damage all the same');
	}
});

test('meta is read only as it was written', t => {
	const records = {count: 3, sum: 'a'.repeat(32)};
	for (const meta of [
		{version: 7, epoch: 9, lineage: 'a'},
		{version: 7, epoch: 9, lineage: 'a', replaces: ['b'], records},
	]) {
		const text = formatMeta(meta);
		t.deepEqual(parseMeta(text), meta);
		for (let at = 0; at < text.length; at++) {
			const wrong = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
			const found = parseMeta(wrong);
			if ('records' in meta) t.is(found, undefined, `${metaStoreKey}: ${wrong}`);
			else t.notDeepEqual(fenceIn(found), meta);
		}
	}
});
