// Packets that come, counted without being looked into: a client under load has no time for more.

/** Counts PUBLISH packets by their headers; what is inside is skipped. */
export function createCounter(): {readonly feed: (chunk: Uint8Array) => number} {
	let type = 0;
	let shift = -1;
	let remaining = 0;
	return {
		feed(chunk) {
			let ended = 0;
			for (let at = 0; at < chunk.length;) {
				if (shift < 0 && remaining > 0) {
					const taken = Math.min(remaining, chunk.length - at);
					remaining -= taken;
					at += taken;
				} else if (shift < 0) {
					type = (chunk[at] ?? 0) >> 4;
					shift = 0;
					at += 1;
					continue;
				} else {
					const byte = chunk[at] ?? 0;
					remaining += (byte & 0x7f) << shift;
					shift = (byte & 0x80) === 0 ? -1 : shift + 7;
					at += 1;
				}
				if (shift < 0 && remaining === 0 && type === 3) ended += 1;
			}
			return ended;
		},
	};
}
