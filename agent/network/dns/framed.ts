// A message as it goes over TCP.

/** With its length before it, as over TCP (RFC 1035 section 4.2.2). */
export function framed(message: Buffer): Buffer {
	const length = Buffer.alloc(2);
	length.writeUInt16BE(message.length);
	return Buffer.concat([length, message]);
}
