// Reads files that people name, which may be anything: a pipe without a writer, a device without an end.

import {constants, openSync} from 'node:fs';
import {open, stat} from 'node:fs/promises';
import {Socket} from 'node:net';
import type {Readable} from 'node:stream';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {usageError} from '../command.js';

/**
 * The bytes of a file, a pipe or a device. Throws ERR_USAGE, without the file's name, and what the system says.
 *
 * A pipe is opened without waiting for its writer, and read as a socket: a read that blocks would hold a thread that even the end of the
 * process waits for.
 */
export async function readFileAt(file: string, maxBytes: number, silenceMs: number = limits.manifestSilenceMs): Promise<Uint8Array> {
	if (!(await stat(file)).isFIFO()) {
		const handle = await open(file);
		return readBounded(handle.createReadStream(), maxBytes);
	}
	const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
	const pipe = new Socket({fd, readable: true, writable: false});
	pipe.setTimeout(silenceMs, () => pipe.destroy(usageError(`nothing came from this pipe for ${silenceMs / 1_000} s`)));
	return readBounded(pipe, maxBytes);
}

/** All bytes of a stream. Never more than are wanted: a device need not end. Throws ERR_USAGE. */
export async function readBounded(stream: Readable, maxBytes: number): Promise<Uint8Array> {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	for await (const chunk of stream) {
		const part = chunk as Uint8Array;
		bytes += part.length;
		if (bytes > maxBytes) throw usageError(`has more than ${maxBytes} bytes`);
		chunks.push(part);
	}
	return Buffer.concat(chunks);
}

/** Why a file could not be read, in words. */
export function reasonOf(error: unknown): string {
	if (error instanceof AppError) return error.message;
	const {code, message} = error as NodeJS.ErrnoException;
	if (code === 'ENOENT') return 'there is no such file';
	return code === 'EACCES' ? 'may not be read' : message.replace(/^[A-Z]+: /, '').replace(/, \w+( '.*')?$/, '');
}
