// What a client sends to a program or a connection at a node: in order, one write at a time, and no more of it held here than so much.

import type {Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';

type Piece = {readonly bytes: Buffer; readonly isLast: boolean};

export type InputOptions = {
	/** Resolves when it was taken. */
	readonly write: (bytes: Uint8Array, isLast: boolean) => Promise<Outcome<unknown>>;
	/** Holds the client up, and lets it go on; either may be called again and again. */
	readonly reading: {readonly pause: () => void; readonly resume: () => void};
	readonly isOver: () => boolean;
	readonly guard: (work: Promise<void>) => void;
};

/** What comes is put in; with its last piece it is over. */
export function inputQueue({write, reading, isOver, guard}: InputOptions): (bytes: Buffer, isLast: boolean) => void {
	const waiting: Piece[] = [];
	let waitingBytes = 0;
	let isWriting = false;
	let isDeaf = false;

	/** One write at a time keeps the order. What is not wanted any more is dropped: its end is told by the output. */
	const pump = async (): Promise<void> => {
		isWriting = true;
		for (let piece = joined(waiting); piece !== undefined && !isOver(); piece = joined(waiting)) {
			const outcome = await write(piece.bytes, piece.isLast);
			waitingBytes -= piece.bytes.length;
			if (!outcome.ok) {
				isDeaf = true;
				waiting.length = 0;
				waitingBytes = 0;
			}
			if (waitingBytes <= limits.execInputBytes / 2) reading.resume();
		}
		isWriting = false;
	};

	return (bytes, isLast) => {
		if (isDeaf || isOver()) return;
		isDeaf = isLast;
		for (const part of parts(bytes)) waiting.push({bytes: part, isLast: false});
		if (isLast) waiting.push({bytes: Buffer.alloc(0), isLast});
		waitingBytes += bytes.length;
		if (waitingBytes > limits.execInputBytes) reading.pause();
		if (!isWriting && waiting.length > 0) guard(pump());
	};
}

/** What waits, as much at once as crosses the bus: each write is a way there and back. Its end goes alone. */
function joined(waiting: Piece[]): Piece | undefined {
	let size = 0;
	const fits = (piece: Piece): boolean => !piece.isLast && (size += piece.bytes.length) <= limits.execChunkBytes;
	const count = waiting.findIndex(piece => !fits(piece));
	const first = waiting.splice(0, count < 0 ? waiting.length : Math.max(1, count));
	const [only] = first;
	return first.length < 2 ? only : {bytes: Buffer.concat(first.map(({bytes}) => bytes)), isLast: false};
}

/** Portions that cross the bus. */
function* parts(bytes: Buffer): Generator<Buffer> {
	for (let at = 0; at < bytes.length; at += limits.execChunkBytes) yield bytes.subarray(at, at + limits.execChunkBytes);
}
