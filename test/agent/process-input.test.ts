import {readFileSync, readdirSync} from 'node:fs';
import test, {type ExecutionContext} from 'ava';
import type {ContainerSpec} from '../../actors/node/runtime/runtime-port.js';
import {limits} from '../../api/limits.js';
import {isThere, processWorld, whenTrue} from './process-world.js';
import {aContainer, driver} from './runtime-contract.js';

const main = {uid: 'uid-1', container: 'main'};

/** A program that runs, with what is needed to talk to it. */
async function running(t: ExecutionContext, argv: readonly string[], rest: Partial<ContainerSpec> = {}) {
	const world = processWorld(clean => t.teardown(clean));
	const calls = driver(world);
	await calls.ensure('uid-1');
	const {pid} = await calls.start(aContainer('runs', {stdin: true, ...rest, argv}));
	const write = (text: string, isLast = false) =>
		calls.run<'stdin.write'>({type: 'stdin.write', id: main, data: Buffer.from(text).toString('base64'), isLast});
	const written = async (): Promise<string> => {
		const {data} = await calls.value(calls.log(main, {maxBytes: 4_194_304}));
		return Buffer.from(data, 'base64').toString();
	};
	/** Resolves when the log has it. */
	const says = async (text: string): Promise<void> => {
		for (let all = await written(); !all.includes(text); all = await written());
	};
	return {...calls, pid, write, written, says};
}

test('what is written is what the program reads, until the last of it', async t => {
	const {write, value, ends, written} = await running(t, ['wc', '-c']);
	const long = `${'x'.repeat(300_000)}\n`;
	await value(write('one\n'));
	await value(write(long));
	await value(write('two\n', true));
	const [end] = await ends(1);
	t.is(end?.exit.exitCode, 0);
	t.is(await written(), `${4 + long.length + 4}\n`);
});

test('after the last of it nothing more is taken, and the container need not be there', async t => {
	const {write, value, stop, says} = await running(t, ['sh', '-c', 'cat; echo end; sleep 100']);
	await value(write('', true));
	await says('end');
	const refused = await write('more');
	t.regex(refused.ok ? '' : refused.error.message, /the input of container "main" is closed/);
	await stop(main, 0);
	t.false((await write('more')).ok);
});

test('a program that does not read is waited for, and no more than so much is kept for it', async t => {
	const {write, stop} = await running(t, ['sleep', 'infinity']);
	const waiting = write('x'.repeat(limits.stdinBytes - 10));
	const refused = await write('y'.repeat(11));
	t.is(refused.ok ? '' : refused.error.code, 'ERR_BUSY');
	await stop(main, 10_000);
	const given = await waiting;
	t.regex(given.ok ? '' : given.error.message, /is not read any more/);
});

test('the next agent writes into what an earlier one started', async t => {
	const {write, value, restartAgent, inspect, ends} = await running(t, ['sh', '-c', 'read -r a; read -r b; [ "$a$b" = 12 ]']);
	await value(write('1\n'));
	await restartAgent();
	await inspect(main);
	await value(write('2\n'));
	t.is((await ends(1))[0]?.exit.exitCode, 0);
});

test('a container without stdin takes nothing', async t => {
	const {write} = await running(t, ['sleep', 'infinity'], {stdin: false});
	const refused = await write('x');
	t.regex(refused.ok ? '' : refused.error.message, /is closed/);
});

const terminal = 'for n in 0 1 2; do test -t $n || echo "$n is none"; done; stty size; echo "$TERM"; echo "$1" >/dev/stderr';

test('with tty a program has a terminal, its words and its exit code', async t => {
	const {ends, written} = await running(t, ['sh', '-c', `${terminal}; exit 5`, 'sh', `$(id) 'a' "b" \\ c`], {tty: true, stdin: false});
	t.is((await ends(1))[0]?.exit.exitCode, 5);
	t.is(await written(), `24 80\r\nxterm\r\n$(id) 'a' "b" \\ c\r\n`);
});

test('what is typed is shown and read, and its end is the end', async t => {
	const {write, value, ends, written, says} = await running(t, ['sh', '-c', 'echo ready; cat'], {tty: true});
	await says('ready');
	await value(write('word\n', true));
	t.is((await ends(1))[0]?.exit.exitCode, 0);
	t.is(await written(), 'ready\r\nword\r\nword\r\n');
});

test('a program in a terminal that nobody types into waits', async t => {
	const {pid, stop, says} = await running(t, ['sh', '-c', 'echo ready; read -r line; echo over'], {tty: true, stdin: false});
	await says('ready');
	t.true(isThere(pid));
	t.is((await stop(main, 0))?.exitCode, 137);
});

test('SIGTERM reaches a program in a terminal, which has its whole grace', async t => {
	const {stop, says, written} = await running(
		t,
		['sh', '-c', 'trap "sleep 0.3; echo bye; exit 3" TERM; echo ready; while :; do sleep 0.02; done'],
		{
			tty: true,
		},
	);
	await says('ready');
	t.is((await stop(main, 60_000))?.exitCode, 3);
	t.regex(await written(), /bye\r\n$/);
});

test('a program in a terminal ends with its container, though the terminal has a session of its own', async t => {
	const {pid, stop, says} = await running(t, ['sh', '-c', 'trap "" TERM HUP; echo ready; while :; do sleep 0.02; done'], {tty: true});
	await says('ready');
	t.is((await stop(main, 50))?.exitCode, 137);
	t.false(isThere(pid));
});

const statOfPid = (pid: number): {readonly parent: number; readonly group: number} => {
	const [, parent = '', group = ''] = /^\d+ \(.*\) \S (\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? [];
	return {parent: Number(parent), group: Number(group)};
};

/** Who is in a process group now. */
const membersOf = (group: number): readonly number[] =>
	readdirSync('/proc')
		.map(Number)
		.filter(pid => pid > 0 && isThere(pid) && statOrNone(pid)?.group === group);

function statOrNone(pid: number): ReturnType<typeof statOfPid> | undefined {
	try {
		return statOfPid(pid);
	} catch {
		return undefined; // It has ended in between.
	}
}

for (const tty of [true, false])
	test(`when its shim is killed ${tty ? 'a program in a terminal' : 'a program'} is, too, and so is what holds its input open`, async t => {
		const {pid, ends, says} = await running(t, ['sh', '-c', 'trap "" HUP; echo ready; sleep 100'], {tty});
		await says('ready');
		const program = statOfPid(pid);
		const shim = tty ? statOfPid(program.parent).parent : program.parent;
		const {group} = statOfPid(shim);
		t.true(membersOf(group).length >= 2);
		process.kill(shim, 'SIGKILL');
		t.is((await ends(1))[0]?.exit.reason, 'Unknown');
		await whenTrue(() => !isThere(pid) && membersOf(group).length === 0);
	});
