// One request of a client that is a call of a function: it goes to the server that leads, which gives it to an instance; where none leads, to an instance
// on this node that is ready. The answer comes back as from a service.
//
// What it keeps true: only a call that no server has begun goes elsewhere, and only a body of which nothing was read. The node's own login is seen by
// servers alone. As of services, only what may be sent again goes over a kept connection: the server may be dying at that very moment. How many calls wait for servers is bounded: one that hangs does not use up the router.

import {request as httpRequest, type ClientRequest, type IncomingMessage, type RequestOptions} from 'node:http';
import type {Duplex} from 'node:stream';
import {limits} from '../../../api/limits.js';
import {answeredHeader, clientAuthorization, isOwnField, routedCallPath, standbyHeader} from '../../../api/routed-call.js';
import {valueOr} from '../../../api/value-or.js';
import type {Clock} from '../../../system/time/clock.js';
import {connectRunner} from '../../functions/runner-socket.js';
import type {NetworkIndex} from '../index/network-index.js';
import {AnswerTimeout, begin, isChunked, sendBack, type Attempt, type Exchange} from './exchange.js';
import {createFunctionServers, requestToServer, type FunctionServer, type FunctionServers} from './function-servers.js';
import {headersWithout, requestHeaders, type RawHeaders} from './headers.js';
import {createLocalInstances, type LocalInstances, type Slot} from './local-instances.js';
import {badRequest, brokenAnswer, hasBody, noAnswer, noServer, notCalled, tooManyCalls} from './pages.js';
import type {FunctionBackend} from './routes.js';

export type FunctionExchange = Exchange & {readonly backend: FunctionBackend};

/** Calls the function, and answers the client. `isClosing`: as of `ExchangeParts`. */
export type CallFunction = (exchange: FunctionExchange, isClosing: () => boolean) => void;

type Parts = {
	readonly clock: Clock;
	readonly servers: FunctionServers;
	readonly instances: LocalInstances;
	/** At servers. */
	underWay: number;
};

export function createFunctionCalls(index: Pick<NetworkIndex, 'get'>, clock: Clock): CallFunction {
	const parts: Parts = {clock, servers: createFunctionServers(index, clock), instances: createLocalInstances(index), underWay: 0};
	return (exchange, isClosing) => {
		const {request, upgrade, backend, refuse} = exchange;
		if (upgrade !== undefined) return refuse({status: 501, words: 'functions speak HTTP, and no protocol that it changes to'});
		if (!methods.has(request.method ?? '')) return refuse(notCalled(backend, 405));
		call(parts, exchange, isClosing);
	};
}

const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** The longest call, after the longest wait for an instance: a server says sooner what has become of it. */
const serverAnswerMs = limits.functionHoldMs + limits.functionTimeoutMaxMs + limits.routerConnectMs;

/** What a runner says of a call that it has not begun. */
const refusedHeader = 'x-troupe-refused';

function call(parts: Parts, exchange: FunctionExchange, isClosing: () => boolean): void {
	const {clock, servers, instances} = parts;
	const {request, response, backend, refuse} = exchange;
	const isWithoutBody = !hasBody(request);
	const isRepeatable = request.method === 'GET' && isWithoutBody;
	const avoided = new Set<string>();
	let current: ClientRequest | undefined;
	let tries = 0;
	let leave = (): void => undefined;
	response.once('close', () => {
		leave();
		if (!response.writableFinished) current?.destroy();
	});

	const next = async (): Promise<void> => {
		leave();
		const server = tries < limits.routerTries ? await servers.find(!instances.hasRoom(backend)) : undefined;
		if (response.destroyed) return;
		if (server === undefined) atInstance();
		else atServer(server);
	};

	const atServer = (server: FunctionServer): void => {
		tries += 1;
		if (parts.underWay >= limits.routerServerCalls) return refuse(tooManyCalls);
		parts.underWay += 1;
		leave = once(() => void (parts.underWay -= 1));
		attempt(
			() => {
				const options = {...toServer(exchange, server, isRepeatable), ...server.place, timeout: serverAnswerMs};
				return begin(exchange, requestToServer(options), options);
			},
			(answer, upstream) => {
				if (answer.headers[answeredHeader] !== undefined) return sendBack({clock, isClosing}, exchange, upstream, answer);
				const {statusCode = 0, headers} = answer;
				if (statusCode !== 503 || headers[standbyHeader] === undefined) return end(upstream, () => refuse(notCalled(backend, statusCode)));
				servers.lost(server);
				end(upstream, () => (isWithoutBody ? void next() : refuse(noServer(backend))));
			},
			begun => {
				if (!begun.isConnected()) {
					servers.lost(server);
					return void next();
				}
				if (isRepeatable && begun.isReused() && !begun.hasAnswer() && tries < limits.routerTries) return void next();
				refuse(brokenAnswer(backend));
			},
		);
	};

	const atInstance = (): void => {
		const slot = instances.take(backend, avoided);
		if (slot === undefined) return refuse(noServer(backend));
		avoided.add(slot.instance.uid);
		const timeout = slot.instance.timeoutMs + limits.functionOverdueMs;
		const cancel = clock.after(timeout, () => void current?.destroy(new AnswerTimeout()));
		leave = once(() => {
			cancel();
			slot.release();
		});
		attempt(
			() => {
				const options = {...toInstance(exchange, slot), timeout};
				return begin(exchange, httpRequest(options), options);
			},
			(answer, upstream) => {
				if (answer.headers[refusedHeader] === undefined || !isWithoutBody) return sendBack({clock, isClosing}, exchange, upstream, answer);
				end(upstream, again);
			},
			begun => {
				if (begun.isConnected()) refuse(brokenAnswer(backend));
				else again();
			},
		);
	};
	const again = (): void => {
		leave();
		atInstance();
	};

	/** `onFailed`: there is no answer; nothing was sent to the client. */
	const attempt = (
		start: () => Attempt,
		onAnswer: (answer: IncomingMessage, upstream: ClientRequest) => void,
		onFailed: (begun: Attempt) => void,
	): void => {
		// Node's client is stricter than its server.
		const begun = valueOr(undefined, start);
		if (begun === undefined) return refuse(badRequest('the header of the request cannot be sent on'));
		const {upstream} = begun;
		current = upstream;
		let isTold = false;
		upstream.on('response', answer => {
			isTold = true;
			onAnswer(answer, upstream);
		});
		upstream.on('timeout', () => void upstream.destroy(new AnswerTimeout()));
		const ended = (error: Error | undefined): void => {
			if (isTold || response.destroyed) return;
			isTold = true;
			if (error instanceof AnswerTimeout && begun.isConnected()) refuse(noAnswer(backend));
			else onFailed(begun);
		};
		upstream.on('error', error => {
			// What has begun as an answer cannot become another one: the client has to see that it is not whole.
			if (current === upstream && response.headersSent) response.destroy();
			else ended(error);
		});
		upstream.on('close', () => ended(undefined));
	};
	/** What came is of no use: its connection goes, and then it goes on. */
	const end = (upstream: ClientRequest, then: () => void): void => {
		current = undefined;
		request.unpipe(upstream);
		upstream.destroy();
		then();
	};
	void next();
}

function once(act: () => void): () => void {
	let isDone = false;
	return () => {
		if (isDone) return;
		isDone = true;
		act();
	};
}

const framingOf = (request: IncomingMessage, isKept: boolean) => ({isKept, isChunked: isChunked(request), upgrade: undefined});

function toServer(
	{request, target, backend, forwarding}: FunctionExchange,
	{login, kept, single}: FunctionServer,
	isKept: boolean,
): RequestOptions {
	const raw = headersWithout(request.rawHeaders, isOwnField).map((text, i) =>
		i % 2 === 0 && text.toLowerCase() === 'authorization' ? clientAuthorization : text,
	);
	return {
		agent: isKept ? kept : single,
		method: request.method,
		path: routedCallPath(login.node, backend.namespace, backend.function, target.target),
		headers: asSent([...requestHeaders(raw, forwarding, framingOf(request, isKept)), 'Authorization', `Bearer ${login.credential}`]),
	};
}

/** Its socket is looked at as the agent looks at it: it is the pod's own, or nothing goes there. */
function toInstance({request, response, target, forwarding}: FunctionExchange, {instance}: Slot): RequestOptions {
	const raw = headersWithout(request.rawHeaders, name => isOwnField(name) || name === 'expect');
	// Who waits to be asked for the body is asked here: the runner would not.
	if (request.headers.expect !== undefined && !response.headersSent) response.writeContinue();
	return {
		method: request.method,
		path: target.target,
		headers: asSent(requestHeaders(raw, forwarding, framingOf(request, false))),
		createConnection(_options, done) {
			connectRunner(instance).then(
				socket => done(null, socket),
				(error: unknown) => done(error instanceof Error ? error : new Error(String(error)), undefined as unknown as Duplex),
			);
			return undefined;
		},
	};
}

/** Node takes names and values as they came, which its types do not say. */
const asSent = (raw: RawHeaders): RequestOptions['headers'] => raw;
