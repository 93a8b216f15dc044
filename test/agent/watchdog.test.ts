import {existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {shimCommand} from '../../agent/process/start/shim.js';
import {readBootId, statOf} from '../../agent/os/identity.js';
import {readLeaseRecord, stands, startWatchdog, uptimeHundredths, writeLeaseRecord} from '../../agent/leases/watchdog.js';
import type {ContainerExit, ContainerSpec, Runtime} from '../../actors/node/runtime/runtime-port.js';
import {createProcessRuntime} from '../../agent/process-runtime.js';
import {systemClock, type Clock} from '../../system/time/clock.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {parentOf} from '../lane/processes.js';
import {aSandbox} from './_sandbox.js';

type Agent = {readonly runtime: Runtime; readonly ended: Promise<ContainerExit>};
type Pod = Agent & {readonly folder: string; readonly pid: number; readonly warnings: readonly string[]; readonly newAgent: () => Agent};

const id = {uid: 'u1', container: 'main'};

const specOf = (attempt: number): ContainerSpec => ({
	id,
	namespace: 'default',
	podName: 'one',
	attempt,
	image: 'program',
	imageId: undefined,
	argv: ['sh', '-c', 'trap "" TERM; while :; do sleep 1; done'],
	env: [],
	workingDir: undefined,
	tty: false,
	stdin: false,
	runAsUser: undefined,
	runAsGroup: undefined,
	runAsNonRoot: false,
	allowPrivilegeEscalation: false,
	privileged: false,
	capabilities: {add: [], drop: []},
	seccomp: 'default',
	groups: [],
	groupsPolicy: 'Merge',
	mounts: [],
	readOnlyRoot: false,
	cpuRequestMillis: undefined,
	memoryLimitBytes: undefined,
	cpuLimitMillis: undefined,
});

const launch = {argv: ['true'], directory: '/', env: [], path: '/bin', drop: undefined, startedAtMs: 1, bootId: 'boot'};

/** A pod, and where nothing else is said one program in it that runs for ever. */
async function startPod(
	t: ExecutionContext,
	{start = true, clock = systemClock}: {readonly start?: boolean; readonly clock?: Clock} = {},
): Promise<Pod> {
	const directory = mkdtempSync(path.join(tmpdir(), 'troupe-watchdog-'));
	const warnings: string[] = [];
	const newAgent = (): Agent => {
		const onWarning = (message: string): void => void warnings.push(message);
		const runtime = createProcessRuntime({directory, clock, path: process.env['PATH'], onWarning});
		return {runtime, ended: new Promise<ContainerExit>(resolve => runtime.onExit((_container, exit) => resolve(exit)))};
	};
	const first = newAgent();
	t.teardown(async () => {
		await first.runtime.close();
		const {runtime} = newAgent();
		await new Promise(resolve => runtime.run({type: 'sandbox.remove', uid: id.uid}, resolve));
		await runtime.close();
		rmSync(directory, {recursive: true, force: true});
	});
	await run(first.runtime, {
		type: 'sandbox.ensure',
		spec: aSandbox(id.uid, {name: 'one', hostname: 'one'}),
	});
	const {pid} = start ? await run<{pid: number}>(first.runtime, {type: 'container.start', spec: specOf(0)}) : {pid: 0};
	return {...first, folder: path.join(directory, id.uid), pid, warnings, newAgent};
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

/** A pid of 0 would be this process' own group. */
function send(pid: number | undefined, signal: NodeJS.Signals): void {
	if (pid === undefined || !(pid > 1)) throw new Error(`no process to send ${signal} to`);
	process.kill(pid, signal);
}

const recordOf = (folder: string) => readLeaseRecord(folder, readBootId());
const watchdogsOf = (folder: string): readonly number[] =>
	recordOf(folder)
		.watchdogs.filter(stands)
		.map(({pid}) => pid);

/** What a watchdog waits in. */
const sleepOf = (watchdog: number): number | undefined =>
	readdirSync('/proc')
		.map(Number)
		.find(pid => pid > 1 && parentOf(pid) === watchdog);

const secondsLeft = (folder: string): number => ((recordOf(folder).deadline ?? 0) - uptimeHundredths()) / 100;

// ---- one at a time -----------------------------------------------------------------------------------------------------------

test('two watchdogs that are no part of the agent stand by', async t => {
	const {runtime, folder} = await startPod(t, {start: false});
	await extend(runtime, 60_000);
	const watchdogs = watchdogsOf(folder);
	t.is(watchdogs.length, 2);
	for (const watchdog of watchdogs) t.is(statOf(watchdog)?.group, watchdog, 'each leads a group of its own');
	t.true(secondsLeft(folder) > 50 && secondsLeft(folder) <= 60);
});

test('one alone kills what runs at the end of the lease, without an agent', async t => {
	const {runtime, folder, pid} = await startPod(t);
	await runtime.close();
	const deadline = uptimeHundredths() + 60;
	await new Promise<void>(resolve => void startWatchdog(folder, deadline, resolve));
	t.true(uptimeHundredths() >= deadline, 'not before the end');
	await eventually('the program is killed', () => !isAlive(pid));
});

test('so does the agent, when both of them have stopped', async t => {
	const {runtime, ended, folder} = await startPod(t);
	await extend(runtime, 600);
	for (const watchdog of watchdogsOf(folder)) send(watchdog, 'SIGSTOP');
	const {deadline = Number.NaN} = recordOf(folder);
	const {exitCode} = await ended;
	t.is(exitCode, 137);
	// The kernel's own count: 600 ms are up to 20 fewer in it, as neither it nor what is left of the lease is ever rounded up.
	t.true(uptimeHundredths() >= deadline, 'not before the end');
});

test('a watchdog whose sleep is killed waits on', async t => {
	const {runtime, folder, pid} = await startPod(t);
	await extend(runtime, 60_000);
	const watchdogs = watchdogsOf(folder);
	for (const watchdog of watchdogs) {
		let sleep: number | undefined;
		await eventually('it sleeps', () => (sleep = sleepOf(watchdog)) !== undefined);
		send(sleep, 'SIGKILL');
		await eventually('it sleeps again', () => ![sleep, undefined].includes(sleepOf(watchdog)));
	}
	t.deepEqual(watchdogsOf(folder), watchdogs);
	t.true(isAlive(pid));
});

// ---- extensions --------------------------------------------------------------------------------------------------------------

test('an extension moves the end on, and the same watchdogs stand by', async t => {
	const {runtime, folder} = await startPod(t, {start: false});
	await extend(runtime, 60_000);
	const watchdogs = watchdogsOf(folder);
	await extend(runtime, 120_000);
	t.deepEqual(watchdogsOf(folder), watchdogs);
	t.true(secondsLeft(folder) > 100);
});

test('at the end that it knows a watchdog reads how far that was moved on', async t => {
	const {runtime, folder, pid} = await startPod(t);
	await runtime.close();
	const deadline = uptimeHundredths() + 200;
	let endedAt: number | undefined;
	const watchdog = startWatchdog(folder, deadline - 100, () => (endedAt = uptimeHundredths()));
	writeLeaseRecord(folder, deadline, readBootId(), [watchdog]);
	// It keeps no process from ending: a promise alone would not be waited for.
	await eventually('it has ended', () => endedAt !== undefined);
	t.true((endedAt ?? 0) >= deadline, 'it lived beyond the first end');
	await eventually('the program is killed', () => !isAlive(pid));
});

test('the end never moves back', async t => {
	const {runtime, folder} = await startPod(t, {start: false});
	await extend(runtime, 60_000);
	await extend(runtime, 100);
	t.true(secondsLeft(folder) > 50);
});

test('a watchdog that has stopped is replaced with the next extension', async t => {
	const {runtime, folder} = await startPod(t, {start: false});
	await extend(runtime, 60_000);
	const [one = Number.NaN, two = Number.NaN] = watchdogsOf(folder);
	send(one, 'SIGSTOP');
	await eventually('it has stopped', () => statOf(one)?.state === 'T');
	await extend(runtime, 70_000);
	const now = watchdogsOf(folder);
	t.is(now.length, 2);
	t.true(now.includes(two) && !now.includes(one));
	await eventually('it is gone', () => !isAlive(one));
});

test('after the end of a lease the next one has watchdogs of its own', async t => {
	const {runtime, ended, folder} = await startPod(t);
	await extend(runtime, 50);
	const former = watchdogsOf(folder);
	await ended;
	await extend(runtime, 60_000);
	const now = watchdogsOf(folder);
	t.is(now.length, 2);
	t.false(now.some(pid => former.includes(pid)));
});

// ---- losses ------------------------------------------------------------------------------------------------------------------

test('a lost watchdog is replaced at once, for the same end', async t => {
	const {runtime, folder, warnings, pid} = await startPod(t);
	await extend(runtime, 60_000);
	const {deadline} = recordOf(folder);
	for (const lost of [1, 2]) {
		const before = watchdogsOf(folder);
		for (const watchdog of before.slice(0, lost)) send(watchdog, 'SIGKILL');
		const isReplaced = (): boolean => watchdogsOf(folder).filter(watchdog => !before.slice(0, lost).includes(watchdog)).length === 2;
		await eventually(`${lost} of them are replaced`, isReplaced);
	}
	t.is(recordOf(folder).deadline, deadline);
	t.true(isAlive(pid));
	t.true(warnings.every(warning => warning.includes('a watchdog of pod u1 was killed before its lease ended')));
	t.true(warnings.length >= 2);
});

test('one that is not named in the record any more goes without a blow', async t => {
	const {runtime, folder, pid} = await startPod(t);
	await extend(runtime, 60_000);
	// One that begins after its end strikes: so much longer than a shell takes to begin.
	await new Promise<void>(resolve => void startWatchdog(folder, uptimeHundredths() + 200, resolve));
	t.true(isAlive(pid));
});

// ---- later agents ------------------------------------------------------------------------------------------------------------

test('a later agent has watchdogs of its own for the same end, also where those of before are dead', async t => {
	for (const areKilled of [false, true]) {
		const {runtime, folder, pid, newAgent} = await startPod(t);
		await extend(runtime, 60_000);
		const {deadline, watchdogs} = recordOf(folder);
		await runtime.close();
		if (areKilled) for (const watchdog of watchdogs) send(watchdog.pid, 'SIGKILL');
		const later = newAgent();
		const now = recordOf(folder);
		t.is(now.deadline, deadline);
		t.is(watchdogsOf(folder).length, 2);
		t.false(now.watchdogs.some(watchdog => watchdogs.some(former => former.pid === watchdog.pid)));
		await eventually('those of before are gone', () => watchdogs.every(watchdog => !isAlive(watchdog.pid)));
		t.true(isAlive(pid));
		await later.runtime.close();
	}
});

test('it kills by itself, too', async t => {
	const {runtime, folder, newAgent} = await startPod(t);
	await runtime.close();
	writeLeaseRecord(folder, uptimeHundredths() + 200, readBootId(), []);
	const {ended} = newAgent();
	for (const watchdog of watchdogsOf(folder)) send(watchdog, 'SIGSTOP');
	t.is((await ended).exitCode, 137);
});

test('what runs beyond its lease is killed when an agent starts', async t => {
	const {runtime, folder, newAgent} = await startPod(t);
	await runtime.close();
	writeLeaseRecord(folder, uptimeHundredths(), readBootId(), []);
	t.is((await newAgent().ended).exitCode, 137);
});

test("a record of another boot is nobody's", async t => {
	const {runtime, folder, pid, newAgent} = await startPod(t);
	await runtime.close();
	writeLeaseRecord(folder, uptimeHundredths(), 'another', []);
	newAgent();
	t.deepEqual(recordOf(folder), {deadline: undefined, watchdogs: []});
	t.true(isAlive(pid));
});

test('the single watchdog of an agent of an earlier version is called off', async t => {
	const {runtime, folder} = await startPod(t, {start: false});
	const ended = new Promise<void>(resolve => {
		const {pid, startTime} = startWatchdog(folder, uptimeHundredths() + 6_000, resolve);
		writeFileSync(path.join(folder, 'watchdog'), `${pid} ${startTime}\n`);
	});
	await extend(runtime, 60_000);
	await ended;
	t.is(watchdogsOf(folder).length, 2);
});

test('with the sandbox go watchdogs and record', async t => {
	const {runtime, folder} = await startPod(t, {start: false});
	await extend(runtime, 60_000);
	const watchdogs = watchdogsOf(folder);
	await run(runtime, {type: 'sandbox.remove', uid: id.uid});
	await eventually('they are gone', () => !watchdogs.some(isAlive));
	t.false(existsSync(folder));
});

// ---- starts ------------------------------------------------------------------------------------------------------------------

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
