// Calls under way: each is begun, or refused before anything of it was; it has one answer, and ends in its time.

import {randomBytes} from 'node:crypto';
import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import {
	Answer,
	bodiless,
	CallError,
	outgoingOf,
	paramsOf,
	queryOf,
	thrownBy,
	type CallRequest,
	type Main,
	type Outgoing,
} from './node-answer.js';
import {during, flush, type Writer} from './node-output.js';
import type {RunnerConfig} from './runner-config.js';

/** What is thrown away of a body that nobody wants, so that its sender reads the answer. */
const discardedBytes = 8_388_608;

/** What a client has to read that its time is over. */
const lastWordsMs = 1_000;

/** Of an answer to a call of which nothing was begun: another instance may have it. */
const refusedHeader = 'x-troupe-refused';

const wellFormedId = /^[\w.-]{1,64}$/;

export class Calls {
	readonly #main: Main;
	readonly #config: RunnerConfig;
	readonly #open = new Set<ServerResponse>();
	#whenDone: (() => void) | undefined;

	constructor(main: Main, config: RunnerConfig) {
		this.#main = main;
		this.#config = config;
	}

	get isStopping(): boolean {
		return this.#whenDone !== undefined;
	}

	/** Whether a call of this connection is under way. */
	isBusy(connection: Socket): boolean {
		return [...this.#open].some(({req}) => req.socket === connection);
	}

	/** Begins no more calls; calls back when none is under way. */
	stop(done: () => void): void {
		this.#whenDone = done;
		for (const response of this.#open) lastOfItsConnection(response);
		this.#settle();
	}

	/** `asks`: whether its client waits to be told that the body is wanted. */
	begin(request: IncomingMessage, response: ServerResponse, asks: boolean): void {
		const {'x-request-id': given} = request.headers;
		const id = typeof given === 'string' && wellFormedId.test(given) ? given : randomBytes(8).toString('hex');
		response.setHeader('x-request-id', id);
		const refusal = this.#refusal();
		if (refusal !== undefined) {
			response.setHeader(refusedHeader, refusal.code);
			return refuse(request, response, refusal);
		}
		this.#open.add(response);
		const writer: Writer = {id, rest: new Map(), fail: error => sendError(response, thrownBy(error))};
		const ended = new AbortController();
		const abort = (): void => during(writer, () => ended.abort());
		let timer = setTimeout(() => {
			const isAnswered = response.writableEnded;
			refuse(request, response, new CallError(504, 'ERR_TIMEOUT', `the call took longer than ${this.#config.timeoutMs} ms`));
			abort();
			// Its client may not read.
			timer = setTimeout(() => request.socket.destroy(), isAnswered ? 0 : lastWordsMs);
		}, this.#config.timeoutMs);
		response.once('close', () => {
			clearTimeout(timer);
			abort();
			flush(writer);
			this.#open.delete(response);
			this.#settle();
		});
		during(writer, () => this.#run(id, request, response, {asks, signal: ended.signal})).catch((error: unknown) => {
			const thrown = thrownBy(error);
			const {traceback = thrown.message} = thrown;
			if (thrown.code === 'ERR_FUNCTION') process.stderr.write(`[${id}] ${traceback.replaceAll('\n', `\n[${id}] `)}\n`);
			refuse(request, response, thrown);
		});
	}

	#refusal(): CallError | undefined {
		const {concurrency} = this.#config;
		if (this.isStopping) return new CallError(503, 'ERR_STOPPING', 'this runner is told to end; nothing was begun');
		if (this.#open.size >= concurrency) return new CallError(429, 'ERR_BUSY', `${concurrency} calls are under way; nothing was begun`);
		return undefined;
	}

	async #run(
		id: string,
		request: IncomingMessage,
		response: ServerResponse,
		{asks, signal}: {readonly asks: boolean; readonly signal: AbortSignal},
	): Promise<void> {
		const body = await bodyOf(request, this.#config.bodyBytes, () => asks && response.writeContinue());
		const {method = 'GET', url = '/'} = request;
		const query = queryOf(url);
		const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
		const given: CallRequest = {
			id,
			method,
			path: url,
			query,
			headers,
			body,
			signal,
			answer: (answered, {status = 200, headers: more = {}} = {}) => new Answer({body: answered, status, headers: more}),
		};
		const main = this.#main; // Called as nobody's method.
		const value = await main(paramsOf(headers['content-type'], body, query), given);
		await send(response, outgoingOf(value, this.#config.answerBytes));
	}

	#settle(): void {
		if (this.#open.size === 0) this.#whenDone?.();
	}
}

async function bodyOf(request: IncomingMessage, mostBytes: number, isWanted: () => void): Promise<Buffer> {
	const tooLarge = new CallError(413, 'ERR_TOO_LARGE', `the body is larger than ${mostBytes} bytes`);
	if (Number(request.headers['content-length'] ?? 0) > mostBytes) throw tooLarge;
	isWanted();
	const chunks: Buffer[] = [];
	let bytes = 0;
	// Not by `for await`: that destroys the request, and its answer with it.
	await new Promise<void>((resolve, reject) => {
		request.on('data', (chunk: Buffer) => {
			bytes += chunk.length;
			if (bytes > mostBytes) reject(tooLarge);
			else chunks.push(chunk);
		});
		request.once('end', resolve);
		request.once('error', reject);
		request.once('close', () => reject(new Error('the body broke off'))); // After its end that says nothing.
	});
	return Buffer.concat(chunks);
}

async function send(response: ServerResponse, outgoing: Outgoing): Promise<void> {
	if (response.headersSent || response.destroyed) return;
	if ('body' in outgoing) {
		const length = bodiless.has(outgoing.status) ? {} : {'content-length': outgoing.body.length};
		response.writeHead(outgoing.status, {...outgoing.headers, ...length});
		response.end(outgoing.body);
		return;
	}
	const {pieces, bytesOf, status, headers} = outgoing;
	response.writeHead(status, headers);
	response.flushHeaders();
	try {
		for (;;) {
			const piece = await pieces.next();
			if (piece.done === true || response.destroyed) break;
			if (!response.write(bytesOf(piece.value))) await drained(response);
		}
	} finally {
		if (response.destroyed) await pieces.return?.();
	}
	response.end();
}

/** Its client reads on, or has gone. */
const drained = (response: ServerResponse): Promise<void> =>
	new Promise(resolve => {
		const done = (): void => {
			response.off('drain', done);
			response.off('close', done);
			resolve();
		};
		response.on('drain', done);
		response.on('close', done);
	});

/** Answers with an error where nothing was sent; else only a cut connection can tell. What still comes of the body is thrown away. */
function refuse(request: IncomingMessage, response: ServerResponse, error: CallError): void {
	sendError(response, error);
	let bytes = 0;
	request.removeAllListeners('data');
	request.on('data', (chunk: Buffer) => {
		bytes += chunk.length;
		if (bytes > discardedBytes) request.destroy();
	});
}

function sendError(response: ServerResponse, {status, code, message, thrown, traceback}: CallError): void {
	if (response.writableEnded) return;
	// What was sent before goes out; the end that is missing tells.
	if (response.headersSent) return void response.req.socket.destroySoon();
	// What is undefined is left out.
	const body = Buffer.from(JSON.stringify({error: {code, message, name: thrown, traceback}}));
	if (!response.req.complete) lastOfItsConnection(response);
	response.writeHead(status, {'content-type': 'application/json', 'content-length': body.length});
	response.end(body);
}

function lastOfItsConnection(response: ServerResponse): void {
	if (!response.headersSent) response.setHeader('connection', 'close');
	else response.once('finish', () => response.req.socket.destroySoon());
}
