import {createHash, randomBytes} from 'node:crypto';
import {spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {besideCommand} from '../../agent/process/exec/beside.js';
import {stageText} from '../../agent/process/start/shim.js';
import {findTool} from '../../agent/os/tools.js';
import {createSessions} from '../../agent/exec-sessions.js';
import type {ExecOutput} from '../../actors/node/runtime/runtime-port.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {isRoot} from '../_needing.js';
import {isThere, pidOnNode, processWorld, whenTrue, type ProcessWorld} from './process-world.js';
import {aContainer, driver} from './runtime-contract.js';

const main = {uid: 'uid-1', container: 'main'};

const worldOf = (t: ExecutionContext, options: Parameters<typeof processWorld>[1] = {}): ProcessWorld =>
	processWorld(clean => t.teardown(clean), options);

/** A node on which one container runs. */
async function running(t: ExecutionContext, rest: Parameters<typeof aContainer>[1] = {}, options: Parameters<typeof processWorld>[1] = {}) {
	const world = worldOf(t, options);
	const driven = driver(world);
	await driven.ensure('uid-1');
	const container = await driven.start(aContainer('runs', rest));
	const opened = async (...args: Parameters<typeof driven.exec>): Promise<string> => (await driven.value(driven.exec(...args))).session;
	return {world, container, opened, ...driven};
}

const codeOf = <Value>(outcome: Outcome<Value>): string => (outcome.ok ? 'ok' : outcome.error.code);
const hash = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

const env = [
	{name: 'PATH', value: process.env['PATH'] ?? ''},
	{name: 'HOSTILE', value: `$(id) ' " \\ * \n two`},
	{name: 'with-dash', value: 'x=y'},
	{name: 'T1', value: 'T0'},
	{name: 'HOME', value: '/nowhere'},
];

test('a program beside another one has its environment, its user and its folder', async t => {
	const {opened, hearAll, container} = await running(t, {env, workingDir: '/tmp', ...(isRoot ? {runAsUser: 1234, runAsGroup: 77} : {})});
	const {stdout} = await hearAll(await opened(main, ['env', '-0']));
	t.deepEqual(stdout.split('\0').slice(0, -1).sort(), env.map(({name, value}) => `${name}=${value}`).sort());
	t.is(
		(await hearAll(await opened(main, ['sh', '-c', 'echo $(id -u) $(id -g) $(pwd) $PPID']))).stdout.split(' ').slice(0, 3).join(' '),
		`${isRoot ? '1234 77' : `${process.getuid?.()} ${process.getgid?.()}`} /tmp`,
	);
	const groups = readlinkSync(`/proc/${container.pid}/ns/mnt`);
	t.is((await hearAll(await opened(main, ['readlink', '/proc/self/ns/mnt']))).stdout.trim(), groups);
});

test("it has what the other one was given, whatever became of that one's own environment", async t => {
	const argv = ['sh', '-c', 'GIVEN=changed exec sleep 1000'];
	const {opened, hearAll} = await running(t, {argv, env: [{name: 'GIVEN', value: 'a=b\n'}]});
	const {stdout} = await hearAll(await opened(main, ['sh', '-c', 'printf %s "$GIVEN"']));
	t.is(stdout, 'a=b\n');
});

test('its words are never parsed by a shell', async t => {
	const {opened, hearAll} = await running(t);
	const words = ['$(id)', ';', '&&', 'a b', "'", '"', 'line\nbreak', 'ÁΩ🎭', '*', ''];
	t.is((await hearAll(await opened(main, ['printf', '%s\\n', ...words]))).stdout, `${words.join('\n')}\n`);
});

test('a program can open its streams by name, and finds the end of its input there', async t => {
	const {opened, type, hearAll, value} = await running(t);
	const session = await opened(main, ['sh', '-c', 'echo out >/dev/stdout; echo err >/dev/stderr; sleep 0.1; cat /dev/stdin'], {
		stdin: true,
	});
	await value(type(session, 'in\n', true));
	t.deepEqual(await hearAll(session), {stdout: 'out\nin\n', stderr: 'err\n', exitCode: 0});
});

test('what goes in comes out byte for byte, and both streams apart', async t => {
	const {opened, type, hear, value} = await running(t);
	const data = randomBytes(4_000_000);
	const session = await opened(main, ['tee', '/dev/stderr'], {stdin: true});
	const written: Record<'stdout' | 'stderr', Buffer[]> = {stdout: [], stderr: []};
	const reading = (async () => {
		for (;;) {
			const {parts, end} = await value(hear(session, 60_000, 100_000));
			t.true(parts.reduce((sum, part) => sum + Buffer.byteLength(part.data, 'base64'), 0) <= 100_000);
			for (const part of parts) written[part.stream].push(Buffer.from(part.data, 'base64'));
			if (end !== undefined) return end.exitCode;
		}
	})();
	for (let from = 0; from < data.length; from += 500_000) await value(type(session, data.subarray(from, from + 500_000)));
	await value(type(session, '', true));
	t.is(await reading, 0);
	t.is(hash(Buffer.concat(written.stdout)), hash(data));
	t.is(hash(Buffer.concat(written.stderr)), hash(data));
});

test('a program that writes more than is read waits, and one that reads nothing stops its writer', async t => {
	const {opened, type, exec, run, value} = await running(t);
	const session = await opened(main, ['yes']);
	let total = 0;
	const read = async (): Promise<void> => {
		const {parts} = await value(run<'exec.read'>({type: 'exec.read', session, maxBytes: 131_072, waitMs: 10_000}));
		total += parts.reduce((sum, part) => sum + Buffer.byteLength(part.data, 'base64'), 0);
	};
	for (let i = 0; i < 20; i++) await read();
	t.true(total > limits.execBufferBytes, 'it goes on when it is read');
	await run({type: 'exec.close', session});
	const deaf = (await value(exec(main, ['sleep', 'infinity'], {stdin: true}))).session;
	const first = type(deaf, Buffer.alloc(limits.execPendingBytes));
	t.is(codeOf(await type(deaf, 'x')), 'ERR_BUSY');
	await run({type: 'exec.close', session: deaf});
	await first;
});

test('a word that is no program is told as Docker does, with the code of a shell', async t => {
	const {opened, hearAll} = await running(t);
	const told = async (word: string): Promise<readonly [string, number]> => {
		const {stderr, exitCode} = await hearAll(await opened(main, [word]));
		return [stderr, exitCode];
	};
	t.deepEqual(await told('no-such'), ['exec: "no-such": executable file not found in $PATH\n', 127]);
	t.deepEqual(await told('/no/such'), ['exec: "/no/such": no such file or directory\n', 127]);
	t.deepEqual(await told('/etc/passwd'), ['exec: "/etc/passwd": permission denied\n', 126]);
	const inTerminal = await hearAll(await opened(main, ['no-such'], {tty: true, stdin: true}));
	t.deepEqual(inTerminal, {stdout: 'exec: "no-such": executable file not found in $PATH\r\n', stderr: '', exitCode: 127});
});

for (const shell of ['dash', 'bash', 'busybox'].flatMap(name => findTool(name) ?? []))
	test(`${shell} as the shell finds a first word as exec does, or says why not`, t => {
		const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-words-'));
		t.teardown(() => rmSync(folder, {recursive: true}));
		const file = (name: string, mode: number): void => writeFileSync(path.join(folder, name), '#!/bin/sh\necho "$0" "$@"\n', {mode});
		file('-odd', 0o755);
		file('closed', 0o644);
		file("a b$(id)';*", 0o755);
		mkdirSync(path.join(folder, 'cd'));
		const ran = (word: string, name: string): readonly unknown[] => {
			const given = [
				{name: 'PATH', value: `:/no/such:${folder}:/usr/bin:/bin`},
				{name, value: 'v'},
			];
			const env = Object.fromEntries(given.map((each, index) => [`T${index + 1}`, `${each.name}=${each.value}`]));
			const argv = [...(shell.endsWith('busybox') ? ['sh'] : []), '-c', stageText({env: given}, 'T'), 'sh', word, '$(id) *'];
			const {stdout, stderr, status} = spawnSync(shell, argv, {env, cwd: os.tmpdir(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
			return [stdout, stderr, status];
		};
		for (const name of ['plain', 'with-dash']) {
			for (const word of ['-odd', "a b$(id)';*"]) t.deepEqual(ran(word, name), [`${folder}/${word} $(id) *\n`, '', 0]);
			t.deepEqual(ran('echo', name), ['$(id) *\n', '', 0]);
			t.deepEqual(ran(`${folder}/-odd`, name), [`${folder}/-odd $(id) *\n`, '', 0]);
			t.deepEqual(ran(`./${path.basename(folder)}/-odd`, name).slice(1), ['', 0]);
			t.deepEqual(
				ran('export', name),
				['', 'exec: "export": executable file not found in $PATH\n', 127],
				'what only a shell knows is none',
			);
			t.deepEqual(ran('', name), ['', 'exec: "": executable file not found in $PATH\n', 127]);
			t.deepEqual(ran('cd', name), ['', 'exec: "cd": permission denied\n', 126], 'a folder');
			t.deepEqual(ran('closed', name), ['', 'exec: "closed": permission denied\n', 126]);
			t.deepEqual(ran('./no\nsuch', name), ['', 'exec: "./no\nsuch": no such file or directory\n', 127]);
		}
	});

test('a terminal is one, has the size it was given, takes another, and gives the code', async t => {
	const {opened, type, run, hear, value} = await running(t);
	const session = await opened(main, ['sh', '-c', 'test -t 0 && test -t 1 && stty size; read a; stty size; echo "<$a>"; exit 7'], {
		tty: true,
		stdin: true,
		rows: 40,
		columns: 100,
	});
	let text = '';
	let code: number | undefined;
	const until = async (wanted: RegExp): Promise<void> => {
		while (!wanted.test(text) && code === undefined) {
			const {parts, end} = await value(hear(session));
			text += parts.map(({data}) => Buffer.from(data, 'base64').toString()).join('');
			code = end?.exitCode;
		}
		t.regex(text, wanted);
	};
	await until(/40 100\r\n/);
	t.is(await value(run<'exec.resize'>({type: 'exec.resize', session, rows: 50, columns: 120})), null);
	await value(type(session, 'typed\r'));
	await until(/typed\r\n50 120\r\n<typed>\r\n/);
	while (code === undefined) code = (await value(hear(session))).end?.exitCode;
	t.is(code, 7);
});

test('what a session leaves behind ends with the container, or with the session where nothing else would find it', async t => {
	for (const options of [{}, {controlGroups: null}, {controlGroups: null, namespaces: null}]) {
		const {opened, hear, hearAll, stop, value, container} = await running(t, {}, options);
		const left = Number((await hearAll(await opened(main, ['sh', '-c', 'sleep infinity & echo $!']))).stdout);
		const pid = pidOnNode(left, container.pid);
		const waiting = await opened(main, ['sh', '-c', 'echo $$; exec sleep infinity']);
		const {parts} = await value(hear(waiting));
		const other = pidOnNode(Number(Buffer.from(parts[0]?.data ?? '', 'base64').toString()), container.pid);
		t.true(isThere(other));
		await stop(main, 0);
		t.is((await value(hear(waiting))).end?.exitCode, 137, "the end of the container is the session's");
		await whenTrue(() => !isThere(pid) && !isThere(other));
	}
});

test('a session that is closed kills its program, and so does the end of the agent', async t => {
	const {world, opened, hear, run, value, container} = await running(t);
	const pidOf = async (session: string): Promise<number> =>
		pidOnNode(Number(Buffer.from((await value(hear(session))).parts[0]?.data ?? '', 'base64').toString()), container.pid);
	const closed = await opened(main, ['sh', '-c', "trap '' HUP TERM; echo $$; sleep infinity"]);
	const inTerminal = await opened(main, ['sh', '-c', "trap '' HUP TERM; echo $$; sleep infinity"], {tty: true});
	const left = await opened(main, ['sh', '-c', 'echo $$; sleep infinity']);
	const pids = [await pidOf(closed), await pidOf(inTerminal), await pidOf(left)];
	t.true(pids.every(isThere));
	await run({type: 'exec.close', session: closed});
	await run({type: 'exec.close', session: inTerminal});
	await whenTrue(() => !pids.slice(0, 2).some(isThere));
	await world.stopAgent();
	await whenTrue(() => !pids.some(isThere));
});

test('only so many sessions are open at a time', async t => {
	const {exec, run, value} = await running(t);
	const sessions = await Promise.all(Array.from({length: limits.execSessions}, () => value(exec(main, ['no-such']))));
	t.is(codeOf(await exec(main, ['no-such'])), 'ERR_BUSY');
	await run({type: 'exec.close', session: sessions[0]?.session ?? ''});
	t.is(codeOf(await exec(main, ['no-such'])), 'ok');
});

const program = {pause: () => undefined, kill: () => undefined, drop: () => undefined};

test('a session that nobody reads is ended, one that is read is not', t => {
	const clock = new ManualClock();
	const sessions = createSessions(clock);
	const gone: string[] = [];
	const add = (id: string): ReturnType<typeof sessions.add> =>
		sessions.add({id, program, stdin: undefined, resize: undefined, onGone: () => gone.push(id)});
	const read = (id: string, waitMs: number): Outcome<ExecOutput>[] => {
		const outcomes: Outcome<ExecOutput>[] = [];
		sessions.read(id, 100, waitMs, outcome => outcomes.push(outcome));
		return outcomes;
	};
	const {output} = add('a');
	add('b');
	const waiting = read('b', limits.execIdleMs * 2);
	clock.advance(limits.execIdleMs);
	t.deepEqual(gone, ['a']);
	clock.advance(limits.execIdleMs);
	t.deepEqual(waiting, [{ok: true, value: {parts: [], end: undefined}}]);
	clock.advance(limits.execIdleMs);
	t.deepEqual(gone, ['a', 'b']);
	output('stdout', Buffer.from('late'));
	t.is(sessions.count(), 0);
});

test('a program is not listened to from where its output fills the buffer, until there is room again', t => {
	const sessions = createSessions(new ManualClock());
	const paused: boolean[] = [];
	const listened = {...program, pause: (isPaused: boolean) => void paused.push(isPaused)};
	const {output} = sessions.add({id: 'a', program: listened, stdin: undefined, resize: undefined, onGone: () => undefined});
	output('stdout', Buffer.alloc(limits.execBufferBytes - 1));
	t.deepEqual(paused, []);
	output('stdout', Buffer.alloc(1 + limits.execChunkBytes));
	t.deepEqual(paused, [true]);
	const look = (): void => sessions.read('a', limits.execChunkBytes, 0, outcome => t.true(outcome.ok));
	look();
	t.deepEqual(paused, [true], 'it is full all the same');
	look();
	t.deepEqual(paused, [true, false]);
});

test('the end of a session is told with the last of its output, however many looks that takes', t => {
	const sessions = createSessions(new ManualClock());
	const {output, end} = sessions.add({id: 'a', program, stdin: undefined, resize: undefined, onGone: () => undefined});
	output('stdout', Buffer.from('abcdefg'));
	end(3);
	const looks: Outcome<ExecOutput>[] = [];
	for (let look = 0; look < 4; look++) sessions.read('a', 3, 0, outcome => looks.push(outcome));
	const told = looks.map(look =>
		look.ok ? [look.value.parts.map(({data}) => Buffer.from(data, 'base64').toString()).join(), look.value.end] : [],
	);
	t.deepEqual(told, [['abc', undefined], ['def', undefined], ['g', {exitCode: 3}], []]);
});

test('a second reader gets what the first one would miss', t => {
	const sessions = createSessions(new ManualClock());
	const {output, end} = sessions.add({id: 'a', program, stdin: undefined, resize: undefined, onGone: () => undefined});
	const seen: unknown[] = [];
	sessions.read('a', 3, 1_000, outcome => seen.push(['first', outcome]));
	sessions.read('a', 3, 1_000, outcome => seen.push(['second', outcome]));
	output('stdout', Buffer.from('abcd'));
	end(5);
	sessions.read('a', 3, 0, outcome => seen.push(['third', outcome]));
	const part = (data: string): readonly unknown[] => [{stream: 'stdout', data: Buffer.from(data).toString('base64')}];
	t.deepEqual(seen, [
		['first', {ok: true, value: {parts: [], end: undefined}}],
		['second', {ok: true, value: {parts: part('abc'), end: undefined}}],
		['third', {ok: true, value: {parts: part('d'), end: {exitCode: 5}}}],
	]);
});

test('variables of a container are values of ours until the last process', t => {
	const drop = {user: {uid: 1, gid: 1}, groups: [], mayGain: false};
	const program = {pid: 7, drop, env: [{name: 'LD_PRELOAD', value: 'evil'}]};
	for (const terminal of [undefined, {script: '/usr/bin/script', rows: 1, columns: 2}]) {
		const {args, env: given} = besideCommand(
			{
				argv: ['secret word'],
				stdin: true,
				terminal,
				procsFiles: ['/group/cgroup.procs'],
				entering: {folder: '/', view: undefined, words: ['enter']},
			},
			program,
			'/bin',
		);
		t.is(given['LD_PRELOAD'], undefined);
		t.true(Object.values(given).includes('LD_PRELOAD=evil'));
		t.false(args.some(word => word.includes('evil')));
		t.false((args[1] ?? '').includes('secret'), 'nor is a word of it in what a shell parses');
	}
});

test('a probe that is a program is killed at its time with what it started, and what it wrote is told in short', async t => {
	const {act, value, container} = await running(t);
	const {ok, message} = await value(act(main, {type: 'exec', argv: ['sh', '-c', 'echo $$; sleep infinity']}, 500));
	t.false(ok);
	t.regex(message, /took longer than 500 ms/);
	const pid = Number(/: (\d+)$/.exec(message)?.[1]);
	await whenTrue(() => pidOnNode(pid, container.pid) === 0);
	const failing = await value(act(main, {type: 'exec', argv: ['sh', '-c', 'yes | head -n 5000; echo last; exit 4']}));
	t.false(failing.ok);
	t.true(
		failing.message.length <= limits.actionOutputBytes + 10 && failing.message.startsWith('exit 4: ') && failing.message.endsWith('last'),
	);
	t.deepEqual(await value(act(main, {type: 'exec', argv: ['no-such']})), {
		ok: false,
		message: 'exit 127: exec: "no-such": executable file not found in $PATH',
	});
});

test('probes leave no descriptor behind, and more than fit are refused', async t => {
	const {act} = await running(t);
	await act(main, {type: 'exec', argv: ['true']});
	const before = readdirSync('/proc/self/fd').length;
	const outcomes = await Promise.all(Array.from({length: limits.execActions + 6}, () => act(main, {type: 'exec', argv: ['true']}, 30_000)));
	t.is(outcomes.filter(outcome => codeOf(outcome) === 'ERR_BUSY').length, 6);
	t.is(outcomes.filter(outcome => outcome.ok && outcome.value.ok).length, limits.execActions);
	await whenTrue(() => readdirSync('/proc/self/fd').length <= before);
});
