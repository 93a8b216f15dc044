// The listening sockets of a data plane: those that the one before handed over, else new ones. They can be handed over again.
//
// What it keeps true: of a socket that was handed over nothing is lost while nobody listens on it yet; connections are counted and bounded, so
// that no listener takes what the others need.

import {createSocket, type RemoteInfo, type Socket as DatagramSocket, type SocketOptions} from 'node:dgram';
import {lookup} from 'node:dns';
import {createServer, isIP, type Server, type Socket} from 'node:net';
import {limits} from '../../../api/limits.js';
import type {Clock} from '../../../system/time/clock.js';
import type {Listeners, SocketMark, SocketPlace, TcpListener, UdpListener} from './listeners.js';
import type {HeldSocket} from './held-sockets.js';

export type HandedSocket = {readonly mark: SocketMark; readonly socket: Server | DatagramSocket};

export type OpenListeners = Listeners & {
	/** Connections that have not ended. */
	readonly connections: () => number;
	/** All that listen, each as it was asked for. */
	readonly sockets: () => readonly HandedSocket[];
	/** Takes no more of anything; the connections there are go on. `onIdle` hears when they have ended. */
	readonly close: (onIdle: () => void) => void;
};

export type ListenerOptions = {
	readonly clock: Clock;
	/** Of the data plane before this one. */
	readonly held: readonly HeldSocket[];
	readonly onProblem: (key: string, problem: string | undefined) => void;
};

type Connections = {readonly admit: (socket: Socket, own: {count: number}) => boolean; readonly count: () => number; onIdle: () => void};

export function openListeners({clock, held, onProblem}: ListenerOptions): OpenListeners {
	const waiting = new Set(held);
	const open = new Set<HandedSocket>();
	const connections = countConnections(onProblem);
	let under = 0;
	let closed = false;
	// What nobody listens on any more is closed: its Service may have gone in between.
	clock.after(limits.inheritedSocketMs, () => {
		for (const each of waiting) each.drop();
		waiting.clear();
	});
	const handedOver = (mark: SocketMark): HeldSocket | undefined => {
		const found = [...waiting].find(each => isSame(each.mark, mark));
		if (found !== undefined) waiting.delete(found);
		return found;
	};
	const bounded = async <Listener>(start: () => Promise<Listener>): Promise<Listener> => {
		if (open.size + under >= limits.dataPlaneListeners) throw tooMany();
		under++;
		try {
			return await start();
		} finally {
			under--;
		}
	};
	const keep = (mark: SocketMark, socket: Server | DatagramSocket): (() => void) => {
		const kept = {mark, socket};
		open.add(kept);
		// Closed meanwhile: whoever asked is closing, too.
		if (closed) socket.close();
		return () => {
			if (open.delete(kept)) socket.close();
		};
	};
	return {
		tcp: (place, onConnection) =>
			bounded(async (): Promise<TcpListener> => {
				const mark: SocketMark = {protocol: 'tcp', ...place};
				const own = {count: 0};
				const take = (socket: Socket): void => {
					if (connections.admit(socket, own)) onConnection(socket);
				};
				const server = handedOver(mark)?.server(take) ?? (await listeningAt(place, take));
				const close = keep(mark, server);
				return {place: placeOf(server), close};
			}),
		udp: (place, onMessage) =>
			bounded(async (): Promise<UdpListener> => {
				const mark: SocketMark = {protocol: 'udp', ...place};
				const socket = handedOver(mark)?.datagrams(onMessage) ?? (await boundTo(place, onMessage));
				const close = keep(mark, socket);
				return {
					place: placeOf(socket),
					send: (data, to) => {
						if (!closed) socket.send(data, to.port, to.address, () => undefined);
					},
					close,
				};
			}),
		connections: connections.count,
		sockets: () => [...open],
		close(onIdle) {
			closed = true;
			for (const {socket} of open) socket.close();
			open.clear();
			for (const each of waiting) each.drop();
			waiting.clear();
			connections.onIdle = onIdle;
			if (connections.count() === 0) onIdle();
		},
	};
}

const isSame = (one: SocketMark, other: SocketMark): boolean =>
	one.protocol === other.protocol && one.address === other.address && one.port === other.port;

const tooMany = (): Error =>
	Object.assign(new Error(`there are ${limits.dataPlaneListeners} listening sockets already`), {code: 'EMFILE', syscall: 'listen'});

const placeOf = (socket: Server | DatagramSocket): SocketPlace => {
	const found = socket.address();
	return found === null || typeof found === 'string' ? {address: '', port: 0} : {address: found.address, port: found.port};
};

function countConnections(onProblem: ListenerOptions['onProblem']): Connections {
	let count = 0;
	let full = false;
	const tell = (isFull: boolean): void => {
		if (isFull === full) return;
		full = isFull;
		onProblem(
			'connections',
			isFull
				? `its connections are used up (${limits.dataPlaneConnections}, ${limits.listenerConnections} of one port): further ones are closed`
				: undefined,
		);
	};
	const connections: Connections = {
		count: () => count,
		onIdle: () => undefined,
		admit(socket, own) {
			// A socket without a listener for its failure would end the process.
			socket.on('error', () => undefined);
			if (count >= limits.dataPlaneConnections || own.count >= limits.listenerConnections) {
				tell(true);
				socket.destroy();
				return false;
			}
			count++;
			own.count++;
			socket.once('close', () => {
				count--;
				own.count--;
				tell(false);
				if (count === 0) connections.onIdle();
			});
			return true;
		},
	};
	return connections;
}

function listeningAt({address, port}: SocketPlace, onConnection: (socket: Socket) => void): Promise<Server> {
	const server = createServer({allowHalfOpen: true, noDelay: true}, onConnection);
	return new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen({host: address, port}, () => {
			server.off('error', reject);
			// No file left for one more connection: it is tried again with the next.
			server.on('error', () => undefined);
			resolve(server);
		});
	});
}

function boundTo({address, port}: SocketPlace, onMessage: (data: Buffer, from: RemoteInfo) => void): Promise<DatagramSocket> {
	const socket = createSocket({type: address.includes(':') ? 'udp6' : 'udp4', lookup: lookupAtOnce}, onMessage);
	return new Promise((resolve, reject) => {
		socket.once('error', error => {
			socket.close();
			reject(error);
		});
		socket.bind({address, port, exclusive: true}, () => {
			socket.removeAllListeners('error').on('error', () => undefined);
			resolve(socket);
		});
	});
}

/** Of an address Node makes work for a later turn, with each datagram that is sent to it. */
const lookupAtOnce: NonNullable<SocketOptions['lookup']> = (host, options, callback) => {
	const family = isIP(host);
	if (family === 0) lookup(host, options, callback);
	else callback(null, host, family);
};
