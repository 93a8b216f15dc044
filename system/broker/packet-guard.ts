// Reads only the fixed headers of what a client sends (MQTT 3.1.1, section 2.2) and says no before a parser has buffered
// anything: a packet's length is bounded, its type is one that clients send, and the first one is CONNECT.

export type GuardProblem = 'oversized' | 'malformed';

export type PacketGuard = {
	/** Looks through the next bytes; after a problem the connection is to be destroyed. */
	readonly feed: (chunk: Uint8Array) => GuardProblem | undefined;
	/** Sets the longest packet from the next one on, header included. */
	readonly allow: (bytes: number) => void;
};

const connect = 1;

/** PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBSCRIBE, UNSUBSCRIBE, PINGREQ, DISCONNECT. */
const clientTypes: ReadonlySet<number> = new Set([3, 4, 5, 6, 7, 8, 10, 12, 14]);

/** The remaining length takes at most four bytes [MQTT 2.2.3]. */
const longestLength = 4;

export function createPacketGuard(maxBytes: number): PacketGuard {
	let allowed = maxBytes;
	let connected = false;
	let phase: 'type' | 'length' | 'body' = 'type';
	let lengthBytes = 0;
	let remaining = 0;

	const takeType = (byte: number): GuardProblem | undefined => {
		const type = byte >> 4;
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
