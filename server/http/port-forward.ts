// `.../pods/P/portforward`: connections to ports of a pod. One over a WebSocket of ours, with `?port=`, as exec's sessions are; or as kubectl has it
// a tunnel of SPDY/3.1 with many of them, inside of a WebSocket or, where that is not to be had, instead of HTTP.

import type {Duplex} from 'node:stream';
import type {Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {remoteProtocol} from '../../api/remote-channels.js';
import {shown} from '../../api/shown.js';
import {isWebSocket, offeredSubprotocols, streamUpgrader} from '../../system/links/web-socket.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {askNode} from './node-ask.js';
import {refusal, valueOf} from './outcome.js';
import {nodeOf} from './pod-container.js';
import {isPort, runTunnel} from './port-forward-tunnel.js';
import {countOf} from './query.js';
import {remoteOf, type Asker} from './node-session.js';
import {requireRoom, takeOver} from './session-door.js';
import {causeOf} from './write.js';

/** What kubectl calls a WebSocket that carries SPDY, and SPDY itself. */
const tunnelProtocol = 'SPDY/3.1+portforward.k8s.io';
const spdy = 'SPDY/3.1';
const spdyProtocol = 'portforward.k8s.io';

const upgrader = streamUpgrader({subprotocol: tunnelProtocol, payloadBytes: limits.execMessageBytes});

/** Connects to ports of the pod. */
export async function portForward(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const {request, query, upgrade} = exchange;
	const pod = entryOf(backend, target).object as Pod;
	const {uid, name} = pod.metadata;
	const phase = pod.status?.phase ?? 'Pending';
	if (phase !== 'Running') throw refusal(`cannot forward ports of pod "${name}", which does not run; current phase is ${phase}`);
	const ask = asker(backend, exchange, target, nodeOf(pod));
	const open = (port: number) => ask<{readonly session: string}>({type: 'forwardOpen', request: {uid, port}}, limits.forwardConnectMs);
	const offered = upgrade !== undefined && isWebSocket(request) ? offeredSubprotocols(request) : [];
	if (offered.includes(remoteProtocol)) {
		const port = portOf(query);
		requireRoom(backend.streams);
		const {session} = valueOf(await open(port));
		return takeOver(backend, exchange, remoteOf(ask, session), {stdin: true, stdout: true, stderr: true, tty: false});
	}
	const takes = offered.includes(tunnelProtocol) ? takeWebSocket : upgrade !== undefined && asksForSpdy(exchange) ? takeSpdy : undefined;
	if (takes === undefined)
		throw refusal(`this is a WebSocket with the subprotocol ${tunnelProtocol} (or ${remoteProtocol} and a port), or an upgrade to ${spdy}`);
	requireRoom(backend.streams);
	takes(exchange, (tunnel, socket) => {
		const {end} = runTunnel(tunnel, {
			clock: backend.clock,
			addForward: backend.streams.addForward,
			async open(port) {
				const outcome = await open(port);
				return outcome.ok ? {ok: true, value: remoteOf(ask, outcome.value.session)} : outcome;
			},
		});
		backend.streams.addSession(socket, exchange.identity.name, end);
	});
}

function asker(backend: Backend, exchange: Exchange, target: Target, node: string): Asker {
	const cause = causeOf(exchange, target);
	return (message, waitMs = 0) => askNode(backend, {node, message, waitMs, cause, what: 'its pods are'});
}

function portOf(query: URLSearchParams): number {
	const port = countOf(query, 'port') ?? 0;
	if (!isPort(port)) throw refusal(`port must be a whole number from 1 to 65535, got ${shown(query.get('port') ?? '')}`);
	return port;
}

type Taken = (tunnel: Duplex, socket: Duplex) => void;

function takeWebSocket({request, upgrade}: Exchange, then: Taken): void {
	const taken = upgrade?.take();
	if (taken !== undefined) upgrader.upgrade(request, taken.socket, taken.head, tunnel => then(tunnel, taken.socket));
}

const asksForSpdy = ({request: {headers}}: Exchange): boolean => headers.upgrade?.toLowerCase() === spdy.toLowerCase();

function takeSpdy({upgrade}: Exchange, then: Taken): void {
	const taken = upgrade?.take();
	if (taken === undefined) return;
	const {socket, head} = taken;
	const headers = ['Connection: Upgrade', `Upgrade: ${spdy}`, `X-Stream-Protocol-Version: ${spdyProtocol}`];
	socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers.join('\r\n')}\r\n\r\n`);
	if (head.length > 0) socket.unshift(head);
	then(socket, socket);
}
