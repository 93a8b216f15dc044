// A PUBLISH of QoS 0 as it goes over the wire (MQTT 3.1.1, section 3.3), for messages that need nothing of what the broker's library
// does around one.

const publish = 0x30;
const retainFlag = 0x01;

/** The packet's bytes. */
export function publishPacket(topic: string, payload: Buffer, retain: boolean): Buffer {
	const topicBytes = Buffer.byteLength(topic);
	const remaining = 2 + topicBytes + payload.length;
	const lengthBytes = remaining < 0x80 ? 1 : remaining < 0x4000 ? 2 : remaining < 0x200000 ? 3 : 4;
	const packet = Buffer.allocUnsafe(1 + lengthBytes + remaining);
	packet[0] = publish | (retain ? retainFlag : 0);
	let rest = remaining;
	for (let at = 1; at <= lengthBytes; at += 1) {
		packet[at] = (rest & 0x7f) | (at < lengthBytes ? 0x80 : 0);
		rest >>= 7;
	}
	let at = packet.writeUInt16BE(topicBytes, 1 + lengthBytes);
	at += packet.write(topic, at);
	payload.copy(packet, at);
	return packet;
}
