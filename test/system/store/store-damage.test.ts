// Whatever happens to the files of the embedded store: its next start serves the truth, or refuses and says why.

import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {seededRandom} from '../../../system/time/random.js';
import {damagedOnce, fillStore} from './store-damage.js';

test('flips and cuts of a store are refused or harmless, and never served', async t => {
	const directory = mkdtempSync(path.join(tmpdir(), 'troupe-whole-'));
	t.teardown(() => rmSync(directory, {recursive: true, force: true}));
	const random = seededRandom(9);
	const truth = await fillStore(directory, random, 400, 4_000);
	let refused = 0;
	for (let round = 0; round < 24; round++) {
		const {what, fate, message} = await damagedOnce(directory, truth, random);
		t.not(fate, 'served', what);
		if (fate === 'refused') t.regex(message, /damaged|cannot be|not as written|older than|records were written/, what);
		if (fate === 'refused') refused++;
	}
	t.true(refused > 8, `${refused} refused`);
});
