// Runs a lane of tests, `node build/test/lane/main.js COMMAND [ARG ...]`, so that whatever it starts ends when it does, also when it is killed.
//
// The lane has a PID namespace of its own where the kernel allows one: with its first process all others end, those that detached on purpose
// too. Beside that a reaper waits for the end of this process, by a pipe: it ends what is left of a lane without a namespace, and removes
// the folder for temporary files that the lane was given.

import {spawn, spawnSync, type ChildProcess} from 'node:child_process';
import {chmodSync, mkdtempSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {parentOf} from './processes.js';

const shell = '/bin/sh';
const lookMs = 1_000;

/** Words before a command that make it the second process of a namespace; none where that is not to be had. */
function namespaceWords(): readonly string[] {
	const user = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user'];
	const words = ['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', ...user, '--pid', '--fork', '--kill-child', '--mount-proc'];
	const [file = '', ...args] = words;
	if (spawnSync(file, [...args, 'true'], {stdio: 'ignore'}).status !== 0) {
		process.stdout.write('the tests run without a PID namespace: util-linux or the kernel does not give one\n');
		return [];
	}
	// Network namespaces that tests name are seen, and so left behind, in this mount namespace only.
	const names = '[ -d /run/netns ] || mkdir /run/netns 2>/dev/null; mount -t tmpfs tmpfs /run/netns 2>/dev/null';
	// The first process reaps what loses its parent, as it waits for the lane. That has a session: groups from outside have no number here.
	return [...words, shell, '-c', `${names}; setsid "$@"; exit $?`, 'lane'];
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function run(command: readonly string[]): void {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'tt-'));
	chmodSync(folder, 0o1777); // As the one in which it is: pods of other users look for their files there.
	const reaper = spawn(process.execPath, [path.join(import.meta.dirname, 'reaper.js'), folder], {
		stdio: ['pipe', 'inherit', 'inherit'],
		detached: true,
	});
	const [file = shell, ...args] = [...namespaceWords(), ...command];
	const lane = spawn(file, args, {stdio: 'inherit', env: {...process.env, TMPDIR: folder}});
	const end = (code: number): void => {
		reaper.once('exit', () => process.exit(code));
		reaper.stdin.end();
	};
	lane.once('error', error => {
		process.stderr.write(`${command.join(' ')}: ${error.message}\n`);
		end(1);
	});
	lane.once('exit', (code, signal) => end(code ?? 128 + (signal === null ? 0 : os.constants.signals[signal])));
	for (const signal of signals) process.on(signal, () => lane.kill('SIGKILL'));
	endWithCallers(lane);
}

/** npm hands no SIGKILL on: its death, and that of the shell between, is seen by who the parents are. */
function endWithCallers(lane: ChildProcess): void {
	const callers = (): string => `${process.ppid} ${parentOf(process.ppid)}`;
	const before = callers();
	setInterval(() => {
		if (callers() !== before) lane.kill('SIGKILL');
	}, lookMs).unref();
}

const command = process.argv.slice(2);
if (command.length === 0) {
	process.stderr.write('which command is to be run? node build/test/lane/main.js COMMAND [ARG ...]\n');
	process.exitCode = 2;
} else run(command);
