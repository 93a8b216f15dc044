// Finds damage in a write-ahead log of LevelDB, which itself skips what it cannot read and says nothing.
//
// Every batch is flushed before the next is written, so a crash can only leave the last record incomplete. A record that
// begins after unreadable bytes proves that those were once acknowledged. Format: leveldb/doc/log_format.md.

const blockBytes = 32_768;
const headerBytes = 7;
const recordTypes = {full: 1, first: 2, middle: 3, last: 4} as const;

/** Where a record that must have been whole cannot be read; undefined when all is well but perhaps the end. */
export function damageInLog(log: Uint8Array): number | undefined {
	/** The beginning of what is unreadable or incomplete, unless something follows it. */
	let unfinished: number | undefined;
	let inside = false;
	for (const {at, type} of fragmentsOf(log)) {
		const begins = type === recordTypes.full || type === recordTypes.first;
		if (begins && unfinished !== undefined) return unfinished;
		const readable: boolean = begins || (inside && (type === recordTypes.middle || type === recordTypes.last));
		inside = readable && (type === recordTypes.first || type === recordTypes.middle);
		if (!readable || type === recordTypes.first) unfinished ??= at;
		else if (type === recordTypes.last) unfinished = undefined;
	}
	return undefined;
}

type Fragment = {readonly at: number; /** Undefined: unreadable. */ readonly type: number | undefined};

function* fragmentsOf(log: Uint8Array): Iterable<Fragment> {
	for (let start = 0; start < log.length; start += blockBytes) {
		const end = Math.min(start + blockBytes, log.length);
		for (let at = start; at + headerBytes <= end;) {
			const length = byte(log, at + 4) | (byte(log, at + 5) << 8);
			const next = at + headerBytes + length;
			const whole = next <= end;
			yield {at, type: whole && isIntact(log, at, next) ? byte(log, at + 6) : undefined};
			at = whole ? next : end;
		}
	}
}

const byte = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0;

/** The stored checksum covers type and payload, and is masked. */
function isIntact(log: Uint8Array, at: number, next: number): boolean {
	const crc = crc32c(log.subarray(at + 6, next));
	const masked = (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
	const stored = (byte(log, at) | (byte(log, at + 1) << 8) | (byte(log, at + 2) << 16) | (byte(log, at + 3) << 24)) >>> 0;
	return masked === stored;
}

/** CRC-32C (Castagnoli), reflected polynomial 0x82f63b78. */
export function crc32c(bytes: Uint8Array): number {
	let crc = 0xffffffff;
	for (const value of bytes) crc = (crcTable[(crc ^ value) & 0xff] ?? 0) ^ (crc >>> 8);
	return (crc ^ 0xffffffff) >>> 0;
}

const crcTable = Uint32Array.from({length: 256}, (_, value) => {
	let crc = value;
	for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0x82f63b78 ^ (crc >>> 1) : crc >>> 1;
	return crc >>> 0;
});
