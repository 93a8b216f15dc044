// What every door of ours has in common: how many may come in, how long they may take, and how a busy port is told.

import type {IncomingMessage, RequestListener, Server, ServerResponse} from 'node:http';
import type {Server as TlsServer} from 'node:https';
import type {AddressInfo, Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import {AppError} from '../api/errors.js';
import {limits} from '../api/limits.js';
import type {Clock} from '../system/time/clock.js';
import type {Newcomers} from '../system/broker/newcomers.js';
import {endSoon, sayGoodbye} from './goodbye.js';
import {createRequestTurns} from './request-turns.js';

/** What a door gives to those who come in. */
export const connectionBounds = {
	/** Those that have logged in, of all and of one login. */
	connections: limits.httpConnections,
	perLogin: limits.httpConnectionsPerLogin,
	/** To the end of the headers; for the handshake of TLS, too. */
	headersMs: limits.httpHeadersMs,
	/** From the first byte of a request to its last. */
	requestMs: limits.httpRequestMs,
	keepAliveMs: limits.httpKeepAliveMs,
	/** For a reader that takes nothing while something waits for it. */
	stallMs: limits.httpStallMs,
	/** How often a server looks for requests that take too long. */
	checkMs: limits.httpCheckMs,
};

export type ConnectionBounds = Readonly<Record<keyof typeof connectionBounds, number>>;

export type BoundedServer = {
	readonly bounds: ConnectionBounds;
	readonly newcomers: Newcomers;
	/** What was upgraded is its taker's to bound. */
	readonly upgraded: Pick<ReadonlySet<Duplex>, 'has'>;
	/** Hears one request of a connection at a time. */
	readonly listener: RequestListener;
};

/** Bounds what people hold: headers that trickle, bodies that never end, answers that are not read, peers that are gone. */
export function boundConnections(server: Server | TlsServer, {bounds, newcomers, upgraded, listener}: BoundedServer): void {
	server.headersTimeout = bounds.headersMs;
	server.requestTimeout = bounds.requestMs;
	server.keepAliveTimeout = bounds.keepAliveMs;
	const turns = createRequestTurns(listener);
	server.on('request', (request: IncomingMessage, response: ServerResponse) => {
		turns.take(request, response);
		// A server that closes waits for kept-alive connections: each goes as soon as its answer is out.
		response.once('close', () => void (server.listening || server.closeIdleConnections()));
	});
	// No byte moved for so long: an answer that has nothing to say (a watch) stays, everything else goes.
	server.timeout = bounds.stallMs;
	server.on('timeout', (socket: Socket) => {
		const answer = turns.answerOn(socket);
		const isQuiet = answer !== undefined && answer.writableLength === 0 && socket.writableLength === 0;
		if (!isQuiet && !upgraded.has(socket)) socket.destroy();
	});
	server.on('connection', (socket: Socket) => {
		newcomers.add(socket);
		socket.setNoDelay(true);
		// A peer that vanished without a word is found by the kernel, also under a watch that has nothing to say.
		socket.setKeepAlive(true, limits.tcpKeepAliveMs);
	});
	server.on('clientError', ({code}: NodeJS.ErrnoException, socket: Socket) => {
		// What is answered already has all it gets.
		if (turns.answerOn(socket)?.writableEnded === true) return socket.destroySoon();
		if (turns.answerOn(socket) !== undefined || !socket.writable || code === 'ECONNRESET') return void socket.destroy();
		sayGoodbye(socket, badRequests[code ?? ''] ?? 400);
	});
}

const badRequests: Readonly<Record<string, number>> = {
	HPE_HEADER_OVERFLOW: 431,
	HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
	ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Listens; answers with the port, which is another one than 0. A port that cannot be had is an error that names it. */
export function listenOn(server: Server | TlsServer, host: string, port: number): Promise<{readonly port: number}> {
	return new Promise((resolve, reject) => {
		const onError = (error: NodeJS.ErrnoException): void =>
			reject(new AppError('ERR_NOT_REACHABLE', {message: `cannot listen on ${host}:${port}: ${wordOf(error)}`, code: error.code}, error));
		server.once('error', onError);
		server.listen({host, port}, () => {
			server.off('error', onError);
			resolve({port: (server.address() as AddressInfo).port});
		});
	});
}

function wordOf(error: NodeJS.ErrnoException): string {
	switch (error.code) {
		case 'EADDRINUSE':
			return 'the port is in use';
		case 'EACCES':
			return 'ports below 1024 need more rights';
		case 'EADDRNOTAVAIL':
			return 'this host has no such address';
		default:
			return error.code ?? 'unknown error';
	}
}

/** Hands upgrades on; the sockets are remembered, because a server that closes waits for them and does not cut them itself. */
export function trackUpgrades(
	server: Server | TlsServer,
	upgraded: Set<Duplex>,
	listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
): void {
	server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
		upgraded.add(socket);
		socket.on('error', () => socket.destroy());
		socket.once('close', () => upgraded.delete(socket));
		listener(request, socket, head);
	});
}

/**
 * Takes no more connections, lets running answers finish for `limits.httpCloseMs`, then cuts what is left. Upgraded connections are ended
 * at once, those among `sessions` have the same time to say goodbye.
 */
export function closeServer(
	server: Server | TlsServer,
	upgraded: ReadonlySet<Duplex>,
	clock: Clock,
	sessions: ReadonlySet<Duplex> = new Set(),
): Promise<void> {
	return new Promise(resolve => {
		const cancel = clock.after(limits.httpCloseMs, () => {
			server.closeAllConnections();
			for (const socket of [...sessions, ...upgraded]) socket.destroy();
		});
		server.close(() => {
			cancel();
			resolve();
		});
		server.closeIdleConnections();
		for (const socket of upgraded) endSoon(socket);
	});
}
