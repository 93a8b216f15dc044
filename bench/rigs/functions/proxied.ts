// Runners of a function without a cluster, and a reverse proxy of plain Node before them.

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import path from 'node:path';
import {startRunner} from '../../../agent/functions/start-runner.js';
import type {FunctionLanguage} from '../../../api/function-languages.js';
import {limits} from '../../../api/limits.js';
import type {Scope} from '../../harness/scope.js';
import {temporaryFolder} from '../cluster/cluster.js';

export type ProxiedOptions = {
	readonly language: FunctionLanguage;
	/** What runs it in the cluster, so that the same does here. */
	readonly program: string;
	/** The folder of the code. */
	readonly folder: string;
	readonly runners: number;
	/** Calls under way at most, of each: a turn is no even share of them. */
	readonly concurrency: number;
};

export type Proxied = {
	/** Of the proxy. */
	readonly pid: number;
	/** On 127.0.0.1. */
	readonly port: number;
};

/** Resolves when all runners and the proxy serve. All of it ends with the scope. */
export async function startProxied(scope: Scope, options: ProxiedOptions): Promise<Proxied> {
	const sockets = temporaryFolder(scope, 'runners');
	const paths = Array.from({length: options.runners}, (_, index) => path.join(sockets, String(index)));
	for (const socket of paths) await startOne(scope, options, socket);
	const program = path.join(import.meta.dirname, 'runner-proxy-program.js');
	const child = spawn(process.execPath, [program, ...paths], {stdio: ['ignore', 'pipe', 'inherit']});
	scope.defer(() => void child.kill('SIGKILL'));
	const [said] = (await once(child.stdout, 'data')) as [Buffer];
	return {pid: child.pid ?? 0, port: Number(said.toString())};
}

async function startOne(scope: Scope, {language, program, folder, concurrency}: ProxiedOptions, socket: string): Promise<void> {
	if (scope.isClosing()) throw new Error('interrupted');
	const config = {
		dir: folder,
		listen: {path: socket},
		timeoutMs: limits.functionTimeoutMs,
		bodyBytes: limits.functionBodyBytes,
		answerBytes: limits.functionAnswerBytes,
		concurrency,
	};
	const runner = startRunner(language, config, {PATH: `${path.dirname(program)}:/usr/bin:/bin`});
	scope.defer(async () => {
		runner.kill();
		await runner.ended.catch(() => undefined);
		runner.release();
	});
	for (const output of [runner.stdout, runner.stderr]) output.resume();
	if (!(await runner.ready)) throw new Error(`the runner of ${language} ended before it served`);
}
