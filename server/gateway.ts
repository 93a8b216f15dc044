// The API's door: HTTPS, Kubernetes-shaped. Says who calls, finds what answers, and words whatever goes wrong as a Status.
//
// Bad input of any sort ends in a 4xx; a 500 is a bug of ours and is reported as one. No answer before the login tells a
// stranger which paths there are.

import http from 'node:http';
import type {IncomingMessage, Server, ServerResponse} from 'node:http';
import https from 'node:https';
import type {AddressInfo} from 'node:net';
import type {Duplex} from 'node:stream';
import {AppError, failure} from '../api/errors.js';
import type {Identity} from '../api/roles.js';
import type {Clock} from '../system/clock.js';
import type {ControlPlane} from './control-plane.js';
import {ClientGone} from './http/body.js';
import {aboutTarget, type Backend, type Exchange} from './http/exchange.js';
import {sendFailure, sendText} from './http/reply.js';
import {createRoutes, type Route} from './http/routes.js';
import {createStreams} from './http/stream.js';
import {boundConnections, closeServer, connectionBounds, listenOn, trackUpgrades, type ConnectionBounds} from './listener.js';
import type {Router} from './router.js';

export type GatewayOptions = {
	readonly control: ControlPlane;
	/** Who a token belongs to; undefined for no token and for one that is not known. */
	readonly authenticate: (token: string | undefined) => Identity | undefined;
	/** Undefined: plain HTTP, where kubectl sends no token. */
	readonly tls: {readonly cert: string; readonly key: string} | undefined;
	readonly version: string;
	readonly clock: Clock;
	/** Told of what must not happen: a handler that threw. `about` is the method and path, without the query. */
	readonly onBug?: (error: unknown, about: string) => void;
	/** Other than `connectionBounds`. */
	readonly bounds?: ConnectionBounds;
};

export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export type Gateway = {
	readonly listen: (host: string, port: number) => Promise<{readonly port: number}>;
	/** Ends watches and logs in order, lets requests that run finish for a moment, then cuts what is left. */
	readonly close: () => Promise<void>;
	/** Takes every upgrade from now on; without a listener they are answered like any GET. */
	readonly onUpgrade: (listener: UpgradeListener) => void;
};

type Door = {readonly options: GatewayOptions; readonly backend: Backend; readonly routes: Router<Route>};

const healthPaths = ['/healthz', '/livez', '/readyz'];

/** The gateway; it serves when `listen` resolves. */
export function createGateway(options: GatewayOptions): Gateway {
	const {control, clock, version} = options;
	const streams = createStreams();
	const door: Door = {options, backend: {control, clock, version, streams}, routes: createRoutes()};
	const server = createServer(options, (request, response) => void answer(door, request, response));
	const upgraded = new Set<Duplex>();
	boundConnections(server, options.bounds ?? connectionBounds, upgraded);
	return {
		async listen(host, port) {
			await listenOn(server, host, port);
			return {port: (server.address() as AddressInfo).port};
		},
		close() {
			const closed = closeServer(server, upgraded, clock);
			streams.endAll();
			return closed;
		},
		onUpgrade: listener => trackUpgrades(server, upgraded, listener),
	};
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

function createServer({tls, bounds = connectionBounds}: GatewayOptions, listener: Listener): Server {
	const common = {connectionsCheckingInterval: bounds.checkMs};
	if (tls === undefined) return http.createServer(common, listener);
	return https.createServer(
		{...common, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: bounds.headersMs, ALPNProtocols: ['http/1.1']},
		listener,
	);
}

async function answer(door: Door, request: IncomingMessage, response: ServerResponse): Promise<void> {
	// A connection that breaks is seen by `close`; without listeners its error would end the process.
	request.on('error', () => undefined);
	response.on('error', () => undefined);
	const {path, query} = partsOf(request.url ?? '/');
	if (healthPaths.includes(path)) return sendHealth(request, response);
	const identity = door.options.authenticate(tokenOf(request));
	if (identity === undefined) return sendFailure(response, failure('ERR_UNAUTHORIZED'));
	const method = request.method ?? 'GET';
	const found = door.routes.find(method, path);
	if (found.type === 'none') return sendFailure(response, failure('ERR_NO_SUCH_PATH'));
	if (found.type === 'otherMethod') {
		response.setHeader('allow', found.allowed.join(', '));
		return sendFailure(response, failure('ERR_METHOD_NOT_ALLOWED'));
	}
	const exchange: Exchange = {request, response, method, path, query, params: found.params, identity};
	try {
		await found.handler.handle(door.backend, exchange);
	} catch (error) {
		refuse(door, exchange, found.handler, error);
	}
}

function refuse({options}: Door, exchange: Exchange, route: Route, error: unknown): void {
	const {response} = exchange;
	if (error instanceof ClientGone) return;
	const about = route.targetOf === undefined ? {} : aboutTarget(route.targetOf(exchange));
	if (error instanceof AppError) return sendFailure(response, error.failure, about);
	options.onBug?.(error, `${exchange.method} ${exchange.path}`);
	sendFailure(response, failure('ERR_INTERNAL'), about);
	if (response.headersSent && !response.writableEnded) response.destroy();
}

function sendHealth(request: IncomingMessage, response: ServerResponse): void {
	if (request.method === 'GET' || request.method === 'HEAD') sendText(response, 200, 'text/plain; charset=utf-8', 'ok');
	else sendFailure(response, failure('ERR_METHOD_NOT_ALLOWED'));
}

function partsOf(url: string): {readonly path: string; readonly query: URLSearchParams} {
	const mark = url.indexOf('?');
	return mark < 0 ? {path: url, query: new URLSearchParams()} : {path: url.slice(0, mark), query: new URLSearchParams(url.slice(mark + 1))};
}

const tokenOf = ({headers}: IncomingMessage): string | undefined => /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
