// The router's server: what comes over its connections becomes requests to services, or a page that says why not.

import {createServer, ServerResponse, type IncomingMessage, type Server} from 'node:http';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import {limits} from '../../../api/limits.js';
import type {Dial} from '../../relay/dial.js';
import type {Clock} from '../../../system/time/clock.js';
import type {Random} from '../../../system/time/random.js';
import type {AccessLog} from './access-log.js';
import {Connections} from './connections.js';
import {createDoubts} from './doubts.js';
import type {Endpoints} from './endpoints.js';
import {forward, type Exchange, type ExchangeParts} from './exchange.js';
import type {CallFunction} from './function-exchange.js';
import {answerHeaders} from './headers.js';
import {badRequest, noRoute, rawPage, sendPage, type Refusal} from './pages.js';
import {readTarget} from './request-path.js';
import type {RoutingTable} from './routing-table.js';
import {backendFor, isFunction} from './routes.js';

export type RouterServerParts = {
	readonly table: RoutingTable;
	readonly endpoints: Endpoints;
	readonly clock: Clock;
	/** To endpoints that are reached by the agents. */
	readonly dial: Dial;
	readonly random: Random;
	/** Called for routes that lead to functions. */
	readonly callFunction: CallFunction;
	readonly log: AccessLog;
	readonly onProblem: (problem: string | undefined) => void;
};

/** Of a connection's requests: how it came in. */
export type Arrival = {readonly protocol: 'http' | 'https'; readonly port: number};

export type RouterServer = {
	readonly take: (socket: Duplex, client: string, arrival: Arrival) => void;
	/** Answers say that the next request needs another connection. What came before, and is only taken now, is answered, too. */
	readonly close: () => void;
};

type Connection = Arrival & {
	readonly client: string;
	/** Requests that came before the one under way was answered: they wait for that. */
	readonly waiting: (() => void)[];
	/** What is under way on it. */
	exchange: Pick<Exchange, 'request' | 'response'> | undefined;
};

export function createRouterServer({table, endpoints, clock, dial, random, callFunction, log, onProblem}: RouterServerParts): RouterServer {
	const connections = new WeakMap<Duplex, Connection>();
	let open = 0;
	let isClosing = false;
	const idStart = random.uuid().slice(0, 8);
	let ids = 0;
	const parts: ExchangeParts = {
		endpoints,
		clock,
		doubts: createDoubts(endpoints, clock),
		kept: new Connections(endpoints, clock, dial, true),
		single: new Connections(endpoints, clock, dial, false),
		isClosing: () => isClosing,
	};

	const serve = (request: IncomingMessage, response: ServerResponse, upgrade?: Exchange['upgrade']): void => {
		const connection = connections.get(request.socket);
		if (connection === undefined || connection.waiting.length >= limits.routerPipelined) return void request.socket.destroy();
		// Answers go back in the order of requests anyway; one at a time, none of them fills the memory, and none overtakes the one before.
		if (connection.exchange !== undefined) return void connection.waiting.push(() => serve(request, response, upgrade));
		connection.exchange = {request, response};
		let bytes = 0;
		let id: string | undefined;
		response.once('close', () => {
			connection.exchange = undefined;
			const status = response.headersSent || response.statusCode === 101 ? response.statusCode : clientGone;
			log.add({client: connection.client, id, status, bytes, ...loggedOf(request)});
			// Behind the last answer of a connection there is nobody who takes another one, and nothing would end its request.
			if (request.socket.writable) connection.waiting.shift()?.();
		});
		response.on('error', () => undefined);
		const refuse = (refusal: Refusal): void => {
			if (response.headersSent || response.destroyed) return void response.destroy();
			ids += 1;
			id = `${idStart}-${ids.toString(36)}`;
			sendPage(request, response, refusal, id);
		};
		const target = readTarget(request.url ?? '', request.headers.host);
		if ('refusal' in target) return refuse(badRequest(target.refusal));
		if (hostsIn(request.rawHeaders) > 1) return refuse(badRequest('the request has several Host fields'));
		const encoding = request.headers['transfer-encoding'];
		if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
			return refuse({status: 501, words: 'the only transfer encoding is chunked'});
		const route = table.find(target.host, target.path);
		const backend = route && backendFor(route, {path: target.path, headers: request.headers}, random.next());
		if (backend === undefined) return refuse(noRoute(target));
		const {client, protocol, port} = connection;
		const count = (more: number): void => {
			bytes += more;
		};
		const forwarding = {client, protocol, authority: target.authority, port};
		const exchange = {request, response, target, forwarding, upgrade, refuse, count};
		if (isFunction(backend)) callFunction({...exchange, backend}, parts.isClosing);
		else forward(parts, {...exchange, backend});
	};

	const server = createServer({
		keepAlive: true,
		maxHeaderSize: limits.routerHeaderBytes,
		headersTimeout: limits.routerHeaderMs,
		// Bodies may take as long as they keep coming: who is too slow is looked for below.
		requestTimeout: 0,
		keepAliveTimeout: limits.routerRestMs,
		connectionsCheckingInterval: limits.routerHeaderMs / 4,
		requireHostHeader: true,
	});
	server.maxHeadersCount = limits.routerHeaders;
	server.timeout = limits.routerClientMs;
	server.on('request', serve);
	server.on('checkContinue', serve);
	server.on('checkExpectation', (_request, response: ServerResponse) => void response.writeHead(417, ['Content-Length', '0']).end());
	server.on('connect', (_request, socket) => refuseRaw(socket, 405, 'the router is no forward proxy: CONNECT is refused'));
	server.on('upgrade', (request, socket, head: Buffer) => upgradeOn(request, socket, head, serve));
	server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
		const words = refusals[error.code ?? ''] ?? defaultRefusal;
		if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
		refuseRaw(socket, ...words);
		const client = connections.get(socket)?.client ?? '-';
		log.add({
			client,
			id: undefined,
			method: '-',
			target: '-',
			version: '-',
			status: words[0],
			bytes: 0,
			referer: undefined,
			userAgent: undefined,
		});
	});
	server.on('timeout', (socket: Socket) => {
		const connection = connections.get(socket);
		if (isWaitedFor(connection?.exchange)) socket.destroy();
		else socket.setTimeout(limits.routerClientMs);
	});
	beginChecks(server);

	return {
		take(socket, client, {protocol, port}) {
			if (open >= limits.routerConnections) {
				onProblem(`the router has ${open} connections, the most that it takes: others are closed`);
				return void socket.destroy();
			}
			open += 1;
			connections.set(socket, {client, protocol, port, waiting: [], exchange: undefined});
			socket.once('close', () => {
				open -= 1;
				if (open === limits.routerConnections - 1) onProblem(undefined);
			});
			server.emit('connection', socket);
		},
		close() {
			isClosing = true;
		},
	};
}

/** As nginx: the client went before there was an answer. */
const clientGone = 499;

/** Node begins to look for connections whose header does not come when a server listens; this one is handed its connections. */
const beginChecks = (server: Server): void => void server.emit('listening');

const loggedOf = ({method = '-', url = '-', httpVersion: version, headers}: IncomingMessage) => ({
	method,
	target: url,
	version,
	referer: headers.referer,
	userAgent: headers['user-agent'],
});

function hostsIn(raw: readonly string[]): number {
	let count = 0;
	for (let i = 0; i < raw.length; i += 2) if (raw[i]?.length === 4 && raw[i]?.toLowerCase() === 'host') count += 1;
	return count;
}

type RawRefusal = readonly [status: number, words: string];

const defaultRefusal: RawRefusal = [400, 'this is no request of HTTP/1.1'];
const refusals: Readonly<Record<string, RawRefusal>> = {
	HPE_HEADER_OVERFLOW: [431, 'the header of the request is too large'],
	HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'the chunk extensions of the body are too large'],
	ERR_HTTP_REQUEST_TIMEOUT: [408, 'the header of the request did not come in time'],
};

function refuseRaw(socket: Duplex, ...[status, words]: RawRefusal): void {
	socket.on('error', () => undefined);
	socket.end(rawPage(status, words), () => socket.destroy());
}

/** Nothing has moved for long: is it the client that does not send, or does not read? */
function isWaitedFor(exchange: Connection['exchange']): boolean {
	if (exchange === undefined) return true;
	const {request, response} = exchange;
	if (response.writableLength > 0) return true;
	// A service that does not read stops the client; that is not the client's fault.
	return !request.complete && !request.isPaused() && request.readableLength === 0;
}

/** Protocols that the router lets connections change to; of others the request is an ordinary one, as HTTP allows. */
const isUpgradable = (protocol: string): boolean => /^[A-Za-z0-9./_-]{1,64}$/.test(protocol) && !/^(h2c|tls|http)/i.test(protocol);

function upgradeOn(
	request: IncomingMessage,
	socket: Duplex,
	head: Buffer,
	serve: (request: IncomingMessage, response: ServerResponse, upgrade?: Exchange['upgrade']) => void,
): void {
	socket.on('error', () => undefined);
	const protocol = request.headers.upgrade ?? '';
	if (request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined)
		return refuseRaw(socket, 400, 'a request that changes the protocol has no body');
	const response = new ServerResponse(request);
	response.shouldKeepAlive = false;
	response.assignSocket(socket as Socket);
	response.once('finish', () => socket.end());
	const done = (answer: IncomingMessage, endpoint: Duplex, first: Buffer): void => {
		response.detachSocket(socket as Socket);
		response.statusCode = 101;
		socket.once('close', () => response.emit('close'));
		socket.write(switchingText(answer));
		join(socket as Socket, endpoint as Socket, head, first);
	};
	serve(request, response, isUpgradable(protocol) ? {protocol, done} : undefined);
}

function switchingText(answer: IncomingMessage): string {
	const headers = ['Connection', 'Upgrade', 'Upgrade', answer.headers.upgrade ?? '', ...answerHeaders(answer.rawHeaders, false)];
	const lines = Array.from({length: headers.length / 2}, (_, i) => `${headers[2 * i]}: ${headers[2 * i + 1]}\r\n`);
	return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`;
}

/** From here on it is bytes, both ways, until one side has ended. */
function join(client: Socket, endpoint: Socket, fromClient: Buffer, fromEndpoint: Buffer): void {
	if (fromEndpoint.length > 0) client.write(fromEndpoint);
	if (fromClient.length > 0) endpoint.write(fromClient);
	for (const [one, other] of [
		[client, endpoint],
		[endpoint, client],
	] as const) {
		one.setTimeout(limits.routerSilenceMs, () => one.destroy());
		one.on('error', () => undefined);
		one.pipe(other);
		one.once('close', () => other.destroy());
	}
}
