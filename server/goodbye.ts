// The last word on a connection, where no answer of HTTP's server says it.

import {STATUS_CODES} from 'node:http';
import type {Duplex} from 'node:stream';
import {limits} from '../api/limits.js';

/**
 * Ends a connection so that the other side knows it was meant: with TLS's own goodbye, without which mosquitto_sub takes it for an attack
 * and gives up. A client that does not take what waits for it is the caller's to cut.
 */
export function endSoon(socket: Duplex): void {
	if (!socket.writable) return void socket.destroy();
	socket.once('finish', () => socket.destroy());
	socket.end();
}

/**
 * Answers with a status and nothing else, and hears the other side to its end, within a bound: a connection that is closed on bytes that
 * were not read takes the answer with it.
 */
export function sayGoodbye(socket: Duplex, status: number): void {
	let bytes = 0;
	const discard = (chunk: Buffer): void => {
		bytes += chunk.length;
		if (bytes > limits.discardedBodyBytes) socket.destroy();
	};
	// The first listener takes the bytes from the parser of HTTP, which would find the same fault again.
	socket.on('data', discard).removeAllListeners('data').removeAllListeners('end');
	socket
		.on('error', () => socket.destroy())
		.on('end', () => socket.destroy())
		.on('data', discard);
	socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
