// The two programs as they run on this machine; those for the other processor under an emulator, where this machine has one.

import {spawn, spawnSync, type ChildProcessWithoutNullStreams} from 'node:child_process';
import {
	chmodSync,
	closeSync,
	constants,
	mkdtempSync,
	openSync,
	readFileSync,
	readlinkSync,
	rmSync,
	writeFileSync,
	writeSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import test, {type ExecutionContext} from 'ava';
import {architectures, type Architecture} from '../../../agent/docker/programs/elf.js';
import {gateFifoPath, gateProgram} from '../../../agent/docker/programs/gate.js';
import {infraProgram} from '../../../agent/docker/programs/infra.js';
import {tarOf} from '../../../agent/docker/programs/tar.js';
import {childrenNow} from '../../../agent/os/process-tree.js';
import {codeOf, findTool} from '../../../agent/os/tools.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {isRoot, needing} from '../../_needing.js';

/** The words before a program that make it run here; undefined: nothing does. */
function runnerOf(architecture: Architecture): readonly string[] | undefined {
	if ({x86_64: 'x64', aarch64: 'arm64'}[architecture] === process.arch) return [];
	const emulator = findTool(`qemu-${architecture}-static`);
	return emulator === undefined ? undefined : [emulator];
}

const folder = mkdtempSync(path.join(tmpdir(), 'troupe-programs-'));
test.after.always(() => rmSync(folder, {recursive: true}));

/** The FIFO's path is of the same length, and the folder's instead of the root's: the root is not ours. */
const localFifo = './troupe-go';
function localGate(architecture: Architecture): Buffer {
	const program = gateProgram(architecture);
	program.write(localFifo, program.indexOf(gateFifoPath));
	return program;
}

// Before any process is started, which would have the descriptor for a moment.
for (const architecture of architectures) {
	writeFileSync(path.join(folder, `infra-${architecture}`), infraProgram(architecture), {mode: 0o755});
	writeFileSync(path.join(folder, `gate-${architecture}`), localGate(architecture), {mode: 0o755});
}

for (const architecture of architectures) {
	test(`${architecture}: the programs are whole files that begin at their first instruction`, t => {
		for (const program of [infraProgram(architecture), gateProgram(architecture)]) {
			t.is(program.toString('latin1', 0, 4), '\x7fELF');
			t.is(program.readUInt16LE(18), {x86_64: 62, aarch64: 183}[architecture]);
			t.is(program.readBigUInt64LE(24) - program.readBigUInt64LE(64 + 16), 120n, 'the entry stands behind both headers');
			t.is(program.readBigUInt64LE(64 + 32), BigInt(program.length), 'all of it is mapped');
			t.true(program.length < 512);
		}
	});

	const runner = runnerOf(architecture);
	const withRunner = needing(runner !== undefined, 'needs an emulator of that processor');
	const words = runner ?? [];
	const user = isRoot ? [] : ['-Ur'];
	const canUnshare = runner !== undefined && codeOf([findTool('unshare') ?? '', ...user, '--pid', '--fork', 'true']) === 0;

	/** Beside the FIFO; `argv` is the program's. */
	function gated(t: ExecutionContext, ...argv: readonly string[]) {
		const cwd = mkdtempSync(path.join(folder, 'gate-'));
		const fifo = path.join(cwd, localFifo);
		t.is(spawnSync('mkfifo', ['-m', '644', fifo]).status, 0);
		const child = started(t, [...words, path.join(folder, `gate-${architecture}`), ...argv], cwd);
		/** Once it waits at the FIFO. */
		const open = async (): Promise<number> => {
			let end: number | undefined;
			await eventually('the gate waits', () => (end = openToWrite(fifo)) !== undefined);
			return end ?? -1;
		};
		return {...child, open, cwd};
	}

	withRunner(`${architecture}: a gated program runs when it is named, as the same process, with its arguments and environment`, async t => {
		const script = 'echo "$$ $0 $1 $MARK"; ls -l /proc/self/fd | grep -c troupe-go; exit 3';
		const {child, ended, open} = gated(t, 'my name', '-c', script, 'zero', 'a b');
		const end = await open();
		t.regex(readlinkSync(`/proc/${child.pid}/exe`), words.length === 0 ? /gate-/ : /qemu/);
		writeSync(end, '/bin/sh\0');
		closeSync(end);
		t.deepEqual(await ended, {code: 3, signal: null, output: `${child.pid} zero a b there\n0\n`});
	});

	withRunner(`${architecture}: a program's own name is its argv[0], whatever its file`, async t => {
		const {ended, open} = gated(t, 'my name', '-c', 'tr "\\0" "|" </proc/$$/cmdline; echo; exit 7');
		const end = await open();
		writeSync(end, '/bin/sh\0');
		closeSync(end);
		const {code, output} = await ended;
		t.is(code, 7);
		t.true(output.startsWith('my name|-c|'), output);
	});

	withRunner(`${architecture}: a gate whose other end is closed ends with 125, and so does one without a FIFO`, async t => {
		const {ended, open, cwd} = gated(t, 'echo', 'ran');
		closeSync(await open());
		t.deepEqual(await ended, {code: 125, signal: null, output: ''});
		rmSync(path.join(cwd, localFifo));
		const alone = started(t, [...words, path.join(folder, `gate-${architecture}`), 'echo', 'ran'], cwd);
		t.deepEqual(await alone.ended, {code: 125, signal: null, output: ''});
	});

	withRunner(`${architecture}: a program that is not there ends with 127, one that cannot be executed with 126`, async t => {
		const text = path.join(folder, `text-${architecture}`);
		writeFileSync(text, 'no program');
		chmodSync(text, 0o600);
		for (const [file, expected] of [
			['/no/such/file', 127],
			[text, 126],
		] as const) {
			const {ended, open} = gated(t, 'it');
			const end = await open();
			writeSync(end, `${file}\0`);
			closeSync(end);
			t.is((await ended).code, expected, file);
		}
	});

	withRunner(`${architecture}: nothing but SIGKILL ends the infra program`, async t => {
		const {child, ended} = started(t, [...words, path.join(folder, `infra-${architecture}`)], folder);
		await eventually('it ignores ends of children', () => (signalsOf(child.pid ?? 0, 'SigIgn') & (1n << 16n)) !== 0n);
		if (words.length === 0) await eventually('it blocks every signal', () => ~signalsOf(child.pid ?? 0, 'SigBlk') === ~blockable);
		for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const) child.kill(signal);
		child.kill('SIGKILL');
		t.deepEqual(await ended, {code: null, signal: 'SIGKILL', output: ''});
	});

	needing(canUnshare, 'needs an own namespace of processes, and the processor or its emulator')(
		`${architecture}: as process 1 the infra program leaves no zombies`,
		async t => {
			// A child of its own and one that it adopts, which end when it is there.
			const script = '(read line) & ( (read line) & ); exec "$@"';
			const infra = [...words, path.join(folder, `infra-${architecture}`)];
			const outer = [
				'unshare',
				...user,
				'--pid',
				'--fork',
				'--kill-child',
				'sh',
				'-c',
				`exec 3<&0; ${script.replaceAll('line)', 'line <&3)')}`,
			];
			const {child, ended} = started(t, [...outer, 'sh', ...infra], folder);
			const inside = (): number => childrenNow(child.pid ?? 0)[0] ?? 0;
			await eventually('infra runs with two children', () => isInfra(inside()) && childrenNow(inside()).length === 2);
			child.stdin.end();
			await eventually('both are reaped', () => childrenNow(inside()).length === 0);
			t.true(isInfra(inside()));
			process.kill(inside(), 'SIGKILL');
			await ended;
		},
	);
}

/** All but SIGKILL and SIGSTOP. */
const blockable = ~((1n << 8n) | (1n << 18n)) & ((1n << 64n) - 1n);

const signalsOf = (pid: number, field: 'SigIgn' | 'SigBlk'): bigint =>
	BigInt(`0x${new RegExp(`^${field}:\\s*(\\w+)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0'}`);

/** It has said what becomes of its children. */
const isInfra = (pid: number): boolean => pid > 0 && (signalsOf(pid, 'SigIgn') & (1n << 16n)) !== 0n;

/** Undefined: nothing waits at the other end. */
function openToWrite(fifo: string): number | undefined {
	try {
		return openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
	} catch {
		return undefined;
	}
}

type Ended = {readonly code: number | null; readonly signal: string | null; readonly output: string};

function started(
	t: ExecutionContext,
	[program = '', ...words]: readonly string[],
	cwd: string,
): {readonly child: ChildProcessWithoutNullStreams; readonly ended: Promise<Ended>} {
	const child = spawn(program, words, {cwd, env: {PATH: process.env['PATH'] ?? '', MARK: 'there'}, stdio: 'pipe'});
	t.teardown(() => child.kill('SIGKILL'));
	const exited = new Promise<{code: number | null; signal: string | null}>(resolve =>
		child.once('exit', (code, signal) => resolve({code, signal})),
	);
	const ended = Promise.all([exited, text(child.stdout), text(child.stderr)]).then(([exit, stdout, stderr]) => ({
		...exit,
		output: stdout + stderr,
	}));
	return {child, ended};
}

test('the archive of the infra image is one that tar reads', t => {
	const archive = path.join(folder, 'infra.tar');
	const program = infraProgram('x86_64');
	writeFileSync(archive, tarOf('infra', program));
	const listed = spawnSync('tar', ['-tvf', archive], {encoding: 'utf8', env: {PATH: process.env['PATH'], TZ: 'UTC', LC_ALL: 'C'}});
	t.regex(listed.stdout, new RegExp(`^-rwxr-xr-x (root/root|0/0) +${program.length} 1970-01-01 00:00 infra\n$`));
	t.deepEqual(spawnSync('tar', ['-xOf', archive]).stdout, program);
});
