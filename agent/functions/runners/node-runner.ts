// A program: loads a function of Node.js once and serves calls of it; with `--wait SOCKET` it waits to be told which. docs/functions.md says what it
// promises; it imports nothing but Node's own modules and its neighbours, since it runs beside a user's code.

import {spawnSync} from 'node:child_process';
import {closeSync, existsSync, writeSync} from 'node:fs';
import http from 'node:http';
import type {Socket} from 'node:net';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {inspect} from 'node:util';
import {Calls} from './node-calls.js';
import {keptPlace, listenAt} from './node-listen.js';
import {callOfNow, withCallIds} from './node-output.js';
import type {RunnerConfig} from './runner-config.js';
import {thrownBy, type Main} from './node-answer.js';

/** Connections beside those with a call under way. */
const idleConnections = 64;

const connectionsCheckingInterval = 1_000;

const files = ['func.mjs', 'func.js'];

const say = (text: string): boolean => process.stderr.write(`${text}\n`);

/** The default export; also that of a CommonJS module which was compiled from an ES module. */
async function load(dir: string): Promise<Main> {
	const file = files.map(name => path.join(dir, name)).find(existsSync);
	if (file === undefined) throw new Error(`there is neither ${files.join(' nor ')} in the folder of the function`);
	process.argv = [process.execPath, file];
	const {default: exported} = (await import(pathToFileURL(file).href)) as {readonly default?: unknown};
	const main = typeof exported === 'object' && exported !== null && 'default' in exported ? exported.default : exported;
	if (typeof main !== 'function') throw new Error(`${path.basename(file)} has no function as its default export`);
	return main as Main;
}

/** Of this process: a function cannot end it. */
const exit = process.exit.bind(process);

async function serve(config: RunnerConfig): Promise<void> {
	const place = keptPlace(config.listen);
	process.chdir(config.dir);
	withCallIds(process.stdout);
	withCallIds(process.stderr);
	const waitsForNothing = (): void => {
		say('the function cannot be loaded: it waits for what never comes, such as a top-level await');
		exit(1);
	};
	process.once('beforeExit', waitsForNothing);
	const main = await load(config.dir);
	process.off('beforeExit', waitsForNothing);
	process.exit = (code?: unknown): never => {
		throw new Error(`process.exit(${inspect(code)}) was called: a function returns, and its runner goes on`);
	};

	const calls = new Calls(main, config);
	const server = http.createServer({requestTimeout: config.timeoutMs, headersTimeout: config.timeoutMs, connectionsCheckingInterval});
	server.on('request', (request, response) => calls.begin(request, response, false));
	server.on('checkContinue', (request, response) => calls.begin(request, response, true));
	// Node.js counts one that has not sent anything yet among the busy ones.
	const connections = new Set<Socket>();
	server.on('connection', (connection: Socket) => {
		connections.add(connection);
		connection.once('close', () => connections.delete(connection));
	});
	server.maxConnections = config.concurrency + idleConnections;
	const end = (code: number): void => {
		process.exitCode = Math.max(code, Number(process.exitCode ?? 0));
		if (calls.isStopping) return;
		server.close();
		for (const connection of connections) if (!calls.isBusy(connection)) connection.destroy();
		// The user's timers and sockets may be there still: they have no call any more.
		calls.stop(() => exit(Number(process.exitCode)));
	};
	process.on('SIGTERM', () => end(0));
	process.on('unhandledRejection', reason => say(`a promise was rejected, and nobody waited for it: ${inspect(reason)}`));
	process.on('uncaughtException', error => {
		say(`thrown outside of any promise, and so this runner ends: ${inspect(error)}`);
		callOfNow()?.fail(error);
		end(1);
	});
	server.on('error', error => {
		say(`cannot listen: ${error.message}`);
		exit(1);
	});
	listenAt(server, place, () => {
		if (config.readyFd === undefined) return;
		writeSync(config.readyFd, 'ready\n');
		closeSync(config.readyFd);
	});
}

/** Of an error in the syntax Node.js says in which line it is only when it loads the file itself. */
function loadTrouble(error: unknown): string {
	const [, file] = process.argv;
	const checked =
		error instanceof SyntaxError && file !== undefined ? spawnSync(process.execPath, ['--check', file], {encoding: 'utf8'}) : undefined;
	const {traceback, message} = thrownBy(error);
	return (checked?.status === 0 ? undefined : checked?.stderr.split(/\n\s+at /)[0]) ?? traceback ?? message;
}

/** With --warm or --wait it waits to be told. */
async function configured(): Promise<RunnerConfig> {
	const [, , word = '{}', socket = ''] = process.argv;
	if (word === '--warm') return (await import('./node-warm.js')).assigned();
	if (word === '--wait') return (await import('./node-wait.js')).toldAt(socket);
	return JSON.parse(word) as RunnerConfig;
}

const config = await configured();
if (config.endsWithInput === true) {
	process.stdin.resume().once('close', () => process.kill(-process.pid, 'SIGKILL'));
	(process.stdin as Partial<Socket>).unref?.();
}
serve(config).catch((error: unknown) => {
	say(loadTrouble(error));
	exit(1);
});
