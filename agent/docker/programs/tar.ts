// An archive with one file that may be executed.
//
// Source: tar(5), the ustar form of POSIX.

const blockBytes = 512;

/** The file belongs to root and has no time, so the same file is the same archive. `name`: below 100 bytes. */
export function tarOf(name: string, file: Buffer): Buffer {
	const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
	const header = Buffer.alloc(blockBytes);
	header.write(name, 0);
	header.write(octal(0o755, 7), 100);
	header.write(octal(0, 7), 108); // owner
	header.write(octal(0, 7), 116); // group
	header.write(octal(file.length, 11), 124);
	header.write(octal(0, 11), 136); // time
	header.write(' '.repeat(8), 148); // the sum counts itself as blanks
	header.write('0', 156); // a file
	header.write('ustar\x0000', 257);
	const sum = header.reduce((all, byte) => all + byte, 0);
	header.write(`${octal(sum, 6)} `, 148);
	const padding = Buffer.alloc((blockBytes - (file.length % blockBytes)) % blockBytes);
	return Buffer.concat([header, file, padding, Buffer.alloc(2 * blockBytes)]);
}
