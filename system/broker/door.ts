// The plain TCP door: no delay on small packets, and probes for peers that vanished without a word.

import {createServer, type AddressInfo, type Socket} from 'node:net';
import {limits} from '../../api/limits.js';

export type Door = {
	readonly port: number;
	/** Lets nobody in any more; ends when the last connection has. */
	readonly close: () => Promise<void>;
};

/** Rejects when the port cannot be had; later errors (no file descriptors) are told and survived. */
export function openDoor(
	host: string,
	port: number,
	onSocket: (socket: Socket, about: string) => void,
	onError: (error: Error) => void,
): Promise<Door> {
	const options = {noDelay: true, keepAlive: true, keepAliveInitialDelay: limits.tcpKeepAliveMs};
	const server = createServer(options, socket => onSocket(socket, `tcp ${socket.remoteAddress ?? 'unknown'}:${socket.remotePort ?? 0}`));
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
