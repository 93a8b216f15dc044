// The API's door: HTTPS, Kubernetes-shaped. Says who calls, finds what answers, and words all that goes wrong as a Status.
//
// Bad input of any sort ends in a 4xx; a 500 is a bug of ours and is reported as one. No answer before the login tells a
// stranger which paths there are.

import http from 'node:http';
import type {IncomingMessage, Server, ServerResponse} from 'node:http';
import https from 'node:https';
import type {Duplex} from 'node:stream';
import type {TLSSocket} from 'node:tls';
import {AppError, failure} from '../api/errors.js';
import {limits} from '../api/limits.js';
import {caPath} from '../api/join.js';
import {isMetricsPath, metricsPath, metricsType} from '../api/metrics.js';
import type {Identity} from '../api/roles.js';
import type {Clock} from '../system/time/clock.js';
import {createNewcomers, type Newcomers} from '../system/broker/newcomers.js';
import type {Access} from './access.js';
import type {ArtifactStore} from './artifact-store.js';
import type {ControlPlane} from './control-plane.js';
import {ClientGone} from './http/body.js';
import type {FunctionCalls} from './functions/calls.js';
import type {OpenDeliveries} from './functions/deliveries.js';
import {aboutTarget, type Exchange} from './http/exchange.js';
import {sendFailure, sendText} from './http/reply.js';
import {onAnswered, otherRequest, requestWords, type RequestWords} from './http/request-words.js';
import type {SlurmJobs} from './slurm/slurm-jobs.js';
import {createRoutes, type Route} from './http/routes.js';
import {mayScrape} from './http/scrape.js';
import {createStreams, type Streams} from './http/stream.js';
import type {Inspection} from './inspect/inspection.js';
import type {AnsweredRequest} from './metrics/instruments.js';
import type {Scrapes} from './metrics/scrapes.js';
import {createLoginConnections, type LoginConnections} from './login-connections.js';
import {createRunning, type Running} from './running.js';
import {boundConnections, closeServer, connectionBounds, listenOn, type ConnectionBounds} from './listener.js';
import type {Router} from './router.js';
import type {Seals} from './seal.js';
import {divide, httpProtocol, mqttProtocol} from './tls-door.js';
import {asRequests, type Upgrades} from './upgrades.js';

/** What answers: this server's term, or none, since it stands by. */
export type Upstream =
	| {
			readonly type: 'serving';
			readonly control: ControlPlane;
			readonly inspection: Inspection;
			/** Who a token belongs to; undefined for no token and for one that is not known. */
			readonly authenticate: (token: string | undefined) => Identity | undefined;
			readonly access: Access | undefined;
			/** Undefined where functions are not called. */
			readonly calls?: FunctionCalls | undefined;
			readonly deliveries?: OpenDeliveries | undefined;
			/** Undefined where Secrets are neither taken nor shown. */
			readonly seals?: Seals | undefined;
			/** Undefined where no code of functions is kept. */
			readonly artifacts?: ArtifactStore | undefined;
			readonly slurm?: SlurmJobs | undefined;
	  }
	| Standby;

type Standby = {
	readonly type: 'standby';
	readonly leader: string | undefined;
	/** False: no server can lead, and a client waits for the store. */
	readonly storeAnswers?: boolean;
	/** Who a token belongs to, for what a server tells of itself; undefined: it tells nothing. Rejects where that cannot be found out. */
	readonly authenticate?: (token: string) => Promise<Identity | undefined>;
};

export type Certificate = {readonly ca: string; readonly cert: string; readonly key: string};

export type GatewayOptions = {
	/** Asked at each request. */
	readonly upstream: () => Upstream;
	/** Undefined: plain HTTP, where kubectl sends no token. `later`: handshakes wait until it is known. */
	readonly tls: Certificate | 'later' | undefined;
	/** Takes connections that speak MQTT inside TLS. */
	readonly onMqtt?: (socket: TLSSocket) => void;
	readonly version: string;
	readonly clock: Clock;
	/** Told of what must not happen: a handler that threw. `about` is the method and path, without the query. */
	readonly onBug?: (error: unknown, about: string) => void;
	/** Undefined: nothing is measured. */
	readonly scrapes?: Scrapes;
	/** Told of each request once its answer is out. */
	readonly onAnswered?: (request: AnsweredRequest) => void;
	/** Other than `connectionBounds`. */
	readonly bounds?: ConnectionBounds;
	/** Those of all doors; undefined: this one's own. */
	readonly newcomers?: Newcomers;
};

export type Gateway = {
	readonly listen: (host: string, port: number) => Promise<{readonly port: number}>;
	/** Answers a request that came in at another door of this server, whose bounds it is under. */
	readonly take: (request: IncomingMessage, response: ServerResponse) => void;
	/** Ends watches, logs and sessions in order, lets requests that run finish for a moment, then cuts what is left. */
	readonly close: () => Promise<void>;
	/** Ends watches, logs and sessions, and resolves when requests that run are answered, or after a moment. */
	readonly settle: () => Promise<void>;
	/** The term is over: ends watches, logs and sessions, and every connection that waits for its next request. */
	readonly endTerm: () => void;
	/** The login is not good any more: ends its watches, logs and sessions. */
	readonly endOf: (login: string) => void;
	/** From the next handshake on. */
	readonly useCertificate: (certificate: Omit<Certificate, 'ca'> & {readonly ca: string | undefined}) => void;
};

type State = {
	readonly options: GatewayOptions;
	readonly streams: Streams;
	readonly routes: Router<Route>;
	readonly upgradeOf: Upgrades['of'];
	readonly newcomers: Newcomers;
	readonly logins: LoginConnections;
	readonly running: Running;
	/** PEM; undefined as long as there is none. */
	ca: string | undefined;
};

const healthPaths = ['/healthz', '/livez', '/readyz'];

/** The gateway; it serves when `listen` resolves. */
export function createGateway(options: GatewayOptions): Gateway {
	const {clock, bounds = connectionBounds} = options;
	const newcomers = options.newcomers ?? createNewcomers({clock, bounds: {connections: limits.newcomers, loginMs: bounds.headersMs}});
	const streams = createStreams();
	const server = createServer(options);
	const upgrades = asRequests(server);
	const ca = typeof options.tls === 'object' ? options.tls.ca : undefined;
	const logins = createLoginConnections(bounds);
	const state: State = {options, streams, routes: createRoutes(), upgradeOf: upgrades.of, newcomers, logins, running: createRunning(), ca};
	const others = new Set<Duplex>();
	const upgraded = {has: (socket: Duplex) => others.has(socket) || upgrades.taken.has(socket)};
	boundConnections(server, {bounds, newcomers, upgraded, listener: (request, response) => void answer(state, request, response)});
	/** They wait for a certificate; undefined: there is one. */
	let handshakes: (() => void)[] | undefined = options.tls === 'later' ? [] : undefined;
	const whenReady = (ready: () => void): void => void (handshakes === undefined ? ready() : handshakes.push(ready));
	if (isSecure(server)) divide(server, {others, newcomers, whenReady}, options.onMqtt ?? (socket => socket.destroy()));
	return {
		listen: (host, port) => listenOn(server, host, port),
		take: (request, response) => void answer(state, request, response),
		close() {
			const closed = closeServer(server, others, clock, upgrades.taken);
			streams.endAll();
			return closed;
		},
		settle() {
			streams.endAll();
			return state.running.settled(clock);
		},
		endTerm() {
			streams.endAll();
			server.closeIdleConnections();
		},
		endOf: streams.endOf,
		useCertificate({ca, cert, key}) {
			state.ca = ca;
			if (isSecure(server)) server.setSecureContext({cert, key, minVersion: tlsVersion});
			const waiting = handshakes ?? [];
			handshakes = undefined;
			for (const begin of waiting) begin();
		},
	};
}

const isSecure = (server: Server): server is https.Server => server instanceof https.Server;

const tlsVersion = 'TLSv1.2';

function createServer({tls, onMqtt, bounds = connectionBounds}: GatewayOptions): Server {
	const common = {connectionsCheckingInterval: bounds.checkMs};
	if (tls === undefined) return http.createServer(common);
	const pair = tls === 'later' ? {} : {cert: tls.cert, key: tls.key};
	const ALPNProtocols = onMqtt === undefined ? [httpProtocol] : [httpProtocol, mqttProtocol];
	return https.createServer({...common, ...pair, minVersion: tlsVersion, handshakeTimeout: bounds.headersMs, ALPNProtocols});
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
	const {options, streams, routes} = state;
	// A connection that breaks is seen by `close`; without listeners its error would end the process.
	request.on('error', () => undefined);
	response.on('error', () => undefined);
	// Until its client has logged in, a connection is good for one answer.
	const {shouldKeepAlive} = response;
	response.shouldKeepAlive = false;
	const upstream = options.upstream();
	const counted = countedAs(state, response);
	const {path, query} = partsOf(request.url ?? '/');
	if (state.upgradeOf(request) !== undefined && hasBody(request))
		return sendFailure(response, failure('ERR_BAD_REQUEST', {message: noBody}));
	if (healthPaths.includes(path)) return sendHealth(request, response, path, upstream);
	if (path === caPath && state.ca !== undefined) return sendAuthority(request, response, state.ca);
	if (upstream.type === 'standby') {
		if (path === metricsPath && isRead(request)) return sendOwnMetrics(state, request, response, upstream);
		return sendStandby(response, upstream);
	}
	const identity = upstream.authenticate(tokenOf(request));
	if (identity === undefined) return sendFailure(response, failure('ERR_UNAUTHORIZED'));
	if (!letIn(state, request, response, identity)) return sendFailure(response, failure('ERR_TOO_MANY_CONNECTIONS', {login: identity.name}));
	response.shouldKeepAlive = shouldKeepAlive;
	// Of a request that a node passes on the header is its client's, and for the function.
	if (identity.role !== 'node' && impersonates(request)) return sendFailure(response, failure('ERR_FORBIDDEN', {message: noImpersonation}));
	if (identity.role === 'metrics' && !isMetricsPath(path)) return sendFailure(response, failure('ERR_FORBIDDEN', {message: metricsAlone}));
	const method = request.method ?? 'GET';
	const found = routes.find(method, path);
	if (found.type === 'none') return sendFailure(response, failure('ERR_NO_SUCH_PATH'));
	if (found.type === 'otherMethod') {
		response.setHeader('allow', found.allowed.join(', '));
		return sendFailure(response, failure('ERR_METHOD_NOT_ALLOWED'));
	}
	state.running.add(response);
	const {clock, version} = options;
	const upgrade = state.upgradeOf(request);
	const exchange: Exchange = {request, response, method, path, query, params: found.params, identity, upgrade};
	counted(requestWords(found.handler, exchange));
	try {
		const {control, inspection, access, calls, deliveries, seals, artifacts, slurm} = upstream;
		const {scrapes} = options;
		const backend = {control, inspection, access, calls, deliveries, seals, artifacts, slurm, scrapes, clock, version, streams};
		await found.handler.handle(backend, exchange);
	} catch (error) {
		refuse(state, exchange, found.handler, error);
	}
}

const metricsAlone = 'a login of the role metrics reads /metrics, and what is below it, alone';

/** The request is counted once it is answered, as what it turns out to be by then. */
function countedAs({options: {clock, onAnswered: told}}: State, response: ServerResponse): (words: RequestWords) => void {
	if (told === undefined) return () => undefined;
	const begunAtMs = clock.monotonicMs();
	let words = otherRequest;
	onAnswered(response, status => told({...words, status, seconds: (clock.monotonicMs() - begunAtMs) / 1_000}));
	return next => void (words = next);
}

/** Of a server that does not lead: what its own process does. */
async function sendOwnMetrics(
	{options: {scrapes}, newcomers}: State,
	request: IncomingMessage,
	response: ServerResponse,
	standby: Standby,
): Promise<void> {
	const token = tokenOf(request);
	if (scrapes === undefined || standby.authenticate === undefined) return sendStandby(response, standby);
	try {
		const identity = token === undefined ? undefined : await standby.authenticate(token);
		if (identity === undefined) return sendFailure(response, failure('ERR_UNAUTHORIZED'));
		newcomers.admit(request.socket);
		if (!mayScrape(identity))
			return sendFailure(response, failure('ERR_FORBIDDEN', {message: `User "${identity.name}" cannot get "${metricsPath}"`}));
		sendText(response, 200, metricsType, await scrapes.ofServer());
	} catch {
		// The store does not tell which logins there are.
		sendStandby(response, standby);
	}
}

/** It has logged in, and counts as one of the login's connections. */
function letIn({newcomers, logins}: State, request: IncomingMessage, response: ServerResponse, {name}: Identity): boolean {
	const {socket} = request;
	if (!logins.claim(socket, name)) return false;
	newcomers.admit(socket);
	response.once('close', () => logins.release(socket));
	return true;
}

/** Kubernetes' way to act under another login. It is not there, and a request that was meant so must not be carried out as one's own. */
const impersonates = ({headers}: IncomingMessage): boolean => Object.keys(headers).some(name => name.startsWith('impersonate-'));

const noImpersonation = 'nobody may act as somebody else here; leave the Impersonate headers out (kubectl: --as, --as-group, --as-uid)';

function refuse({options}: State, exchange: Exchange, route: Route, error: unknown): void {
	const {response} = exchange;
	if (error instanceof ClientGone) return;
	const about = route.targetOf === undefined ? {} : aboutTarget(route.targetOf(exchange));
	if (!(error instanceof AppError)) options.onBug?.(error, `${exchange.method} ${exchange.path}`);
	sendFailure(response, error instanceof AppError ? error.failure : failure('ERR_INTERNAL'), about);
	// Half an answer must not look like a whole one, nor wait for ever.
	if (response.headersSent && !response.writableEnded) response.destroy();
}

/** A standby lives, and is not ready: a load balancer over the servers asks `readyz`. */
function sendHealth(request: IncomingMessage, response: ServerResponse, path: string, {type}: Upstream): void {
	if (!isRead(request)) return sendFailure(response, failure('ERR_METHOD_NOT_ALLOWED'));
	const status = type === 'standby' && path === '/readyz' ? 503 : 200;
	sendText(response, status, 'text/plain; charset=utf-8', type === 'standby' ? 'standby' : 'ok');
}

/** To every client, since it is what a pin is compared with, and it is shown in each handshake anyway. */
function sendAuthority(request: IncomingMessage, response: ServerResponse, ca: string): void {
	if (isRead(request)) sendText(response, 200, 'application/x-pem-file', ca);
	else sendFailure(response, failure('ERR_METHOD_NOT_ALLOWED'));
}

function sendStandby(response: ServerResponse, {leader, storeAnswers = true}: Standby): void {
	// Also when it is not known: by this header a client tells a standby from a busy server.
	response.setHeader('troupe-leader', leader ?? '');
	sendFailure(response, failure('ERR_STANDBY', {leader, storeAnswers}));
}

/** What follows the head of an upgrade is of the other protocol, so its body was not read. */
const noBody = 'a request with an Upgrade header cannot carry a body here; leave the header out';

const hasBody = ({headers}: IncomingMessage): boolean =>
	headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const isRead = ({method}: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

function partsOf(url: string): {readonly path: string; readonly query: URLSearchParams} {
	const mark = url.indexOf('?');
	return mark < 0 ? {path: url, query: new URLSearchParams()} : {path: url.slice(0, mark), query: new URLSearchParams(url.slice(mark + 1))};
}

const tokenOf = ({headers}: IncomingMessage): string | undefined => /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
