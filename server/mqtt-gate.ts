// Where MQTT connections of all doors go: to the broker of the term that is on, which counts them. While none is, whoever connects is
// told so; no more of them wait for that than a broker would take.

import type {Duplex} from 'node:stream';
import {limits} from '../api/limits.js';
import type {Clock} from '../system/clock.js';

type Taker = {readonly attach: (stream: Duplex, describe: string, onLogin?: () => void) => void};

export type MqttGate = {
	readonly attach: Taker['attach'];
	/** Undefined: nobody leads here. The connections of a former term are its broker's to end. */
	readonly serve: (broker: Taker | undefined) => void;
	/** Cuts every connection, so that doors can close. */
	readonly cut: () => void;
};

/** CONNACK, "server unavailable" (MQTT 3.1.1, 3.2.2.3): come again, perhaps elsewhere. */
const unavailable = Buffer.from([0x20, 0x02, 0x00, 0x03]);

export function createMqttGate(clock: Clock): MqttGate {
	let broker: Taker | undefined;
	const streams = new Set<Duplex>();
	return {
		attach(stream, describe, onLogin) {
			if (broker === undefined && streams.size >= limits.brokerConnections) return void stream.on('error', () => undefined).destroy();
			streams.add(stream);
			stream.once('close', () => streams.delete(stream));
			if (broker === undefined) refuse(stream, clock);
			else broker.attach(stream, describe, onLogin);
		},
		serve: next => void (broker = next),
		cut() {
			for (const stream of streams) stream.destroy();
		},
	};
}

/** Nothing is answered before the first word: the answer is one to CONNECT. */
function refuse(stream: Duplex, clock: Clock): void {
	const cancel = clock.after(limits.brokerLoginMs, () => stream.destroy());
	stream.on('error', () => stream.destroy());
	stream.once('close', cancel);
	stream.once('data', () => stream.end(unavailable, () => stream.destroy()));
}
