// One call of a function on this machine: in a copy of its folder, by the runner that a node would start, and nothing is left of it.

import {rmSync} from 'node:fs';
import {mkdtemp} from 'node:fs/promises';
import http, {type IncomingMessage} from 'node:http';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {startRunner, type Runner} from '../../agent/functions/start-runner.js';
import type {FunctionLanguage} from '../../api/function-languages.js';
import {limits} from '../../api/limits.js';
import {archiveBounds} from '../../system/archive/bounds.js';
import {packFolder} from '../../system/archive/pack.js';
import {unpackArchive} from '../../system/archive/unpack.js';
import {hasCode} from '../../system/files/errno.js';
import {systemClock} from '../../system/time/clock.js';
import {within} from '../../system/time/within.js';
import {failedError} from '../command.js';
import {reasonOf} from '../files/bounded-file.js';

export type LocalCall = {
	readonly folder: string;
	readonly language: FunctionLanguage;
	readonly params: Uint8Array;
	readonly timeoutMs: number;
	/** All that the function gets of an environment. */
	readonly env: Readonly<Record<string, string>>;
	/** What it writes to stdout and stderr; no more is read before that is done. */
	readonly onOutput: (bytes: Uint8Array) => Promise<void>;
	/** It is called off. */
	readonly signal: AbortSignal;
};

type Take = (answer: IncomingMessage) => Promise<void>;

/** Hands the answer over, whose body may stream. Rejects with AppError where there is none. */
export async function callHere(call: LocalCall, take: Take): Promise<void> {
	const scratch = await makeScratch();
	let runner: Runner | undefined;
	const clear = (): void => {
		runner?.kill();
		rmSync(scratch, {recursive: true, force: true});
	};
	// Also where this process is ended on the way: when nobody reads its output any more, say.
	process.once('exit', clear);
	try {
		const dir = path.join(scratch, 'code');
		const {bytes} = await packFolder(call.folder, archiveBounds);
		refuseIfOff(call.signal);
		await unpackArchive(bytes, dir, archiveBounds);
		refuseIfOff(call.signal);
		const socket = path.join(scratch, 'runner');
		const {functionBodyBytes: bodyBytes, functionAnswerBytes: answerBytes} = limits;
		const config = {dir, listen: {path: socket}, timeoutMs: call.timeoutMs, bodyBytes, answerBytes, concurrency: 1};
		runner = startRunner(call.language, config, call.env);
		const written = Promise.allSettled([runner.stdout, runner.stderr].map(stream => passOn(stream, call.onOutput)));
		try {
			await Promise.race([withRunner(runner, call, socket, take), whenOff(call.signal)]);
		} finally {
			runner.kill();
			await within(systemClock, limits.functionOverdueMs, written);
			runner.release();
		}
	} finally {
		process.off('exit', clear);
		clear();
	}
}

/** The path of a socket is at most so long (unix(7)), the name of the folder and of the socket included. */
const socketPathBytes = 107;

async function makeScratch(): Promise<string> {
	const usual = path.resolve(tmpdir());
	const folder = Buffer.byteLength(path.join(usual, 'troupe-function-XXXXXX/runner')) > socketPathBytes ? '/tmp' : usual;
	try {
		return await mkdtemp(path.join(folder, 'troupe-function-'));
	} catch (error) {
		throw failedError(`no folder can be made in ${folder}: ${reasonOf(error)}`);
	}
}

async function passOn(stream: Readable, onOutput: LocalCall['onOutput']): Promise<void> {
	for await (const piece of stream) await onOutput(piece as Uint8Array);
}

const off = (): Error => failedError('interrupted');

function refuseIfOff(signal: AbortSignal): void {
	if (signal.aborted) throw off();
}

const whenOff = (signal: AbortSignal): Promise<never> =>
	new Promise((_resolve, reject) => {
		if (signal.aborted) reject(off());
		signal.addEventListener('abort', () => reject(off()), {once: true});
	});

async function withRunner(runner: Runner, {params, timeoutMs}: LocalCall, socket: string, take: Take): Promise<void> {
	const isReady = await within(systemClock, limits.functionLoadMs, runner.ready).catch((error: unknown) => {
		const why = hasCode(error, 'ENOENT') ? 'there is no such program in PATH' : reasonOf(error);
		throw failedError(`${runner.program} cannot be started: ${why}`);
	});
	if (isReady === undefined) throw failedError(`the function is not loaded after ${limits.functionLoadMs / 1_000} s`);
	if (!isReady) throw failedError(`the function cannot be loaded: its runner ${await endOf(runner)}`);
	/** Whoever ends cuts its connections: why it has ended says more. */
	const cut = async (error: Error): Promise<never> => {
		throw failedError(`the runner ${(await endOf(runner)) ?? `has cut the connection (${error.message})`} before it had answered`);
	};
	const answered = ask(socket, params)
		.catch(cut)
		.then(take)
		.then(() => true);
	const isAnswered = await within(systemClock, timeoutMs + limits.functionOverdueMs, answered).catch(async (error: unknown) => {
		await stopped(runner);
		throw error;
	});
	// A function may block its process, which then cannot say that the time is over.
	if (isAnswered === undefined) throw failedError(`the function did not answer within ${timeoutMs / 1_000} s, and was killed`);
	await stopped(runner);
}

/** What it writes last, such as the traceback of an error that it has answered with, comes before its end. */
async function stopped(runner: Runner): Promise<void> {
	runner.stop();
	await within(systemClock, limits.functionOverdueMs, runner.ended);
}

/** How it has ended, in words; undefined where it runs on. */
async function endOf(runner: Runner): Promise<string | undefined> {
	const code = await within(systemClock, limits.functionOverdueMs, runner.ended);
	return typeof code === 'number' ? `ended with exit code ${code}` : code && `ended with ${code}`;
}

const ask = (socketPath: string, params: Uint8Array): Promise<IncomingMessage> =>
	new Promise((resolve, reject) => {
		const headers = {'content-type': 'application/json', 'content-length': params.length, 'x-request-id': 'local'};
		const request = http.request({socketPath, method: 'POST', path: '/', headers, agent: false}, resolve);
		request.once('error', reject);
		request.end(params);
	});
