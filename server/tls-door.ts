// One port for everything a node needs: TLS with ALPN. `mqtt` is raw MQTT, `http/1.1` (or no word) is HTTPS.
//
// A client that speaks plain http to it is told so in one line: silence would be a riddle.

import type {Server} from 'node:https';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import type {TLSSocket} from 'node:tls';
import {whenHello} from '../system/broker/client-hello.js';
import type {Newcomers} from '../system/broker/newcomers.js';

export const mqttProtocol = 'mqtt';
export const httpProtocol = 'http/1.1';

const hint = 'this port speaks TLS: use https:// in the address\n';
const hintAnswer = [
	'HTTP/1.1 400 Bad Request',
	'Content-Type: text/plain; charset=utf-8',
	`Content-Length: ${hint.length}`,
	'Connection: close',
	'',
	hint,
].join('\r\n');

/**
 * Puts the hint in front of an https server, and handshakes into their turn. What has not begun to shake hands, or is no TLS, is in
 * `others` until it ends. `whenReady` calls back as soon as handshakes can succeed.
 */
export function hintAtTls(server: Server, {others, newcomers, whenReady = ready => ready()}: Entrance): void {
	before(server, 'connection', (socket: Socket, pass) => {
		newcomers.add(socket);
		remember(others, socket);
		const begin = (): void => {
			others.delete(socket);
			pass();
		};
		const onHello = (): void => whenReady(() => newcomers.whenTurn(socket, begin));
		whenHello(socket, onHello, bytes => socket.end(looksLikeText(bytes) ? hintAnswer : '', () => socket.destroy()));
	});
}

export type Entrance = {
	readonly others: Set<Duplex>;
	readonly newcomers: Newcomers;
	readonly whenReady?: (ready: () => void) => void;
};

/** Puts MQTT and the hint in front of an https server. What is no https of it is in `others` until it ends. */
export function divide(server: Server, entrance: Entrance, onMqtt: (socket: TLSSocket) => void): void {
	hintAtTls(server, entrance);
	before(server, 'secureConnection', (socket: TLSSocket, pass) => {
		if (socket.alpnProtocol !== mqttProtocol) return pass();
		// It shook hands while the door closed.
		if (!server.listening) return void socket.destroy();
		remember(entrance.others, socket);
		socket.on('error', () => socket.destroy());
		onMqtt(socket);
	});
}

function remember(others: Set<Duplex>, socket: Duplex): void {
	others.add(socket);
	socket.once('close', () => others.delete(socket));
}

/** Comes before those who listen to an event now; they hear of it by `pass`. */
function before<Argument>(server: Server, event: string, take: (argument: Argument, pass: () => void) => void): void {
	const listeners = server.listeners(event);
	server.removeAllListeners(event);
	server.on(event, (argument: Argument) =>
		take(argument, () => {
			for (const listener of listeners) listener.call(server, argument);
		}),
	);
}

/** A method of HTTP: upper-case letters. */
const looksLikeText = (bytes: Buffer): boolean => /^[A-Z]{3}/.test(bytes.toString('latin1', 0, 3));
