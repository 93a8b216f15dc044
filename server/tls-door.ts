// One port for everything a node needs: TLS with ALPN. `mqtt` is raw MQTT, `http/1.1` (or no word) is HTTPS.
//
// Whoever speaks plain http to it is told so in one line: silence would be a riddle.

import type {Server} from 'node:https';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import type {TLSSocket} from 'node:tls';
import {limits} from '../api/limits.js';

export const mqttProtocol = 'mqtt';
export const httpProtocol = 'http/1.1';

/** The first byte of a TLS record that holds a handshake (RFC 8446, 5.1). */
const handshakeRecord = 22;

const hint = 'this port speaks TLS: use https:// in the address\n';
const hintAnswer = [
	'HTTP/1.1 400 Bad Request',
	'Content-Type: text/plain; charset=utf-8',
	`Content-Length: ${hint.length}`,
	'Connection: close',
	'',
	hint,
].join('\r\n');

/** Puts the hint in front of an https server. What is no TLS, or has said nothing yet, is in `others` until it ends. */
export function hintAtTls(server: Server, others: Set<Duplex>, firstByteMs: number): void {
	before(server, 'connection', (socket: Socket, pass) => {
		remember(others, socket);
		lookAtFirstByte(socket, firstByteMs, () => {
			others.delete(socket);
			pass();
		});
	});
}

/** Puts MQTT and the hint in front of an https server. What is no https of it is in `others` until it ends. */
export function divide(server: Server, others: Set<Duplex>, firstByteMs: number, onMqtt: (socket: TLSSocket) => void): void {
	hintAtTls(server, others, firstByteMs);
	before(server, 'secureConnection', (socket: TLSSocket, pass) => {
		if (socket.alpnProtocol !== mqttProtocol) return pass();
		// It shook hands while the door closed.
		if (!server.listening) return void socket.destroy();
		remember(others, socket);
		socket.on('error', () => socket.destroy());
		onMqtt(socket);
	});
	// Beside the requests, the connections of nodes come through here.
	server.maxConnections = limits.httpConnections + limits.brokerConnections;
}

function remember(others: Set<Duplex>, socket: Duplex): void {
	others.add(socket);
	socket.once('close', () => others.delete(socket));
}

/** Comes before whoever listens to an event now; they hear of it by `pass`. */
function before<Argument>(server: Server, event: string, take: (argument: Argument, pass: () => void) => void): void {
	const listeners = server.listeners(event);
	server.removeAllListeners(event);
	server.on(event, (argument: Argument) =>
		take(argument, () => {
			for (const listener of listeners) listener.call(server, argument);
		}),
	);
}

function lookAtFirstByte(socket: Socket, firstByteMs: number, isTls: () => void): void {
	const onError = (): void => void socket.destroy();
	socket.on('error', onError);
	socket.setTimeout(firstByteMs, onError);
	socket.once('readable', () => {
		const first = socket.read() as Buffer | null;
		if (first === null) return void socket.destroy();
		if (first[0] !== handshakeRecord) return void socket.end(looksLikeText(first) ? hintAnswer : '', () => socket.destroy());
		socket.setTimeout(0);
		socket.off('timeout', onError).off('error', onError);
		socket.unshift(first);
		isTls();
	});
}

/** A method of HTTP: upper-case letters. */
const looksLikeText = (bytes: Buffer): boolean => /^[A-Z]{3}/.test(bytes.toString('latin1', 0, 3));
