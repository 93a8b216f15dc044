import {createHash, randomBytes} from 'node:crypto';
import {existsSync, readFileSync} from 'node:fs';
import test, {type ExecutionContext} from 'ava';
import type {Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {until} from '../../bench/rigs/servers/server.js';
import {dockerWorld, type DockerWorld} from '../agent/docker-world.js';
import {isThere, whenTrue} from '../agent/process-world.js';
import {aContainer, driver} from '../agent/runtime-contract.js';
import {sharedDockerd} from './_dockerd.js';

const dockerd = sharedDockerd(test, {liveRestore: true, bip: '10.244.3.1/24'});

const main = {uid: 'uid-1', container: 'main'};
const shell = (script: string): {image: string; argv: readonly string[]} => ({image: 'busybox', argv: ['sh', '-c', script]});
const rests = shell("trap 'exit 143' TERM; sleep 1000000 & wait");
const codeOf = <Value>(outcome: Outcome<Value>): string => (outcome.ok ? 'ok' : outcome.error.code);
const hash = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

/** A node on which one container runs. */
async function running(t: ExecutionContext, rest: Parameters<typeof aContainer>[1] = {}) {
	const world = dockerWorld(dockerd(), clean => t.teardown(clean));
	const driven = driver(world);
	await driven.ensure('uid-1');
	const container = await driven.start(aContainer('runs', {...rests, ...rest}));
	const opened = async (...args: Parameters<typeof driven.exec>): Promise<string> => (await driven.value(driven.exec(...args))).session;
	return {world, container, opened, ...driven};
}

/** All of a log, as a reader that follows it gets it. */
async function readAll(world: DockerWorld, isEnough: (text: string) => boolean): Promise<string> {
	const {log, value} = driver(world);
	let text = '';
	for (let offset = 0; !isEnough(text);) {
		const chunk = await value(log(main, {offset, waitMs: 20_000}));
		text += Buffer.from(chunk.data, 'base64').toString('latin1');
		offset = chunk.nextOffset;
		if (chunk.end) break;
	}
	return text;
}

const counted = (to: number): string => Array.from({length: to}, (_, i) => `${i + 1}\n`).join('');

test.serial('a log goes on without a gap over deaths of the agent and of dockerd', async t => {
	const script = 'i=0; while [ $i -lt 4000 ]; do i=$((i+1)); echo $i; [ $((i%10)) = 0 ] && usleep 10000; done; sleep 1000000';
	const {world} = await running(t, shell(script));
	const upTo = (line: number): Promise<string> => readAll(world, text => text.includes(`\n${line}\n`));
	await upTo(300);
	await world.stopAgent();
	world.startAgent();
	await upTo(900);
	await dockerd().stop();
	await dockerd().start();
	await upTo(1_500);
	await world.stopAgent();
	await dockerd().stop();
	await dockerd().start();
	world.startAgent();
	// An Engine that is stopped loses what it has read from a program and not written yet: on a busy machine ten lines in 2 of 48 stops, with no agent
	// beside it. What it has kept is here, and nothing twice.
	const lines = (await upTo(4_000)).trimEnd().split('\n');
	const [id = ''] = (await dockerd().docker('ps', '-q', '--filter', 'ancestor=busybox')).split('\n');
	const kept = (await dockerd().docker('logs', id)).trimEnd().split('\n');
	t.deepEqual(lines.filter((line, i) => line !== kept[i]).slice(0, 3), []);
	t.is(lines.length, kept.length);
	t.true(lines.length > 3_900);
	t.deepEqual(world.warnings, []);
});

test.serial('what is written while the agent is away is there, to the last line', async t => {
	const {world, restartAgent, inspect} = await running(t, shell('seq 1 500; sleep 2; seq 501 1000; printf end'));
	await readAll(world, text => text.includes('\n500\n'));
	await restartAgent(async () => {
		await until('it is so', async () => (await dockerd().docker('ps', '-q', '--filter', 'ancestor=busybox')).trim() === '', 20_000);
	});
	t.is((await inspect(main)).lastExit?.exitCode, 0);
	t.is(await readAll(world, () => false), `${counted(1_000)}end`);
});

test.serial('the last lines of a program that fails are told with its end', async t => {
	for (let i = 0; i < 5; i++) {
		const {ends} = await running(t, shell('seq 1 2000; echo last words; exit 3'));
		const [end] = await ends(1);
		t.regex(end?.exit.lastLines ?? '', /2000\nlast words$/);
	}
});

test.serial('long lines and terminals are copied as they were written', async t => {
	const script = 'head -c 100000 /dev/zero | tr "\\0" x; echo; echo two; printf three';
	for (const tty of [false, true]) {
		const {world} = await running(t, {...shell(script), tty});
		const end = tty ? '\r\n' : '\n';
		t.is(await readAll(world, () => false), `${'x'.repeat(100_000)}${end}two${end}three`);
	}
});

test.serial('what goes into a session comes out byte for byte, and both streams apart', async t => {
	const {opened, type, hear, value} = await running(t);
	const data = randomBytes(4_000_000);
	const session = await opened(main, ['tee', '/dev/stderr'], {stdin: true});
	const written: Record<'stdout' | 'stderr', Buffer[]> = {stdout: [], stderr: []};
	const reading = (async () => {
		for (;;) {
			const {parts, end} = await value(hear(session, 60_000, 100_000));
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

test.serial('a word that is no program is told as by processes, with the code of a shell', async t => {
	const {opened, hearAll, act, value} = await running(t);
	const told = async (word: string): Promise<readonly [string, number]> => {
		const {stderr, exitCode} = await hearAll(await opened(main, [word]));
		return [stderr, exitCode];
	};
	t.deepEqual(await told('no-such'), ['exec: "no-such": executable file not found in $PATH\n', 127]);
	t.deepEqual(await told('/no/such'), ['exec: "/no/such": no such file or directory\n', 127]);
	t.deepEqual(await told('/etc'), ['exec: "/etc": permission denied\n', 126]);
	const inTerminal = await hearAll(await opened(main, ['no-such'], {tty: true, stdin: true}));
	t.deepEqual(inTerminal, {stdout: 'exec: "no-such": executable file not found in $PATH\r\n', stderr: '', exitCode: 127});
	t.deepEqual(await value(act(main, {type: 'exec', argv: ['no-such']})), {
		ok: false,
		message: 'exit 127: exec: "no-such": executable file not found in $PATH',
	});
});

test.serial('a terminal is one, takes a size, and gives the code; its end can be typed', async t => {
	const {opened, type, run, hear, hearAll, value} = await running(t);
	const session = await opened(main, ['sh', '-c', 'test -t 0 && test -t 1 && echo terminal; read a; stty size; echo "<$a>"; exit 7'], {
		tty: true,
		stdin: true,
	});
	await value(hear(session));
	t.is(await value(run<'exec.resize'>({type: 'exec.resize', session, rows: 50, columns: 120})), null);
	await value(type(session, 'typed\r'));
	const {stdout, exitCode} = await hearAll(session);
	t.regex(stdout, /typed\r\n50 120\r\n<typed>\r\n$/);
	t.is(exitCode, 7);
	const cat = await opened(main, ['cat'], {tty: true, stdin: true});
	await value(type(cat, 'last\r', true));
	t.deepEqual(await hearAll(cat), {stdout: 'last\r\nlast\r\n', stderr: '', exitCode: 0});
});

/** As this host knows them: what runs in containers with these words. */
const pidsOf = async (words: string): Promise<readonly number[]> =>
	(await dockerd().inNamespace('sh', '-c', `pgrep -xf '${words}' || true`)).split('\n').filter(Boolean).map(Number);

test.serial('a session that is closed kills its program, and so does the end of the agent', async t => {
	const {world, opened, hear, run} = await running(t);
	const script = (seconds: number): readonly string[] => ['sh', '-c', `trap '' HUP TERM; echo up; sleep ${seconds}`];
	const closed = await opened(main, script(77_001));
	const inTerminal = await opened(main, script(77_002), {tty: true});
	const left = await opened(main, script(77_003));
	for (const session of [closed, inTerminal, left]) await hear(session);
	await until('it is so', async () => (await pidsOf('sleep 77003')).length === 1);
	const pids = (await Promise.all([77_001, 77_002, 77_003].map(seconds => pidsOf(`sleep ${seconds}`)))).flat();
	t.is(pids.length, 3);
	await run({type: 'exec.close', session: closed});
	await run({type: 'exec.close', session: inTerminal});
	await whenTrue(() => !pids.slice(0, 2).some(isThere));
	t.true(pids.slice(2).every(isThere));
	await world.stopAgent();
	await whenTrue(() => !pids.some(isThere));
});

test.serial('a session ends with its container', async t => {
	const {opened, hear, stop, value} = await running(t);
	const session = await opened(main, ['sh', '-c', 'echo up; sleep 1000000']);
	await hear(session);
	await stop(main, 0);
	t.is((await value(hear(session))).end?.exitCode, 137);
});

test.serial('a program that writes more than is read waits', async t => {
	const {opened, run, value} = await running(t);
	const session = await opened(main, ['yes']);
	let total = 0;
	while (total < 20 * limits.execBufferBytes) {
		const {parts} = await value(run<'exec.read'>({type: 'exec.read', session, maxBytes: 131_072, waitMs: 10_000}));
		total += parts.reduce((sum, part) => sum + Buffer.byteLength(part.data, 'base64'), 0);
	}
	const [pid = 0] = await pidsOf('yes');
	const ticks = (): string => readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ').slice(13, 15).join();
	let before = '';
	await whenTrue(() => {
		const now = ticks();
		const isStill = now === before;
		before = now;
		return isStill;
	});
	await run({type: 'exec.close', session});
	await whenTrue(() => !existsSync(`/proc/${pid}`));
	t.deepEqual(await pidsOf('yes'), []);
});

test.serial('a probe has failed for its time only where the Engine says so', async t => {
	const {act, value, opened, hear, run} = await running(t);
	const slow = {type: 'exec', argv: ['sh', '-c', 'echo slow; sleep 77004']} as const;
	t.deepEqual(await value(act(main, slow, 500)), {
		ok: false,
		message: 'command "sh -c echo slow; sleep 77004" took longer than 500 ms: slow',
	});
	await until('it is so', async () => (await pidsOf('sleep 77004')).length === 0);
	const session = await opened(main, ['sh', '-c', 'echo up; sleep 77005']);
	await hear(session);
	const [pid = 0] = await pidsOf('sleep 77005');
	await dockerd().pause();
	try {
		t.is(codeOf(await act(main, slow, 500)), 'ERR_RUNTIME');
		await run({type: 'exec.close', session});
		await whenTrue(() => !isThere(pid));
	} finally {
		dockerd().wake();
	}
	t.true((await value(act(main, {type: 'exec', argv: ['true']}))).ok);
	await until('it is so', async () => (await pidsOf('sleep 77004')).length === 0, 20_000);
});

test.serial('a session whose Engine dies is told so, and its program ends', async t => {
	const {opened, hear, hearAll} = await running(t);
	const session = await opened(main, ['sh', '-c', 'echo up; sleep 77006']);
	await hear(session);
	const [pid = 0] = await pidsOf('sleep 77006');
	await dockerd().stop();
	try {
		const {stderr, exitCode} = await hearAll(session);
		t.is(exitCode, 126);
		t.regex(stderr, /^exec: .+\n$/);
		await whenTrue(() => !isThere(pid));
	} finally {
		await dockerd().start();
	}
});

test.serial('the input of a container stays open over agents, and with stdinOnce ends with the last of it', async t => {
	const say = (text: string, isLast = false) => ({
		type: 'stdin.write' as const,
		id: main,
		data: Buffer.from(text).toString('base64'),
		isLast,
	});
	const kept = await running(t, {image: 'busybox', argv: ['cat'], stdin: true});
	t.is(codeOf(await kept.run(say('one\n'))), 'ok');
	await kept.restartAgent();
	await kept.inspect(main);
	t.is(codeOf(await kept.run(say('two\n'))), 'ok');
	t.is(await readAll(kept.world, text => text.endsWith('two\n')), 'one\ntwo\n');
	await kept.remove('uid-1');
	const once = await running(t, {image: 'busybox', argv: ['cat'], stdin: true, stdinOnce: true});
	t.is(codeOf(await once.run(say('one\n'))), 'ok');
	t.is(codeOf(await once.run(say('two\n', true))), 'ok');
	const [end] = await once.ends(1);
	t.is(end?.exit.exitCode, 0);
	t.is(await readAll(once.world, () => false), 'one\ntwo\n');
	t.is(codeOf(await once.run(say('x'))), 'ERR_BAD_REQUEST');
});
