// Packets of the stream as they cross MQTT: one JSON document each. What arrives is checked before anything else sees it;
// garbage is undefined, never an exception.

import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import {valueOr} from '../../api/value-or.js';
import type {Packet} from './link.js';

export const encodePacket = (packet: Packet): Buffer => Buffer.from(JSON.stringify(packet));

/** The packet in these bytes; undefined when there is none, or one nested too deeply to be walked safely. */
export function decodePacket(bytes: Uint8Array): Packet | undefined {
	const value = decodeJson(bytes);
	return value === undefined ? undefined : packetOf(value);
}

/** The same of any value. */
export function decodeJson(bytes: Uint8Array): Json | undefined {
	if (isTooDeep(bytes)) return undefined;
	return valueOr(undefined, () => JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')) as Json);
}

function packetOf(value: Json): Packet | undefined {
	if (typeof value !== 'object' || value === null || !('boot' in value)) return undefined;
	const {boot, peerBoot, probe, echo, sequence, acknowledged, body} = value;
	if (
		!isBoot(boot) ||
		![peerBoot, probe, echo].every(each => each === undefined || isBoot(each)) ||
		!isCount(sequence) ||
		!isCount(acknowledged)
	)
		return undefined;
	// Number 0 is a bare acknowledgement: it has no body, every other number has one.
	if ((sequence === 0) !== (body === undefined)) return undefined;
	const optional = Object.entries({peerBoot, probe, echo, body}).filter(([, each]) => each !== undefined);
	return {boot, sequence, acknowledged, ...(Object.fromEntries(optional) as Pick<Packet, 'peerBoot' | 'probe' | 'echo' | 'body'>)};
}

const isBoot = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= limits.bootCharacters;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const quote = 0x22;
const backslash = 0x5c;

/** Brackets outside of strings, counted: a parser survives any depth, what walks the value later may not. */
function isTooDeep(bytes: Uint8Array): boolean {
	let depth = 0;
	let inString = false;
	for (let at = 0; at < bytes.length; at += 1) {
		const byte = bytes[at];
		if (byte === quote) inString = !inString;
		else if (inString) at += byte === backslash ? 1 : 0;
		else if (byte === 0x5b || byte === 0x7b) depth += 1;
		else if (byte === 0x5d || byte === 0x7d) depth -= 1;
		if (depth > limits.objectDepth + limits.envelopeDepth) return true;
	}
	return false;
}
