import {mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {ClassicLevel} from 'classic-level';
import {AppError} from '../../../api/errors.js';
import {metaStoreKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {addSums} from '../../../system/store/add-sums.js';
import {openLevelDriver, openLevelStore} from '../../../system/store/level-store.js';
import {isBehind} from '../../../system/store/level-witness.js';
import {formatMeta, noMeta} from '../../../system/store/meta.js';
import type {Batch} from '../../../system/store/store.js';
import {batchOf, commitTo, loadFrom, metaOf, storeContract, writing} from './store-contract.js';

function directoryFor(t: Pick<ExecutionContext, 'teardown'>): string {
	const directory = mkdtempSync(path.join(tmpdir(), 'troupe-level-'));
	t.teardown(() => rmSync(directory, {recursive: true, force: true}));
	return directory;
}

storeContract(test, 'level-store', async t => {
	const directory = mkdtempSync(path.join(tmpdir(), 'troupe-level-'));
	const driver = await openLevelStore(directory);
	let last = driver;
	t.teardown(async () => {
		await last.close();
		rmSync(directory, {recursive: true, force: true});
	});
	const reopen = async () => {
		await last.close();
		last = await openLevelStore(directory);
		return last;
	};
	return {driver, reopen};
});

/** Every file of a directory with its bytes, LevelDB's lock aside. */
const contentsOf = (directory: string): Record<string, string> =>
	Object.fromEntries(
		readdirSync(directory, {recursive: true, withFileTypes: true})
			.filter(entry => entry.isFile() && entry.name !== 'LOCK')
			.map(entry => path.join(entry.parentPath, entry.name))
			.map(file => [file, readFileSync(file, 'base64')]),
	);

const refused = async (t: ExecutionContext, directory: string): Promise<AppError | undefined> =>
	t.throwsAsync<AppError>(openLevelStore(directory), {instanceOf: AppError});

/** A closed store that holds one record. */
async function filled(directory: string): Promise<void> {
	const driver = await openLevelStore(directory);
	await commitTo(driver, batchOf(noMeta, writing('/troupe/registry/a', 'kept')));
	await driver.close();
}

test('a directory that is in use is refused by name, and its user is not disturbed', async t => {
	const directory = directoryFor(t);
	const driver = await openLevelStore(directory);
	t.teardown(() => driver.close());
	const error = await refused(t, directory);
	t.is(error?.code, 'ERR_NOT_REACHABLE');
	t.true(error?.message.includes(`another process uses the data directory "${directory}"`));
	t.is((await commitTo(driver, batchOf(noMeta, writing('/troupe/registry/a', '1')))).type, 'committed');
});

test('two that create a store at once end with one owner', async t => {
	const directory = directoryFor(t);
	const outcomes = await Promise.allSettled([openLevelStore(directory), openLevelStore(directory)]);
	const owners = outcomes.filter(outcome => outcome.status === 'fulfilled');
	t.teardown(() => Promise.all(owners.map(({value}) => value.close())));
	t.is(owners.length, 1);
});

test('a directory that holds something else is refused and left as it is', async t => {
	const directory = directoryFor(t);
	writeFileSync(path.join(directory, 'photo.jpg'), 'not a store');
	const before = contentsOf(directory);
	t.true((await refused(t, directory))?.message.includes('it holds "photo.jpg" and no store'));
	t.deepEqual(contentsOf(directory), before);
});

test('a newer format is refused and left as it is', async t => {
	const directory = directoryFor(t);
	await filled(directory);
	writeFileSync(path.join(directory, 'level', 'FORMAT'), 'troupe-level 3\n');
	const before = contentsOf(directory);
	t.true((await refused(t, directory))?.message.includes('written by a newer version (format 3, this one reads up to 2)'));
	t.deepEqual(contentsOf(directory), before);
});

test('a store of the format before is upgraded, and keeps what it holds', async t => {
	const directory = directoryFor(t);
	const before = await openLevelDriver(directory);
	await commitTo(before, batchOf(noMeta, writing('/troupe/registry/a', 'kept')));
	await before.close();
	rmSync(path.join(directory, 'level', 'ACKNOWLEDGED'));
	writeFileSync(path.join(directory, 'level', 'FORMAT'), 'troupe-level 1\n');
	for (let start = 0; start < 2; start++) {
		const driver = await openLevelStore(directory);
		await addSums(driver);
		t.deepEqual(await loadFrom(driver, '/troupe/'), [{key: '/troupe/registry/a', body: 'kept'}]);
		await driver.close();
	}
	t.is(readFileSync(path.join(directory, 'level', 'FORMAT'), 'utf8'), 'troupe-level 2\n');
	await behindItsBack(directory, {'/troupe/registry/a': 'kept'});
	const driver = await openLevelStore(directory);
	t.teardown(() => driver.close());
	t.regex(JSON.stringify(await loadFrom(driver, '/troupe/')), /a record is not as written: \\"\/troupe\/registry\/a\\"/);
});

test('room for the next start is kept beside the store, as much as its log has and some', async t => {
	const directory = directoryFor(t);
	const reserve = path.join(directory, 'level', 'RESERVE');
	await filled(directory);
	t.true(statSync(reserve).size >= 1_048_576);
	const driver = await openLevelStore(directory);
	let last = batchOf(noMeta, writing('/troupe/registry/a', 'kept')).next;
	for (let at = 0; at < 3; at++) {
		const batch = batchOf(last, writing(`/troupe/registry/${at}`, 'x'.repeat(1_000_000)));
		await commitTo(driver, batch);
		last = batch.next;
	}
	await driver.close();
	t.true(statSync(reserve).size > 2_097_152);
	t.true(statSync(reserve).size <= limits.storeReserveBytes);
});

test('a file in the place of the directory is refused with its name', async t => {
	const file = path.join(directoryFor(t), 'file');
	writeFileSync(file, 'x');
	t.true((await refused(t, file))?.message.includes(file));
	t.is(readFileSync(file, 'utf8'), 'x');
});

test('a store that has lost its table of contents is refused, not made anew', async t => {
	for (const lost of [/^CURRENT$/, /^MANIFEST-/]) {
		const directory = directoryFor(t);
		await filled(directory);
		const level = path.join(directory, 'level');
		const name = readdirSync(level).find(name => lost.test(name)) ?? '';
		renameSync(path.join(level, name), path.join(directoryFor(t), name));
		t.true((await refused(t, directory))?.message.includes(`the store in "${directory}" cannot be opened`));
		t.true(readdirSync(level).some(name => name.endsWith('.log')));
	}
});

test('a meta that is no meta is refused', async t => {
	const directory = directoryFor(t);
	await filled(directory);
	await behindItsBack(directory, {[metaStoreKey]: '{"version":'});
	t.true((await refused(t, directory))?.message.includes('"/troupe/meta" is damaged'));
});

test('what an interrupted creation left behind is no obstacle and is removed', async t => {
	const directory = directoryFor(t);
	mkdtempSync(path.join(directory, 'new-'));
	await filled(directory);
	t.deepEqual(readdirSync(directory), ['level']);
});

/** Writes into a closed store as no driver would. */
async function behindItsBack(directory: string, values: Record<string, string>): Promise<void> {
	const level = new ClassicLevel(path.join(directory, 'level'));
	await level.batch(
		Object.entries(values).map(([key, value]) => ({type: 'put', key, value})),
		{sync: true},
	);
	await level.close();
}

/** The same batch, whose first record cannot be serialised the first time. */
function failingOnce(batch: Batch): Batch {
	let calls = 0;
	const writes = batch.writes.map(({key, body}) => ({
		key,
		body: () => {
			if (calls++ === 0) throw new Error('no space left');
			return body?.() ?? '';
		},
	}));
	return {...batch, writes};
}

const first = batchOf(noMeta, writing('/troupe/registry/a', 'old'));
const second = batchOf(first.next, writing('/troupe/registry/a', 'new'), writing('/troupe/registry/b', 'new'));
const old = [{key: '/troupe/registry/a', body: 'old'}];

type Batching = {_batch: (operations: readonly unknown[], options: {readonly sync?: boolean}) => Promise<void>};

/** From now on LevelDB is on a disk that is cut off at once: what was not synced is acknowledged, and gone. */
function losePower(t: ExecutionContext): void {
	const level = ClassicLevel.prototype as unknown as Batching;
	const whole = level._batch;
	t.teardown(() => (level._batch = whole));
	level._batch = function (operations, options) {
		return options.sync === true ? whole.call(this, operations, options) : Promise.resolve();
	};
}

// The others share the prototype.
test.serial('what was acknowledged survives a power cut that takes all that was not synced', async t => {
	losePower(t);
	const directory = directoryFor(t);
	const driver = await openLevelStore(directory);
	t.is((await commitTo(driver, batchOf(noMeta, writing('/troupe/registry/a', 'kept')))).type, 'committed');
	await driver.close();
	const again = await openLevelStore(directory);
	t.teardown(() => again.close());
	t.deepEqual(await loadFrom(again, '/troupe/'), [{key: '/troupe/registry/a', body: 'kept'}]);
});

test('a store of an earlier term, or of an earlier version of the same, is behind; one that is ahead is not', t => {
	const witnessed = {version: 5, epoch: 2};
	t.true(isBehind({version: 5, epoch: 1}, witnessed));
	t.true(isBehind({version: 9, epoch: 1}, witnessed));
	t.true(isBehind({version: 4, epoch: 2}, witnessed));
	t.false(isBehind(witnessed, witnessed));
	t.false(isBehind({version: 6, epoch: 2}, witnessed));
	t.false(isBehind({version: 4, epoch: 3}, witnessed));
});

test('after a failed batch the store is opened again and goes on', async t => {
	const driver = await openLevelDriver(directoryFor(t));
	t.teardown(() => driver.close());
	await commitTo(driver, first);
	t.deepEqual(await commitTo(driver, failingOnce(second)), {type: 'failed', message: 'no space left'});
	t.deepEqual(await metaOf(driver), {ok: true, meta: first.next});
	t.deepEqual(await loadFrom(driver, '/troupe/'), old);
	t.deepEqual(await commitTo(driver, second), {type: 'committed'});
});

/** A driver whose last batch failed, and whose database is out of reach until it is put `back`. */
async function cutOff(t: ExecutionContext) {
	const directory = directoryFor(t);
	const [level, away] = [path.join(directory, 'level'), path.join(directory, 'away', 'level')];
	const driver = await openLevelDriver(directory);
	t.teardown(() => driver.close());
	await commitTo(driver, first);
	mkdirSync(path.dirname(away));
	renameSync(level, away);
	writeFileSync(level, 'in the way');
	t.is((await commitTo(driver, failingOnce(second))).type, 'failed');
	const back = (): void => {
		rmSync(level);
		renameSync(away, level);
	};
	return {driver, away: path.dirname(away), back};
}

test('while the store cannot be opened again every write fails, and the first one after that is taken', async t => {
	const {driver, back} = await cutOff(t);
	for (let attempt = 0; attempt < 3; attempt++) {
		const outcome = await commitTo(driver, second);
		t.true(outcome.type === 'failed' && outcome.message.startsWith('the store could not be opened again after a failed write'));
	}
	t.false((await metaOf(driver)).ok);
	back();
	t.deepEqual(await commitTo(driver, second), {type: 'committed'});
});

test('a batch that was reported as failed and turns up after all is taken back', async t => {
	const {driver, away, back} = await cutOff(t);
	await behindItsBack(away, {'/troupe/registry/a': 'new', '/troupe/registry/b': 'new', [metaStoreKey]: formatMeta(second.next)});
	back();
	t.deepEqual(await metaOf(driver), {ok: true, meta: first.next});
	t.deepEqual(await loadFrom(driver, '/troupe/'), old);
	t.deepEqual(await commitTo(driver, second), {type: 'committed'});
});

test('a store that has lost an acknowledged batch, or holds half of one, takes nothing more', async t => {
	const half = {'/troupe/registry/a': 'new', [metaStoreKey]: formatMeta(second.next)};
	const lost = {[metaStoreKey]: formatMeta({...first.next, version: 0})};
	const changed = {'/troupe/registry/a': 'other'};
	for (const values of [half, lost, changed]) {
		const {driver, away, back} = await cutOff(t);
		await behindItsBack(away, values);
		back();
		const outcome = await commitTo(driver, second);
		t.true(outcome.type === 'failed' && outcome.message.includes('does not hold what was written before its last failure'));
		t.false((await metaOf(driver)).ok);
	}
});
