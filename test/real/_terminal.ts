// A terminal that a test types into and looks at: tmux, with a server of its own.

import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync, chmodSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {Owner} from '../../bench/rigs/owner.js';
import {main} from '../../bench/rigs/main-file.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';

export type Shell = keyof typeof shells;

const shells = {sh: ['sh'], bash: ['bash', '--norc', '--noprofile'], zsh: ['zsh', '-f'], fish: ['fish', '--no-config']} as const;

export type Look = {
	readonly shell?: Shell;
	/** Lines it is told before anything is typed. */
	readonly setup?: readonly string[];
	readonly columns?: number;
	readonly rows?: number;
	/** Of `sh` and `bash`. */
	readonly prompt?: string;
};

export type Terminal = Awaited<ReturnType<typeof openTerminal>>;

function isRemoved(folder: string): boolean {
	try {
		rmSync(folder, {recursive: true, force: true});
		return true;
	} catch {
		return false;
	}
}

/** A shell in which `troupe` is the built command on this home, and `kubectl` asks the same cluster. */
export async function openTerminal(
	owner: Owner,
	home: string,
	{shell = 'bash', setup = [], columns = 80, rows = 12, prompt = '$ '}: Look = {},
) {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-tty-'));
	const socket = path.join(folder, 'tmux');
	const tmux = (...words: readonly string[]): string => execFileSync('tmux', ['-S', socket, ...words], {encoding: 'utf8'});
	owner.teardown(async () => {
		spawnSync('tmux', ['-S', socket, 'kill-server']);
		// Whoever was told to end may still be writing its cache.
		await eventually('the folder is gone', () => isRemoved(folder));
	});
	const program = path.join(folder, 'troupe');
	writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
	chmodSync(program, 0o755);
	const environment = [
		`PATH=${folder}:${process.env['PATH'] ?? ''}`,
		`HOME=${folder}`,
		`TROUPE_HOME=${home}`,
		`KUBECONFIG=${home}/kubeconfig`,
		'LANG=C.UTF-8',
		'TERM=screen-256color',
		`PS1=${prompt}`,
	];
	const size = ['-x', String(columns), '-y', String(rows)];
	tmux('-f', '/dev/null', 'new-session', '-d', '-s', 't', ...size, 'env', '-i', ...environment, ...shells[shell]);

	/** What is on the screen, without empty lines at its end. */
	const lines = (): readonly string[] => tmux('capture-pane', '-p', '-t', 't').trimEnd().split('\n');
	const terminal = {
		lines,
		/** Types a text, and Enter where it ends with a newline. */
		type: (text: string): void => {
			tmux('send-keys', '-t', 't', '-l', '--', text.replace(/\n$/, ''));
			if (text.endsWith('\n')) tmux('send-keys', '-t', 't', 'Enter');
		},
		key: (name: string): void => void tmux('send-keys', '-t', 't', name),
		resize: (width: number, height: number): void => void tmux('resize-window', '-t', 't', '-x', String(width), '-y', String(height)),
		/** Resolves with the screen as soon as it is so. */
		async until(what: string, holds: (screen: readonly string[]) => boolean): Promise<readonly string[]> {
			let seen: readonly string[] = [];
			await eventually(
				what,
				() => holds((seen = lines())),
				() => `The screen: ${seen.join('\n')}`,
			);
			return seen;
		},
		/** Resolves with the screen, as one text, as soon as it shows this. */
		shows: async (wanted: RegExp): Promise<string> => {
			const screen = await terminal.until(`the screen shows ${wanted.source}`, seen => wanted.test(seen.join('\n')));
			return screen.join('\n');
		},
		/** Processes of the shell. */
		children: (): readonly number[] => {
			const shellPid = tmux('list-panes', '-t', 't', '-F', '#{pane_pid}').trim();
			const {stdout} = spawnSync('ps', ['-o', 'pid=', '--ppid', shellPid], {encoding: 'utf8'});
			return (stdout.match(/\d+/g) ?? []).map(Number);
		},
		/** An empty screen with a prompt. */
		async clear(): Promise<void> {
			terminal.key('C-c');
			await cleared();
		},
	};
	/** When all that was typed before is done, and the screen is empty. One that was empty before would not tell. */
	const cleared = async (): Promise<void> => {
		terminal.type('printf "done-%s\\n" 1\n');
		await terminal.until('the shell has come so far', screen => screen.some(line => line === 'done-1'));
		terminal.type('clear\n');
		await terminal.until('an empty screen', screen => screen.length === 1);
	};
	await terminal.until('a prompt', screen => screen.at(-1) !== '');
	for (const line of setup) terminal.type(`${line}\n`);
	await cleared();
	return terminal;
}
