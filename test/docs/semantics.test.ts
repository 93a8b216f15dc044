// docs/semantics.md has a row for every effect, and its numbers are those of the code.

import test from 'ava';
import {limits} from '../../api/limits.js';
import {readPage, tableRows} from './_pages.js';

const {text} = readPage('docs/semantics.md');
const word = (cell: string | undefined): string => (cell ?? '').replaceAll('`', '');

/** The members of the union `Effect`, read from its declaration: types leave no trace at run time. */
function effectTypes(): readonly string[] {
	const source = readPage('system/kernel/behavior.ts').text;
	const start = source.indexOf('export type Effect =');
	const declaration = source.slice(start, source.indexOf(';\n\n', start));
	return [...declaration.matchAll(/readonly type: ((?:'\w+'(?: \| )?)+)/g)].flatMap(match =>
		[...(match[1] ?? '').matchAll(/'(\w+)'/g)].map(each => each[1] ?? ''),
	);
}

test('the table of effects has one row for each effect, and no other', t => {
	const rows = tableRows(text, 'effect', 'then').map(([effect]) => word(effect));
	const types = [...new Set(effectTypes())].filter(type => !['Normal', 'Warning'].includes(type));
	t.true(types.includes('perform') && types.length > 10);
	t.deepEqual(rows.toSorted(), types.toSorted());
});

test('every bound in the table of queues is the one in api/limits.ts', t => {
	const rows = tableRows(text, 'bound', 'value');
	t.true(rows.length > 20);
	const known: Readonly<Record<string, number>> = limits;
	for (const [name, value] of rows) t.is(known[word(name)], Number(value), word(name));
});

test('every name of a limit in the text is one', t => {
	const names = [...text.matchAll(/`(\w+(?:Bytes|Ms|Messages|Writes|Operations|Intensity|Changes|Window|Connections))`/g)];
	for (const [, name = ''] of names) t.true(name === 'firstAtMs' || name in limits, name);
});
