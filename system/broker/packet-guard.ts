// Reads only the fixed headers of what a client sends (MQTT 3.1.1, section 2.2) and says no before a parser has buffered
// anything: a packet's length is bounded, its type is one that clients send, the first one is CONNECT, and its version is known.

/** `version`: the client is to be told so [MQTT-3.1.2-2]; the others only end. */
export type GuardProblem = 'oversized' | 'malformed' | 'version';

export type PacketGuard = {
	/** Looks through the next bytes; after a problem the connection is to be destroyed. */
	readonly feed: (chunk: Uint8Array) => GuardProblem | undefined;
	/** Sets the longest packet from the next one on, header included. */
	readonly allow: (bytes: number) => void;
};

const connect = 1;

/** PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBSCRIBE, UNSUBSCRIBE, PINGREQ, DISCONNECT. */
const clientTypes: ReadonlySet<number> = new Set([3, 4, 5, 6, 7, 8, 10, 12, 14]);

/** SUBSCRIBE, UNSUBSCRIBE: what follows the packet id is never empty [MQTT-3.8.3-3, MQTT-3.10.3-2]. */
const listTypes: ReadonlySet<number> = new Set([8, 10]);
const idBytes = 2;

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

export function createPacketGuard(maxBytes: number): PacketGuard {
	let allowed = maxBytes;
	let connected = false;
	let type = 0;
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
		phase = remaining === 0 ? 'type' : 'body';
		return undefined;
	};

	return {
		feed(chunk) {
			let offset = 0;
			while (offset < chunk.length) {
				if (phase === 'body') {
					const taken = Math.min(remaining, chunk.length - offset);
					remaining -= taken;
					const problem = takeOpening(chunk.subarray(offset, offset + taken));
					if (problem !== undefined) return problem;
					offset += taken;
					if (remaining === 0) phase = 'type';
					continue;
				}
				const byte = chunk[offset] ?? 0;
				offset += 1;
				const problem = phase === 'type' ? takeType(byte) : takeLength(byte);
				if (problem !== undefined) return problem;
			}
			return undefined;
		},
		allow(bytes) {
			allowed = bytes;
		},
	};
}
