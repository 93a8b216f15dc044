// A TCP door of MQTT's own, plain or with TLS: no delay on small packets, and probes for peers that vanished without a word.

import {createServer, type AddressInfo, type Server, type Socket} from 'node:net';
import {createServer as createTlsServer} from 'node:tls';
import {limits} from '../../api/limits.js';

export type Door = {
	readonly port: number;
	/** Lets nobody in any more; ends when the last connection has. */
	readonly close: () => Promise<void>;
};

export type DoorPlace = {
	readonly host: string;
	readonly port: number;
	/** PEM; undefined: plain. */
	readonly tls?: {readonly cert: string; readonly key: string} | undefined;
};

/** Rejects when the port cannot be had; later errors (no file descriptors) are told and survived. */
export function openDoor(
	{host, port, tls}: DoorPlace,
	onSocket: (socket: Socket, about: string) => void,
	onError: (error: Error) => void,
): Promise<Door> {
	const server = serverOf(tls, socket => onSocket(socket, `tcp ${socket.remoteAddress ?? 'unknown'}:${socket.remotePort ?? 0}`));
	return new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen({host, port}, () => {
			server.off('error', reject);
			server.on('error', onError);
			resolve({
				port: (server.address() as AddressInfo).port,
				close: () => new Promise(closed => server.close(() => closed())),
			});
		});
	});
}

function serverOf(tls: DoorPlace['tls'], onSocket: (socket: Socket) => void): Server {
	const options = {noDelay: true, keepAlive: true, keepAliveInitialDelay: limits.tcpKeepAliveMs};
	if (tls === undefined) return createServer(options, onSocket);
	const secure = {...options, ...tls, minVersion: 'TLSv1.2', ALPNProtocols: ['mqtt'], handshakeTimeout: limits.brokerLoginMs} as const;
	return createTlsServer(secure, socket => {
		socket.on('error', () => socket.destroy());
		onSocket(socket);
	});
}
