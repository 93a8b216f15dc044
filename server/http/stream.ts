// Answers that go on for a while: long lists, watches, logs. Nothing is written faster than it is read; the listener cuts off a
// reader that takes nothing.

import type {ServerResponse} from 'node:http';
import type {Duplex} from 'node:stream';
import {limits} from '../../api/limits.js';

/** The open streams of a door, so that closing it can end them in order, and a login that is taken back ends its own. */
export type Streams = {
	/** Counts an open answer until it closes; `end` is called when the door closes. */
	readonly add: (response: ServerResponse, login: string, end: () => void) => void;
	/** The same of a connection that was taken over. */
	readonly addSession: (socket: Duplex, login: string, end: () => void) => void;
	readonly endAll: () => void;
	readonly endOf: (login: string) => void;
	readonly count: () => number;
	readonly sessions: () => number;
	/** Connections to ports of pods, over all tunnels: counts one until what comes back is called. Undefined: there are too many. */
	readonly addForward: () => (() => void) | undefined;
};

type Closing = {readonly once: (event: 'close', listener: () => void) => unknown};

export function createStreams(): Streams {
	const open = new Map<Closing, {readonly login: string; readonly end: () => void}>();
	const sessions = new Set<Closing>();
	const forwards = new Set<object>();
	const add = (stream: Closing, login: string, end: () => void): void => {
		open.set(stream, {login, end});
		stream.once('close', () => {
			open.delete(stream);
			sessions.delete(stream);
		});
	};
	return {
		add,
		addSession(socket, login, end) {
			sessions.add(socket);
			add(socket, login, end);
		},
		endAll() {
			for (const {end} of [...open.values()]) end();
		},
		endOf(login) {
			for (const each of [...open.values()]) if (each.login === login) each.end();
		},
		count: () => open.size,
		sessions: () => sessions.size,
		addForward() {
			if (forwards.size >= limits.forwardConnections) return undefined;
			const one = {};
			forwards.add(one);
			return () => void forwards.delete(one);
		},
	};
}

/** Writes a piece; resolves when there is room for more, with false when the reader is gone. */
export function write(response: ServerResponse, piece: string | Uint8Array): Promise<boolean> {
	if (response.destroyed || response.writableEnded) return Promise.resolve(false);
	if (response.write(piece)) return Promise.resolve(true);
	return new Promise(resolve => {
		const settle = (isOpen: boolean): void => {
			response.off('drain', onDrain);
			response.off('close', onClose);
			resolve(isOpen);
		};
		const onDrain = (): void => settle(true);
		const onClose = (): void => settle(false);
		response.on('drain', onDrain);
		response.on('close', onClose);
	});
}
