// One call of a function on this machine: in a copy of its folder, by the runner that a node would start, and nothing is left of it.

import {mkdtemp, rm} from 'node:fs/promises';
import http, {type IncomingMessage} from 'node:http';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {startRunner, type Language, type Runner} from '../../agent/functions/start-runner.js';
import {limits} from '../../api/limits.js';
import {archiveBounds} from '../../system/archive/bounds.js';
import {packFolder} from '../../system/archive/pack.js';
import {unpackArchive} from '../../system/archive/unpack.js';
import {systemClock} from '../../system/time/clock.js';
import {createDeferred} from '../../system/time/deferred.js';
import {failedError} from '../command.js';

export type LocalCall = {
	readonly folder: string;
	readonly language: Language;
	readonly params: Uint8Array;
	readonly timeoutMs: number;
	/** All that the function gets of an environment. */
	readonly env: Readonly<Record<string, string>>;
	/** What it writes to stdout and stderr. */
	readonly onOutput: (bytes: Uint8Array) => void;
	/** It is called off. */
	readonly signal: AbortSignal;
};

/** Hands the answer over, whose body may stream. Rejects with AppError where there is none. */
export async function callHere(call: LocalCall, take: (answer: IncomingMessage) => Promise<void>): Promise<void> {
	const {bytes} = await packFolder(call.folder, archiveBounds);
	const scratch = await mkdtemp(path.join(tmpdir(), 'troupe-function-'));
	try {
		const dir = path.join(scratch, 'code');
		await unpackArchive(bytes, dir, archiveBounds);
		const socket = path.join(scratch, 'runner');
		const {functionBodyBytes: bodyBytes, functionAnswerBytes: answerBytes} = limits;
		const config = {dir, listen: {path: socket}, timeoutMs: call.timeoutMs, bodyBytes, answerBytes, concurrency: 1};
		const runner = startRunner(call.language, config, call.env);
		runner.stdout.on('data', call.onOutput);
		runner.stderr.on('data', call.onOutput);
		try {
			await withRunner(runner, call, socket, take);
		} finally {
			runner.kill();
			// A process that left the group may hold its output open.
			await Promise.race([runner.drained, new Promise<void>(resolve => systemClock.after(limits.functionOverdueMs, resolve))]);
		}
	} finally {
		await rm(scratch, {recursive: true, force: true});
	}
}

async function withRunner(
	runner: Runner,
	call: LocalCall,
	socket: string,
	take: (answer: IncomingMessage) => Promise<void>,
): Promise<void> {
	const over = limitOf(call);
	/** Whoever ends cuts its connections: why it has ended says more. */
	const cut = async (error: Error): Promise<never> => {
		const code = await Promise.race([runner.ended, new Promise<void>(resolve => systemClock.after(limits.functionOverdueMs, resolve))]);
		const end =
			typeof code === 'number' ? `ended with exit code ${code}` : code === undefined ? `cut off (${error.message})` : `ended with ${code}`;
		throw failedError(`the runner ${end} before it had answered`);
	};
	try {
		if (!(await Promise.race([runner.ready, over.passed]))) throw failedError('the function cannot be loaded');
		await Promise.race([ask(socket, call.params).catch(cut).then(take), over.passed]);
		// What it wrote last comes before its end.
		runner.stop();
		await Promise.race([runner.ended, over.passed]);
	} finally {
		over.forget();
	}
}

/** A function may block its process, which then cannot say that the time is over; or it may not load. */
function limitOf({timeoutMs, signal}: LocalCall): {readonly passed: Promise<never>; readonly forget: () => void} {
	const {promise: passed, reject} = createDeferred<never>();
	passed.catch(() => undefined); // All may go well.
	const overdue = (): void => reject(failedError(`the function did not answer within ${timeoutMs / 1_000} s, and was killed`));
	const cancel = systemClock.after(timeoutMs + limits.functionOverdueMs, overdue);
	const abort = (): void => reject(failedError('interrupted'));
	signal.addEventListener('abort', abort);
	return {
		passed,
		forget() {
			cancel();
			signal.removeEventListener('abort', abort);
		},
	};
}

const ask = (socketPath: string, params: Uint8Array): Promise<IncomingMessage> =>
	new Promise((resolve, reject) => {
		const headers = {'content-type': 'application/json', 'content-length': params.length, 'x-request-id': 'local'};
		const request = http.request({socketPath, method: 'POST', path: '/', headers, agent: false}, resolve);
		request.once('error', reject);
		request.end(params);
	});
