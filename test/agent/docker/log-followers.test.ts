import {existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {createLogFollowers, type FollowedAttempt, type LogFollowers} from '../../../agent/docker/logs/log-followers.js';
import {readMarks, timeOf} from '../../../agent/logs/log-times.js';
import {extentOf, readLog} from '../../../agent/logs/logs.js';
import {limits} from '../../../api/limits.js';
import {systemClock} from '../../../system/time/clock.js';
import {whenTrue} from '../process-world.js';
import {startLogEngine, type LogEngine, type Message} from './_log-engine.js';

type World = {
	readonly fake: LogEngine;
	readonly attempt: FollowedAttempt;
	readonly log: string;
	readonly warnings: string[];
	/** An agent; the one before is left as it is. */
	readonly agent: (limitBytes?: number) => LogFollowers;
};

async function world(t: ExecutionContext): Promise<World> {
	const folder = await mkdtemp(path.join(tmpdir(), 'troupe-log-'));
	t.teardown(() => rm(folder, {recursive: true, force: true}));
	const attempt = {folder: path.join(folder, 'main'), attempt: 0, engineId: 'c1', tty: false};
	mkdirSync(path.join(attempt.folder, '0'), {recursive: true});
	const log = path.join(attempt.folder, '0/log');
	writeFileSync(log, '');
	const fake = await startLogEngine(t);
	const warnings: string[] = [];
	const agents: LogFollowers[] = [];
	t.teardown(() => Promise.all(agents.map(each => each.close())));
	return {
		fake,
		attempt,
		log,
		warnings,
		agent(limitBytes = 1_000_000) {
			const followers = createLogFollowers({
				engine: fake.engine,
				clock: systemClock,
				limitBytes,
				onWarning: message => warnings.push(message),
			});
			agents.push(followers);
			return followers;
		},
	};
}

const startMs = Date.parse('2026-11-23T12:00:00.000Z');

/** So many ms and ns after the start. */
const stamp = (ms: number, ns = 0): string => new Date(startMs + ms).toISOString().replace('Z', `${String(ns).padStart(6, '0')}Z`);

const line = (ms: number, text: string, stream: Message['stream'] = 'stdout'): Message => ({stream, stamp: stamp(ms), text});

const textOf = (messages: readonly Message[]): string => messages.map(({text}) => text).join('');

/** All that is kept, of the older file, too. */
function whole(log: string): string {
	const parts: Buffer[] = [];
	const {first, end} = extentOf(log);
	for (let offset = first; offset < end;) {
		const {data, nextOffset} = readLog(log, offset, 65_536);
		parts.push(data);
		offset = nextOffset;
	}
	return Buffer.concat(parts).toString();
}

test('a log is copied as it is written, to its end', async t => {
	const {fake, attempt, log, agent} = await world(t);
	const followers = agent();
	fake.messages = [line(0, 'one\n')];
	followers.follow(attempt);
	await whenTrue(() => whole(log) === 'one\n');
	fake.messages.push(line(1, 'two\n', 'stderr'));
	fake.tell();
	await whenTrue(() => whole(log) === 'one\ntwo\n');
	fake.messages.push(line(2, 'three'));
	fake.isRunning = false;
	fake.tell();
	await followers.finish(attempt);
	await whenTrue(() => whole(log).length >= 13);
	t.is(whole(log), 'one\ntwo\nthree');
});

test('an agent goes on where the one before ended, whatever is in order or not', async t => {
	const {fake, attempt, log, agent, warnings} = await world(t);
	const messages: Message[] = [
		line(0, 'a\n'),
		line(0, 'a\n'),
		line(0, 'a\n'),
		line(5, 'later, and written first\n', 'stderr'),
		line(4, 'x'.repeat(16_384)),
		line(90_000, 'meanwhile\n', 'stderr'),
		line(4, 'y'.repeat(16_384)),
		line(4, 'z\n'),
		line(90_001, 'b\n'),
		line(90_001, 'b\n'),
	];
	for (let count = 0; count <= messages.length; count++) {
		fake.messages = messages.slice(0, count);
		fake.tell();
		const followers = agent();
		followers.follow(attempt);
		await whenTrue(() => whole(log).length >= textOf(fake.messages).length);
		await followers.close();
		t.is(whole(log), textOf(fake.messages), `after ${count}`);
	}
	t.deepEqual(warnings, []);
	t.true(fake.asked.slice(1).filter(since => since === null).length <= 1, 'only what is newer is asked for');
});

test('wherever the connection breaks, no line is lost and none comes twice', async t => {
	const {fake, attempt, log, agent} = await world(t);
	const followers = agent();
	fake.messages = Array.from({length: 60}, (_, i) => line(Math.trunc(i / 4), `line ${i}\n`, i % 3 === 0 ? 'stderr' : 'stdout'));
	fake.isRunning = false;
	for (let at = 0; at < 2_500; at += 113) {
		fake.breakAfter = at;
		followers.follow(attempt);
		const before = fake.asked.length;
		await whenTrue(() => {
			followers.follow(attempt);
			return fake.asked.length > before;
		});
	}
	fake.breakAfter = undefined;
	await followers.finish(attempt);
	await whenTrue(() => whole(log).endsWith('line 59\n'));
	await followers.close();
	t.is(whole(log), textOf(fake.messages));
});

test('after an agent that noted nothing of its end, the file itself tells how far it was', async t => {
	const {fake, attempt, log, agent} = await world(t);
	const all = Array.from({length: 50}, (_, i) => line(i, `line ${i}\n`));
	for (const left of [0, 1, 3, 100, textOf(all).length]) {
		fake.messages = all.slice(0, 10);
		rmSync(`${log}.copied`, {force: true});
		writeFileSync(log, textOf(all).slice(0, left));
		fake.messages = all;
		const followers = agent();
		followers.follow(attempt);
		await whenTrue(() => whole(log).length >= textOf(all).length);
		await followers.close();
		t.is(whole(log), textOf(all), `${left} bytes were there`);
	}
});

test('what the Engine has not kept is a gap, and what comes after it is whole', async t => {
	const {fake, attempt, log, agent} = await world(t);
	fake.messages = [line(0, 'old 1\n'), line(1, 'old 2\n')];
	const followers = agent();
	followers.follow(attempt);
	await whenTrue(() => whole(log) === 'old 1\nold 2\n');
	await followers.close();
	rmSync(`${log}.copied`);
	fake.messages = [line(10_000, 'new 1\n'), line(10_001, 'new 2\n')];
	const next = agent();
	next.follow(attempt);
	await whenTrue(() => whole(log).endsWith('new 2\n'));
	t.is(whole(log), 'old 1\nold 2\nnew 1\nnew 2\n');
});

test('a log that is ended before its last lines is asked for again when its container is over', async t => {
	const {fake, attempt, log, agent} = await world(t);
	fake.messages = [line(0, 'one\n'), line(1, 'two\n'), line(2, 'three\n')];
	fake.endEarlyAfter = 1;
	const followers = agent();
	followers.follow(attempt);
	await whenTrue(() => whole(log) === 'one\n');
	fake.isRunning = false;
	fake.endEarlyAfter = undefined;
	await followers.finish(attempt);
	await whenTrue(() => whole(log).length >= 14);
	t.is(whole(log), 'one\ntwo\nthree\n');
});

test('the end of a container waits for a silent Engine no longer than it may', async t => {
	const {fake, attempt, agent} = await world(t);
	fake.isSilent = true;
	const followers = agent();
	followers.follow(attempt);
	const beganMs = performance.now();
	await followers.finish(attempt);
	const tookMs = performance.now() - beganMs;
	t.true(tookMs >= limits.logDrainMs - 5 && tookMs < limits.engineStreamMs / 2, `${tookMs} ms`);
	await followers.close();
	t.true(performance.now() - beganMs < limits.engineStreamMs / 2, 'nor does the end of the agent');
});

test('a log that grows too large is rotated, and loses nothing of its end', async t => {
	const {fake, attempt, log, agent} = await world(t);
	const followers = agent(10_000);
	fake.messages = Array.from({length: 40}, (_, i) => line(i, `${String(i).padStart(999, '.')}\n`));
	fake.isRunning = false;
	void followers.finish(attempt);
	await whenTrue(() => existsSync(`${log}.base`) && extentOf(log).end === 40_000);
	await followers.close();
	t.true(existsSync(`${log}.1`));
	t.true(textOf(fake.messages).endsWith(whole(log)));
	t.true(whole(log).length >= 10_000);
});

test('lines have the times of the Engine, to a tenth of a second', async t => {
	const {fake, attempt, log, agent} = await world(t);
	const followers = agent();
	fake.messages = [line(0, 'one\n'), line(30, 'two\n'), line(250, 'three\n'), line(5_000, 'four\n')];
	fake.isRunning = false;
	void followers.finish(attempt);
	await whenTrue(() => whole(log) === textOf(fake.messages));
	await followers.close();
	const marks = readMarks(log);
	const late = [0, 4, 8, 14].map(offset => timeOf(marks, offset, 0) - startMs);
	t.deepEqual(late, [30, 30, 250, 5_000]);
});

test('a log whose container or folder is gone ends its copy', async t => {
	const {fake, attempt, log, agent, warnings} = await world(t);
	const followers = agent();
	followers.follow(attempt);
	fake.messages = [line(0, 'one\n')];
	fake.tell();
	await whenTrue(() => readFileSync(log, 'utf8') !== '');
	await followers.drop(path.dirname(attempt.folder));
	rmSync(attempt.folder, {recursive: true});
	fake.messages.push(line(1, 'two\n'));
	fake.tell();
	await followers.close();
	t.false(existsSync(log));
	t.deepEqual(warnings, []);
});
