import {mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {crc32c, damageInLog} from '../../../system/store/level-log.js';
import {openLevelStore} from '../../../system/store/level-store.js';
import {writeWitness} from '../../../system/store/level-witness.js';
import {noMeta} from '../../../system/store/meta.js';
import type {Meta} from '../../../system/store/store.js';
import {batchOf, commitTo, loadFrom, writing} from './store-contract.js';

/** A store whose log holds batches of many sizes, some across several blocks; closed. */
async function withLog(
	t: ExecutionContext,
): Promise<{readonly directory: string; readonly file: string; readonly ends: readonly number[]; readonly lastButOne: Meta}> {
	const directory = mkdtempSync(path.join(tmpdir(), 'troupe-log-'));
	t.teardown(() => rmSync(directory, {recursive: true, force: true}));
	const driver = await openLevelStore(directory);
	const level = path.join(directory, 'level');
	const name = readdirSync(level).find(name => name.endsWith('.log')) ?? '';
	const file = path.join(level, name);
	let meta: Meta = noMeta;
	let lastButOne: Meta = noMeta;
	const ends: number[] = [];
	for (const length of [10, 500, 40_000, 3, 100_000, 32_000, 700]) {
		const batch = batchOf(meta, writing(`/troupe/registry/${length}`, 'x'.repeat(length)));
		await commitTo(driver, batch);
		[lastButOne, meta] = [meta, batch.next];
		ends.push(readFileSync(file).length);
	}
	await driver.close();
	return {directory, file, ends, lastButOne};
}

test('the checksum is CRC-32C', t => {
	t.is(crc32c(new TextEncoder().encode('123456789')), 0xe3069283);
});

test('a whole log has no damage', async t => {
	const {file} = await withLog(t);
	t.is(damageInLog(readFileSync(file)), undefined);
	t.is(damageInLog(new Uint8Array()), undefined);
});

test('a log that ends anywhere is what a crash leaves, and no damage', async t => {
	const log = readFileSync((await withLog(t)).file);
	for (let length = 0; length < log.length; length += 997) t.is(damageInLog(log.subarray(0, length)), undefined, `cut at ${length}`);
});

test('a last record that reached the disk in part is no damage', async t => {
	const {file, ends} = await withLog(t);
	const log = readFileSync(file).subarray(0, ends[4]);
	log.fill(0, (ends[3] ?? 0) + 50, (ends[3] ?? 0) + 8_000);
	t.is(damageInLog(log), undefined);
});

test('a changed byte in any record but the last is damage', async t => {
	const {file, ends} = await withLog(t);
	for (const start of [0, ...ends.slice(0, -2)]) {
		const log = readFileSync(file);
		const at = start + 20;
		log[at] = (log[at] ?? 0) ^ 1;
		t.is(damageInLog(log) !== undefined, true, `changed at ${at}`);
	}
});

test('a store with a damaged log is refused and left as it is, one whose last batch was never acknowledged opens', async t => {
	const {directory, file, ends, lastButOne} = await withLog(t);
	const log = readFileSync(file);
	const damaged = Buffer.from(log);
	damaged[100] = (damaged[100] ?? 0) ^ 1;
	writeFileSync(file, damaged);
	const error = await t.throwsAsync(openLevelStore(directory));
	t.regex(error?.message ?? '', /"\d+\.log" is damaged at byte \d+, acknowledged writes would be lost; nothing was changed/);
	t.deepEqual(readFileSync(file), damaged);
	writeFileSync(file, log.subarray(0, (ends.at(-2) ?? 0) + 300));
	await writeWitness(path.join(directory, 'level'), lastButOne);
	const driver = await openLevelStore(directory);
	const records = await loadFrom(driver, '/troupe/registry/');
	await driver.close();
	t.is(Array.isArray(records) ? records.length : 0, 6);
});
