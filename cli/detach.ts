// `troupe up --detach`: the same command in the background, waited for until it is ready or has failed.

import {spawn, type ChildProcess} from 'node:child_process';
import {closeSync, openSync, readFileSync, statSync, watch} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {limits} from '../api/limits.js';
import {systemClock} from '../system/clock.js';
import {readEndpoints, readyText, type Endpoints} from './endpoints.js';
import {homeOf} from './home.js';
import {makeFolder} from './make-folder.js';
import {runningCluster} from './processes.js';
import {failedError} from './usage.js';
import type {Terminal} from './terminal.js';
import {formatHostPort, type UpOptions} from './up-options.js';

type Outcome = {readonly type: 'ready'; readonly endpoints: Endpoints} | {readonly type: 'ended' | 'late'};

/** Starts a cluster in the background and returns when it is ready. Throws when it failed; then nothing of it is left. */
export async function detach(options: UpOptions, terminal: Terminal): Promise<number> {
	const running = runningCluster(options.home);
	if (running !== undefined) throw failedError(`a cluster runs in ${options.home} already (process ${running.pid}); troupe down stops it`);
	const {log} = homeOf(options.home);
	makeFolder(options.home);
	const logBytes = sizeOf(log);
	const child = start(options, log);
	const outcome = await readyOrNot(child, options.home);
	switch (outcome.type) {
		case 'ready':
			child.unref();
			terminal.out(readyText(options.home, outcome.endpoints, true));
			return 0;
		case 'ended':
			throw failedError(`the cluster did not start: ${causeOf(log, logBytes)}\nits log is ${log}`);
		case 'late':
			await kill(child);
			throw failedError(
				`the cluster was not ready within ${limits.startDeadlineMs / 1_000} s: ${causeOf(log, logBytes)}\nits log is ${log}`,
			);
	}
}

/** In a session of its own, so that no terminal takes it along; what it prints goes to the log. */
function start(options: UpOptions, log: string): ChildProcess {
	const output = openSync(log, 'a', 0o600);
	const main = path.join(path.dirname(fileURLToPath(import.meta.url)), 'main.js');
	try {
		return spawn(process.execPath, [main, 'up', ...argumentsOf(options)], {
			detached: true,
			stdio: ['ignore', output, output],
			cwd: options.home,
		});
	} finally {
		closeSync(output);
	}
}

/** The command line that asks for the same, without --detach. */
export const argumentsOf = (options: UpOptions): readonly string[] => [
	`--home=${options.home}`,
	`--api=${formatHostPort(options.api)}`,
	`--web=${formatHostPort(options.web)}`,
	`--mqtt=${formatHostPort(options.mqtt)}`,
	`--runtime=${options.runtime}`,
	`--store=${options.store}`,
	`--node=${options.node}`,
	`--simulated-nodes=${options.simulatedNodes}`,
];

/** Ready is when `endpoints.json` names this very child. */
function readyOrNot(child: ChildProcess, home: string): Promise<Outcome> {
	return new Promise((resolve, reject) => {
		const watcher = watch(home, look);
		const cancel = systemClock.after(limits.startDeadlineMs, () => settle({type: 'late'}));
		child.once('exit', () => settle({type: 'ended'}));
		child.once('error', reject);
		look();
		function look(): void {
			const endpoints = readEndpoints(home);
			if (endpoints !== undefined && endpoints.pid === child.pid) settle({type: 'ready', endpoints});
		}
		function settle(outcome: Outcome): void {
			cancel();
			watcher.close();
			child.removeAllListeners();
			resolve(outcome);
		}
	});
}

/** Time to clean up, then no more of it. */
async function kill(child: ChildProcess): Promise<void> {
	const ended = new Promise(resolve => child.once('exit', resolve));
	child.kill('SIGTERM');
	const cancel = systemClock.after(limits.shutdownMs, () => child.kill('SIGKILL'));
	await ended;
	cancel();
}

function sizeOf(file: string): number {
	return statSync(file, {throwIfNoEntry: false})?.size ?? 0;
}

/** The errors this start wrote to the log: `error: ` lines, else entries of level error or fatal, else its last line. */
function causeOf(log: string, fromByte: number): string {
	const lines = readFileSync(log)
		.subarray(fromByte)
		.toString('utf8')
		.split('\n')
		.filter(line => line !== '');
	const plain = lines.filter(line => line.startsWith('error: ')).map(line => line.slice('error: '.length));
	if (plain.length > 0) return plain.join('\n');
	const logged = lines.flatMap(line => loggedError(line));
	return logged.at(-1) ?? lines.at(-1) ?? 'it ended without a word';
}

/** pino's levels: 50 is error, 60 fatal. */
function loggedError(line: string): string[] {
	try {
		const {level, msg} = JSON.parse(line) as {readonly level?: unknown; readonly msg?: unknown};
		return typeof level === 'number' && level >= 50 && typeof msg === 'string' ? [msg] : [];
	} catch {
		return [];
	}
}
