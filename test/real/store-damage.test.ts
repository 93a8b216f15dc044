// A hundred and more flips and cuts of a store of many tables, as in test/system/store-damage.test.ts.

import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {seededRandom} from '../../system/time/random.js';
import {damagedOnce, fillStore, type Fate} from '../system/store/store-damage.js';

test('of 150 flips and cuts none is served as truth', async t => {
	t.timeout(240_000);
	const directory = mkdtempSync(path.join(tmpdir(), 'troupe-whole-'));
	t.teardown(() => rmSync(directory, {recursive: true, force: true}));
	const seed = Math.floor(Math.random() * 1e9);
	const random = seededRandom(seed);
	const truth = await fillStore(directory, random, 2_000, 8_000);
	const fates: Record<Fate, number> = {harmless: 0, refused: 0, served: 0};
	for (let round = 0; round < 150; round++) {
		const {what, fate, message} = await damagedOnce(directory, truth, random);
		fates[fate]++;
		if (fate === 'served') t.fail(`seed ${seed}: ${what}`);
		if (fate === 'refused') t.regex(message, /damaged|cannot be|not as written|older than|records were written/, what);
	}
	t.log(`seed ${seed}: ${JSON.stringify(fates)}`);
});
