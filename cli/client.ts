// The HTTPS client of one cluster: JSON in and out, streams, and errors that say what to do.

import {
	Agent as HttpAgent,
	request as httpRequest,
	type AgentOptions,
	type IncomingHttpHeaders,
	type IncomingMessage,
	type RequestOptions,
} from 'node:http';
import {Agent, request as httpsRequest} from 'node:https';
import {AppError} from '../api/errors.js';
import {limits} from '../api/limits.js';
import type {Json} from '../api/object.js';
import type {Dialled, MessageSocket} from '../system/links/web-socket.js';
import {startHint, type Connection} from './cluster/kubeconfig.js';
import {errorOfAnswer} from './cluster/status-error.js';
import {warningReader} from './cluster/warnings.js';

export type Query = {readonly [name: string]: string | number | boolean | readonly string[] | undefined};

export type Request = {
	readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	readonly path: string;
	readonly query?: Query;
	readonly body?: Json;
	/** A body that is sent as it is, instead of `body`. */
	readonly bytes?: Uint8Array;
	/** Of the body; a PATCH says what kind it is. */
	readonly contentType?: string;
	readonly accept?: string;
	/** RFC 7240. */
	readonly prefer?: string;
	/** How long the server may be silent, where that is not `requestTimeoutMs`. */
	readonly timeoutMs?: number;
	/** Gives up when it fires. */
	readonly signal?: AbortSignal | undefined;
};

export type Client = {
	/** Namespace of the kubeconfig's context. */
	readonly namespace: string;
	readonly server: string;
	/** The answer's JSON. Throws AppError for every other outcome. */
	readonly json: (request: Request) => Promise<unknown>;
	/** The answer's bytes as they come. Throws AppError before the first one, or when the stream breaks. */
	readonly stream: (request: Request) => Promise<AsyncIterable<Uint8Array>>;
	/** The same with the answer's headers. */
	readonly answer: (request: Request) => Promise<Answer>;
	/** The answer as it comes, whatever its status. Throws AppError where there is none. */
	readonly reply: (request: Request) => Promise<IncomingMessage>;
	/** A WebSocket at this path. Throws AppError when the server refuses it. */
	readonly socket: (request: Pick<Request, 'path' | 'query'>, subprotocol: string) => Promise<MessageSocket>;
	/** Lets go of connections, so that the process can end. */
	readonly close: () => void;
};

export type Answer = {readonly headers: IncomingHttpHeaders; readonly bytes: AsyncIterable<Uint8Array>};

/** A client with one pool of kept connections. Warnings of the server are handed on, each once. */
export function clientOf(connection: Connection, onWarning: (text: string) => void = () => undefined): Client {
	const secure = connection.server.protocol === 'https:';
	const agentOf = (options: AgentOptions) => (secure ? new Agent({...options, ...tlsOf(connection)}) : new HttpAgent(options));
	const agent = agentOf({keepAlive: true, maxSockets: limits.clientConnections});
	// What goes on for long must not take the connections of what is asked meanwhile.
	const streams = agentOf({keepAlive: false});
	const servers = [connection.server, ...connection.others];
	const readWarnings = warningReader(onWarning);
	const open = (request: Request, endless: boolean) =>
		firstOf(servers, server => send({...connection, server}, endless ? streams : agent, request, endless), request);
	const answer = async (request: Request): Promise<Answer> => {
		const incoming = await open(request, true);
		if (isFine(incoming)) return {headers: incoming.headers, bytes: bytesOf(incoming, connection)};
		throw errorOfAnswer(incoming.statusCode ?? 0, jsonOrText(await textOf(incoming, connection)), request.path);
	};
	return {
		namespace: connection.namespace,
		server: connection.server.href.replace(/\/$/, ''),
		async json(request) {
			const answer = await open(request, false);
			const text = await textOf(answer, connection);
			const value = parsed(text, answer, connection, request);
			readWarnings(answer, request.query?.['dryRun'] !== undefined);
			return value;
		},
		stream: async request => (await answer(request)).bytes,
		answer,
		reply: request => open(request, true),
		async socket(request, subprotocol) {
			const opened: MessageSocket[] = [];
			const ask = async (server: URL): Promise<IncomingMessage | undefined> => {
				const dialled = await dial({...connection, server}, request, subprotocol);
				if (dialled.type === 'answered') return dialled.answer;
				opened.push(dialled.socket);
				return undefined;
			};
			const incoming = await firstOf(servers, ask, request);
			const [socket] = opened;
			if (socket !== undefined) return socket;
			const text = incoming === undefined ? '' : await textOf(incoming, connection);
			throw errorOfAnswer(incoming?.statusCode ?? 0, jsonOrText(text), request.path);
		},
		close() {
			agent.destroy();
			streams.destroy();
		},
	};
}

/**
 * Asks one server after the other as long as it surely did nothing: it stands by, or is not there. The one that answered is asked first
 * from then on.
 */
async function firstOf<Got extends IncomingMessage | undefined>(
	servers: URL[],
	ask: (server: URL) => Promise<Got>,
	{method = 'GET'}: Request,
): Promise<Got> {
	for (let left = servers.length - 1; ; left--) {
		const [server] = servers;
		if (server === undefined) throw new AppError('ERR_NOT_REACHABLE', {message: 'the kubeconfig names no server'});
		try {
			const answer = await ask(server);
			if (left === 0 || answer === undefined || !isStandby(answer)) return answer;
			answer.resume();
		} catch (error) {
			if (left === 0 || !(method === 'GET' || isUnheard(error))) throw error;
		}
		servers.push(...servers.splice(0, 1));
	}
}

const isStandby = ({statusCode, headers}: IncomingMessage): boolean => statusCode === 503 && headers['troupe-leader'] !== undefined;

/** The request never reached a server. */
function isUnheard(error: unknown): boolean {
	const cause = error instanceof AppError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
	return ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'].includes(cause?.code ?? '');
}

const tlsOf = ({ca, clientCertificate, clientKey, trustAnyone}: Connection) => ({
	...(ca === undefined ? {} : {ca}),
	...(clientCertificate === undefined ? {} : {cert: clientCertificate}),
	...(clientKey === undefined ? {} : {key: clientKey}),
	rejectUnauthorized: !trustAnyone,
});

function send(connection: Connection, agent: Agent | HttpAgent, request: Request, endless: boolean): Promise<IncomingMessage> {
	const body = request.bytes ?? (request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body)));
	const {timeoutMs = limits.requestTimeoutMs} = request;
	const url = urlOf(connection.server, request);
	const options: RequestOptions = {
		agent,
		method: request.method ?? 'GET',
		...(request.signal === undefined ? {} : {signal: request.signal}),
		headers: {
			accept: request.accept ?? 'application/json',
			...(request.prefer === undefined ? {} : {prefer: request.prefer}),
			...headersOf(connection, url.protocol === 'https:'),
			...(body === undefined ? {} : {'content-type': request.contentType ?? 'application/json', 'content-length': body.length}),
		},
	};
	return new Promise((resolve, reject) => {
		const sent = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, resolve);
		if (!endless) sent.setTimeout(timeoutMs, () => sent.destroy(timedOut(connection, timeoutMs)));
		sent.on('error', error => reject(notReachable(connection, error)));
		sent.end(body);
	});
}

/** A socket, or what the server answered instead. Rejects with ERR_NOT_REACHABLE. */
async function dial(connection: Connection, request: Request, subprotocol: string): Promise<Dialled> {
	const url = urlOf(connection.server, request);
	const isSecure = url.protocol === 'https:';
	url.protocol = isSecure ? 'wss:' : 'ws:';
	// Loaded where it is needed: few commands open a socket, and all pay for what they load.
	const {dialWebSocket} = await import('../system/links/web-socket.js');
	try {
		return await dialWebSocket(url, {
			subprotocol,
			headers: headersOf(connection, isSecure),
			payloadBytes: limits.execMessageBytes,
			timeoutMs: limits.requestTimeoutMs,
			...tlsOf(connection),
		});
	} catch (error) {
		throw notReachable(connection, error);
	}
}

/** A token is for the server alone: it never goes over a connection that others can read. */
const headersOf = ({token}: Connection, isSecure: boolean): Readonly<Record<string, string>> => ({
	'user-agent': 'troupe-cli',
	...(token !== undefined && isSecure ? {authorization: `Bearer ${token}`} : {}),
});

/** The server's own path stays in front of every request. */
function urlOf(server: URL, {path, query = {}}: Request): URL {
	const url = new URL(server);
	url.pathname = url.pathname.replace(/\/$/, '') + path;
	for (const [name, value] of Object.entries(query))
		for (const one of Array.isArray(value) ? (value as readonly string[]) : value === undefined ? [] : [value])
			url.searchParams.append(name, String(one));
	return url;
}

const isFine = ({statusCode = 0}: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

async function textOf(answer: IncomingMessage, connection: Connection): Promise<string> {
	const chunks: Uint8Array[] = [];
	for await (const chunk of bytesOf(answer, connection)) chunks.push(chunk);
	return Buffer.concat(chunks).toString('utf8');
}

async function* bytesOf(answer: IncomingMessage, connection: Connection): AsyncGenerator<Uint8Array> {
	try {
		for await (const chunk of answer) yield chunk as Uint8Array;
	} catch (error) {
		throw notReachable(connection, error);
	}
}

function parsed(text: string, answer: IncomingMessage, connection: Connection, {path}: Request): unknown {
	const body = jsonOrText(text);
	if (!isFine(answer)) throw errorOfAnswer(answer.statusCode ?? 0, body, path);
	if (typeof body !== 'string') return body;
	throw new AppError('ERR_INTERNAL', {message: `${connection.server.host} answered with something else than JSON; is it a cluster's API?`});
}

function jsonOrText(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return text;
	}
}

const timedOut = ({server}: Connection, ms: number): AppError =>
	new AppError('ERR_NOT_REACHABLE', {message: `${server.host} did not answer within ${ms / 1000} s`});

function notReachable(connection: Connection, error: unknown): AppError {
	if (error instanceof AppError) return error;
	const {code = '', message} = error as NodeJS.ErrnoException;
	return new AppError('ERR_NOT_REACHABLE', {message: `${reasonOf(connection, code, message)}`}, error);
}

function reasonOf({server, file}: Connection, code: string, message: string): string {
	if (/CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/.test(code))
		return `${server.host} shows a certificate that the CA in ${file} did not sign (${code}); is this the kubeconfig of another cluster?`;
	const why = code === 'ECONNREFUSED' ? 'nobody listens there' : code === 'ECONNRESET' ? 'the connection was cut' : message;
	return `${server.host} is not reachable (${why}); ${startHint}`;
}
