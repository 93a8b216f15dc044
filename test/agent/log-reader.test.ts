// What one piece of a log may be, and how often a log is looked at for whoever waits for more.

import {mkdirSync, mkdtempSync, rmSync, writeFileSync, utimesSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import type {LogChunk, LogRequest} from '../../actors/node/runtime/runtime-port.js';
import {logFile} from '../../agent/process/attempts/attempts.js';
import type {Container, Containers} from '../../agent/process/containers/containers.js';
import {createLogReader} from '../../agent/process/logs/log-reader.js';
import type {SandboxRecord} from '../../agent/process/sandboxes/sandboxes.js';
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
			reader.read(whole, {namespace: 'default', name: 'web'} as SandboxRecord, resolve);
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
