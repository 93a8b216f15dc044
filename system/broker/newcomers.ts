// Connections that have not logged in, at all doors of a process. They have a pool of their own, so that they take nothing from those
// that have: each its time, and where there are too many, the oldest of the address that has most of them goes. Handshakes of TLS, which
// cost this process more than the client that asks for them, have a bounded share of its time.
//
// The client that comes last is served first: under a flood those who waited longest have mostly given up, or are the flood.

import {isIPv6, type Socket} from 'node:net';
import {limits} from '../../api/limits.js';
import type {Clock} from '../time/clock.js';

export type Newcomers = {
	/** From its first moment on; twice is once. */
	readonly add: (socket: Socket) => void;
	/** It has logged in, and counts elsewhere. May be the TLS socket above the one that was added. */
	readonly admit: (socket: Socket) => void;
	/** Calls back when a handshake with it may begin: at once while there is time, never after its end. */
	readonly whenTurn: (socket: Socket, begin: () => void) => void;
	/** Cuts them all, so that doors can close: in the middle of a handshake a server would wait for them. */
	readonly cut: () => void;
};

export type NewcomerOptions = {
	readonly clock: Clock;
	readonly bounds?: NewcomerBounds;
	/** Told of each that is cut: there were too many, or its time was over. */
	readonly onCut?: (why: 'crowded' | 'late', address: string) => void;
};

export type NewcomerBounds = {
	readonly connections: number;
	/** From the connection to the login. */
	readonly loginMs: number;
};

const newcomerBounds: NewcomerBounds = {connections: limits.newcomers, loginMs: limits.newcomerMs};

/** An empty pool. */
export function createNewcomers({clock, bounds = newcomerBounds, onCut = () => undefined}: NewcomerOptions): Newcomers {
	const byAddress = new Map<string, Set<Socket>>();
	const byPeer = new Map<string, {readonly socket: Socket; readonly leave: () => void}>();
	const whenTurn = createTurns(clock);

	const cut = (socket: Socket, why: 'crowded' | 'late'): void => {
		onCut(why, networkOf(socket));
		socket.destroy();
	};
	const makeRoom = (): void => {
		let fullest: ReadonlySet<Socket> = new Set();
		for (const sockets of byAddress.values()) if (sockets.size > fullest.size) fullest = sockets;
		const [oldest] = fullest;
		if (oldest === undefined) return;
		byPeer.get(peerOf(oldest))?.leave();
		cut(oldest, 'crowded');
	};

	return {
		add(socket) {
			const [peer, network] = [peerOf(socket), networkOf(socket)];
			if (byPeer.get(peer)?.socket === socket) return;
			if (byPeer.size >= bounds.connections) makeRoom();
			const sockets = byAddress.get(network) ?? new Set();
			byAddress.set(network, sockets.add(socket));
			const cancel = clock.after(bounds.loginMs, () => cut(socket, 'late'));
			const leave = (): void => {
				cancel();
				socket.off('close', leave);
				if (byPeer.get(peer)?.socket === socket) byPeer.delete(peer);
				sockets.delete(socket);
				if (sockets.size === 0 && byAddress.get(network) === sockets) byAddress.delete(network);
			};
			socket.once('close', leave);
			byPeer.set(peer, {socket, leave});
		},
		admit: socket => byPeer.get(peerOf(socket))?.leave(),
		whenTurn,
		cut() {
			for (const {socket} of [...byPeer.values()]) socket.destroy();
		},
	};
}

/** Both ends: what a TLS socket has in common with the one below it. */
const peerOf = ({localPort, remoteAddress, remotePort}: Socket): string => `${localPort} ${remoteAddress} ${remotePort}`;

/** What one sender has at its will: an address, of IPv6 a network of 64 bits. */
function networkOf({remoteAddress = ''}: Socket): string {
	if (!isIPv6(remoteAddress) || remoteAddress.includes('.')) return remoteAddress;
	const [head = '', tail] = remoteAddress.split('::');
	const groups = (text: string): string[] => text.split(':').filter(group => group !== '');
	const zeros = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
	return [...groups(head), ...Array.from({length: zeros}, () => '0'), ...groups(tail ?? '')].slice(0, 4).join(':');
}

type WaitingHandshake = {readonly socket: Socket; readonly begin: () => void};

/** Addresses in turn, of each the newest; all together no more than their share of the time. */
function createTurns({monotonicMs, after}: Clock): Newcomers['whenTurn'] {
	const waiting = new Map<string, WaitingHandshake[]>();
	let creditMs: number = limits.handshakeTurnMs;
	let countedMs = monotonicMs();
	let isWaiting = false;

	const next = (): WaitingHandshake | undefined => {
		for (const [network, list] of waiting) {
			const newest = list.pop();
			waiting.delete(network);
			if (list.length > 0) waiting.set(network, list);
			if (newest !== undefined) return newest;
		}
		return undefined;
	};
	const run = (): void => {
		isWaiting = false;
		const nowMs = monotonicMs();
		creditMs = Math.min(limits.handshakeTurnMs, creditMs + ((nowMs - countedMs) * limits.handshakePercent) / 100);
		countedMs = nowMs;
		while (creditMs > 0) {
			const found = next();
			if (found === undefined) return;
			if (found.socket.destroyed) continue;
			const beganMs = monotonicMs();
			found.begin();
			creditMs -= monotonicMs() - beganMs;
		}
		if (waiting.size === 0) return;
		isWaiting = true;
		after(Math.ceil((-creditMs * 100) / limits.handshakePercent) + 1, run);
	};

	return (socket, begin) => {
		const network = networkOf(socket);
		const list = waiting.get(network) ?? [];
		const entry = {socket, begin};
		list.push(entry);
		waiting.set(network, list);
		socket.once('close', () => {
			const at = list.lastIndexOf(entry);
			if (at >= 0) list.splice(at, 1);
			if (list.length === 0 && waiting.get(network) === list) waiting.delete(network);
		});
		if (!isWaiting) run();
	};
}
