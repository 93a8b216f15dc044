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

/** Of one connection, whose packets are this long at most until `allow` says otherwise. */
export class PacketGuard {
	#allowed: number;
	#connected = false;
	#first = 0;
	#type = 0;
	#work = 0;
	#filters = 0;
	#countFilters: ((bytes: Uint8Array) => number) | undefined;
	#phase: 'type' | 'length' | 'body' = 'type';
	#lengthBytes = 0;
	#remaining = 0;
	/** The beginning of CONNECT's body, until the version is known; undefined from then on. */
	#opening: number[] | undefined = [];

	constructor(maxBytes: number) {
		this.#allowed = maxBytes;
	}

	/** Looks through the bytes from there on: to the end of a list of filters or of the packet that reaches so much work, or of what there is. */
	pass(chunk: Uint8Array, from: number, enough: number): Passed {
		this.#work = 0;
		let end = from;
		let problem: GuardProblem | undefined;
		const endsList = (): boolean => this.#phase === 'type' && listTypes.has(this.#type) && end > from;
		while (end < chunk.length && problem === undefined && !(this.#phase === 'type' && this.#work >= enough) && !endsList()) {
			const taken = this.#phase === 'body' ? Math.min(this.#remaining, chunk.length - end) : 1;
			problem = this.#takeSome(chunk, end);
			end += taken;
		}
		return {end, work: this.#work, isWhole: this.#phase === 'type', isList: endsList(), problem};
	}

	/** Sets the longest packet from the next one on, header included. */
	allow(bytes: number): void {
		this.#allowed = bytes;
	}

	/** Looks at the version as soon as it is there. */
	#takeOpening(bytes: Uint8Array): GuardProblem | undefined {
		if (this.#opening === undefined) return undefined;
		this.#opening.push(...bytes.subarray(0, versionBytes - this.#opening.length));
		if (isOtherVersion(this.#opening)) return 'version';
		if (this.#opening.length === versionBytes || this.#remaining === 0) this.#opening = undefined;
		return undefined;
	}

	#takeType(byte: number): GuardProblem | undefined {
		this.#first = byte;
		this.#type = byte >> 4;
		// A second CONNECT is a violation as well [MQTT-3.1.0-2].
		if (this.#connected ? !clientTypes.has(this.#type) : this.#type !== connect) return 'malformed';
		this.#connected = true;
		this.#phase = 'length';
		this.#lengthBytes = 0;
		this.#remaining = 0;
		return undefined;
	}

	#takeLength(byte: number): GuardProblem | undefined {
		this.#remaining += (byte & 0x7f) * 128 ** this.#lengthBytes;
		this.#lengthBytes += 1;
		if ((byte & 0x80) !== 0) return this.#lengthBytes === longestLength ? 'malformed' : undefined;
		if (1 + this.#lengthBytes + this.#remaining > this.#allowed) return 'oversized';
		if (listTypes.has(this.#type) && this.#remaining <= idBytes) return 'malformed';
		this.#countFilters = listTypes.has(this.#type) ? createFilterCount(this.#type === subscribe ? 1 : 0) : undefined;
		this.#filters = 0;
		this.#work += packetWork(this.#first, this.#remaining);
		this.#phase = this.#remaining === 0 ? 'type' : 'body';
		return undefined;
	}

	#takeBody(bytes: Uint8Array): GuardProblem | undefined {
		this.#remaining -= bytes.length;
		if (this.#remaining === 0) this.#phase = 'type';
		const found = this.#countFilters?.(bytes) ?? 0;
		this.#filters += found;
		this.#work += found * filterWork;
		return this.#filters > limits.brokerPacketFilters ? 'oversized' : this.#takeOpening(bytes);
	}

	#takeSome(chunk: Uint8Array, at: number): GuardProblem | undefined {
		if (this.#phase === 'type') return this.#takeType(chunk[at] ?? 0);
		return this.#phase === 'length' ? this.#takeLength(chunk[at] ?? 0) : this.#takeBody(chunk.subarray(at, at + this.#remaining));
	}
}
