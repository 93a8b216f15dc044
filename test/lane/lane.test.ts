import {spawn, spawnSync, type ChildProcessByStdio} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdtempSync, rmSync, symlinkSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {text} from 'node:stream/consumers';
import test, {type ExecutionContext} from 'ava';
import {eventually} from '../../bench/rigs/cluster/waiting.js';

type Lane = ChildProcessByStdio<null, Readable, null>;

const lane = path.join(import.meta.dirname, 'main.js');

/** A PATH on which no namespace is to be had. */
function bareTools(t: ExecutionContext): string {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-tools-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	const {stdout} = spawnSync('/bin/sh', ['-c', 'command -v sleep; command -v setsid'], {encoding: 'utf8'});
	for (const tool of stdout.trim().split('\n')) symlinkSync(tool, path.join(folder, path.basename(tool)));
	return folder;
}

/** Begins a lane that leaves a program behind in a session of its own; the output ends when the last that holds it has. */
function begin(t: ExecutionContext, rest: string, tools = process.env['PATH']): Lane {
	// Nothing of it holds what AVA waits for, also where it is not ended.
	const words = ['-c', `exec 2>&1; setsid sleep 1000 & echo "$TMPDIR"; ${rest}`];
	const child = spawn(process.execPath, [lane, '/bin/sh', ...words], {stdio: ['ignore', 'pipe', 'inherit'], env: {PATH: tools}});
	t.teardown(() => child.kill('SIGKILL'));
	return child;
}

const outputOf = (child: Lane): Promise<string> => text(child.stdout);

for (const [where, tools] of [
	['in a namespace where there is one', () => process.env['PATH']],
	['without a namespace', bareTools],
] as const) {
	test(`a lane hands its exit code on and leaves nothing behind, ${where}`, async t => {
		const child = begin(t, 'exit 3', tools(t));
		const [output, [code]] = await Promise.all([outputOf(child), once(child, 'exit') as Promise<[number]>]);
		t.is(code, 3);
		const folder = /^\/.*$/m.exec(output)?.[0] ?? '';
		t.regex(folder, /tt-/);
		t.false(existsSync(folder));
	});

	test(`what a lane has started ends when the lane is killed, ${where}`, async t => {
		const child = begin(t, 'exec sleep 1000', tools(t));
		const folder = await new Promise<string>(resolve => {
			let heard = '';
			child.stdout.on('data', (data: Buffer) => {
				heard += data.toString();
				const line = /^(\/.*)\n/m.exec(heard)?.[1];
				if (line !== undefined) resolve(line);
			});
		});
		let isClosed = false;
		child.once('close', () => (isClosed = true));
		child.kill('SIGKILL');
		await t.notThrowsAsync(eventually('nobody holds its output any more', () => isClosed));
		await t.notThrowsAsync(eventually('its folder is gone', () => !existsSync(folder)));
	});
}
