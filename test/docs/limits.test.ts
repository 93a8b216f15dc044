// docs/limits.md says what the code says.

import {readFileSync} from 'node:fs';
import test from 'ava';
import {limits} from '../../api/limits.js';
import {tableRows} from './_pages.js';
import {limitsFile, limitsPage} from './limits-page.js';

test('docs/limits.md is what api/limits.ts makes (node build/test/docs/limits-page.js writes it)', t => {
	t.is(readFileSync(limitsFile, 'utf8'), limitsPage());
});

test('every limit is there with what it bounds', t => {
	const rows = tableRows(limitsPage(), 'limit', 'value');
	t.is(rows.length, Object.keys(limits).length);
	t.deepEqual(
		rows.filter(row => (row[2] ?? '') === '').map(([name]) => name),
		[],
	);
});
