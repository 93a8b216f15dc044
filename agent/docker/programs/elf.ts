// The smallest program that Linux starts: an ELF header, one program header, code. No library, no interpreter, no section.
//
// The programs are here as bytes so that nothing has to be built or fetched before a pod can start, on any host.
//
// Source: elf(5); the System V ABI for AMD64, and for the Arm 64-bit architecture.

export const architectures = ['x86_64', 'aarch64'] as const;

export type Architecture = (typeof architectures)[number];

/** As Node names processors, Go (and so Docker), or the kernel; undefined: there is no program for that one. */
export const architectureOf = (name: string): Architecture | undefined => (Object.hasOwn(names, name) ? names[name] : undefined);

const names: Readonly<Record<string, Architecture>> = {
	x86_64: 'x86_64',
	amd64: 'x86_64',
	x64: 'x86_64',
	aarch64: 'aarch64',
	arm64: 'aarch64',
};

const machines: Readonly<Record<Architecture, number>> = {x86_64: 62, aarch64: 183};

const headerBytes = 64;
const programHeaderBytes = 56;
/** Where the file is mapped as a whole: read and run, never written. */
const address = 0x40_0000n;
/** No kernel's pages are larger. */
const alignment = 0x1_0000n;

/** A file to be executed whose first instruction is the first byte of `code`; what the code reads stands behind it. */
export function elf(architecture: Architecture, code: Buffer): Buffer {
	const start = headerBytes + programHeaderBytes;
	const size = BigInt(start + code.length);
	const header = Buffer.alloc(start);
	header.write('\x7fELF\x02\x01\x01', 'latin1'); // 64 bits, little-endian, version 1
	header.writeUInt16LE(2, 16); // ET_EXEC: it runs where it says
	header.writeUInt16LE(machines[architecture], 18);
	header.writeUInt32LE(1, 20); // version
	header.writeBigUInt64LE(address + BigInt(start), 24); // entry
	header.writeBigUInt64LE(BigInt(headerBytes), 32); // the program header's place
	header.writeUInt16LE(headerBytes, 52);
	header.writeUInt16LE(programHeaderBytes, 54);
	header.writeUInt16LE(1, 56); // one program header
	header.writeUInt16LE(64, 58); // of a section header, if there were one
	header.writeUInt32LE(1, headerBytes); // PT_LOAD
	header.writeUInt32LE(5, headerBytes + 4); // readable, executable
	header.writeBigUInt64LE(address, headerBytes + 16);
	header.writeBigUInt64LE(address, headerBytes + 24);
	header.writeBigUInt64LE(size, headerBytes + 32);
	header.writeBigUInt64LE(size, headerBytes + 40);
	header.writeBigUInt64LE(alignment, headerBytes + 48);
	return Buffer.concat([header, code]);
}

/** The bytes of a listing: in each line hexadecimal digits, and what they are behind a semicolon. */
export const bytesOf = (listing: string): Buffer => Buffer.from(listing.replaceAll(/;.*|\s/g, ''), 'hex');
