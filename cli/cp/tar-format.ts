// The head of an entry of a tar archive: ustar with GNU's long names and large numbers, which every tar program reads and writes.
// Source: POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar manual, "Basic Tar Format".
//
// Names are byte strings (latin1): file names need not be UTF-8.

export const blockBytes = 512;

export const entryTypes = {
	file: '0',
	hardLink: '1',
	symbolicLink: '2',
	directory: '5',
	/** The name of the next entry, and its link's target, when they are longer than their fields. */
	longName: 'L',
	longLink: 'K',
	/** POSIX' way to say the same, of the next entry and of all. */
	pax: 'x',
	paxGlobal: 'g',
} as const;

export type TarHead = {
	readonly name: string;
	/** One of `entryTypes`, or another character. */
	readonly type: string;
	readonly mode: number;
	readonly size: number;
	/** What a link points at. */
	readonly link: string;
};

/** Where the fields are: from, length. */
const fields = {
	name: [0, 100],
	mode: [100, 8],
	uid: [108, 8],
	gid: [116, 8],
	size: [124, 12],
	mtime: [136, 12],
	checksum: [148, 8],
	type: [156, 1],
	link: [157, 100],
	magic: [257, 8],
	prefix: [345, 155],
} as const;

/** The longest name that fits its field. */
export const nameFieldBytes = fields.name[1];

/** The largest number that fits twelve octal digits and an end. */
const octalSizeMax = 0o77777777777;

/** One block. Everything belongs to user 0, so that the user who unpacks it owns it. */
export function headBlock({name, type, mode, size, link}: TarHead, mtimeSeconds: number): Buffer {
	const block = Buffer.alloc(blockBytes);
	const put = ([from, length]: readonly [number, number], text: string): void => void block.write(text.slice(0, length), from, 'latin1');
	const octal = (field: readonly [number, number], value: number): void => put(field, value.toString(8).padStart(field[1] - 1, '0'));
	put(fields.name, name);
	octal(fields.mode, mode & 0o7777);
	octal(fields.uid, 0);
	octal(fields.gid, 0);
	if (size <= octalSizeMax) octal(fields.size, size);
	else {
		// GNU's base-256: the first bit says so.
		block.writeUInt8(0x80, fields.size[0]);
		block.writeBigUInt64BE(BigInt(size), fields.size[0] + 4);
	}
	octal(fields.mtime, Math.max(0, Math.min(mtimeSeconds, octalSizeMax)));
	put(fields.type, type);
	put(fields.link, link);
	put(fields.magic, 'ustar  ');
	put(fields.checksum, `${checksumOf(block).toString(8).padStart(6, '0')}\0 `);
	return block;
}

/** What a block says; undefined when it is no head of an entry. */
export function readHead(block: Buffer): TarHead | undefined {
	const text = ([from, length]: readonly [number, number]): string => {
		const bytes = block.toString('latin1', from, from + length);
		const end = bytes.indexOf('\0');
		return end < 0 ? bytes : bytes.slice(0, end);
	};
	const number = ([from, length]: readonly [number, number]): number => {
		if (block.readUInt8(from) === 0x80) return Number(block.readBigUInt64BE(from + length - 8));
		const digits = text([from, length]).trim();
		return digits === '' ? 0 : /^[0-7]+$/.test(digits) ? parseInt(digits, 8) : Number.NaN;
	};
	const [mode, size] = [number(fields.mode), number(fields.size)];
	if (number(fields.checksum) !== checksumOf(block) || !Number.isSafeInteger(mode) || !Number.isSafeInteger(size) || size < 0)
		return undefined;
	const isUstar = block.toString('latin1', fields.magic[0], fields.magic[0] + 6) === 'ustar\0';
	const prefix = isUstar ? text(fields.prefix) : '';
	const type = text(fields.type);
	return {
		name: prefix === '' ? text(fields.name) : `${prefix}/${text(fields.name)}`,
		// Before POSIX a file had no type, or 7 for one in a piece; a directory's name ended in a slash.
		type: type === '' || type === '7' ? (text(fields.name).endsWith('/') ? entryTypes.directory : entryTypes.file) : type,
		mode,
		size,
		link: text(fields.link),
	};
}

/** The sum of all bytes, those of the sum itself as spaces. */
function checksumOf(block: Buffer): number {
	const [from, length] = fields.checksum;
	let sum = length * 0x20;
	for (let at = 0; at < blockBytes; at++) if (at < from || at >= from + length) sum += block[at] ?? 0;
	return sum;
}

/** Zeros up to the next block. */
export const paddingOf = (size: number): number => (blockBytes - (size % blockBytes)) % blockBytes;
