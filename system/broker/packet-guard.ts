// Reads only the fixed headers of what a client sends (MQTT 3.1.1, section 2.2) and says no before a parser has buffered
// anything: a packet's length is bounded, its type is one that clients send, the first one is CONNECT, its version is known, and it
// names no more filters than one packet may. It stops where a turn's work is reached, so that it knows what it has passed.

import {limits} from '../../api/limits.js';
import {filterWork, packetWork} from './packet-work.js';

/** `version`: the client is to be told so [MQTT-3.1.2-2]; the others only end. */
export type GuardProblem = 'oversized' | 'malformed' | 'version';

/** What was looked through: up to where, and what handling it costs. After a problem the connection is to be destroyed. */
export type Passed = {
	readonly end: number;
	readonly work: number;
	/** It ends where a packet does. */
	readonly isWhole: boolean;
	/** It ends with SUBSCRIBE or UNSUBSCRIBE. */
	readonly isList: boolean;
	readonly problem: GuardProblem | undefined;
};

export type PacketGuard = {
	/** Looks through the bytes from there on: to the end of a list of filters or of the packet that reaches so much work, or of what there is. */
	readonly pass: (chunk: Uint8Array, from: number, work: number) => Passed;
	/** Sets the longest packet from the next one on, header included. */
	readonly allow: (bytes: number) => void;
};

const connect = 1;

/** PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBSCRIBE, UNSUBSCRIBE, PINGREQ, DISCONNECT. */
const clientTypes: ReadonlySet<number> = new Set([3, 4, 5, 6, 7, 8, 10, 12, 14]);

/** SUBSCRIBE, UNSUBSCRIBE: what follows the packet id is never empty [MQTT-3.8.3-3, MQTT-3.10.3-2]. */
const listTypes: ReadonlySet<number> = new Set([8, 10]);
const idBytes = 2;
const subscribe = 8;

/** The remaining length takes at most four bytes [MQTT 2.2.3]. */
const longestLength = 4;

/** The level of each protocol, by the length of its name: MQIsdp is MQTT 3.1. */
const levels: Readonly<Record<number, number>> = {4: 4, 6: 3};
/** Set by brokers that connect as a bridge. */
const bridgeBit = 0x80;

/** Whether the first bytes of CONNECT's body name a version that is not served; false as long as they do not say. */
function isOtherVersion(body: readonly number[]): boolean {
	const nameBytes = (body[0] ?? 0) * 256 + (body[1] ?? 0);
	const level = body[2 + nameBytes];
	return level !== undefined && nameBytes in levels && levels[nameBytes] !== (level & ~bridgeBit);
}

/** Two bytes of length, the longest name there is, and the level. */
const versionBytes = 9;

/** Counts the filters of one packet as its bytes go by: after the packet id each has two bytes of length, and in SUBSCRIBE one of QoS. */
function createFilterCount(trailingBytes: 0 | 1): (bytes: Uint8Array) => number {
	let skip = idBytes;
	let high: number | undefined;
	return bytes => {
		let found = 0;
		for (let at = 0; at < bytes.length;) {
			if (skip > 0) {
				const skipped = Math.min(skip, bytes.length - at);
				skip -= skipped;
				at += skipped;
				continue;
			}
			const byte = bytes[at] ?? 0;
			at += 1;
			if (high === undefined) high = byte;
			else {
				skip = high * 256 + byte + trailingBytes;
				high = undefined;
				found += 1;
			}
		}
		return found;
	};
}

export function createPacketGuard(maxBytes: number): PacketGuard {
	let allowed = maxBytes;
	let connected = false;
	let first = 0;
	let type = 0;
	let work = 0;
	let filters = 0;
	let countFilters: ((bytes: Uint8Array) => number) | undefined;
	let phase: 'type' | 'length' | 'body' = 'type';
	let lengthBytes = 0;
	let remaining = 0;
	/** The beginning of CONNECT's body, until the version is known; undefined from then on. */
	let opening: number[] | undefined = [];

	/** Looks at the version as soon as it is there. */
	const takeOpening = (bytes: Uint8Array): GuardProblem | undefined => {
		if (opening === undefined) return undefined;
		opening.push(...bytes.subarray(0, versionBytes - opening.length));
		if (isOtherVersion(opening)) return 'version';
		if (opening.length === versionBytes || remaining === 0) opening = undefined;
		return undefined;
	};

	const takeType = (byte: number): GuardProblem | undefined => {
		first = byte;
		type = byte >> 4;
		// A second CONNECT is a violation as well [MQTT-3.1.0-2].
		if (connected ? !clientTypes.has(type) : type !== connect) return 'malformed';
		connected = true;
		phase = 'length';
		lengthBytes = 0;
		remaining = 0;
		return undefined;
	};

	const takeLength = (byte: number): GuardProblem | undefined => {
		remaining += (byte & 0x7f) * 128 ** lengthBytes;
		lengthBytes += 1;
		if ((byte & 0x80) !== 0) return lengthBytes === longestLength ? 'malformed' : undefined;
		if (1 + lengthBytes + remaining > allowed) return 'oversized';
		if (listTypes.has(type) && remaining <= idBytes) return 'malformed';
		countFilters = listTypes.has(type) ? createFilterCount(type === subscribe ? 1 : 0) : undefined;
		filters = 0;
		work += packetWork(first, remaining);
		phase = remaining === 0 ? 'type' : 'body';
		return undefined;
	};

	const takeBody = (bytes: Uint8Array): GuardProblem | undefined => {
		remaining -= bytes.length;
		if (remaining === 0) phase = 'type';
		const found = countFilters?.(bytes) ?? 0;
		filters += found;
		work += found * filterWork;
		return filters > limits.brokerPacketFilters ? 'oversized' : takeOpening(bytes);
	};

	const takeSome = (chunk: Uint8Array, at: number): GuardProblem | undefined => {
		if (phase === 'type') return takeType(chunk[at] ?? 0);
		return phase === 'length' ? takeLength(chunk[at] ?? 0) : takeBody(chunk.subarray(at, at + remaining));
	};

	return {
		pass(chunk, from, enough) {
			work = 0;
			let end = from;
			let problem: GuardProblem | undefined;
			const endsList = (): boolean => phase === 'type' && listTypes.has(type) && end > from;
			while (end < chunk.length && problem === undefined && !(phase === 'type' && work >= enough) && !endsList()) {
				const taken = phase === 'body' ? Math.min(remaining, chunk.length - end) : 1;
				problem = takeSome(chunk, end);
				end += taken;
			}
			return {end, work, isWhole: phase === 'type', isList: endsList(), problem};
		},
		allow(bytes) {
			allowed = bytes;
		},
	};
}
