// The few packets of MQTT 3.1.1 that a beat needs, by hand: its thread is to cost next to nothing, and a whole client would not.

import {Buffer} from 'node:buffer';

const text = (value: string): Buffer => {
	const bytes = Buffer.from(value);
	const length = Buffer.alloc(2);
	length.writeUInt16BE(bytes.length);
	return Buffer.concat([length, bytes]);
};

/** A fixed header with its remaining length [MQTT 2.2.3], and the rest. */
function frame(type: number, ...parts: readonly Buffer[]): Buffer {
	const body = Buffer.concat(parts);
	const header = [type];
	let rest = body.length;
	do {
		header.push((rest % 128) | (rest >= 128 ? 0x80 : 0));
		rest = Math.floor(rest / 128);
	} while (rest > 0);
	return Buffer.concat([Buffer.from(header), body]);
}

export type ConnectFrame = {
	readonly clientId: string;
	readonly username: string;
	readonly password: string;
	readonly keepAliveSeconds: number;
};

const version = 4;
/** User name, password, clean session. */
const connectFlags = 0xc2;

export function connectFrame({clientId, username, password, keepAliveSeconds}: ConnectFrame): Buffer {
	const head = Buffer.from([version, connectFlags, keepAliveSeconds >> 8, keepAliveSeconds & 0xff]);
	return frame(0x10, text('MQTT'), head, text(clientId), text(username), text(password));
}

/** At QoS 0, not retained. */
export const publishFrame = (topic: string, payload: string): Buffer => frame(0x30, text(topic), Buffer.from(payload));

export const pingFrame = frame(0xc0);
export const disconnectFrame = frame(0xe0);

export const connackBytes = 4;

/** The return code of the CONNACK that a broker's answer begins with; undefined when it begins with anything else. */
export const connackCode = (bytes: Buffer): number | undefined => (bytes[0] === 0x20 && bytes[1] === 2 ? bytes[3] : undefined);
