// The door for browsers (`--web`): health, a page that says what runs, and the upgrade to MQTT over WebSocket. But for calls of functions
// and scrapes of metrics it needs no login, so it shows nothing of the users' objects and no secret. Plain http on loopback; elsewhere TLS, since a login comes this way.

import http from 'node:http';
import type {IncomingMessage, ServerResponse} from 'node:http';
import https from 'node:https';
import {isIP} from 'node:net';
import type {Duplex} from 'node:stream';
import {isMetricsPath} from '../api/metrics.js';
import type {Clock} from '../system/time/clock.js';
import type {Newcomers} from '../system/broker/newcomers.js';
import {sayGoodbye} from './goodbye.js';
import {boundConnections, closeServer, connectionBounds, listenOn, trackUpgrades} from './listener.js';
import {hintAtTls} from './tls-door.js';

export type WebOptions = {
	/** What the page tells; asked at each request. */
	readonly about: () => WebAbout;
	/** A call of a function, below `/functions/`, or for the answer of one, and a scrape of metrics: answered as at the API's door. */
	readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
	/** An upgrade at `/mqtt`. Others are refused. */
	readonly onMqttUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
	/** Undefined: plain http. */
	readonly tls: {readonly cert: string; readonly key: string} | undefined;
	/** Whether the page is served under this name; addresses are no names. */
	readonly serves: (name: string) => boolean;
	/** Those of all doors. */
	readonly newcomers: Newcomers;
	readonly clock: Clock;
};

export type WebAbout = {readonly version: string; readonly api: string; readonly mqtt: string};

export type Web = {
	readonly listen: (host: string, port: number) => Promise<{readonly port: number}>;
	/** From the next handshake on; of no use to a plain door. */
	readonly useCertificate: (pair: {readonly cert: string; readonly key: string}) => void;
	/** Lets running answers finish for a moment; upgraded connections are cut. */
	readonly close: () => Promise<void>;
};

const minVersion = 'TLSv1.2';

/** What takes a login. */
const isOfApi = (path: string): boolean => path.startsWith('/functions/') || path.startsWith('/troupe/v1/calls/') || isMetricsPath(path);

/** The web door. */
export function createWeb({about, onRequest, onMqttUpgrade, tls, serves, newcomers, clock}: WebOptions): Web {
	const common = {connectionsCheckingInterval: connectionBounds.checkMs};
	const isForeign = ({headers: {host}}: IncomingMessage): boolean => host !== undefined && !isServed(host, serves);
	const listener = (request: IncomingMessage, response: ServerResponse): void => {
		if (!isForeign(request) && isOfApi(pathOf(request))) return onRequest(request, response);
		// Nobody logs in for anything else: a connection is good for one answer.
		response.shouldKeepAlive = false;
		if (isForeign(request)) send(response, 421, plain, foreignText);
		else answer(about, request, response);
	};
	const server =
		tls === undefined
			? http.createServer(common)
			: https.createServer({...common, ...tls, minVersion, handshakeTimeout: connectionBounds.headersMs});
	const upgraded = new Set<Duplex>();
	boundConnections(server, {bounds: connectionBounds, newcomers, upgraded, listener});
	if (server instanceof https.Server) hintAtTls(server, {others: upgraded, newcomers});
	trackUpgrades(server, upgraded, (request, socket, head) => {
		if (isForeign(request)) sayGoodbye(socket, 421);
		else if (pathOf(request) === '/mqtt') onMqttUpgrade(request, socket, head);
		else sayGoodbye(socket, 404);
	});
	return {
		listen: (host, port) => listenOn(server, host, port),
		useCertificate({cert, key}) {
			if (server instanceof https.Server) server.setSecureContext({cert, key, minVersion});
		},
		close: () => closeServer(server, upgraded, clock),
	};
}

const plain = 'text/plain; charset=utf-8';

const foreignText =
	'this port is not served under that name; call it by its address, or by a name that its certificate has (--advertise)\n';

/**
 * Whether a Host header names this door. A page of another site can have its own name point here, and would then be of this origin; no
 * page can do that with an address.
 */
function isServed(host: string, serves: (name: string) => boolean): boolean {
	const url = `http://${host}`;
	if (!URL.canParse(url)) return false;
	const name = new URL(url).hostname.replace(/\.$/, '');
	return isIP(name.replace(/^\[|\]$/g, '')) !== 0 || name === 'localhost' || serves(name);
}

const pathOf = (request: IncomingMessage): string => (request.url ?? '/').split('?', 1)[0] ?? '/';

function answer(about: () => WebAbout, request: IncomingMessage, response: ServerResponse): void {
	const isRead = request.method === 'GET' || request.method === 'HEAD';
	const path = pathOf(request);
	if (path === '/healthz') return send(response, isRead ? 200 : 405, plain, isRead ? 'ok\n' : 'only GET\n');
	if (path === '/')
		return send(response, isRead ? 200 : 405, isRead ? 'text/html; charset=utf-8' : plain, isRead ? page(about()) : 'only GET\n');
	send(response, 404, plain, 'not found\n');
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
	response.writeHead(status, {
		'content-type': type,
		'content-length': Buffer.byteLength(text),
		'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
		'x-content-type-options': 'nosniff',
		'cache-control': 'no-store',
	});
	response.end(text);
}

const page = ({version, api, mqtt}: WebAbout): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Troupe</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:3em auto;padding:0 1em;color:#222}code{background:#f2f2f2;padding:.1em .3em}</style>
<h1>Troupe ${escaped(version)}</h1>
<p>A cluster is running here.</p>
<ul>
<li>API: <code>${escaped(api)}</code></li>
<li>MQTT: <code>${escaped(mqtt)}</code>, and over WebSocket at <code>/mqtt</code> on this port</li>
<li>Health: <a href="/healthz">/healthz</a></li>
</ul>
<p>Try <code>troupe get pods -A</code> and <code>troupe tree</code>. The documentation is in <code>README.md</code> and <code>docs/</code> of the project.</p>
</html>
`;

const entities: Readonly<Record<string, string>> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};
const escaped = (text: string): string => text.replace(/[&<>"']/g, character => entities[character] ?? character);
