import test from 'ava';
import {createColors} from 'picocolors';
import {cellText, drawTable, paintStatus} from '../../cli/screen/table.js';
import {parseHostPort} from '../../cli/serving/serving-options.js';
import {parseDuration} from '../../api/duration.js';
import {wantsColour} from '../../cli/screen/terminal.js';
import {widthFor} from '../../cli/screen/text-width.js';
import {looksLikeHome} from '../../cli/files/home-contents.js';
import {writtenPath} from '../../api/dialects/rewrite.js';

test('columns stand three spaces apart and lines have no tail', async t => {
	const rows = [
		['a', ''],
		['bbbb', 'x'],
	];
	t.is(drawTable(['N', 'VALUE'], rows, await widthFor(rows.flat())), 'N      VALUE\na\nbbbb   x\n');
});

test('cells of every type become text', t => {
	t.deepEqual(['a', 3, true, null, undefined, {b: 1}].map(cellText), ['a', '3', 'true', '', '', '{"b":1}']);
});

test('colour needs a terminal, and gives way to NO_COLOR', t => {
	t.deepEqual(
		[wantsColour(true, {}), wantsColour(false, {}), wantsColour(true, {NO_COLOR: '1'}), wantsColour(true, {TERM: 'dumb'})],
		[true, false, false, false],
	);
});

test('FORCE_COLOR colours what is piped, NO_COLOR nothing', t => {
	t.true(wantsColour(false, {FORCE_COLOR: '1'}));
	t.true(wantsColour(true, {FORCE_COLOR: '1', TERM: 'dumb'}));
	for (const word of ['', '0', 'false']) t.false(wantsColour(false, {FORCE_COLOR: word}));
	t.false(wantsColour(true, {FORCE_COLOR: '1', NO_COLOR: '1'}));
});

test('a status is green when fine, yellow on the way, red when wrong', t => {
	const colours = createColors(true);
	const table = {
		Running: 'green',
		Completed: 'green',
		Pending: 'yellow',
		Terminating: 'yellow',
		'retry 4 in 3 s: exit 137': 'yellow',
		Error: 'red',
		NoCommand: 'red',
	} as const;
	for (const [word, colour] of Object.entries(table)) t.is(paintStatus(word, colours), colours[colour](word), word);
	t.is(paintStatus('', colours), '');
});

test('times are read as people write them', t => {
	const cases = {
		'30s': 30_000,
		'2m': 120_000,
		'1h30m': 5_400_000,
		'500ms': 500,
		'5': 5_000,
		'1.5s': 1_500,
		soon: undefined,
		'5 s': undefined,
		'': undefined,
		'-5s': undefined,
	};
	for (const [text, ms] of Object.entries(cases)) t.is(parseDuration(text), ms, text);
});

test('addresses to listen on are read with and without a host', t => {
	const at = (text: string) => parseHostPort(text, '127.0.0.1');
	t.deepEqual(at('0.0.0.0:80'), {host: '0.0.0.0', port: 80});
	t.deepEqual(at('[::1]:0'), {host: '::1', port: 0});
	t.deepEqual(at('localhost:7070'), {host: 'localhost', port: 7070});
	t.deepEqual(at(':7070'), {host: '127.0.0.1', port: 7070});
	t.deepEqual(at('7070'), {host: '127.0.0.1', port: 7070});
	for (const text of ['', 'x', 'a:b', '1.2.3.4:70000', '::1:80', 'http://x:80', 'a b:80']) t.is(at(text), undefined, text);
});

test('only a folder that holds what Troupe makes looks like a home', t => {
	t.true(looksLikeHome(['data', 'kubeconfig', 'admin.token'], ['control', 'node', 'runtime', 'cluster.key']));
	t.true(looksLikeHome(['troupe.log'], []));
	t.true(looksLikeHome(['data'], ['cluster.key']));
	t.false(looksLikeHome(['data'], ['cluster.key', 'photos']));
	t.false(looksLikeHome(['data'], []));
	t.false(looksLikeHome(['Documents', '.bashrc'], []));
	t.false(looksLikeHome(['kubeconfig', 'data'], ['photos']));
});

test('a canonical path is told as the manifest spells it', t => {
	const renamed = [
		{path: 'spec.containers[0].imagePullPolicy', from: 'spec.containers[0].ImagePullPolicy'},
		{path: 'spec.a', from: 'spec.b'},
	];
	t.is(writtenPath('spec.containers[0].imagePullPolicy', renamed), 'spec.containers[0].ImagePullPolicy');
	t.is(writtenPath('spec.a.x[1]', renamed), 'spec.b.x[1]');
	t.is(writtenPath('spec.ab', renamed), 'spec.ab');
	t.is(writtenPath('', renamed), '');
});
