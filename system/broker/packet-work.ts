// What a packet of a client costs to handle, in units of about what a publish of QoS 0 does (3 to 5 microseconds; measured by
// bench/broker-load).

/** Of a CONNECT; where its password is known, its login pays. */
export const connectWork = 50;

/** By packet type: CONNECT, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBSCRIBE, UNSUBSCRIBE, PINGREQ, DISCONNECT. */
const works: Readonly<Record<number, number>> = {1: connectWork, 3: 1, 4: 1, 5: 2, 6: 3, 7: 1, 8: 5, 10: 4, 12: 1, 14: 1};
/** PUBLISH of QoS 1 and 2, on top. */
const ofQos: readonly number[] = [0, 2, 5, 5];
/** What is copied on its way. */
export const bytesPerUnit = 8_192;

const publish = 3;
const pubrel = 6;

/** Of each filter of SUBSCRIBE and UNSUBSCRIBE, on top. */
export const filterWork = 2;

/** Of a retained message that is sent to one that subscribed. */
export const replayWork = 0.2;

/** Of the answer to a message of QoS 1 or 2, at most. */
export const answerWork = 4;

/** Of a publish and of what its client sends to end it. */
export const publishWork = (qos: 0 | 1 | 2, bytes: number): number =>
	packetWork((publish << 4) | (qos << 1), bytes) + (qos === 2 ? (works[pubrel] ?? 0) : 0);

/** By the first byte of a packet, and the bytes that follow its header. */
export function packetWork(first: number, remaining: number): number {
	const type = first >> 4;
	return (works[type] ?? 1) + (type === publish ? (ofQos[(first >> 1) & 3] ?? 0) : 0) + Math.floor(remaining / bytesPerUnit);
}
