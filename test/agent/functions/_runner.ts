// One runner of a function as a process of its own, in a folder of its own, and what tests do to it: calls, bytes on a connection, signals.
// Nothing of it is left after the test.

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {eventually, within} from '../../../bench/rigs/cluster/waiting.js';

/** What a runner is told, `listen` aside. */
export type Limits = {
	readonly timeoutMs: number;
	readonly bodyBytes: number;
	readonly answerBytes: number;
	readonly concurrency: number;
};

export type CallOptions = {
	readonly method?: string;
	readonly path?: string;
	readonly headers?: Readonly<Record<string, string>>;
	/** Sent as JSON; `body` is sent as it is. */
	readonly params?: unknown;
	readonly body?: string | Buffer | readonly Buffer[];
	readonly agent?: http.Agent;
};

export type Answer = {
	readonly status: number;
	readonly headers: http.IncomingHttpHeaders;
	readonly text: string;
	/** False: the connection ended before the answer did. */
	readonly isWhole: boolean;
};

export type Runner = {
	readonly folder: string;
	readonly socket: string;
	/** False: it ended instead. */
	readonly isReady: boolean;
	readonly output: () => string;
	/** Resolves when that was written. */
	readonly wrote: (text: string | RegExp) => Promise<void>;
	readonly call: (options?: CallOptions) => Promise<Answer>;
	/** Sends it; what comes first is given as a response. */
	readonly open: (options?: CallOptions) => Promise<http.IncomingMessage>;
	/** Sends bytes, and gives all that comes until the other side ends the connection. */
	readonly raw: (bytes: string) => Promise<string>;
	readonly connect: () => Promise<net.Socket>;
	readonly signal: (signal: NodeJS.Signals) => void;
	/** The exit code, once it has ended. */
	readonly ended: () => Promise<number | null>;
};

const limitsOfTests: Limits = {timeoutMs: 60_000, bodyBytes: 100_000, answerBytes: 100_000, concurrency: 8};

/** Starts a runner by `argv` and its configuration, with these files as its function. */
export async function startRunner(
	t: ExecutionContext,
	argv: readonly [string, ...string[]],
	files: Readonly<Record<string, string>>,
	overrides: Partial<Limits> = {},
): Promise<Runner> {
	const root = mkdtempSync(path.join(os.tmpdir(), 'troupe-function-'));
	t.teardown(() => rmSync(root, {recursive: true, force: true}));
	const folder = path.join(root, 'code');
	for (const [name, text] of Object.entries(files)) {
		mkdirSync(path.dirname(path.join(folder, name)), {recursive: true});
		writeFileSync(path.join(folder, name), text);
	}
	const socket = path.join(root, 'socket');
	const config = JSON.stringify({dir: folder, listen: {path: socket}, ...limitsOfTests, ...overrides, readyFd: 3});
	const [program, ...words] = argv;
	const child = spawn(program, [...words, config], {stdio: ['ignore', 'pipe', 'pipe', 'pipe']});
	const closed = once(child, 'close');
	t.teardown(async () => {
		if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
		await closed;
	});
	let output = '';
	for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
	let told = '';
	const readyPipe = child.stdio[3] as net.Socket;
	const ready = new Promise<void>(resolve => {
		readyPipe.setEncoding('utf8').on('data', (text: string) => (told += text));
		readyPipe.once('close', () => resolve());
	});
	await within('the runner to be ready', ready, () => output);
	if (told !== 'ready\n') await closed;

	const open = (options: CallOptions = {}): Promise<http.IncomingMessage> =>
		within(
			`an answer of ${socket}`,
			new Promise((resolve, reject) => {
				const request = http.request(requestOf(socket, options), resolve);
				request.on('error', reject);
				sendBody(request, options);
			}),
			() => output,
		);
	const connect = async (): Promise<net.Socket> => {
		const connection = net.connect({path: socket, allowHalfOpen: true});
		t.teardown(() => connection.destroy());
		await once(connection, 'connect');
		return connection;
	};
	return {
		folder,
		socket,
		isReady: told === 'ready\n',
		output: () => output,
		wrote: text =>
			eventually(
				`${String(text)} was written`,
				() => (typeof text === 'string' ? output.includes(text) : text.test(output)),
				() => output,
				60_000,
			),
		open,
		call: async options => answerOf(await open(options)),
		raw: async bytes => {
			const connection = await connect();
			connection.write(bytes);
			return within('the end of the connection', readToEnd(connection), () => output);
		},
		connect,
		signal: signal => child.kill(signal),
		ended: async () => {
			await within('the end of the runner', closed, () => output);
			return child.exitCode;
		},
	};
}

function requestOf(socketPath: string, {method, params, body, headers, agent, ...options}: CallOptions): http.RequestOptions {
	const type = params === undefined ? {} : {'content-type': 'application/json'};
	return {
		socketPath,
		path: options.path ?? '/',
		method: method ?? (params === undefined && body === undefined ? 'GET' : 'POST'),
		headers: {...type, ...headers},
		agent: agent ?? false,
	};
}

/** Several buffers go as chunks. */
function sendBody(request: http.ClientRequest, {params, body}: CallOptions): void {
	if (params !== undefined) return void request.end(JSON.stringify(params));
	if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) return void request.end(body);
	for (const chunk of body) request.write(chunk);
	request.end();
}

export async function answerOf(response: http.IncomingMessage): Promise<Answer> {
	const chunks: Buffer[] = [];
	response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
	await within('the end of an answer', new Promise<void>(resolve => response.once('close', resolve)));
	const {statusCode = 0, headers, complete} = response;
	return {status: statusCode, headers, text: Buffer.concat(chunks).toString(), isWhole: complete};
}

/** What comes until the other side ends the connection, by a reset too. */
export function readToEnd(connection: net.Socket): Promise<string> {
	let text = '';
	connection.setEncoding('utf8').on('data', (part: string) => (text += part));
	return new Promise(resolve => {
		const end = (): void => {
			resolve(text);
			connection.destroy();
		};
		connection.once('end', end).once('error', end).once('close', end);
	});
}
