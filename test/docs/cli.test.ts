// docs/cli.md has every command and every exit code.

import test from 'ava';
import {errorTable} from '../../api/errors.js';
import {commands} from '../../cli/commands.js';
import {readPage, tableRows} from './_pages.js';

const {text} = readPage('docs/cli.md');

test('every command is in the tables of docs/cli.md, and nothing else is', t => {
	const documented = tableRows(text, 'command', 'what it does').map(([command = '']) => command.replace(/^`troupe |`$/g, ''));
	t.deepEqual(documented.toSorted(), commands.map(({name}) => name).toSorted());
});

test('every flag that docs/cli.md names is one of some command', t => {
	const known = new Set(commands.flatMap(({flags}) => Object.keys(flags)));
	const named = [...text.matchAll(/(?<![\w-])--([a-z][a-z-]*)/g)].map(match => match[1] ?? '');
	t.deepEqual(
		named.filter(flag => !known.has(flag)),
		[],
	);
});

test('every exit code of an error is explained', t => {
	const explained = tableRows(text, 'code', 'meaning').map(([code]) => Number(code));
	for (const {exitCode} of Object.values(errorTable)) t.true(explained.includes(exitCode), String(exitCode));
});
