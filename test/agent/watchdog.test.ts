import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {shimCommand} from '../../agent/process/shim.js';
import {endWatchdog, setWatchdog} from '../../agent/process/watchdog.js';
import type {ContainerExit, ContainerSpec, Runtime} from '../../actors/node/runtime-port.js';
import {createProcessRuntime} from '../../agent/process-runtime.js';
import {systemClock, type Clock} from '../../system/clock.js';

type Pod = {readonly runtime: Runtime; readonly ended: Promise<ContainerExit>; readonly folder: string; readonly pid: number};

const id = {uid: 'u1', container: 'main'};

const specOf = (attempt: number): ContainerSpec => ({
	id,
	namespace: 'default',
	podName: 'one',
	attempt,
	image: 'program',
	argv: ['sh', '-c', 'trap "" TERM; while :; do sleep 1; done'],
	env: [],
	workingDir: undefined,
	tty: false,
	stdin: false,
	runAsUser: undefined,
	runAsGroup: undefined,
	runAsNonRoot: false,
	groups: [],
	mounts: [],
	readOnlyRoot: false,
	cpuRequestMillis: undefined,
	memoryLimitBytes: undefined,
	cpuLimitMillis: undefined,
});

const launch = {argv: ['true'], program: '/bin/true', env: [], path: '/bin', drop: undefined, startedAtMs: 1, bootId: 'boot'};

/** A pod, and where nothing else is said one program in it that runs for ever. */
async function startPod(
	t: ExecutionContext,
	{start = true, clock = systemClock}: {readonly start?: boolean; readonly clock?: Clock} = {},
): Promise<Pod> {
	const directory = mkdtempSync(path.join(tmpdir(), 'troupe-watchdog-'));
	const runtime = createProcessRuntime({directory, clock, path: process.env['PATH']});
	const ended = new Promise<ContainerExit>(resolve => runtime.onExit((_container, exit) => resolve(exit)));
	t.teardown(async () => {
		await new Promise(resolve => runtime.run({type: 'sandbox.remove', uid: id.uid}, resolve));
		await runtime.close();
		rmSync(directory, {recursive: true, force: true});
	});
	await run(runtime, {
		type: 'sandbox.ensure',
		spec: {uid: id.uid, namespace: 'default', name: 'one', hostname: 'one', controller: 'default/Pod/one'},
	});
	const {pid} = start ? await run<{pid: number}>(runtime, {type: 'container.start', spec: specOf(0)}) : {pid: 0};
	return {runtime, ended, folder: path.join(directory, id.uid), pid};
}

function run<Value>(runtime: Runtime, command: Parameters<Runtime['run']>[0]): Promise<Value> {
	return new Promise((resolve, reject) =>
		runtime.run(command, outcome => (outcome.ok ? resolve(outcome.value as Value) : reject(new Error(outcome.error.message)))),
	);
}

const extend = (runtime: Runtime, ms: number): Promise<null> =>
	run(runtime, {type: 'lease.extend', uid: id.uid, untilMs: systemClock.monotonicMs() + ms});

const isAlive = (pid: number): boolean => {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
};

test('what runs of a pod is killed at the end of its lease, by something that is no part of the agent', async t => {
	const {runtime, ended, folder} = await startPod(t);
	const beganMs = systemClock.monotonicMs();
	await extend(runtime, 600);
	const [watchdog = ''] = readFileSync(path.join(folder, 'watchdog'), 'utf8').split(' ');
	t.not(Number(watchdog), process.pid);
	const {exitCode} = await ended;
	t.is(exitCode, 137);
	t.true(systemClock.monotonicMs() - beganMs >= 590, 'not before the end');
});

test('an extension calls the former watchdog off', async t => {
	const {runtime, pid, ended, folder} = await startPod(t);
	await extend(runtime, 500);
	const [former = ''] = readFileSync(path.join(folder, 'watchdog'), 'utf8').split(' ');
	const beganMs = systemClock.monotonicMs();
	await extend(runtime, 1_500);
	t.true(isAlive(pid));
	await ended;
	t.true(systemClock.monotonicMs() - beganMs >= 1_400, 'it lived beyond the first end');
	t.false(isAlive(Number(former)));
});

test('a later agent calls off the watchdog that an earlier one set', async t => {
	const {folder, pid} = await startPod(t);
	await new Promise(resolve => setWatchdog(folder, () => 60_000, resolve));
	const [watchdog = ''] = readFileSync(path.join(folder, 'watchdog'), 'utf8').split(' ');
	t.true(isAlive(Number(watchdog)));
	endWatchdog(folder);
	t.true(isAlive(pid));
	t.throws(() => readFileSync(path.join(folder, 'watchdog')), {code: 'ENOENT'});
});

test('a lease that is over already ends the pod at once', async t => {
	const {runtime, ended} = await startPod(t);
	await extend(runtime, -5);
	t.is((await ended).exitCode, 137);
});

test('an exclusive container does not start without a lease', async t => {
	const {runtime} = await startPod(t, {start: false});
	const start = (attempt: number) => run<{pid: number}>(runtime, {type: 'container.start', spec: {...specOf(attempt), exclusive: true}});
	await t.throwsAsync(start(0), {message: /exclusive pod whose lease is not held/});
	await extend(runtime, 60_000);
	t.true(isAlive((await start(0)).pid));
});

test('nor does one whose lease has ended when its shim comes to it, whatever the clock of the agent says', async t => {
	let nowMs = 100;
	const clock: Clock = {...systemClock, monotonicMs: () => nowMs};
	const {runtime, ended, folder} = await startPod(t, {start: false, clock});
	await run(runtime, {type: 'lease.extend', uid: id.uid, untilMs: 50});
	nowMs = 0;
	const trace = path.join(folder, 'begun');
	await run(runtime, {type: 'container.start', spec: {...specOf(0), exclusive: true, argv: ['touch', trace]}}).catch(() => undefined);
	await ended;
	t.false(existsSync(trace));
	t.false(shimCommand(launch).args.join().includes('uptime'), 'where there is no lease nobody looks');
});

test('a pod that is not there has no lease to extend', async t => {
	const {runtime} = await startPod(t);
	await t.throwsAsync(run(runtime, {type: 'lease.extend', uid: 'other', untilMs: 0}), {message: /sandbox/});
});
