// Starts the runner of a function's language, as a process group of its own, and tells when it serves.

import {spawn} from 'node:child_process';
import path from 'node:path';
import type {Readable, Writable} from 'node:stream';
import type {FunctionLanguage} from '../../api/function-languages.js';
import type {RunnerConfig} from './runners/runner-config.js';

const folder = path.join(import.meta.dirname, 'runners');

/** Python's own isolation keeps the environment's and the user's packages out: a function has what is in its folder. */
export const runnerCommands: Readonly<Record<FunctionLanguage, readonly [string, ...string[]]>> = {
	python: ['python3', '-I', path.join(folder, 'python/main.py')],
	nodejs: [process.execPath, path.join(folder, 'node-runner.js')],
};

export type Runner = {
	/** What runs it, as it is looked for in PATH. */
	readonly program: string;
	/** When it serves; rejects when it cannot be started. False: it ended before. */
	readonly ready: Promise<boolean>;
	/** With its exit code, or the signal that killed it. */
	readonly ended: Promise<number | NodeJS.Signals>;
	readonly stdout: Readable;
	readonly stderr: Readable;
	/** To it alone, so that it answers what is under way. */
	readonly stop: () => void;
	/** To all processes of its group. */
	readonly kill: () => void;
	/** Nothing of it is read any more: a process that left the group may hold its output open. */
	readonly release: () => void;
};

/** `env` is all that it gets of an environment. It ends with this process, however that ends: its input ends then. */
export function startRunner(
	language: FunctionLanguage,
	config: Omit<RunnerConfig, 'readyFd' | 'endsWithInput'>,
	env: Readonly<Record<string, string>>,
): Runner {
	const [program, ...words] = runnerCommands[language];
	const child = spawn(program, [...words, JSON.stringify({...config, readyFd, endsWithInput: true})], {
		cwd: config.dir,
		env,
		detached: true,
		stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
	});
	const [lifeline, stdout, stderr, news] = child.stdio as unknown as readonly [Writable, Readable, Readable, Readable];
	const {pid} = child;
	const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
		child.once('error', reject);
		child.once('exit', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'));
	});
	ended.catch(() => undefined); // `ready` tells of it.
	const isReady = new Promise<boolean>(resolve => void news.once('data', () => resolve(true)));
	const kill = (): void => {
		if (pid === undefined) return;
		try {
			process.kill(-pid, 'SIGKILL');
		} catch {
			// They have ended.
		}
	};
	const ready = Promise.race([isReady, ended.then(() => false)]);
	const release = (): void => [lifeline, stdout, stderr, news].forEach(stream => void stream.destroy());
	return {program, ready, ended, stdout, stderr, stop: () => void child.kill('SIGTERM'), kill, release};
}

/** After stdin, stdout and stderr. */
const readyFd = 3;
