// A bare connection to the broker: bytes out, answers of MQTT 3.1.1 in as words.

import {once} from 'node:events';
import {connect as openTcp, type Socket} from 'node:net';
import type {ExecutionContext} from 'ava';

/** `publish q1 r0 d0 7 topic payload` (the id only above QoS 0), `suback 1: 0 128`, `puback 7`, `connack 1 0`. */
function wordsOf(first: number, body: Buffer): string {
	const id = body.length >= 2 ? body.readUInt16BE(0) : 0;
	switch (first >> 4) {
		case 2:
			return `connack ${body[0] ?? '?'} ${body[1] ?? '?'}`;
		case 3:
			return publishWords(first, body);
		case 9:
			return `suback ${id}: ${[...body.subarray(2)].join(' ')}`;
		case 13:
			return 'pingresp';
		default: {
			const names: Readonly<Record<number, string>> = {0x40: 'puback', 0x50: 'pubrec', 0x62: 'pubrel', 0x70: 'pubcomp', 0xb0: 'unsuback'};
			return `${names[first] ?? `packet 0x${first.toString(16)}`} ${id}`;
		}
	}
}

function publishWords(first: number, body: Buffer): string {
	const qos = (first >> 1) & 3;
	const topicEnd = 2 + body.readUInt16BE(0);
	const id = qos === 0 ? '' : ` ${body.readUInt16BE(topicEnd)}`;
	const payload = body.subarray(topicEnd + (qos === 0 ? 0 : 2));
	return `publish q${qos} r${first & 1} d${(first >> 3) & 1}${id} ${body.toString('utf8', 2, topicEnd)} ${payload.toString('utf8')}`;
}

export type Wire = {
	readonly socket: Socket;
	readonly send: (...packets: readonly Buffer[]) => void;
	/** The next answer in words; `closed` at the end, for ever. */
	readonly next: () => Promise<string>;
};

/** A bare connection. */
export async function openWire(t: ExecutionContext, port: number): Promise<Wire> {
	const socket = openTcp({port, host: '127.0.0.1', noDelay: true});
	t.teardown(() => socket.destroy());
	const arrived: string[] = [];
	let waiting: (() => void) | undefined;
	let rest = Buffer.alloc(0);
	socket.on('error', () => undefined);
	socket.on('data', (bytes: Buffer) => {
		rest = Buffer.concat([rest, bytes]);
		for (let one = firstOf(rest); one !== undefined; one = firstOf(rest)) {
			arrived.push(one.words);
			rest = rest.subarray(one.length);
		}
		waiting?.();
	});
	socket.on('close', () => {
		arrived.push('closed');
		waiting?.();
	});
	await once(socket, 'connect');
	return {
		socket,
		send: (...packets) => void socket.write(Buffer.concat(packets)),
		async next() {
			while (arrived.length === 0) await new Promise<void>(resolve => (waiting = resolve));
			return arrived[0] === 'closed' ? 'closed' : (arrived.shift() ?? '');
		},
	};
}

/** The first whole packet of some bytes. */
export function firstOf(bytes: Buffer): {readonly words: string; readonly length: number} | undefined {
	let length = 0;
	for (let at = 1; at < bytes.length && at < 5; at += 1) {
		const byte = bytes[at] ?? 0;
		length += (byte & 0x7f) * 128 ** (at - 1);
		if ((byte & 0x80) !== 0) continue;
		const end = at + 1 + length;
		return bytes.length < end ? undefined : {words: wordsOf(bytes[0] ?? 0, bytes.subarray(at + 1, end)), length: end};
	}
	return undefined;
}
