// Files by their descriptors.

import {closeSync, openSync, readSync} from 'node:fs';

/** What is made of a file while it is open; it is closed then, whatever comes of it. Throws errno exceptions. */
export function whileOpen<Value>(descriptor: number, act: (descriptor: number) => Value): Value {
	try {
		return act(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

/** Fewer bytes where the file ends. Throws errno exceptions. */
export function bytesAt(descriptor: number, position: number, maxBytes: number): Buffer {
	const buffer = Buffer.allocUnsafe(Math.max(0, maxBytes));
	return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, position));
}

/** The beginning of a file, byte for byte a character. Throws errno exceptions. */
export const headOf = (file: string, maxBytes: number): string =>
	whileOpen(openSync(file, 'r'), descriptor => bytesAt(descriptor, 0, maxBytes).toString('latin1'));
