// What a program may do to its own log, which it has open: nobody waits for it, and its disk is not filled with nothing.

import {appendFileSync, existsSync, statSync, truncateSync, utimesSync, writeFileSync} from 'node:fs';
import {setImmediate as nextTurn} from 'node:timers/promises';
import test from 'ava';
import {lastLinesOf} from '../../agent/logs/last-lines.js';
import {rotateLog} from '../../agent/logs/log-rotation.js';
import {readMarks} from '../../agent/logs/log-times.js';
import {createLogWatch} from '../../agent/logs/log-watch.js';
import {nextLine, offsetOfTail, olderFile, readLog} from '../../agent/logs/logs.js';
import {limits} from '../../api/limits.js';
import {systemClock} from '../../system/time/clock.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {aLog} from './_logs.js';

const tebibyte = 2 ** 40;
const mebibyte = 2 ** 20;

/** As a reader takes it, piece by piece; with how many pieces there were. */
function readAll(log: string): {readonly text: string; readonly pieces: number} {
	const parts: Buffer[] = [];
	let pieces = 0;
	for (let offset = 0, more = true; more; pieces++) {
		const {data, nextOffset, atEnd} = readLog(log, offset, limits.logChunkBytes);
		parts.push(data);
		more = !atEnd;
		offset = nextOffset;
	}
	return {text: Buffer.concat(parts).toString().replaceAll('\0', ''), pieces};
}

test('the end of a log of 8 TiB that was never written is found by what a log may be, not by its length', async t => {
	const log = await aLog(t, 'before\n');
	truncateSync(log, 8 * tebibyte);
	t.is(lastLinesOf(log), '');
	t.is(await offsetOfTail(log, 5), 8 * tebibyte - limits.logScanBytes);
	t.is(await nextLine(log, 8 * tebibyte - 2 * mebibyte), 8 * tebibyte);
	appendFileSync(log, 'one\ntwo\nthree\n');
	t.is(lastLinesOf(log), 'one\ntwo\nthree');
	t.is(await offsetOfTail(log, 2), 8 * tebibyte + 4);
	t.is(readLog(log, 8 * tebibyte + 4, 100).data.toString(), 'two\nthree\n');
});

test('a hole is not shown, and little of one is read', async t => {
	const log = await aLog(t);
	truncateSync(log, 8 * tebibyte);
	appendFileSync(log, 'after\n');
	const {text, pieces} = readAll(log);
	t.is(text, 'after\n');
	t.true(pieces <= limits.logScanBytes / limits.logChunkBytes + 2, `${pieces} pieces`);
});

test('zeros that a program has written are its own', async t => {
	const zeros = Buffer.alloc(100_000);
	t.deepEqual(readLog(await aLog(t, zeros), 0, 1_000_000).data, zeros);
});

test('a log without a line end is looked through in turns, and no further than its bound', async t => {
	const log = await aLog(t);
	for (let written = 0; written < limits.logScanBytes + 4 * mebibyte; written += mebibyte) appendFileSync(log, Buffer.alloc(mebibyte, 'x'));
	const {size} = statSync(log);
	let turns = 0;
	let isOver = false;
	const search = Promise.all([nextLine(log, 1), offsetOfTail(log, 1)]).finally(() => (isOver = true));
	while (!isOver) {
		await nextTurn();
		turns++;
	}
	t.deepEqual(await search, [1 + limits.logScanBytes, size - limits.logScanBytes]);
	t.true(turns > 100, `${turns} turns of the loop meanwhile`);
});

test('a log of 8 TiB is rotated to no more than its bound, and its holes stay holes', async t => {
	const log = await aLog(t, Buffer.alloc(2 * mebibyte, 'x'));
	truncateSync(log, 8 * tebibyte);
	appendFileSync(log, 'the end\n');
	await rotateLog(log, mebibyte);
	t.is(statSync(log).size, 0);
	t.is(statSync(olderFile(log)).size, mebibyte);
	t.true(statSync(olderFile(log)).blocks * 512 <= 2 * 65_536);
	t.is(readAll(log).text, 'the end\n');
});

test('what is written while a rotation copies is neither lost nor cut off', async t => {
	const log = await aLog(t, `${'x'.repeat(mebibyte)}\n`);
	const rotation = rotateLog(log, mebibyte);
	// It has looked how long the log is, and copies no more than that.
	appendFileSync(log, 'meanwhile\n');
	await rotation;
	t.is(statSync(log).size, 0);
	appendFileSync(log, 'afterwards\n');
	t.is(readAll(log).text, `${'x'.repeat(mebibyte)}\nmeanwhile\nafterwards\n`);
});

test('a log that is nothing but a hole is cut, and takes no disk', async t => {
	const log = await aLog(t);
	truncateSync(log, 8 * tebibyte);
	const {text, pieces} = readAll(log);
	t.is(text, '');
	t.true(pieces <= limits.logScanBytes / limits.logChunkBytes + 2, `${pieces} pieces`);
	await rotateLog(log, mebibyte);
	t.is(statSync(log).size, 0);
	t.true(statSync(olderFile(log)).blocks * 512 <= 65_536);
});

test('a log that is written at a place of its own after a rotation is not rotated for the hole before it', async t => {
	const log = await aLog(t, Buffer.alloc(mebibyte, 'x'));
	await rotateLog(log, mebibyte);
	// As after `exec >/dev/stdout`: such a program goes on where it was.
	truncateSync(log, mebibyte);
	appendFileSync(log, 'goes on\n');
	await rotateLog(log, mebibyte);
	t.is(statSync(olderFile(log)).blocks * 512, mebibyte);
	t.is(readAll(log).text, `${'x'.repeat(mebibyte)}goes on\n`);
});

test('a log that is looked at while it is rotated is not rotated beside that', async t => {
	const text = `${'x'.repeat(mebibyte)}\n`;
	const log = await aLog(t, text);
	const watch = createLogWatch(systemClock, mebibyte, message => t.fail(message));
	t.teardown(() => watch.close());
	// It looks twice at once: what came before the watch has the log looked at often.
	watch.follow(log);
	await eventually('the log is rotated', () => existsSync(olderFile(log)) && statSync(log).size === 0);
	t.is(readAll(log).text, text);
	watch.finish(log);
	await nextTurn();
	t.false(existsSync(`${olderFile(log)}.new`));
});

test('a program that plays with the length of its log does not make offsets overflow', async t => {
	const log = await aLog(t);
	for (let round = 0; round < 3; round++) {
		writeFileSync(`${log}.base`, `${2 ** 52 - 10} ${2 ** 52}\n`);
		writeFileSync(log, 'some text\n');
		await rotateLog(log, 5);
		t.true(Number.isSafeInteger(readLog(log, 0, 10).nextOffset));
	}
});

test('a log that its program cuts, and sets the time of, has times again', async t => {
	const log = await aLog(t, 'a line that is gone soon\n');
	const watch = createLogWatch(systemClock, limits.logFileBytes, message => t.fail(message));
	t.teardown(() => watch.close());
	watch.follow(log);
	t.deepEqual(
		readMarks(log).map(({end}) => end),
		[25],
	);
	truncateSync(log, 0);
	appendFileSync(log, 'short\n');
	utimesSync(log, new Date(), new Date('2250-01-01'));
	watch.finish(log);
	const marks = readMarks(log);
	t.deepEqual(
		marks.map(({end}) => end),
		[6],
	);
	t.true(marks.every(({atMs}) => atMs <= Date.now()));
	t.false(existsSync(olderFile(log)));
});
