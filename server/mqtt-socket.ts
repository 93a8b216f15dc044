// MQTT over WebSocket: an upgraded connection becomes the byte stream that the broker takes like any other.
//
// A browser page of another site must not speak to the broker with this user's network position: an Origin, when there is
// one, must be the host that was called.

import type {IncomingMessage} from 'node:http';
import type {Duplex} from 'node:stream';
import {limits} from '../api/limits.js';
import {offeredSubprotocols, streamUpgrader} from '../system/links/web-socket.js';
import {sayGoodbye} from './goodbye.js';

const subprotocol = 'mqtt';

export type MqttSocketOptions = {
	/** Takes the connection; the stream ends, and its errors end, with the socket. */
	readonly onStream: (stream: Duplex, request: IncomingMessage) => void;
	readonly payloadBytes?: number;
};

export type MqttSockets = {
	/** For the `upgrade` event of an http server. Refuses with a plain HTTP answer what is no MQTT connection. */
	readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
	/** Cuts every connection. */
	readonly close: () => void;
};

/** Upgrades connections with the subprotocol `mqtt` (MQTT 3.1.1, section 6). */
export function createMqttSockets({onStream, payloadBytes = limits.packetBytes}: MqttSocketOptions): MqttSockets {
	const upgrader = streamUpgrader({subprotocol, payloadBytes});
	return {
		upgrade(request, socket, head) {
			const refused = refusalOf(request);
			if (refused !== undefined) return sayGoodbye(socket, refused);
			upgrader.upgrade(request, socket, head, stream => {
				// Without a listener an oversized frame or a reset would end the process.
				stream.on('error', () => stream.destroy());
				// After a cut the stream would wait for ever for its writing side; `end` comes when everything that arrived was read.
				stream.on('end', () => stream.destroy());
				onStream(stream, request);
			});
		},
		close: upgrader.close,
	};
}

function refusalOf(request: IncomingMessage): 400 | 403 | undefined {
	if (!isSameOrigin(request.headers.origin, request.headers.host)) return 403;
	return offeredSubprotocols(request).includes(subprotocol) ? undefined : 400;
}

/** Programs send no Origin; a browser's must name the host that was called. */
function isSameOrigin(origin: string | undefined, host: string | undefined): boolean {
	if (origin === undefined) return true;
	return URL.canParse(origin) && host !== undefined && new URL(origin).host === host.toLowerCase();
}
