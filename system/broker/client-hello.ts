// The first message of TLS, before anything is computed for it: a handshake begins only when all of its first message is there, so that
// its cost falls into the turn that it was given (`newcomers.ts`), however slowly or finely a client sends.

import type {Socket} from 'node:net';
import {limits} from '../../api/limits.js';

/** The first byte of a TLS record that holds a handshake (RFC 8446, 5.1), and what a record has in front of its content. */
const handshakeRecord = 22;
const recordHeaderBytes = 5;
/** A handshake message: its type and its length in three bytes (RFC 8446, 4). */
const messageHeaderBytes = 4;

/**
 * Reads a new connection until its ClientHello is whole; the bytes are put back before `onHello`. What is no TLS ends in `onOther` with
 * what came; a hello without an end is cut off.
 */
export function whenHello(socket: Socket, onHello: () => void, onOther: (bytes: Buffer) => void): void {
	let bytes = Buffer.alloc(0);
	const cut = (): void => void socket.destroy();
	const onReadable = (): void => {
		const more = socket.read() as Buffer | null;
		if (more === null) return;
		bytes = Buffer.concat([bytes, more]);
		if (bytes[0] !== handshakeRecord) {
			socket.off('readable', onReadable);
			onOther(bytes);
		} else if (isWholeHello(bytes)) {
			socket.off('readable', onReadable).off('end', cut).off('error', cut);
			socket.unshift(bytes);
			onHello();
		} else if (bytes.length > limits.helloBytes) cut();
	};
	socket.on('error', cut).on('end', cut).on('readable', onReadable);
}

/** Whether the records hold a whole message, or something that is none: OpenSSL knows what to say to that. */
export function isWholeHello(bytes: Buffer): boolean {
	const parts: Buffer[] = [];
	for (let at = 0; at + recordHeaderBytes <= bytes.length;) {
		if (bytes[at] !== handshakeRecord) return true;
		const end = at + recordHeaderBytes + bytes.readUInt16BE(at + 3);
		parts.push(bytes.subarray(at + recordHeaderBytes, end));
		at = end;
	}
	const message = Buffer.concat(parts);
	return message.length >= messageHeaderBytes && message.length >= messageHeaderBytes + message.readUIntBE(1, 3);
}
