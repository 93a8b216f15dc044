// Answers that go on for a while: long lists, watches, logs. Nothing is written faster than it is read; the listener cuts off a
// reader that takes nothing.

import type {ServerResponse} from 'node:http';

/** The open streams of a door, so that closing it can end them in order. */
export type Streams = {
	/** Counts an open answer; `end` is called when the door closes. */
	readonly add: (response: ServerResponse, end: () => void) => void;
	readonly endAll: () => void;
	readonly count: () => number;
};

export function createStreams(): Streams {
	const open = new Map<ServerResponse, () => void>();
	return {
		add(response, end) {
			open.set(response, end);
			response.once('close', () => open.delete(response));
		},
		endAll() {
			for (const end of [...open.values()]) end();
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
