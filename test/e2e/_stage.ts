// A folder in which the commands of the README can be typed as they are, away from the user's own cluster.
//
// All that is different: `npm start` is `./troupe up` without the preparation (a test does not install itself), `up` takes free
// ports and the README's node name, pods are processes, and `curl` may be ours. HOME is the folder's, so `~/.troupe` is empty at the beginning.

import {spawn, type ChildProcess} from 'node:child_process';
import {chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {root} from './_readme.js';
import {processFlag} from '../../bench/rigs/as-processes.js';
import {main} from '../../bench/rigs/main-file.js';
import {within} from '../../bench/rigs/cluster/waiting.js';

export type Ran = {readonly code: number | null; readonly out: string};

export type Stage = {
	readonly folder: string;
	/** Types a command; resolves when it ends, or when a cluster in the foreground is ready. Its output has both streams. */
	readonly type: (command: string) => Promise<Ran>;
	/** Resolves once `get pods -w` has shown so many pods whose newest row matches. */
	readonly podsShow: (row: RegExp, count: number) => Promise<void>;
	/** Stops everything and removes the folder. */
	readonly close: () => Promise<void>;
};

export type StageOptions = {
	/** curl from the machine; otherwise a few lines of Node that print the body. */
	readonly realCurl: boolean;
	/** What `up` gets besides. */
	readonly upFlags?: readonly string[];
};

export const freePorts = ['--api=127.0.0.1:0', '--web=127.0.0.1:0', '--mqtt=127.0.0.1:0'];

/** The last line that a cluster in the foreground prints before it is silent. */
const readyLine = /^ +\.\/troupe get pods$/m;

const launcher = (upFlags: readonly string[]): string => `#!/bin/sh
case $1 in
up) shift; set -- up ${processFlag} ${upFlags.join(' ')} "$@" ;;
agent) shift; set -- agent ${processFlag} "$@" ;;
server) shift; set -- server --web=127.0.0.1:0 --mqtt=127.0.0.1:0 "$@" ;;
esac
exec "${process.execPath}" "${main}" "$@"
`;

const npmStart = `#!/bin/sh
[ "$*" = start ] && exec ./troupe up
`;

const ownCurl = `#!${process.execPath}
fetch(process.argv.at(-1)).then(async answer => process.stdout.write(await answer.text()));
`;

export function openStage({realCurl, upFlags = [...freePorts, '--node=vm']}: StageOptions): Stage {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-tour-'));
	const programs = path.join(folder, 'programs');
	mkdirSync(programs);
	symlinkSync(path.join(root, 'examples'), path.join(folder, 'examples'));
	program(path.join(folder, 'troupe'), launcher(upFlags));
	program(path.join(programs, 'npm'), npmStart);
	if (!realCurl) program(path.join(programs, 'curl'), ownCurl);
	const env = {PATH: `${programs}:${process.env['PATH'] ?? ''}`, HOME: folder};
	const children = new Set<ChildProcess>();
	const start = (command: string): ChildProcess => {
		const child = spawn('/bin/sh', ['-c', command], {cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe']});
		children.add(child);
		child.once('close', () => children.delete(child));
		return child;
	};
	const type = (command: string) => {
		const child = start(command);
		return within(`the end of ${command}`, ended(child, command === 'npm start' ? readyLine : undefined));
	};
	return {
		folder,
		type,
		podsShow: (row, count) => within(`${count} pods that show ${row.source}`, shown(start('exec ./troupe get pods -w'), row, count)),
		async close() {
			await type('./troupe down --pods');
			for (const child of children) child.kill('SIGKILL');
			rmSync(folder, {recursive: true, force: true});
		},
	};
}

function program(file: string, text: string): void {
	writeFileSync(file, text);
	chmodSync(file, 0o755);
}

/** Resolves when the command has ended, or has printed what is waited for; then it runs on. */
function ended(child: ChildProcess, until: RegExp | undefined): Promise<Ran> {
	return new Promise((resolve, reject) => {
		let out = '';
		const take = (chunk: Buffer): void => {
			out += chunk.toString();
			if (until?.test(out) === true) resolve({code: 0, out});
		};
		child.stdout?.on('data', take);
		child.stderr?.on('data', take);
		child.once('error', reject);
		child.once('close', code => resolve({code, out}));
	});
}

/** Follows a table that is watched; its newest row of each name counts. */
function shown(child: ChildProcess, row: RegExp, count: number): Promise<void> {
	return new Promise((resolve, reject) => {
		const rows = new Map<string, string>();
		let rest = '';
		child.stdout?.on('data', (chunk: Buffer) => {
			const lines = (rest + chunk.toString()).split('\n');
			rest = lines.pop() ?? '';
			for (const line of lines) rows.set(line.split(' ', 1)[0] ?? '', line);
			if ([...rows.values()].filter(line => row.test(line)).length < count) return;
			child.kill();
			resolve();
		});
		child.once('error', reject);
		child.once('close', () =>
			reject(new Error(`the watch ended before ${count} pods were ${row.source}: ${[...rows.values()].join('\n')}`)),
		);
	});
}
