// `--detach` of the serving commands: the same command in the background, waited for until it is ready or has failed.

import {spawn, type ChildProcess} from 'node:child_process';
import {closeSync, openSync, readFileSync, statSync, watch} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {AppError, rowOf} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {systemClock} from '../../system/time/clock.js';
import {failedError, type Flags, type Invocation} from '../command.js';
import {nounOf, readEndpoints, readyText, type Endpoints, type ServingCommand} from '../files/endpoints.js';
import {homeOf} from '../files/home.js';
import {makeFolder} from '../files/make-folder.js';
import {nodeFlags} from '../files/node-flags.js';
import {refuseIfRunning} from '../files/processes.js';
import {brokerVariable} from './serving-flags.js';
import type {Terminal} from '../screen/terminal.js';
import type {DoorOptions} from './serving-options.js';

export type Detached = {
	readonly command: ServingCommand;
	readonly home: string;
	readonly flags: Flags;
	/** For what no other user may read in a list of processes; the own one when it is not given. */
	readonly environment?: Invocation['environment'];
};

type Outcome =
	| {readonly type: 'ready'; readonly endpoints: Endpoints}
	| {readonly type: 'ended'; readonly code: number | null}
	| {readonly type: 'late'};

/** Starts the command in the background and returns when it is ready. Throws when it failed; then nothing of it is left. */
export async function detach(asked: Detached, terminal: Terminal): Promise<number> {
	const {command, home} = asked;
	refuseIfRunning(home);
	const {log} = homeOf(home);
	makeFolder(home);
	const logBytes = statSync(log, {throwIfNoEntry: false})?.size ?? 0;
	const child = start(asked, log);
	const outcome = await readyOrNot(child, home);
	switch (outcome.type) {
		case 'ready':
			child.unref();
			terminal.out(readyText(home, outcome.endpoints, true));
			return 0;
		case 'ended':
			throw endedError(outcome.code, `the ${nounOf(command)} did not start: ${causeOf(log, logBytes)}\nits log is ${log}`);
		case 'late':
			await kill(child);
			throw failedError(
				`the ${nounOf(command)} was not ready within ${limits.startDeadlineMs / 1_000} s: ${causeOf(log, logBytes)}\nits log is ${log}`,
			);
	}
}

/**
 * In a session of its own, so that no terminal takes it along, and in the folder where the command was typed, since files that its flags name
 * may be relative to that. What it prints is in its log anyway; what it dies of goes there as it is.
 */
function start({command, home, flags, environment}: Detached, log: string): ChildProcess {
	const output = openSync(log, 'a', 0o600);
	const main = path.join(path.dirname(fileURLToPath(import.meta.url)), '../main.js');
	try {
		return spawn(process.execPath, [...nodeFlags, main, command, `--home=${home}`, ...wordsInBackground(flags)], {
			detached: true,
			stdio: ['ignore', 'ignore', output],
			...(environment === undefined ? {} : {env: environment}),
		});
	} finally {
		closeSync(output);
	}
}

/** In the background they are said otherwise; secrets are in the environment, and so in no list of processes. */
const saidOtherwise = /^--(?:detach|home|token|broker)=/;

/** The flags that ask for the same in the foreground, `--home` aside. */
export const wordsInBackground = ({words}: Flags): readonly string[] => words.filter(word => !saidOtherwise.test(word));

/** An environment in which the broker's password goes along, and in no list of processes. */
export const withBroker = (environment: Invocation['environment'], {broker}: DoorOptions): Invocation['environment'] =>
	broker === undefined ? environment : {...environment, [brokerVariable]: broker.text};

/** Ready is when `endpoints.json` names this very child. */
function readyOrNot(child: ChildProcess, home: string): Promise<Outcome> {
	return new Promise((resolve, reject) => {
		const watcher = watch(home, look);
		const cancel = systemClock.after(limits.startDeadlineMs, () => settle({type: 'late'}));
		child.once('exit', code => settle({type: 'ended', code}));
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

/** With the exit code that the command has in the foreground. */
function endedError(code: number | null, message: string): AppError {
	const [found = 'ERR_INTERNAL'] = (['ERR_USAGE', 'ERR_NOT_REACHABLE', 'ERR_FORBIDDEN'] as const).filter(
		each => rowOf(each).exitCode === code,
	);
	return new AppError(found, {message});
}

/** Time to clean up, then no more of it. */
async function kill(child: ChildProcess): Promise<void> {
	const ended = new Promise(resolve => child.once('exit', resolve));
	child.kill('SIGTERM');
	const cancel = systemClock.after(limits.shutdownMs, () => child.kill('SIGKILL'));
	await ended;
	cancel();
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
