// A TCP door of MQTT's own, plain or with TLS: no delay on small packets, and probes for peers that vanished without a word.

import {createServer, type AddressInfo, type Socket} from 'node:net';
import {createServer as createTlsServer, type Server as TlsServer} from 'node:tls';
import {limits} from '../../api/limits.js';
import {whenHello} from './client-hello.js';
import type {Newcomers} from './newcomers.js';

export type Door = {
	readonly port: number;
	/** From the next handshake on; of no use to a plain door. */
	readonly useCertificate: (pair: TlsPair) => void;
	/** Lets no client in any more; ends when the last connection has. */
	readonly close: () => Promise<void>;
};

/** PEM. */
export type TlsPair = {readonly cert: string; readonly key: string};

export type DoorPlace = {
	readonly host: string;
	readonly port: number;
	/** Undefined: plain. */
	readonly tls?: TlsPair | undefined;
	/** Where connections are until they log in. */
	readonly newcomers: Newcomers;
};

const minVersion = 'TLSv1.2';

/** Rejects when the port cannot be had; later errors (no file descriptors) are told and survived. */
export function openDoor(
	{host, port, tls, newcomers}: DoorPlace,
	onSocket: (socket: Socket, about: string, onLogin: () => void) => void,
	onError: (error: Error) => void,
): Promise<Door> {
	const take = (socket: Socket): void => {
		socket.on('error', () => socket.destroy());
		onSocket(socket, `tcp ${socket.remoteAddress ?? 'unknown'}:${socket.remotePort ?? 0}`, () => newcomers.admit(socket));
	};
	const secure = tls === undefined ? undefined : secureOf(tls, take);
	const server = createServer({noDelay: true, keepAlive: true, keepAliveInitialDelay: limits.tcpKeepAliveMs}, socket => {
		newcomers.add(socket);
		if (secure === undefined) return take(socket);
		const begin = (): void => void secure.emit('connection', socket);
		const noTls = (): void => void socket.destroy();
		whenHello(socket, () => newcomers.whenTurn(socket, begin), noTls);
	});
	return new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen({host, port}, () => {
			server.off('error', reject);
			server.on('error', onError);
			resolve({
				port: (server.address() as AddressInfo).port,
				useCertificate: ({cert, key}) => secure?.setSecureContext({cert, key, minVersion}),
				close: () => new Promise(closed => server.close(() => closed())),
			});
		});
	});
}

/** Shakes hands on connections that are handed to it, and never listens itself. */
function secureOf(pair: TlsPair, onSocket: (socket: Socket) => void): TlsServer {
	const server = createTlsServer({...pair, minVersion, ALPNProtocols: ['mqtt'], handshakeTimeout: limits.newcomerMs}, onSocket);
	// A handshake that takes too long is only told.
	return server.on('tlsClientError', (_error, socket) => socket.destroy());
}
