// The floor: the same programs without anybody who orchestrates them, spawned, watched and started again by node alone; as they
// are, and under the very shell that a pod's program has over it, run as the user that it runs as.

import {spawn, type ChildProcess} from 'node:child_process';
import {openSync} from 'node:fs';
import {findNamespaces} from '../../../agent/process/host/namespaces.js';
import {findDropper, nobody} from '../../../agent/process/users/privileges.js';
import {shimCommand} from '../../../agent/process/start/shim.js';
import type {Scope} from '../../harness/scope.js';

export type Words = readonly [string, ...string[]];

export type Command = {readonly file: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string | undefined>>};

const root = 0;

export const plain = ([file, ...args]: Words): Command => ({file, args, env: process.env});

/** What the process runtime spawns for a container of these words. */
export function underShim(words: Words): Command {
	return shimCommand({
		argv: words,
		env: [{name: 'HOSTNAME', value: 'bench'}],
		path: process.env['PATH'] ?? '/usr/bin:/bin',
		directory: '/',
		namespaces: findNamespaces({uid: process.getuid?.() ?? root, gid: process.getgid?.() ?? root}),
		drop: process.getuid?.() === root ? findDropper()?.({user: nobody, groups: [], mayGain: false}) : undefined,
		startedAtMs: Date.now(),
		bootId: 'bench',
	});
}

const nowhere = openSync('/dev/null', 'r+');
const proc = openSync('/proc', 'r');

/** A session of its own, as a pod's program has; two of the shell's descriptors lead nowhere. */
const start = ({file, args, env}: Command): ChildProcess =>
	spawn(file, args, {env, detached: true, stdio: ['ignore', 'ignore', 'ignore', nowhere, nowhere, proc]});

/** A program that is started again at once when it ends; it ends for good with the scope. */
export function keepBare(scope: Scope, command: Command): void {
	let wanted = true;
	let child = start(command);
	const again = (): void => {
		if (!wanted) return;
		child = start(command);
		child.once('exit', again);
	};
	child.once('exit', again);
	scope.defer(() => {
		wanted = false;
		return ended(child, 'SIGKILL');
	});
}

/** So many programs at once; a function that ends them and resolves when the last has ended. */
export function startBare(scope: Scope, command: Command, count: number): () => Promise<void> {
	const children = Array.from({length: count}, () => start(command));
	scope.defer(() => Promise.all(children.map(child => ended(child, 'SIGKILL'))));
	return async () => {
		await Promise.all(children.map(child => ended(child, 'SIGTERM')));
	};
}

function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
	if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
	const exit = new Promise<void>(resolve => child.once('exit', () => resolve()));
	try {
		process.kill(-child.pid, signal); // Its whole session.
	} catch {
		// It has just ended.
	}
	return exit;
}
