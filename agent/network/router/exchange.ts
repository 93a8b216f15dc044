// One request, sent on to an endpoint of its service, and the answer on its way back. Both are streams: nothing is kept but what is under way.
//
// What may be sent a second time: a request of which nothing has left, and a GET or HEAD without a body while no byte of an answer has come. Only those
// go over kept connections, since the endpoint may close one at the moment at which it is used. What has a request and is dead is left (doubts.ts).

import {request as httpRequest, type ClientRequest, type IncomingMessage, type RequestOptions, type ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import {limits} from '../../../api/limits.js';
import {isOwnField} from '../../../api/routed-call.js';
import {valueOr} from '../../../api/value-or.js';
import type {Clock} from '../../../system/time/clock.js';
import {placeText} from '../services/served-port.js';
import type {Connections, EndpointRequest} from './connections.js';
import type {Doubts} from './doubts.js';
import type {Endpoint, Endpoints} from './endpoints.js';
import {answerHeaders, headersWithout, requestHeaders, trailersOf, type Forwarding} from './headers.js';
import {badRequest, brokenAnswer, hasBody, noAnswer, noEndpoints, notReached, type Refusal} from './pages.js';
import type {RequestTarget} from './request-path.js';
import {isFunction, type Backend, type RoutedBackend} from './routes.js';

export type ExchangeParts = {
	readonly endpoints: Endpoints;
	readonly clock: Clock;
	readonly doubts: Doubts;
	readonly kept: Connections;
	readonly single: Connections;
	/** The router ends: clients shall come back on another connection. */
	readonly isClosing: () => boolean;
};

export type Exchange = {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
	readonly target: RequestTarget;
	readonly backend: RoutedBackend;
	readonly forwarding: Forwarding;
	/** Of a request to change the protocol: called with both connections when the endpoint has agreed. */
	readonly upgrade:
		{readonly protocol: string; readonly done: (answer: IncomingMessage, endpoint: Duplex, head: Buffer) => void} | undefined;
	/** Nothing of an answer was sent. */
	readonly refuse: (refusal: Refusal) => void;
	/** Of the body of the answer. */
	readonly count: (bytes: number) => void;
};

export type ServiceExchange = Exchange & {readonly backend: Backend};

export type Attempt = {
	readonly upstream: ClientRequest;
	readonly isReused: () => boolean;
	readonly isConnected: () => boolean;
	readonly hasAnswer: () => boolean;
};

export function forward(parts: ExchangeParts, exchange: ServiceExchange): void {
	const {request, response, backend, refuse} = exchange;
	const isRepeatable = (request.method === 'GET' || request.method === 'HEAD') && !hasBody(request) && exchange.upgrade === undefined;
	const tried = new Set<Endpoint>();
	let tries = 0;
	let current: ClientRequest | undefined;

	const attempt = (endpoint: Endpoint, connections: Connections): void => {
		tries += 1;
		tried.add(endpoint);
		const begun = valueOr(undefined, () => {
			const options = requestTo(exchange, endpoint, connections);
			return begin(exchange, httpRequest(options), options);
		});
		// Node's client is stricter than its server.
		if (begun === undefined) return refuse(badRequest('the header of the request cannot be sent on'));
		const {upstream} = begun;
		current = upstream;
		let isTold = false;
		const settle = parts.doubts.waitFor(backend, endpoint, () => void upstream.destroy(new EndpointLost()));
		upstream.once('close', settle);
		upstream.on('response', answer => {
			settle();
			sendBack(parts, exchange, upstream, answer);
		});
		upstream.on('timeout', () => void upstream.destroy(new AnswerTimeout()));
		const ended = (error: Error | undefined): void => {
			if (isTold || response.destroyed) return;
			isTold = true;
			// What has begun as an answer cannot become another one: the client has to see that it is not whole.
			if (response.headersSent) return void response.destroy();
			if (error instanceof AnswerTimeout) return refuse(noAnswer(backend));
			if (begun.isConnected() && (!isRepeatable || begun.hasAnswer())) return refuse(brokenAnswer(backend));
			again(begun.isReused() && !(error instanceof EndpointLost) ? endpoint : undefined, begun.isConnected());
		};
		upstream.on('error', ended);
		// An endpoint that changes to a protocol which nobody asked for is left without an error.
		upstream.on('close', () => {
			if (!response.headersSent && response.statusCode !== 101) ended(undefined);
		});
	};
	/** `same`: a kept connection to it was closed, which says nothing of the endpoint. */
	const again = (same: Endpoint | undefined, wasConnected: boolean): void => {
		const next = same ?? parts.endpoints.inTurn(backend).find(each => ![...tried].some(other => isSame(each, other)));
		if (next === undefined || tries >= limits.routerTries) refuse(wasConnected ? brokenAnswer(backend) : notReached(backend));
		else attempt(next, parts.single);
	};
	response.once('close', () => {
		if (!response.writableFinished) current?.destroy();
	});
	const [first] = parts.endpoints.inTurn(backend);
	if (first === undefined) refuse(noEndpoints(backend));
	else attempt(first, isRepeatable ? parts.kept : parts.single);
}

/** It took too long until an answer began. */
export class AnswerTimeout extends Error {}
class EndpointLost extends Error {}

const isSame = (a: Endpoint, b: Endpoint): boolean => placeText(a) === placeText(b);

function requestTo(exchange: ServiceExchange, endpoint: Endpoint, connections: Connections): EndpointRequest {
	const {request, target, backend, forwarding, upgrade} = exchange;
	return {
		agent: connections,
		host: endpoint.address,
		port: endpoint.port,
		method: request.method,
		path: target.target,
		// Node takes names and values as they came, which its types do not say.
		headers: requestHeaders(request.rawHeaders, forwarding, {
			isKept: connections.isKept,
			isChunked: isChunked(request),
			upgrade: upgrade?.protocol,
		}),
		timeout: limits.routerAnswerMs,
		backend,
		endpoint,
	};
}

export const isChunked = ({headers}: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined;

/** The request begins its way. Its body follows once there is a connection: until then another one may have it. Throws what Node's client throws. */
export function begin({request, response, upgrade}: Exchange, upstream: ClientRequest, {timeout}: RequestOptions): Attempt {
	let socket: Socket | undefined;
	let readBefore = 0;
	let isConnected = false;
	const connected = (): void => {
		isConnected = true;
		if (hasBody(request)) sendBody(request, upstream, isChunked(request));
	};
	upstream.on('socket', its => {
		socket = its;
		readBefore = its.bytesRead;
		if (its.connecting || isSecuring(its)) its.once('encrypted' in its ? 'secureConnect' : 'connect', connected);
		else {
			// While it rested it had the time that its endpoint keeps it.
			its.setTimeout(timeout ?? 0);
			connected();
		}
	});
	if (upgrade !== undefined) upstream.on('upgrade', upgrade.done);
	upstream.on('continue', () => {
		if (!response.headersSent) response.writeContinue();
	});
	if (!hasBody(request)) upstream.end();
	return {
		upstream,
		isReused: () => upstream.reusedSocket,
		isConnected: () => isConnected,
		hasAnswer: () => (socket?.bytesRead ?? 0) > readBefore,
	};
}

/** Its handshake of TLS is under way. */
const isSecuring = (socket: Socket & {readonly secureConnecting?: boolean}): boolean => socket.secureConnecting === true;

function sendBody(request: IncomingMessage, upstream: ClientRequest, inChunks: boolean): void {
	request.pipe(upstream, {end: false});
	request.once('end', () => {
		if (inChunks && request.rawTrailers.length > 0) upstream.addTrailers(trailersOf(request.rawTrailers));
		upstream.end();
	});
}

/** The answer goes to the client, as it comes. */
export function sendBack(
	parts: Pick<ExchangeParts, 'clock' | 'isClosing'>,
	exchange: Exchange,
	upstream: ClientRequest,
	answer: IncomingMessage,
): void {
	const {request, response, refuse, backend, count} = exchange;
	if (response.destroyed) return void upstream.destroy();
	const inChunks = answer.headers['transfer-encoding'] !== undefined && request.method !== 'HEAD' && request.httpVersion === '1.1';
	const raw = isFunction(backend) ? headersWithout(answer.rawHeaders, isOwnField) : answer.rawHeaders;
	const headers = answerHeaders(raw, inChunks);
	if (parts.isClosing()) headers.push('Connection', 'close');
	try {
		response.writeHead(answer.statusCode ?? 0, answer.statusMessage ?? '', headers);
	} catch {
		upstream.destroy();
		return refuse(brokenAnswer(backend));
	}
	upstream.setTimeout(limits.routerSilenceMs);
	answer.on('data', (chunk: Buffer) => {
		count(chunk.length);
		if (!response.write(chunk)) answer.pause();
	});
	response.on('drain', () => answer.resume());
	answer.on('error', () => void response.destroy());
	answer.on('end', () => {
		if (inChunks && answer.rawTrailers.length > 0) response.addTrailers(trailersOf(answer.rawTrailers));
		response.end();
		finishRequest(parts.clock, request, upstream);
	});
}

/** The service has answered before it had all: what the client still sends is read, for a moment, so that it sees the answer. */
function finishRequest(clock: Clock, request: IncomingMessage, upstream: ClientRequest): void {
	if (request.complete) return;
	request.unpipe(upstream);
	upstream.destroy();
	request.resume();
	const {socket} = request;
	const cancel = clock.after(limits.routerLingerMs, () => {
		if (!request.complete) socket.destroy();
	});
	request.once('close', cancel);
}
