// MQTT 3.1.1 byte by byte: packets as they are written, answers as words, so that a test can send what no library would.

import {once} from 'node:events';
import {connect as openTcp, type Socket} from 'node:net';
import type {ExecutionContext} from 'ava';

export type Qos = 0 | 1 | 2;

export const text = (value: string | Buffer): Buffer => {
	const bytes = Buffer.from(value);
	return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
};

/** A packet with any first byte. */
export function packet(first: number, ...parts: readonly Buffer[]): Buffer {
	const body = Buffer.concat(parts);
	const length: number[] = [];
	let rest = body.length;
	do {
		length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
		rest >>= 7;
	} while (rest > 0);
	return Buffer.concat([Buffer.from([first, ...length]), body]);
}

const number = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);

export type Will = {readonly topic: string; readonly payload: string; readonly qos?: number; readonly retain?: boolean};

export type ConnectFields = {
	readonly protocol?: string;
	readonly level?: number;
	/** Added to the flags that follow from the other fields. */
	readonly moreFlags?: number;
	readonly clean?: boolean;
	readonly keepAliveSeconds?: number;
	readonly id?: string | Buffer;
	readonly will?: Will;
	readonly user?: string | Buffer | undefined;
	readonly password?: string | undefined;
};

export function connectPacket(fields: ConnectFields): Buffer {
	const {protocol = 'MQTT', level = 4, moreFlags = 0, clean = true, keepAliveSeconds = 0, id = '', will, user, password} = fields;
	const willFlags = will === undefined ? 0 : 0x04 | ((will.qos ?? 0) << 3) | (will.retain === true ? 0x20 : 0);
	const flags = (clean ? 2 : 0) | willFlags | (user === undefined ? 0 : 0x80) | (password === undefined ? 0 : 0x40) | moreFlags;
	const rest = [...(will === undefined ? [] : [will.topic, will.payload]), user, password].filter(each => each !== undefined);
	return packet(0x10, text(protocol), Buffer.from([level, flags]), number(keepAliveSeconds), text(id), ...rest.map(text));
}

export type PublishFields = {readonly qos?: Qos; readonly retain?: boolean; readonly dup?: boolean; readonly id?: number};

export const publishPacket = (
	topic: string | Buffer,
	payload: string | Buffer,
	{qos = 0, retain, dup, id = 1}: PublishFields = {},
): Buffer =>
	packet(
		0x30 | (dup === true ? 8 : 0) | (qos << 1) | (retain === true ? 1 : 0),
		text(topic),
		qos === 0 ? Buffer.alloc(0) : number(id),
		Buffer.from(payload),
	);

export const subscribePacket = (id: number, ...filters: readonly (readonly [string | Buffer, number])[]): Buffer =>
	packet(0x82, number(id), ...filters.flatMap(([filter, qos]) => [text(filter), Buffer.from([qos])]));

export const unsubscribePacket = (id: number, ...filters: readonly string[]): Buffer => packet(0xa2, number(id), ...filters.map(text));

const acknowledgements = {puback: 0x40, pubrec: 0x50, pubrel: 0x62, pubcomp: 0x70} as const;
export const ackPacket = (kind: keyof typeof acknowledgements, id: number): Buffer => packet(acknowledgements[kind], number(id));

export const pingPacket = packet(0xc0);
export const disconnectPacket = packet(0xe0);

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
