// Answers that go on for a while: long lists, watches, logs. Nothing is written faster than it is read; the listener cuts off a
// reader that takes nothing.

import type {ServerResponse} from 'node:http';

/** The open streams of a door, so that closing it can end them in order, and a login that is taken back ends its own. */
export type Streams = {
	/** Counts an open answer; `end` is called when the door closes. */
	readonly add: (response: ServerResponse, login: string, end: () => void) => void;
	readonly endAll: () => void;
	readonly endOf: (login: string) => void;
	readonly count: () => number;
};

export function createStreams(): Streams {
	const open = new Map<ServerResponse, {readonly login: string; readonly end: () => void}>();
	return {
		add(response, login, end) {
			open.set(response, {login, end});
			response.once('close', () => open.delete(response));
		},
		endAll() {
			for (const {end} of [...open.values()]) end();
		},
		endOf(login) {
			for (const each of [...open.values()]) if (each.login === login) each.end();
		},
		count: () => open.size,
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
