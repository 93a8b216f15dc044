// A TCP door of MQTT's own, plain or with TLS: no delay on small packets, and probes for peers that vanished without a word.

import {createServer, type AddressInfo, type Server, type Socket} from 'node:net';
import {createServer as createTlsServer, Server as TlsServer} from 'node:tls';
import {limits} from '../../api/limits.js';

export type Door = {
	readonly port: number;
	/** From the next handshake on; of no use to a plain door. */
	readonly useCertificate: (pair: TlsPair) => void;
	/** Lets nobody in any more; ends when the last connection has. */
	readonly close: () => Promise<void>;
};

/** PEM. */
export type TlsPair = {readonly cert: string; readonly key: string};

export type DoorPlace = {
	readonly host: string;
	readonly port: number;
	/** Undefined: plain. */
	readonly tls?: TlsPair | undefined;
	/** Other than `doorBounds`. */
	readonly bounds?: DoorBounds;
};

/** Connections, those that still shake hands among them, and how long a handshake may take. */
export type DoorBounds = {readonly connections: number; readonly handshakeMs: number};

const doorBounds: DoorBounds = {connections: limits.brokerConnections, handshakeMs: limits.brokerLoginMs};

const minVersion = 'TLSv1.2';

/** Rejects when the port cannot be had; later errors (no file descriptors) are told and survived. */
export function openDoor(
	{host, port, tls, bounds = doorBounds}: DoorPlace,
	onSocket: (socket: Socket, about: string) => void,
	onError: (error: Error) => void,
): Promise<Door> {
	const server = serverOf(tls, bounds, socket => onSocket(socket, `tcp ${socket.remoteAddress ?? 'unknown'}:${socket.remotePort ?? 0}`));
	server.maxConnections = bounds.connections;
	return new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen({host, port}, () => {
			server.off('error', reject);
			server.on('error', onError);
			resolve({
				port: (server.address() as AddressInfo).port,
				useCertificate({cert, key}) {
					if (server instanceof TlsServer) server.setSecureContext({cert, key, minVersion});
				},
				close: () => new Promise(closed => server.close(() => closed())),
			});
		});
	});
}

function serverOf(tls: TlsPair | undefined, {handshakeMs}: DoorBounds, onSocket: (socket: Socket) => void): Server {
	const options = {noDelay: true, keepAlive: true, keepAliveInitialDelay: limits.tcpKeepAliveMs};
	if (tls === undefined) return createServer(options, onSocket);
	const secure = {...options, ...tls, minVersion, ALPNProtocols: ['mqtt'], handshakeTimeout: handshakeMs} as const;
	const server = createTlsServer(secure, socket => {
		socket.on('error', () => socket.destroy());
		onSocket(socket);
	});
	// A handshake that takes too long is only told.
	return server.on('tlsClientError', (_error, socket) => socket.destroy());
}
