import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {
	appendFileSync,
	existsSync,
	mkdirSync,
	readFileSync,
	readdirSync,
	readlinkSync,
	renameSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import {createServer} from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {createInterface} from 'node:readline';
import test, {type ExecutionContext} from 'ava';
import {performFor} from '../../actors/node/runtime/perform.js';
import {noSecrets} from '../../actors/node/runtime/secrets-port.js';
import {inheritableFiles} from '../../agent/os/descriptors.js';
import {stopEverything} from '../../agent/process/containers/stop-everything.js';
import {foldersIn} from '../../agent/os/folders.js';
import {readSandbox} from '../../agent/process/sandboxes/sandboxes.js';
import type {ContainerSpec, RunningContainer} from '../../actors/node/runtime/runtime-port.js';
import type {Outcome} from '../../api/errors.js';
import {systemClock} from '../../system/time/clock.js';
import {openLevelStore} from '../../system/store/level-store.js';
import {asRoot, isRoot} from '../_needing.js';
import {testManyPods} from './_many-pods.js';
import {groupOf, isThere, pidOnNode, processWorld, shimOf, stateFiles, whenTrue, type ProcessWorld} from './process-world.js';
import {aContainer, driver} from './runtime-contract.js';
import {aSandbox} from './_sandbox.js';

const users = {first: 70_001, last: 70_001};
const main = {uid: 'uid-1', container: 'main'};

const worldOf = (t: ExecutionContext, options: Parameters<typeof processWorld>[1] = {}): ProcessWorld =>
	processWorld(clean => t.teardown(clean), options);

const aProgram = (argv: readonly string[], rest: Parameters<typeof aContainer>[1] = {}): ContainerSpec =>
	aContainer('runs', {...rest, argv});

/** Runs one program to its end and gives what it wrote. */
async function outputOf(t: ExecutionContext, argv: readonly string[], rest: Parameters<typeof aContainer>[1] = {}): Promise<string> {
	const {ensure, start, ends, log, value} = driver(worldOf(t));
	await ensure('uid-1');
	await start(aProgram(argv, rest));
	await ends(1);
	return Buffer.from((await value(log(main))).data, 'base64').toString();
}

const node = process.execPath;
const reader = (expression: string): string[] => [node, '-e', `process.stdout.write(JSON.stringify(${expression}))`];
/** Node itself may be in a folder that is closed to other users. */
const asAgent = {runAsUser: process.getuid?.(), runAsGroup: process.getgid?.()};

test('a program gets exactly the environment it was given', async t => {
	const given = [
		{name: 'PLAIN', value: 'a b'},
		{name: 'EMPTY', value: ''},
		{name: 'HOSTILE', value: '$(touch /tmp/troupe-was-here); `id` \' " \\ * ~ | & < >\n\n\ttwo lines\n'},
		{name: 'UNICODE', value: 'ÁáăΩ漢字🎭\u0081\u0088'},
		{name: 'T1', value: 'T0'},
		{name: 'T_', value: '1'},
		{name: 'with-dash.and.dot', value: 'x=y'},
		{name: 'IFS', value: ':'},
		{name: 'OPTIND', value: 'no number'},
		{name: 'PWD', value: '/not/here'},
		{name: 'PPID', value: '7'},
		{name: 'HOME', value: '/nowhere'},
		{name: 'PATH', value: '/usr/bin:/bin'},
	];
	const seen = JSON.parse(await outputOf(t, reader('process.env'), {env: given, ...asAgent})) as Record<string, string>;
	t.deepEqual(seen, Object.fromEntries(given.map(({name, value}) => [name, value])));
	t.false(existsSync('/tmp/troupe-was-here'));
});

test('a program without variables gets HOME and PATH', async t => {
	t.is(await outputOf(t, reader('Object.keys(process.env).sort().join()'), asAgent), '"HOME,PATH"');
	t.regex(await outputOf(t, ['env']), /^HOME=.*\nPATH=.*\n$/);
});

test('a program gets exactly its words', async t => {
	const words = ['-c', '--', '', '$(id)', ';', '&&', 'a b', "'", '"', 'line\nbreak', 'ÁΩ🎭', '*', '-'];
	const argv = [node, '-e', 'process.stdout.write(JSON.stringify(process.argv.slice(1)))', '--', ...words];
	t.deepEqual(JSON.parse(await outputOf(t, argv, asAgent)), words);
});

test('a program that is looked up keeps the name it was called by', async t => {
	t.is(await outputOf(t, ['sh', '-c', 'echo "$0"']), 'sh\n');
});

test('the first word is looked up in the PATH of the container', async t => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'troupe-path-'));
	t.teardown(() => rm(folder, {recursive: true}));
	writeFileSync(path.join(folder, 'hello'), '#!/bin/sh\necho hello from PATH\n', {mode: 0o755});
	const env = [{name: 'PATH', value: `/nowhere:${folder}`}];
	t.is(await outputOf(t, ['hello'], {env, ...asAgent}), 'hello from PATH\n');
});

test('a program has three descriptors and no more, whatever the agent was started with', async t => {
	const world = worldOf(t);
	await world.stopAgent();
	const {running} = await anotherAgent(t, world.directory, [aContainer('runs')]);
	const {pid = 0} = running[0] ?? {};
	await whenTrue(() => readFileSync(`/proc/${pid}/comm`, 'latin1') === 'sleep\n');
	t.deepEqual(readdirSync(`/proc/${pid}/fd`), ['0', '1', '2']);
});

test('a program gets no file of a store that is open where the agent runs', async t => {
	const directory = await mkdtemp(path.join(os.tmpdir(), 'troupe-test-'));
	t.teardown(() => rm(directory, {recursive: true, force: true}));
	const store = await openLevelStore(directory);
	t.teardown(() => store.close());
	const {ensure, start} = driver(worldOf(t));
	await ensure('uid-1');
	t.true(inheritableFiles().length > 0);
	const {pid} = await start(aContainer('runs'));
	await whenTrue(() => readFileSync(`/proc/${pid}/comm`, 'latin1') === 'sleep\n');
	const files = readdirSync(`/proc/${pid}/fd`).map(name => readlinkSync(`/proc/${pid}/fd/${name}`));
	t.deepEqual(
		files.filter(file => file.startsWith(directory)),
		[],
	);
});

test('signals have their default effect for a program', async t => {
	const status = await outputOf(t, ['sh', '-c', 'while read -r k v; do echo "$k$v"; done </proc/$$/status']);
	t.regex(status, /^SigIgn:0+$/m);
	t.regex(status, /^SigBlk:0+$/m);
});

test('a program starts in its working directory', async t => {
	t.is(await outputOf(t, ['sh', '-c', 'pwd'], {workingDir: '/usr'}), '/usr\n');
});

test('stdin is empty, or waits where the container asks for it', async t => {
	t.is(await outputOf(t, ['sh', '-c', 'read -r line || echo the end']), 'the end\n');
	const {ensure, start, inspect, stop} = driver(worldOf(t));
	await ensure('uid-1');
	await start(aProgram(['cat'], {stdin: true}));
	t.not((await inspect(main)).running, undefined);
	t.is((await stop(main, 10_000))?.exitCode, 143);
});

asRoot('as root a program runs as a user of its pod, under a shim that stays root', async t => {
	const {ensure, start} = driver(worldOf(t, {users}));
	await ensure('uid-1');
	const {pid} = await start(aContainer('runs'));
	const shim = Number(/^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1]);
	const ids = (process: number, key: string): string[] =>
		new RegExp(`^${key}:\\s*(.*)$`, 'm')
			.exec(readFileSync(`/proc/${process}/status`, 'latin1'))?.[1]
			?.trim()
			.split(/\s+/) ?? [];
	await whenTrue(() => ids(pid, 'Uid')[0] === '70001');
	t.deepEqual(ids(pid, 'Uid'), ['70001', '70001', '70001', '70001']);
	t.deepEqual(ids(pid, 'Gid'), ['70001', '70001', '70001', '70001']);
	t.false(ids(pid, 'Groups').includes('0'));
	t.deepEqual(ids(shim, 'Uid'), ['0', '0', '0', '0']);
});

asRoot('as root a program runs as the user it asks for', async t => {
	t.is(await outputOf(t, ['id', '-u'], {runAsUser: 1234, runAsGroup: 77}), '1234\n');
	t.is(await outputOf(t, ['id', '-g'], {runAsUser: 1234, runAsGroup: 77}), '77\n');
	t.is(await outputOf(t, ['id', '-u'], {runAsUser: 0}), '0\n');
});

asRoot('without a helper to drop rights the shim runs as the user, with a warning', async t => {
	const world = worldOf(t, {dropper: null, users});
	const {ensure, start, ends, log, value} = driver(world);
	await ensure('uid-1');
	await start(aProgram(['id', '-u']));
	const [end] = await ends(1);
	t.is(end?.exit.exitCode, 0);
	t.is(Buffer.from((await value(log(main))).data, 'base64').toString(), '70001\n');
	t.regex(world.warnings.join(), /can change the user/);
});

asRoot('variables that a loader reads reach the program and not the root helpers', async t => {
	const seen = await outputOf(t, ['env'], {
		env: [
			{name: 'LD_PRELOAD', value: '/nowhere/evil.so'},
			{name: 'LD_DEBUG', value: ''},
		],
	});
	// The loader complains once for the program itself; a complaint of the helpers would come before it.
	t.is(seen.match(/evil\.so/g)?.length, 2);
	t.regex(seen, /^LD_PRELOAD=\/nowhere\/evil\.so$/m);
});

test('the words and variables of a container are not in the arguments of its shim', async t => {
	const {ensure, start} = driver(worldOf(t));
	await ensure('uid-1');
	const {pid} = await start(aProgram(['sleep', 'infinity'], {env: [{name: 'TOKEN', value: 'marker-4711'}]}));
	const shim = Number(/^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1]);
	t.false(readFileSync(`/proc/${shim}/cmdline`, 'latin1').includes('marker-4711'));
});

const refusals: readonly (readonly [string, Parameters<typeof aContainer>[1] & {argv?: readonly string[]}, RegExp])[] = [
	['a program that is not there', {argv: ['no-such-program']}, /program "no-such-program" was not found in PATH "/],
	['a path that is not there', {argv: ['/no/such/program']}, /program "\/no\/such\/program" does not exist/],
	['a folder as program', {argv: ['/usr']}, /program "\/usr" is a directory/],
	['a file that is not executable', {argv: ['/etc/passwd']}, /program "\/etc\/passwd" cannot be run by user \d+/],
	['an empty program name', {argv: ['']}, /the program has no name/],
	[
		'no command at all',
		{argv: []},
		/container "main" names no command, and image "any" is only a name to this node's runtime: set command$/,
	],
	['a working directory that is not there', {workingDir: '/no/such/folder'}, /working directory "\/no\/such\/folder" does not exist/],
	['a file as working directory', {workingDir: '/etc/passwd'}, /working directory "\/etc\/passwd" is not a directory/],
	['a relative working directory', {workingDir: 'here'}, /working directory "here" must be an absolute path/],
	['a NUL in a word', {argv: ['echo', 'a\0b']}, /must not hold NUL/],
	['a variable whose name has a "="', {env: [{name: 'A=B', value: ''}]}, /the name of a variable/],
	['words too long for the system', {argv: ['echo', 'x'.repeat(300_000)]}, /too long for this system/],
	['a name that leaves the folder', {container: '../../etc'}, /is no name of a pod or a container/],
];

for (const [title, wrong, message] of refusals) {
	test(`${title} is refused with the reason, and the attempt stays free`, async t => {
		const {ensure, run, start} = driver(worldOf(t));
		await ensure('uid-1');
		const outcome = await run<'container.start'>({type: 'container.start', spec: aContainer('runs', wrong)});
		t.regex(outcome.ok ? 'it started' : outcome.error.message, message);
		t.is((await start(aContainer('runs'))).attempt, 0);
	});
}

asRoot('a working directory that is closed to the user is refused', async t => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'troupe-closed-'));
	t.teardown(() => rm(folder, {recursive: true}));
	mkdirSync(path.join(folder, 'inner'));
	const {ensure, run} = driver(worldOf(t));
	await ensure('uid-1');
	const outcome = await run<'container.start'>({
		type: 'container.start',
		spec: aContainer('runs', {workingDir: path.join(folder, 'inner')}),
	});
	t.regex(outcome.ok ? '' : outcome.error.message, /cannot be entered by user \d+: ".*troupe-closed-.*" is closed to that user/);
});

test('a full or missing disk is an answer, not a crash', async t => {
	const world = worldOf(t, {stockFolders: 0});
	const {ensure, run} = driver(world);
	await ensure('uid-1');
	await rm(path.join(world.directory), {recursive: true, force: true});
	writeFileSync(world.directory, 'a file where the folder was');
	const started = await run<'container.start'>({type: 'container.start', spec: aContainer('runs')});
	t.is(started.ok ? 'ok' : started.error.code, 'ERR_RUNTIME');
	const ensured = await run<'sandbox.ensure'>({
		type: 'sandbox.ensure',
		spec: aSandbox('uid-2', {name: 'p', hostname: 'p'}),
	});
	t.is(ensured.ok ? 'ok' : ensured.error.code, 'ERR_RUNTIME');
	const listed = await run<'sandbox.list'>({type: 'sandbox.list'});
	t.is(listed.ok ? 'ok' : listed.error.code, 'ERR_RUNTIME');
	await rm(world.directory);
});

/** Starts an agent in another process; resolves when its containers run. */
async function anotherAgent(
	t: ExecutionContext,
	directory: string,
	specs: readonly ContainerSpec[],
): Promise<{kill: () => Promise<unknown>; running: RunningContainer[]}> {
	const agent = spawn(node, [path.join(import.meta.dirname, 'agent-process.js'), directory, JSON.stringify(specs)], {
		// As when a careless parent leaves something open; beyond a gap, where Node itself does not close it.
		stdio: Object.assign(Array<'ignore' | 'pipe' | 'inherit' | number>(61).fill('ignore'), {1: 'pipe', 2: 'inherit', 60: 2}),
	});
	if (agent.stdout === null) throw new Error('the agent has no output');
	t.teardown(() => agent.kill('SIGKILL'));
	const running: RunningContainer[] = [];
	for await (const line of createInterface({input: agent.stdout})) {
		const outcome = JSON.parse(line) as Outcome<RunningContainer>;
		if (!outcome.ok) throw new Error(outcome.error.message);
		if (running.push(outcome.value) === specs.length) break;
	}
	return {
		running,
		kill() {
			const exit = once(agent, 'exit');
			agent.kill('SIGKILL');
			return exit;
		},
	};
}

test('containers of an agent that was killed keep their pid, and their exit codes reach the next agent', async t => {
	const world = worldOf(t);
	const specs = [
		aProgram(['sh', '-c', "trap 'exit 42' TERM; echo ready; while :; do sleep 0.01; done"]),
		aContainer('runs', {container: 'second'}),
	];
	await world.stopAgent();
	const {kill, running} = await anotherAgent(t, world.directory, specs);
	await kill();
	world.startAgent();
	const {inspect, ends, log} = driver(world);
	t.deepEqual((await inspect(main)).running, running[0]);
	t.deepEqual((await inspect({uid: 'uid-1', container: 'second'})).running, running[1]);
	await log(main, {waitMs: 10_000});
	process.kill(running[0]?.pid ?? 0, 'SIGTERM');
	const [end] = await ends(1);
	t.is(end?.exit.exitCode, 42);
	t.is(end?.exit.startedAtMs, running[0]?.startedAtMs);
});

test('a program that ended while no agent lived is found with its code', async t => {
	const world = worldOf(t);
	await world.stopAgent();
	const {kill, running} = await anotherAgent(t, world.directory, [aProgram(['sh', '-c', 'read -r line; exit 9'], {stdin: true})]);
	await kill();
	appendFileSync(path.join(world.directory, 'uid-1', 'main', 'stdin'), 'go\n');
	await whenTrue(() => !isThere(running[0]?.pid ?? 0));
	world.startAgent();
	const {inspect, told} = driver(world);
	const {lastExit, nextAttempt} = await inspect(main);
	t.is(lastExit?.exitCode, 9);
	t.is(nextAttempt, 1);
	t.deepEqual(told, []);
});

test('a killed shim means that the code is unknown, and its program is killed', async t => {
	const {ensure, start, ends, inspect} = driver(worldOf(t));
	await ensure('uid-1');
	const {pid} = await start(aContainer('runs'));
	process.kill(shimOf(pid), 'SIGKILL');
	const [end] = await ends(1);
	t.is(end?.exit.exitCode, undefined);
	t.is(end?.exit.reason, 'Unknown');
	await whenTrue(() => !isThere(pid));
	t.deepEqual((await inspect(main)).lastExit, end?.exit);
	t.is((await start(aContainer('runs', {attempt: 1}))).attempt, 1);
});

test('a shim that was killed while no agent lived is found out by the next one', async t => {
	const world = worldOf(t);
	const {ensure, start, inspect, restartAgent} = driver(world);
	await ensure('uid-1');
	const {pid} = await start(aContainer('runs'));
	await restartAgent(async () => {
		const shim = shimOf(pid);
		process.kill(shim, 'SIGKILL');
		await whenTrue(() => !isThere(shim));
	});
	const {running, lastExit} = await inspect(main);
	t.is(running, undefined);
	t.is(lastExit?.reason, 'Unknown');
	await whenTrue(() => !isThere(pid));
	t.false(isThere(pid));
});

test('a container whose lifeline cannot be looked at is not taken for dead', async t => {
	const world = worldOf(t);
	const {ensure, start, inspect, run, restartAgent} = driver(world);
	const lifeline = path.join(world.directory, 'uid-1', 'main', 'lifeline');
	await ensure('uid-1');
	const running = await start(aContainer('runs'));
	await restartAgent(() => {
		renameSync(lifeline, `${lifeline}.away`);
		symlinkSync('lifeline', lifeline);
		return Promise.resolve();
	});
	const outcome = await run<'container.inspect'>({type: 'container.inspect', id: main});
	t.is(outcome.ok ? 'ok' : outcome.error.code, 'ERR_RUNTIME');
	renameSync(`${lifeline}.away`, lifeline);
	t.deepEqual((await inspect(main)).running, running);
});

test('SIGTERM and SIGINT to the shim do not end it, and the code of its program is still told', async t => {
	const {ensure, start, stop} = driver(worldOf(t));
	await ensure('uid-1');
	const {pid} = await start(aContainer('runs'));
	for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const) process.kill(shimOf(pid), signal);
	t.is((await stop(main, 10_000))?.exitCode, 143);
});

test('what a program leaves behind in its group is killed when it ends', async t => {
	for (const namespaces of [undefined, null] as const) {
		const {ensure, start, ends, log, value, run} = driver(worldOf(t, {namespaces}));
		await ensure('uid-1');
		const {pid} = await start(aProgram(['sh', '-c', 'sleep infinity & echo $!; read -r line; exit 5'], {stdin: true}));
		const left = pidOnNode(Number(Buffer.from((await value(log(main, {waitMs: 10_000}))).data, 'base64').toString()), pid);
		t.true(isThere(left));
		await run({type: 'stdin.write', id: main, data: '', isLast: true});
		t.is((await ends(1))[0]?.exit.exitCode, 5);
		await whenTrue(() => !isThere(left));
	}
});

test('a program that stopped its whole group is killed all the same', async t => {
	const {ensure, start, stop} = driver(worldOf(t));
	await ensure('uid-1');
	const {pid} = await start(aContainer('runs', asAgent));
	process.kill(-groupOf(pid), 'SIGSTOP');
	t.is((await stop(main, 0))?.exitCode, 137);
});

test('a pid that went to another process is never signalled', async t => {
	const world = worldOf(t);
	const {ensure, start, remove, inspect, restartAgent} = driver(world);
	await ensure('uid-1');
	const {pid} = await start(aContainer('runs'));
	const stranger = spawn('sleep', ['infinity'], {detached: true, stdio: 'ignore'});
	t.teardown(() => stranger.kill('SIGKILL'));
	await restartAgent(async () => {
		process.kill(-groupOf(pid), 'SIGKILL');
		await whenTrue(() => !isThere(pid));
		const [file = ''] = stateFiles(world.directory);
		const text = readFileSync(file, 'latin1');
		// The record says the stranger's pid and group, and the start time of the program that is gone.
		writeFileSync(
			file,
			text.replaceAll(new RegExp(`\\b${pid}\\b`, 'g'), String(stranger.pid)).replace(/(\) \S \d+) \d+/, `$1 ${stranger.pid}`),
		);
	});
	t.is((await inspect(main)).lastExit?.reason, 'Unknown');
	await remove('uid-1');
	t.true(isThere(stranger.pid ?? 0));
});

test('a log is rotated when it has outgrown its bound, and offsets go on rising', async t => {
	const world = worldOf(t, {logFileBytes: 100});
	const {ensure, start, log, value} = driver(world);
	await ensure('uid-1');
	await start(aProgram(['cat'], {stdin: true}));
	const folder = path.join(world.directory, 'uid-1', 'main');
	const write = (text: string): void => appendFileSync(path.join(folder, 'stdin'), text);
	const read = async (): Promise<string> => {
		const parts: Buffer[] = [];
		for (let offset = 0, more = true; more;) {
			const chunk = await value(log(main, {offset, maxBytes: 37}));
			parts.push(Buffer.from(chunk.data, 'base64'));
			more = chunk.nextOffset > offset;
			offset = chunk.nextOffset;
		}
		return Buffer.concat(parts).toString();
	};
	/** Rotated so often, each time with a larger base. */
	const rotated = (base: string): Promise<void> =>
		whenTrue(() => existsSync(path.join(folder, '0', 'log.base')) && readFileSync(path.join(folder, '0', 'log.base'), 'utf8') === base);
	const written = (bytes: number): Promise<void> => whenTrue(() => statSync(path.join(folder, '0', 'log')).size === bytes);
	const lines = (from: number, count: number): string => Array.from({length: count}, (_, i) => `line ${from + i}\n`).join('');

	write(lines(10, 12)); // 96 bytes
	await written(96);
	write(lines(22, 8));
	await rotated('0 160\n');
	t.is(await read(), lines(10, 20));
	write(lines(30, 12));
	await written(96);
	t.is(await read(), lines(10, 32));
	write(lines(42, 8));
	await rotated('160 320\n');
	write(lines(50, 2));
	await written(16);
	t.is(await read(), lines(30, 22)); // The oldest file is gone.
	const tail = await value(log(main, {tailLines: 3}));
	t.is(
		Buffer.from(tail.data, 'base64').toString() +
			Buffer.from((await value(log(main, {offset: tail.nextOffset}))).data, 'base64').toString(),
		lines(49, 3),
	);
	t.is(tail.nextOffset, 320);
	t.deepEqual(readdirSync(path.join(folder, '0')).sort(), ['log', 'log.1', 'log.base', 'log.times', 'state']);
});

test('the last lines of a log are found', async t => {
	const {ensure, start, ends, log, value} = driver(worldOf(t));
	await ensure('uid-1');
	await start(aProgram(['sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "line $i"; done; printf "no newline"']));
	await ends(1);
	const tail = async (tailLines: number): Promise<string> => Buffer.from((await value(log(main, {tailLines}))).data, 'base64').toString();
	t.is(await tail(1), 'no newline');
	t.is(await tail(3), 'line 19999\nline 20000\nno newline');
	t.is(await tail(0), '');
	t.true((await tail(15_000)).startsWith('line 5002\n'));
	t.true((await tail(1_000_000)).startsWith('line 1\n'));
});

test('two containers write their logs at once, each into its own', async t => {
	const {ensure, start, ends, log, value} = driver(worldOf(t));
	await ensure('uid-1');
	const writer = (word: string): string[] => ['sh', '-c', `i=0; while [ $i -lt 500 ]; do i=$((i+1)); echo ${word}; echo ${word} >&2; done`];
	await Promise.all([start(aProgram(writer('first'))), start(aProgram(writer('second'), {container: 'second'}))]);
	await ends(2);
	for (const [container, word] of [
		['main', 'first'],
		['second', 'second'],
	] as const) {
		t.is(Buffer.from((await value(log({uid: 'uid-1', container}))).data, 'base64').toString(), `${word}\n`.repeat(1_000));
	}
});

test('a reader that follows gets words as they come', async t => {
	const world = worldOf(t);
	const {ensure, start, log, value} = driver(world);
	await ensure('uid-1');
	await start(aProgram(['cat'], {stdin: true}));
	const waiting = value(log(main, {waitMs: 30_000}));
	appendFileSync(path.join(world.directory, 'uid-1', 'main', 'stdin'), 'hello\n');
	t.is(Buffer.from((await waiting).data, 'base64').toString(), 'hello\n');
});

test('the current attempt and the one before keep their files', async t => {
	const world = worldOf(t);
	const {ensure, start, ends} = driver(world);
	await ensure('uid-1');
	for (let attempt = 0; attempt < 5; attempt++) {
		await start(aContainer('succeeds', {attempt}));
		await ends(attempt + 1);
	}
	const folder = path.join(world.directory, 'uid-1', 'main');
	await whenTrue(() => readdirSync(folder).length === 3);
	t.deepEqual(readdirSync(folder).sort(), ['3', '4', 'lifeline']);
});

test('sandboxes and addresses are known to the next agent', async t => {
	const world = worldOf(t, {subnet: '127.70.0.0/29'});
	const {ensure, restartAgent, list, run, remove} = driver(world);
	const addresses: string[] = [];
	for (let i = 0; i < 7; i++) addresses.push((await ensure(`uid-${i}`)).podIP);
	t.deepEqual(
		addresses,
		[1, 2, 3, 4, 5, 6, 7].map(last => `127.70.0.${last}`),
	);
	const tooMany = await run<'sandbox.ensure'>({
		type: 'sandbox.ensure',
		spec: aSandbox('uid-7', {name: 'p', hostname: 'p'}),
	});
	t.is(tooMany.ok ? '' : tooMany.error.message, 'no address is left for pods in "127.70.0.0/29"');
	await restartAgent();
	t.is((await list()).length, 7);
	t.is((await ensure('uid-3')).podIP, '127.70.0.4');
	await remove('uid-3');
	t.is((await ensure('uid-8')).podIP, '127.70.0.4');
	t.deepEqual(
		foldersIn(world.directory)
			.filter(uid => readSandbox(world.directory, uid) !== undefined)
			.sort(),
		['uid-0', 'uid-1', 'uid-2', 'uid-4', 'uid-5', 'uid-6', 'uid-8'],
	);
});

test('a pod can listen on its address', async t => {
	const {podIP} = await driver(worldOf(t)).ensure('uid-1');
	const server = createServer().listen(0, podIP);
	t.teardown(() => server.close());
	await once(server, 'listening');
	t.regex(podIP, /^127\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.\d+\.\d+$/);
});

test('a damaged record of a sandbox is told and mended', async t => {
	const world = worldOf(t);
	const {ensure, start, inspect, restartAgent} = driver(world);
	await ensure('uid-1');
	const running = await start(aContainer('runs'));
	await restartAgent(() => {
		writeFileSync(path.join(world.directory, 'uid-1', 'pod.json'), '{"namesp');
		return Promise.resolve();
	});
	t.regex(world.warnings.join(), /has no readable pod\.json/);
	await ensure('uid-1');
	t.deepEqual((await inspect(main)).running, running);
});

test('everything of a directory can be stopped without an agent', async t => {
	const world = worldOf(t);
	await world.stopAgent();
	const specs = [aContainer('runs'), aContainer('ignoresTerm', {uid: 'uid-2'}), aContainer('succeeds', {uid: 'uid-3'})];
	const {kill, running} = await anotherAgent(t, world.directory, specs);
	await kill();
	await whenTrue(() => running.filter(({pid}) => isThere(pid)).length === 2);
	t.is(await stopEverything(world.directory, {clock: systemClock, graceMs: 200}), 2);
	t.deepEqual(
		running.filter(({pid}) => isThere(pid)),
		[],
	);
	t.is(await stopEverything(world.directory, {clock: systemClock, graceMs: 200}), 0);
	t.is(await stopEverything(path.join(world.directory, 'nowhere'), {clock: systemClock, graceMs: 200}), 0);
});

testManyPods(test, 40);

test('the node says what it does not do', t => {
	const info = worldOf(t, {maxPods: 7, controlGroups: null, namespaces: null}).runtime().info();
	t.is(info.name, 'process');
	t.is(info.maxPods, 7);
	t.deepEqual(
		info.conditions.map(({type}) => type),
		['SharedNetwork', 'SharedProcesses', ...(isRoot ? [] : ['SharedHome']), 'LimitsNotEnforced'],
	);
	t.false(info.features.includes('limits'));
	const other = worldOf(t).runtime().info();
	t.is(
		other.features.includes('limits'),
		other.conditions.every(({type}) => type !== 'LimitsNotEnforced'),
	);
	t.true(info.cpuMillis >= 1_000 && info.memoryBytes > 0);
	t.regex(info.hostBootId, /^[0-9a-f-]{36}$/);
});

test('the edge runs the commands of actors and answers those it does not know', async t => {
	const perform = performFor(worldOf(t).runtime(), {
		keepServers: () => undefined,
		inStep: () => undefined,
		refused: () => undefined,
		secrets: noSecrets,
	});
	const answer = (command: {type: string}): Promise<Outcome<unknown>> => new Promise(resolve => perform(command, resolve));
	t.deepEqual(await answer({type: 'sandbox.list'}), {ok: true, value: []});
	for (const type of ['container.explode', 'toString', '__proto__']) {
		const outcome = await answer({type});
		t.is(outcome.ok ? '' : outcome.error.code, 'ERR_INTERNAL');
	}
});

test('a line has the time at which it was written, also where no agent lived then', async t => {
	const world = worldOf(t);
	const {ensure, start, log, value, restartAgent, inspect} = driver(world);
	await ensure('uid-1');
	await start(aProgram(['cat'], {stdin: true}));
	const folder = path.join(world.directory, 'uid-1', 'main');
	const file = path.join(folder, '0', 'log');
	const write = async (text: string): Promise<number> => {
		const size = statSync(file).size + text.length;
		appendFileSync(path.join(folder, 'stdin'), text);
		await whenTrue(() => statSync(file).size === size);
		return Math.trunc(statSync(file).mtimeMs);
	};
	const times: number[] = [await write('one\r\n')];
	await whenTrue(() => existsSync(`${file}.times`));
	await restartAgent(async () => void times.push(await write('two\nhalf')));
	await inspect(main);
	const {data} = await value(log(main, {timestamps: true}));
	const [one = 0, two = 0] = times.map(time => new Date(time).toISOString());
	t.is(Buffer.from(data, 'base64').toString(), `${one} one\r\n${two} two\n${two} half`);
	const since = await value(log(main, {sinceMs: times[1]}));
	t.is(Buffer.from(since.data, 'base64').toString(), times[0] === times[1] ? 'one\r\ntwo\nhalf' : 'two\nhalf');
	const {size} = statSync(`${file}.times`);
	t.is(size, 32, 'nothing is written while nothing is');
});
