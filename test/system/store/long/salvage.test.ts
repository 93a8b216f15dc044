// What is saved of a damaged store: only what was written, and what is not saved is told.

import {cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {storePrefix} from '../../../../api/keys.js';
import {openLevelStore} from '../../../../system/store/level-store.js';
import {seededRandom} from '../../../../system/time/random.js';
import {salvage} from '../../../../system/store/salvage.js';
import {fillStore, type Truth} from '../store-damage.js';
import {loadFrom, metaOf} from '../store-contract.js';

const filled = mkdtempSync(path.join(tmpdir(), 'troupe-salvage-'));
let truth: Truth = new Map();

test.before(async () => {
	truth = await fillStore(path.join(filled, 'control'), seededRandom(3), 300, 1_600);
});
test.after.always(() => rmSync(filled, {recursive: true, force: true}));

/** A store of a test's own. */
function whole(t: ExecutionContext): string {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-salvage-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	cpSync(filled, folder, {recursive: true});
	return path.join(folder, 'control');
}

const named = (directory: string, end: string): string => {
	const names = readdirSync(path.join(directory, 'level')).filter(name => name.endsWith(end));
	return path.join(directory, 'level', names[0] ?? '');
};

/** Changes a byte in many places of a file: one alone may meet what was overwritten long ago. */
function flip(file: string): void {
	const bytes = readFileSync(file);
	for (let part = 1; part < 10; part++) {
		const at = Math.floor((bytes.length * part) / 10);
		bytes[at] = (bytes[at] ?? 0) ^ 4;
	}
	writeFileSync(file, bytes);
}

type Damage = {
	readonly strike: (directory: string) => void;
	/** What is left may be older than what was written last. */ readonly isOld?: true;
};

const damages: {readonly [what: string]: Damage} = {
	'changed bytes in a table': {strike: directory => flip(named(directory, '.ldb'))},
	'changed bytes in the log': {strike: directory => flip(named(directory, '.log'))},
	'an empty log': {strike: directory => writeFileSync(named(directory, '.log'), ''), isOld: true},
	'no CURRENT': {strike: directory => rmSync(path.join(directory, 'level', 'CURRENT'))},
	'no table': {strike: directory => rmSync(named(directory, '.ldb')), isOld: true},
};

for (const [what, {strike, isOld}] of Object.entries(damages)) {
	test(`of a store with ${what} all that is whole is saved, what is lost is told, and the damaged one is kept`, async t => {
		const directory = whole(t);
		strike(directory);
		const damaged = `${directory}-copy`;
		cpSync(directory, damaged, {recursive: true});
		const {records, lost, missing, writesLost, aside} = await salvage(directory, ['remembered']);
		t.log({records, of: truth.size, lost: lost.length, missing, writesLost});

		const driver = await openLevelStore(directory);
		const found = await loadFrom(driver, storePrefix);
		const meta = await metaOf(driver);
		await driver.close();
		if (typeof found === 'string') return t.fail(found);
		t.is(found.length, records);
		if (isOld === undefined) for (const {key, body} of found) t.is(body, truth.get(key) ?? '', key);
		t.true(records > 100);
		t.true(records === truth.size || lost.length > 0 || (missing ?? 0) > 0 || writesLost > 0, 'a loss is told');
		t.like(meta, {ok: true, meta: {lineage: '', replaces: ['a', 'remembered']}});
		for (const name of readdirSync(path.join(damaged, 'level')))
			t.deepEqual(readFileSync(path.join(aside, 'level', name)), readFileSync(path.join(damaged, 'level', name)), name);
		t.deepEqual(
			readdirSync(path.dirname(directory)).filter(name => name.includes('salvage')),
			[],
		);
	});
}

test('a store that is whole is left as it is', async t => {
	const directory = whole(t);
	await t.throwsAsync(salvage(directory, []), {message: /is whole: nothing is to be saved/});
	const driver = await openLevelStore(directory);
	const found = await loadFrom(driver, storePrefix);
	await driver.close();
	t.is(found.length, truth.size);
});
