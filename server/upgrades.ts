// Requests that ask for another protocol. They come in like all others, so that login, rights, paths and errors are the same; what
// answers may then take the connection over instead.

import {ServerResponse, type IncomingMessage, type Server} from 'node:http';
import type {Server as TlsServer} from 'node:https';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';

export type Upgrade = {
	/**
	 * The connection, and what came on it behind the request; nothing is answered by HTTP any more. Undefined when it is gone, or
	 * answered already.
	 */
	readonly take: () => {readonly socket: Duplex; readonly head: Buffer} | undefined;
};

export type Upgrades = {
	/** What a request asks to become; undefined of a request like any other. */
	readonly of: (request: IncomingMessage) => Upgrade | undefined;
	/** Connections that were taken over. The handler that took one ends it. */
	readonly taken: ReadonlySet<Duplex>;
};

/** Hands every upgrade to the `request` listeners of a server. Their answer ends the connection unless it is taken. */
export function asRequests(server: Server | TlsServer): Upgrades {
	const asked = new WeakMap<IncomingMessage, Upgrade>();
	const taken = new Set<Duplex>();
	server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
		socket.on('error', () => socket.destroy());
		const response = new ServerResponse(request);
		response.shouldKeepAlive = false;
		response.assignSocket(socket);
		const drained = (): void => void response.emit('drain');
		const finished = (): void => {
			// A client that was refused must be able to read why, and is heard until it has closed its side.
			socket.resume();
			socket.on('end', () => socket.destroy());
			socket.end();
		};
		socket.on('drain', drained);
		response.once('finish', finished);
		asked.set(request, {
			take() {
				if (response.headersSent || socket.destroyed || !socket.writable) return undefined;
				response.off('finish', finished);
				response.detachSocket(socket);
				socket.off('drain', drained);
				taken.add(socket);
				socket.once('close', () => taken.delete(socket));
				return {socket, head};
			},
		});
		server.emit('request', request, response);
	});
	return {of: request => asked.get(request), taken};
}
