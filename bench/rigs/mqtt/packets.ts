// MQTT 3.1.1 byte by byte: packets as they are written, sound or not, so that what no library would send can be sent.

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
