// What waits for one kept session while its client is away, and what it costs: bytes of its own, never a slice of a larger read, with
// what the process needs around them.

/** A packet as aedes keeps it: PUBLISH, or PUBREL after the first half of a QoS 2 exchange. */
export type KeptPacket = {
	readonly cmd?: string;
	readonly brokerId?: string;
	readonly brokerCounter?: number;
	readonly topic?: string;
	readonly payload?: Buffer | string;
	readonly qos?: 0 | 1 | 2;
	readonly retain?: boolean;
	/** Of what a client publishes, until it is retained: its login, as the broker put it there. */
	readonly clientId?: string;
	readonly dup?: boolean;
	messageId?: number | undefined;
	/** Rises along a queue. */
	readonly order?: number;
};

/** The objects around one message: the packet, the buffer and its memory; measured, and rounded up. */
const messageOverhead = 1_024;
/** The entry of a map, and its key. */
const filterOverhead = 256;

/** The most that a message may take of memory: a topic's characters are one or two bytes each. */
export const costOf = ({topic = '', payload = ''}: KeptPacket): number =>
	messageOverhead + 2 * topic.length + (typeof payload === 'string' ? Buffer.byteLength(payload) : payload.length);

export const filterCost = (filter: string): number => filterOverhead + 2 * filter.length;

/** The packet with a payload that holds on to nothing else: small buffers would come from a pool that many share. */
export function withOwnPayload(packet: KeptPacket): KeptPacket {
	const bytes = Buffer.from(packet.payload ?? '');
	const payload = Buffer.allocUnsafeSlow(bytes.length);
	bytes.copy(payload);
	return {...packet, payload};
}

/** Bytes of all sessions, and of the sessions of each login. */
export type SessionBytes = {
	/** False: there is no room for so much more, and nothing is counted. */
	readonly take: (login: string, bytes: number) => boolean;
	readonly release: (login: string, bytes: number) => void;
	readonly all: () => number;
};

export function createSessionBytes(most: {readonly bytesPerLogin: number; readonly bytesInAll: number}): SessionBytes {
	const byLogin = new Map<string, number>();
	let all = 0;
	const add = (login: string, bytes: number): void => {
		all += bytes;
		const sum = (byLogin.get(login) ?? 0) + bytes;
		if (sum === 0) byLogin.delete(login);
		else byLogin.set(login, sum);
	};
	return {
		take(login, bytes) {
			if (all + bytes > most.bytesInAll || (byLogin.get(login) ?? 0) + bytes > most.bytesPerLogin) return false;
			add(login, bytes);
			return true;
		},
		release: (login, bytes) => add(login, -bytes),
		all: () => all,
	};
}
