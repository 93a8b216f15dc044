// The pool of runners that wait, on a clock of its own: when one is started, handed out, replaced, and given up.

import {setImmediate as nextTurn} from 'node:timers/promises';
import test from 'ava';
import {createWarmPool, type WarmRunner} from '../../../agent/functions/warm/warm-pool.js';
import {limits} from '../../../api/limits.js';
import {ManualClock} from '../../../system/time/manual-clock.js';

type Fake = WarmRunner & {readonly program: string; readonly die: () => void};

function aRunner(program: string): Fake {
	let alive = true;
	let resolve: () => void = () => undefined;
	const ended = new Promise<void>(done => (resolve = done));
	const die = (): void => {
		alive = false;
		resolve();
	};
	return {program, isAlive: () => alive, ended, end: die, die};
}

function aPool(count = 2) {
	const clock = new ManualClock();
	const started: Fake[] = [];
	const warnings: string[] = [];
	let start: (program: string) => Promise<Fake | undefined> = program => Promise.resolve(aRunner(program));
	const pool = createWarmPool<Fake>({
		count,
		async start(program) {
			const runner = await start(program);
			if (runner !== undefined) started.push(runner);
			return runner;
		},
		clock,
		onWarning: message => warnings.push(message),
	});
	const pass = async (ms: number): Promise<void> => {
		clock.advance(ms);
		for (let turn = 0; turn < 3; turn++) await nextTurn();
	};
	return {pool, clock, started, warnings, pass, startBy: (next: typeof start) => void (start = next)};
}

test('none is started before an instance has begun, then one at a time in quiet moments', async t => {
	const {pool, started, pass} = aPool();
	await pass(limits.warmRunnerIdleMs);
	t.is(started.length, 0);
	pool.want('python3');
	await pass(limits.warmQuietMs - 1);
	pool.want('python3');
	await pass(limits.warmQuietMs - 1);
	t.is(started.length, 0);
	await pass(1);
	t.is(started.length, 1);
	await pass(limits.warmQuietMs);
	t.is(pool.ready(), 2);
	await pass(10 * limits.warmQuietMs);
	t.is(started.length, 2);
});

test('one is handed out once, the oldest first, and to its own program only; another one takes its place', async t => {
	const {pool, started, pass} = aPool();
	t.is(pool.take('python3'), undefined);
	pool.want('python3');
	await pass(limits.warmQuietMs);
	await pass(limits.warmQuietMs);
	pool.want('/opt/python3');
	t.is(pool.take('/opt/python3'), undefined);
	t.is(pool.take('python3'), started[0]);
	t.is(pool.take('python3'), started[1]);
	t.is(pool.take('python3'), undefined);
	await pass(limits.warmQuietMs);
	t.is(pool.take('python3'), started[2]);
	t.deepEqual([...new Set(started.map(({program}) => program))], ['python3']);
});

test('one that has ended is not handed out; what fails is tried later and later, and told once', async t => {
	const {pool, started, warnings, pass, startBy} = aPool(1);
	pool.want('python3');
	await pass(limits.warmQuietMs);
	started[0]?.die();
	t.is(pool.take('python3'), undefined);
	await pass(0);
	await pass(limits.warmAgainFirstMs);
	t.is(pool.ready(), 1);
	started[1]?.die();
	await pass(0);
	let tries = 0;
	startBy(() => {
		tries++;
		return Promise.reject(new Error('no room'));
	});
	await pass(2 * limits.warmAgainFirstMs);
	t.is(tries, 1);
	await pass(4 * limits.warmAgainFirstMs - 1);
	t.is(tries, 1);
	await pass(1);
	t.is(tries, 2);
	t.deepEqual(warnings, ['no runner of functions could be kept ready: it has ended while it waited']);
});

test('of a program that can never wait none is tried again', async t => {
	const {pool, warnings, pass, startBy} = aPool();
	let tries = 0;
	startBy(() => {
		tries++;
		return Promise.resolve(undefined);
	});
	pool.want('python3');
	for (let time = 0; time < 5; time++) await pass(limits.warmAgainMaxMs);
	t.deepEqual([tries, pool.ready(), warnings], [1, 0, []]);
});

test('one that can never wait does not keep others from it, and is tried again after an hour', async t => {
	const {pool, started, pass, startBy} = aPool(1);
	const tried: string[] = [];
	startBy(program => {
		tried.push(program);
		return Promise.resolve(program === '/tmp/python3' ? undefined : aRunner(program));
	});
	pool.want('/tmp/python3');
	await pass(limits.warmQuietMs);
	pool.want('/tmp/python3');
	pool.want('python3');
	await pass(limits.warmQuietMs);
	t.deepEqual([tried, pool.ready()], [['/tmp/python3', 'python3'], 1]);
	await pass(limits.warmRunnerIdleMs);
	pool.want('/tmp/python3');
	await pass(limits.warmQuietMs);
	t.deepEqual(tried, ['/tmp/python3', 'python3', '/tmp/python3']);
	t.is(started.length, 1);
});

test('all are given up when no instance has begun for long, and come back with the next one', async t => {
	const {pool, started, pass} = aPool();
	pool.want('python3');
	await pass(limits.warmQuietMs);
	await pass(limits.warmQuietMs);
	await pass(limits.warmRunnerIdleMs - 2 * limits.warmQuietMs - 1);
	t.is(pool.ready(), 2);
	await pass(1);
	t.deepEqual([pool.ready(), started.some(runner => runner.isAlive())], [0, false]);
	await pass(limits.warmRunnerIdleMs);
	t.is(started.length, 2);
	pool.want('/opt/python3');
	await pass(limits.warmQuietMs);
	t.is(pool.take('/opt/python3'), started[2]);
});

test('what is closed has none left, not even one that was just being started', async t => {
	const {pool, started, warnings, pass, startBy} = aPool();
	pool.want('python3');
	await pass(limits.warmQuietMs);
	let finish: (runner: Fake) => void = () => undefined;
	startBy(() => new Promise(resolve => (finish = resolve)));
	await pass(limits.warmQuietMs);
	const closed = pool.close();
	const late = aRunner('python3');
	finish(late);
	await closed;
	t.deepEqual([started[0]?.isAlive(), late.isAlive(), pool.ready()], [false, false, 0]);
	await pass(limits.warmRunnerIdleMs);
	t.is(started.length, 2);
	t.deepEqual(warnings, []);
});
