import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {statOf} from '../../agent/os/identity.js';
import {noGroups, openContainerGroups, type ContainerGroups} from '../../agent/process/cgroups/container-groups.js';
import type {ContainerSpec} from '../../actors/node/runtime/runtime-port.js';
import {systemClock} from '../../system/time/clock.js';
import {needing} from '../_needing.js';
import {isThere, processWorld, whenTrue, type ProcessWorld} from './process-world.js';
import {aContainer, driver} from './runtime-contract.js';

const main = {uid: 'uid-1', container: 'main'};
const none = {memoryLimitBytes: undefined, cpuLimitMillis: undefined, cpuRequestMillis: undefined};
const limited = {...none, memoryLimitBytes: 64 * 1_048_576};

async function aDirectory(t: ExecutionContext): Promise<string> {
	const directory = await mkdtemp(path.join(os.tmpdir(), 'troupe-groups-'));
	t.teardown(() => rm(directory, {recursive: true}));
	return directory;
}

/** Whether this host lets these tests make control groups. */
const probe = await (async (): Promise<ContainerGroups> => {
	const directory = await mkdtemp(path.join(os.tmpdir(), 'troupe-groups-'));
	const groups = openContainerGroups(directory, systemClock, () => undefined);
	await groups.close();
	await rm(directory, {recursive: true});
	return groups;
})();
const withGroups = needing(probe !== noGroups, 'needs control groups that this user may make');
const withLimits = needing(
	probe.enforces('memory') && probe.enforces('cpu'),
	'needs control groups for memory and cpu that this user may make',
);

const worldOf = (t: ExecutionContext, options: Parameters<typeof processWorld>[1] = {}): ProcessWorld =>
	processWorld(clean => t.teardown(clean), options);
/** Where the kernel does not end what has left its container, groups have to find it. */
const withoutNamespaces = {namespaces: null};
const aProgram = (argv: readonly string[], rest: Parameters<typeof aContainer>[1] = {}): ContainerSpec => ({
	...aContainer('runs', rest),
	argv,
});

withLimits('groups of two directories do not meet, and go with their agent', async t => {
	const [one, two] = [await aDirectory(t), await aDirectory(t)].map(folder => openContainerGroups(folder, systemClock, () => undefined));
	const procsFiles = [one, two].flatMap(groups => groups?.procsFiles(main, 0, limited) ?? []);
	t.is(new Set(procsFiles).size, procsFiles.length);
	one?.make(main, 0, limited);
	t.true(existsSync(procsFiles[0] ?? ''));
	await two?.close();
	two?.make(main, 0, limited); // As after another agent has swept what it left empty.
	t.true(existsSync(procsFiles.at(-1) ?? ''));
	for (const groups of [one, two]) {
		groups?.end(main, 0, () => undefined);
		await groups?.close();
	}
	t.false(procsFiles.some(file => existsSync(path.dirname(path.dirname(file)))));
});

needing(probe.enforces('pids'), 'needs control groups that count processes')(
	'a program without limits joins a group that bounds its processes, and has no share of the processors less than others',
	async t => {
		const groups = openContainerGroups(await aDirectory(t), systemClock, () => undefined, undefined, 77);
		const wanted = {...none, cpuRequestMillis: 100};
		const procsFiles = groups.procsFiles(main, 0, wanted);
		groups.make(main, 0, wanted);
		const settingOf = (file: string): string[] =>
			procsFiles
				.map(procs => path.join(path.dirname(procs), file))
				.flatMap(each => (existsSync(each) ? [readFileSync(each, 'utf8').trim()] : []));
		t.deepEqual(settingOf('pids.max'), ['77']);
		t.true([...settingOf('cpu.shares'), ...settingOf('cpu.weight')].every(share => ['1024', '100'].includes(share)));
		groups.end(main, 0, () => undefined);
		await groups.close();
	},
);

needing(probe.enforces('pids'), 'needs control groups that count processes')(
	'all containers together have a bound, also when another agent has swept the base meanwhile',
	async t => {
		const directory = await aDirectory(t);
		const groups = openContainerGroups(directory, systemClock, () => undefined);
		const bases = groups.procsFiles(main, 0, none).map(file => path.dirname(path.dirname(file)));
		for (const base of bases) rmdirSync(base);
		groups.make(main, 0, none);
		const bounds = bases.map(base => path.join(base, 'pids.max')).filter(file => existsSync(file));
		t.deepEqual(
			bounds.map(file => readFileSync(file, 'utf8').trim() === 'max'),
			[false],
		);
		groups.end(main, 0, () => undefined);
		await groups.close();
	},
);

withGroups('a program that runs is put into a group with what is below it, once', async t => {
	const directory = await aDirectory(t);
	const child = spawn('sh', ['-c', "setsid sh -c 'sleep infinity & echo $!; wait' & wait"], {stdio: ['ignore', 'pipe', 'ignore']});
	t.teardown(() => void child.kill('SIGKILL'));
	const grandchild = Number(await new Promise(resolve => child.stdout.once('data', resolve)));
	const program = statOf(child.pid ?? 0);
	if (program === undefined) return t.fail('it has ended');
	const membersOf = (door = ''): string => (existsSync(door) ? readFileSync(door, 'utf8') : '');
	const groups = openContainerGroups(directory, systemClock, () => undefined);
	groups.collect(main, 0, {...program, startTime: program.startTime + 1}); // Another process has its pid by now.
	groups.collect(main, 1, program);
	await whenTrue(() => membersOf(groups.procsFilesOfRunning(main, 1)[0]).includes(`${grandchild}\n`));
	t.is(membersOf(groups.procsFilesOfRunning(main, 0)[0]), '');
	groups.collect(main, 2, program);
	groups.end(main, 2, () => undefined); // It ended before its turn came.
	await groups.close();
	t.is(groups.procsFilesOfRunning(main, 2).length, 0);

	const later = openContainerGroups(directory, systemClock, () => undefined);
	let answered = false;
	later.end(main, 0, () => (answered = true));
	t.true(answered, 'in the same turn, for nothing is in it');
	await new Promise<void>(resolve => later.end(main, 1, resolve));
	t.false(isThere(grandchild));
	await later.close();
	t.is(later.procsFilesOfRunning(main, 0).length + later.procsFilesOfRunning(main, 1).length, 0, 'what is left to do is done first');
});

test('what another agent has just made is not swept, and what is old is', async t => {
	const tree = await aDirectory(t);
	const open = async (aheadMs = 0): Promise<ContainerGroups> =>
		openContainerGroups(
			await aDirectory(t),
			{...systemClock, nowMs: () => systemClock.nowMs() + aheadMs},
			() => undefined,
			() => ({mountinfo: `1 1 0:1 / ${tree} rw - cgroup cgroup rw,memory`, cgroup: '', isRoot: true}),
		);
	const all = [await open(), await open()];
	t.is(readdirSync(tree).length, 2);
	all.push(await open(2 * 3_600_000));
	t.is(readdirSync(tree).length, 1);
	for (const groups of all) await groups.close();
	t.deepEqual(readdirSync(tree), []);
});

withLimits('groups that no agent wants any more are swept', async t => {
	const directory = await aDirectory(t);
	const groups = openContainerGroups(directory, systemClock, () => undefined);
	const other = {uid: 'uid-2', container: 'main'};
	for (const id of [main, other]) groups.make(id, 3, limited);
	groups.sweep((id, attempt) => id.uid === 'uid-2' && attempt === 3);
	t.is(groups.procsFilesOfRunning(main, 3).length, 0);
	t.true(groups.procsFilesOfRunning(other, 3).length > 0);
	groups.end(other, 3, () => undefined);
	await groups.close();
});

const untilInGroup = 'until grep -q uid-1@main /proc/$$/cgroup; do sleep 0.01; done';

withGroups('what has left its session and its parent ends with its container', async t => {
	const {ensure, start, stop, log, value} = driver(worldOf(t, withoutNamespaces));
	await ensure('uid-1');
	// What has left its parent too is found where it was begun in the group; a program is in it some milliseconds after its start.
	const script =
		`setsid sh -c 'echo $$; exec sleep infinity' & ${untilInGroup};` +
		'(setsid sh -c \'echo $$; trap "" TERM HUP; while :; do sleep 1; done\' &); wait';
	await start(aProgram(['sh', '-c', script]));
	let text = '';
	while (text.split('\n').length < 3) {
		await nextTurn(); // What is there already is an answer in the same turn.
		text = Buffer.from((await value(log(main, {waitMs: 1_000, tailLines: 2}))).data, 'base64').toString();
	}
	const pids = text.trim().split('\n').map(Number);
	t.true(pids.every(isThere));
	await stop(main, 0);
	await whenTrue(() => !pids.some(isThere));
});

withGroups('what has left its session ends with its program when no agent lives', async t => {
	const world = worldOf(t, withoutNamespaces);
	const {ensure, start, log, value, restartAgent, inspect, stop} = driver(world);
	await ensure('uid-1');
	const script = `${untilInGroup}; setsid sh -c 'echo $$; exec sleep infinity' & exec sleep infinity`;
	const running = await start(aProgram(['sh', '-c', script]));
	const pid = Number(Buffer.from((await value(log(main, {waitMs: 10_000}))).data, 'base64').toString());
	await restartAgent(async () => {
		world.kill(main, running);
		await world.gone(running);
	});
	t.is((await inspect(main)).lastExit?.exitCode, 137);
	await stop(main, 0);
	await whenTrue(() => !isThere(pid));
});

withLimits('a program that takes more memory than its limit is killed and says so, after a new start of the agent too', async t => {
	const world = worldOf(t);
	const {ensure, start, ends, inspect, restartAgent} = driver(world);
	await ensure('uid-1');
	await start(aProgram(['sh', '-c', 'echo eating; x=0123456789abcdef; while :; do x=$x$x; done'], {memoryLimitBytes: 32 * 1_048_576}));
	const [end] = await ends(1);
	t.is(end?.exit.reason, 'OOMKilled');
	t.is(end?.exit.exitCode, 137);
	t.is(end?.exit.lastLines, 'eating');
	await restartAgent();
	t.deepEqual((await inspect(main)).lastExit, end?.exit);
	await start(aContainer('runs', {attempt: 1, memoryLimitBytes: 32 * 1_048_576}));
	t.is((await inspect(main)).running?.attempt, 1);
});

withLimits('a program without a limit, or killed by somebody else, is not called out of memory', async t => {
	const world = worldOf(t);
	const {ensure, start, ends} = driver(world);
	await ensure('uid-1');
	world.kill(main, await start(aContainer('runs', {memoryLimitBytes: 64 * 1_048_576})));
	const [end] = await ends(1);
	t.is(end?.exit.reason, 'Error');
});

withLimits('a limit of the processor holds', async t => {
	const {ensure, start} = driver(worldOf(t));
	await ensure('uid-1');
	const {pid} = await start(aProgram(['sh', '-c', 'while :; do :; done'], {cpuLimitMillis: 100}));
	const usedTicks = (): number => {
		const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
		return Number(fields[11]) + Number(fields[12]);
	};
	await whenTrue(() => usedTicks() > 5);
	const [ticks, startedAt] = [usedTicks(), performance.now()];
	await whenTrue(() => usedTicks() >= ticks + 10); // 100 ms of the processor
	t.true(performance.now() - startedAt > 500);
});

test('where nothing can be made there are no groups, and everything is as without', async t => {
	const mountinfo = `1 1 0:1 / ${await aDirectory(t)}/nowhere rw - cgroup2 cgroup2 rw\n`;
	const groups = openContainerGroups(
		await aDirectory(t),
		systemClock,
		() => undefined,
		() => ({mountinfo, cgroup: '0::/\n', isRoot: true}),
	);
	t.is(groups, noGroups);
	t.false(groups.enforces('memory'));
});

test('without control groups a limit of memory bounds the data of each process, and one that reserves much space runs', async t => {
	const world = processWorld(clean => t.teardown(clean), {controlGroups: null});
	const {ensure, start, ends, log, value} = driver(world);
	await ensure('uid-1');
	const told = async (): Promise<string> => Buffer.from((await value(log(main))).data, 'base64').toString();
	await start(aProgram(['sh', '-c', 'ulimit -d'], {memoryLimitBytes: 64 * 1_048_576}));
	await ends(1);
	t.is(await told(), '65536\n');
	const eater = 'console.log("began"); for (const all = []; ; ) all.push(Buffer.alloc(1e7, 1));';
	await start(aProgram([process.execPath, '-e', eater], {attempt: 1, memoryLimitBytes: 256 * 1_048_576}));
	t.not((await ends(2)).at(-1)?.exit.exitCode, 0);
	t.regex(await told(), /^began\n/);
});

test('the folders of a directory say nothing of groups', async t => {
	const directory = await aDirectory(t);
	mkdirSync(path.join(directory, 'x'));
	await openContainerGroups(directory, systemClock, () => undefined).close();
	t.deepEqual(readdirSync(directory), ['x']);
});
