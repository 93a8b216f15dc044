// Listening sockets as they come from the data plane before this one. They take connections and datagrams from the moment they are here: these
// wait until somebody listens.

import type {RemoteInfo, Socket as DatagramSocket} from 'node:dgram';
import {Server, type Socket} from 'node:net';
import {limits} from '../../../api/limits.js';
import type {SocketMark} from './listeners.js';

export type HeldSocket = {
	readonly mark: SocketMark;
	/** Gives it to who listens now, and what has come meanwhile; undefined: it is another sort. */
	readonly server: (onConnection: (socket: Socket) => void) => Server | undefined;
	readonly datagrams: (onMessage: (data: Buffer, from: RemoteInfo) => void) => DatagramSocket | undefined;
	readonly drop: () => void;
};

export const holdSocket = (mark: SocketMark, socket: Server | DatagramSocket): HeldSocket =>
	socket instanceof Server ? holdServer(mark, socket) : holdDatagrams(mark, socket);

function holdServer(mark: SocketMark, server: Server): HeldSocket {
	const came: Socket[] = [];
	const hold = (socket: Socket): void => void came.push(socket.on('error', () => undefined));
	// What Node makes of a socket that was sent has none of the settings with which it was listened on.
	Object.assign(server, {allowHalfOpen: true, noDelay: true});
	server.on('connection', hold).on('error', () => undefined);
	return {
		mark,
		datagrams: () => undefined,
		server(onConnection) {
			server.off('connection', hold).on('connection', onConnection);
			for (const socket of came.splice(0)) onConnection(socket);
			return server;
		},
		drop() {
			server.close();
			for (const socket of came.splice(0)) socket.destroy();
		},
	};
}

function holdDatagrams(mark: SocketMark, socket: DatagramSocket): HeldSocket {
	const came: (readonly [Buffer, RemoteInfo])[] = [];
	const hold = (data: Buffer, from: RemoteInfo): void => {
		if (came.length < limits.inheritedDatagrams) came.push([data, from]);
	};
	socket.on('message', hold).on('error', () => undefined);
	return {
		mark,
		server: () => undefined,
		datagrams(onMessage) {
			socket.off('message', hold).on('message', onMessage);
			for (const [data, from] of came.splice(0)) onMessage(data, from);
			return socket;
		},
		drop: () => void socket.close(),
	};
}
