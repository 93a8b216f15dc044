// What one piece of a log may be, and how often a log is looked at for whoever waits for more.

import {appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync, utimesSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import type {LogChunk, LogRequest} from '../../actors/node/runtime/runtime-port.js';
import {logFile} from '../../agent/attempts.js';
import type {Container, Containers} from '../../agent/process/containers/containers.js';
import {createLogReader} from '../../agent/logs/log-reader.js';
import {rotateLog} from '../../agent/logs/log-rotation.js';
import type {Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';

/** The log of a container that runs, and how often somebody has asked whether it does: that is once at each look. */
function reading(t: ExecutionContext, text: string | Buffer) {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-reader-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	const file = logFile(folder, 0);
	mkdirSync(path.dirname(file), {recursive: true});
	writeFileSync(file, text);
	let looks = 0;
	const id = {uid: 'uid-1', container: 'main'};
	const container = {
		id,
		folder,
		get live() {
			looks++;
			return {attempt: 0};
		},
	} as unknown as Container;
	const containers = {find: () => container, whenEnded: () => () => undefined} as unknown as Containers;
	const clock = new ManualClock();
	const reader = createLogReader(containers, clock);
	t.teardown(reader.close);
	const read = (request: Partial<LogRequest>): Promise<Outcome<LogChunk>> =>
		new Promise(resolve => {
			const whole: LogRequest = {id, previous: false, offset: 0, tailLines: undefined, maxBytes: 1_000, waitMs: 0, ...request};
			reader.read(whole, {namespace: 'default', name: 'web'}, resolve);
		});
	return {file, clock, read, looks: () => looks};
}

test('a piece of a log is bounded, however much is asked for', async t => {
	const {read} = reading(t, Buffer.alloc(3 * limits.logChunkBytes, 'x'));
	const outcome = await read({maxBytes: 10 * limits.logChunkBytes});
	if (!outcome.ok) return t.fail(outcome.error.message);
	t.is(Buffer.from(outcome.value.data, 'base64').length, limits.logChunkBytes);
	t.is(outcome.value.nextOffset, limits.logChunkBytes);
});

test('a log that is touched all the time is looked at now and then', async t => {
	const {file, clock, read, looks} = reading(t, '');
	const answer = read({waitMs: 60_000});
	await eventually('it waits', () => looks() >= 2);
	const touch = (): void => utimesSync(file, new Date(), new Date());
	await eventually('the first touch was heard', () => {
		touch();
		return looks() >= 3;
	});
	const before = looks();
	for (let turn = 0; turn < 200; turn++) {
		touch();
		await nextTurn();
	}
	t.is(looks(), before, 'no time has passed');
	writeFileSync(file, 'more\n');
	await eventually('it is looked at again', () => {
		clock.advance(limits.logLookMs);
		return looks() > before;
	});
	const outcome = await answer;
	t.is(outcome.ok ? Buffer.from(outcome.value.data, 'base64').toString() : outcome.error.message, 'more\n');
});

test('what is written while a log is read is no part of what was asked for, unless more is waited for', async t => {
	const {file, read} = reading(t, 'one\ntwo\n');
	const meanwhile = async (request: Partial<LogRequest>): Promise<readonly unknown[]> => {
		writeFileSync(file, 'one\ntwo\n');
		const answer = read({offset: undefined, ...request});
		appendFileSync(file, 'three\nfour\n');
		const outcome = await answer;
		if (!outcome.ok) return [outcome.error.message];
		const {data, nextOffset, endOffset} = outcome.value;
		return [
			Buffer.from(data, 'base64')
				.toString()
				.replace(/^\S+Z /, ''),
			nextOffset,
			endOffset,
		];
	};
	t.deepEqual(await meanwhile({tailLines: 1}), ['two\n', 8, 8]);
	t.deepEqual(await meanwhile({tailLines: 1, timestamps: true}), ['two\n', 8, 8]);
	t.deepEqual(await meanwhile({}), ['one\ntwo\n', 8, 8]);
	t.deepEqual(await meanwhile({offset: 4, endOffset: 6}), ['tw', 6, 6]);
	t.deepEqual(await meanwhile({tailLines: 0}), ['', 8, 8]);
	t.deepEqual(await meanwhile({tailLines: 0, waitMs: 60_000}), ['three\nfour\n', 19, 19]);
});

test('of what was rotated away before it was read nothing comes, and nothing from behind its end', async t => {
	const {file, read} = reading(t, 'one\ntwo\n');
	const text = async (request: Partial<LogRequest>): Promise<readonly unknown[]> => {
		const outcome = await read(request);
		return outcome.ok ? [Buffer.from(outcome.value.data, 'base64').toString(), outcome.value.nextOffset >= 8] : [outcome.error.message];
	};
	await rotateLog(file, 5);
	appendFileSync(file, 'three\n');
	t.deepEqual(await text({offset: 4, endOffset: 8}), ['two\n', true]);
	await rotateLog(file, 5);
	appendFileSync(file, 'four\n');
	t.deepEqual(await text({offset: 4, endOffset: 8}), ['', true]);
	t.deepEqual(await text({offset: 4, endOffset: 10}), ['th', true]);
});
