import {appendFileSync} from 'node:fs';
import test from 'ava';
import {lastLinesOf, lastText} from '../../agent/logs/last-lines.js';
import {addMarks, offsetSince, readMarks, stamped, timeOf, trimMarks} from '../../agent/logs/log-times.js';
import {rotateLog} from '../../agent/logs/log-rotation.js';
import {beginsLine, nextLine, readLog} from '../../agent/logs/logs.js';
import {aLog} from './_logs.js';

const marks = [
	{end: 10, atMs: 1_000},
	{end: 20, atMs: 2_000},
	{end: 30, atMs: 3_000},
];

test('a byte has the time of the first mark that tells of it', t => {
	t.is(timeOf(marks, 0, 9), 1_000);
	t.is(timeOf(marks, 9, 9), 1_000);
	t.is(timeOf(marks, 10, 9), 2_000);
	t.is(timeOf(marks, 29, 9), 3_000);
	t.is(timeOf(marks, 30, 9), 9, 'what nobody has marked yet');
	t.is(timeOf([], 0, 9), 9);
});

test('what was written since a time begins where the mark before it ends', t => {
	const since = (sinceMs: number, of = marks): number => offsetSince(of, sinceMs, {end: 40, nowMs: 5_000});
	t.is(since(0), 0);
	t.is(since(1_000), 0);
	t.is(since(1_001), 10);
	t.is(since(3_000), 20);
	t.is(since(3_001), 30);
	t.is(since(5_000), 30, 'what nobody has marked yet is of now');
	t.is(since(5_001), 40, 'and no later');
	t.is(since(5, []), 0);
	t.is(since(5_001, []), 40);
	t.is(since(6_000, [...marks, {end: 35, atMs: 7_000}]), 30, 'a clock that was set back');
});

test('marks are kept in a file, but for one that was cut off', async t => {
	const log = await aLog(t);
	t.deepEqual(readMarks(log), []);
	addMarks(log, marks);
	appendFileSync(`${log}.times`, 'torn');
	t.deepEqual(readMarks(log), marks);
});

test('too many marks lose every other one of the older half, and those of text that is gone', async t => {
	const log = await aLog(t);
	for (let i = 1; i <= 8; i++) addMarks(log, [{end: i, atMs: i * 10}]);
	t.is(trimMarks(log, {first: 0, end: 8}, 7), 6);
	t.deepEqual(
		readMarks(log).map(({end}) => end),
		[2, 4, 5, 6, 7, 8],
	);
	t.is(trimMarks(log, {first: 5, end: 8}, 7), 3);
	t.deepEqual(
		readMarks(log).map(({end}) => end),
		[6, 7, 8],
	);
});

const at = (text: string, offset: number, isBegun: boolean, maxBytes = 1_000): {text: string; taken: number} => {
	const {data, taken} = stamped({data: Buffer.from(text), offset, beginsLine: isBegun}, position => position * 1_000, maxBytes);
	return {text: data.toString('latin1'), taken};
};
const time = (seconds: number): string => new Date(seconds * 1_000).toISOString();

test('each line that begins in a piece has its time before it', t => {
	t.deepEqual(at('a\r\nb\n\nend', 5, true), {text: `${time(5)} a\r\n${time(8)} b\n${time(10)} \n${time(11)} end`, taken: 9});
	t.deepEqual(at('rest\nnext\n', 5, false), {text: `rest\n${time(10)} next\n`, taken: 10}, 'a line that began before has none');
	t.deepEqual(at('', 5, true), {text: '', taken: 0});
});

test('a piece with times is no larger than asked for, and goes on all the same', t => {
	const piece = at('first\nsecond\n', 0, true, 40);
	t.deepEqual(piece, {text: `${time(0)} first\n${time(6)} `.slice(0, 31), taken: 6});
	t.deepEqual(at('first\n', 0, true, 1), {text: `${time(0)} f`, taken: 1});
	t.deepEqual(at('irst\n', 1, false, 3), {text: 'irs', taken: 3});
});

test('where lines begin is known, through a rotation too', async t => {
	const log = await aLog(t, 'one\ntwo\n');
	t.true(beginsLine(log, 0));
	t.false(beginsLine(log, 1));
	t.true(beginsLine(log, 4));
	t.is(await nextLine(log, 1), 4);
	t.is(await nextLine(log, 4), 4);
	t.is(await nextLine(log, 5), 8);
	await rotateLog(log, 8);
	appendFileSync(log, 'three');
	t.is(await nextLine(log, 5), 8);
	t.is(await nextLine(log, 9), 13, 'the end, where no further line begins');
});

test('of a log that has far outgrown its bound the end is kept', async t => {
	const log = await aLog(t, `${'x'.repeat(1_000)}0123456789`);
	await rotateLog(log, 10);
	appendFileSync(log, 'new');
	const older = readLog(log, 0, 100);
	t.is(older.data.toString(), '0123456789');
	t.is(older.nextOffset, 1_010);
	t.is(readLog(log, older.nextOffset, 100).data.toString(), 'new');
});

test('the last lines are few, short and text', async t => {
	t.is(lastLinesOf(await aLog(t)), '');
	t.is(lastLinesOf(await aLog(t, 'one\r\ntwo\n')), 'one\ntwo');
	const many = Array.from({length: 100}, (_, index) => `line ${index}\n`).join('');
	t.is(lastLinesOf(await aLog(t, many)), many.trimEnd().split('\n').slice(-20).join('\n'));
	const long = lastLinesOf(await aLog(t, 'é'.repeat(10_000)));
	t.true(Buffer.byteLength(long) <= 2_048 && /^é+$/.test(long));
	const binary = lastLinesOf(await aLog(t, Buffer.from([0xff, 0, 7, 0x1b, 0x41, 10])));
	t.is(binary, '\uFFFD[A'.replace('[', ''));
	t.is(lastText('ab\u{1F600}', 4), '\u{1F600}');
	t.is(lastText('ab\u{1F600}', 3), '');
});
