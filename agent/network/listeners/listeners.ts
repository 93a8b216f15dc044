// Where what serves traffic gets its listening sockets from: those that an earlier process handed over, else new ones.

import type {RemoteInfo} from 'node:dgram';
import type {Socket} from 'node:net';

export type SocketPlace = {readonly address: string; readonly port: number};

/** A listening socket as it was asked for: of port 0 with that. */
export type SocketMark = {readonly protocol: 'tcp' | 'udp'} & SocketPlace;

export type TcpListener = {
	/** Where it listens; of port 0 the one that was found. */
	readonly place: SocketPlace;
	/** Takes no more connections; those that are there go on. */
	readonly close: () => void;
};

export type UdpListener = {
	readonly place: SocketPlace;
	/** What cannot be sent is lost, as on the way. */
	readonly send: (data: Uint8Array, to: SocketPlace) => void;
	readonly close: () => void;
};

export type Listeners = {
	/** Rejects with errno exceptions. Sockets are half-open: their own end has to be said. */
	readonly tcp: (place: SocketPlace, onConnection: (socket: Socket) => void) => Promise<TcpListener>;
	/** Rejects with errno exceptions. */
	readonly udp: (place: SocketPlace, onMessage: (data: Buffer, from: RemoteInfo) => void) => Promise<UdpListener>;
};
