// Where MQTT connections of all doors go: to the broker of the term that is on, which counts them. On a server that stands by, a
// client that connects is told so. While it is not known yet who leads, and while the server ends, they wait: a client that is told "unavailable" may
// give up for good (mosquitto_sub does), one that waits, or is cut, tries again. No more of them wait than a broker would take.

import type {Duplex} from 'node:stream';
import {limits} from '../api/limits.js';
import type {Clock} from '../system/time/clock.js';
import {endSoon} from './goodbye.js';

type Taker = {readonly attach: (stream: Duplex, describe: string, onLogin?: () => void) => void};

export type MqttGate = {
	readonly attach: Taker['attach'];
	/** Undefined: this server does not lead. The connections of a former term are its broker's to end. */
	readonly serve: (broker: Taker | undefined) => void;
	/** From now on connections wait for the next `serve`, or for the end. */
	readonly hold: () => void;
	/** Ends every connection, so that doors can close; cuts it where it does not take that for `limits.httpCloseMs`. */
	readonly cut: () => void;
};

/** CONNACK, "server unavailable" (MQTT 3.1.1, 3.2.2.3): come again, perhaps elsewhere. */
const unavailable = Buffer.from([0x20, 0x02, 0x00, 0x03]);

export function createMqttGate(clock: Clock): MqttGate {
	let broker: Taker | undefined;
	let held: Map<Duplex, () => void> | undefined;
	let onNone = (): void => undefined;
	const streams = new Set<Duplex>();
	const pass: MqttGate['attach'] = (stream, describe, onLogin) => {
		if (broker === undefined) refuse(stream);
		else broker.attach(stream, describe, onLogin);
	};
	return {
		attach(stream, describe, onLogin) {
			const isTaken = held === undefined && broker !== undefined;
			if (!isTaken && streams.size >= limits.brokerConnections) return void stream.on('error', () => undefined).destroy();
			streams.add(stream);
			stream.once('close', () => {
				streams.delete(stream);
				held?.delete(stream);
				if (streams.size === 0) onNone();
			});
			if (held === undefined) return pass(stream, describe, onLogin);
			stream.on('error', () => stream.destroy());
			held.set(stream, () => pass(stream, describe, onLogin));
		},
		serve(next) {
			broker = next;
			const waiting = held ?? new Map<Duplex, () => void>();
			held = undefined;
			for (const [stream, go] of waiting) if (!stream.destroyed) go();
		},
		hold: () => void (held ??= new Map()),
		cut() {
			for (const stream of streams) endSoon(stream);
			const cancel = clock.after(limits.httpCloseMs, () => {
				for (const stream of streams) stream.destroy();
			});
			onNone = cancel;
			if (streams.size === 0) cancel();
		},
	};
}

/** Nothing is answered before the first word: the answer is one to CONNECT. Doors cut those that say none. */
function refuse(stream: Duplex): void {
	stream.on('error', () => stream.destroy());
	stream.once('data', () => stream.end(unavailable, () => stream.destroy()));
}
