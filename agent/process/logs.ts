// Logs on disk: the programs append to them by themselves, the agent reads and rotates.
//
// Offsets count bytes since the attempt's start and never go back: a small file says at which of them the log file begins.
// Rotation is copy and truncate, because the program keeps its descriptor; the last step is synchronous and short.

import {
	closeSync,
	copyFile,
	createReadStream,
	createWriteStream,
	fstatSync,
	ftruncateSync,
	openSync,
	readFileSync,
	readSync,
	renameSync,
	statSync,
	writeFileSync,
	writeSync,
} from 'node:fs';
import {pipeline} from 'node:stream';

export type Chunk = {readonly data: Buffer; readonly nextOffset: number; readonly atEnd: boolean};

/** Where the log file begins, and where the older one does, in bytes since the attempt's start. */
type Bases = {readonly current: number; readonly older: number};

const basesFile = (log: string): string => `${log}.base`;
const olderFile = (log: string): string => `${log}.1`;
const blockBytes = 65_536;
/** Taken over while nothing else happens in this process. */
const lastBlocks = 64;

function basesOf(log: string): Bases {
	try {
		const [older, current] = readFileSync(basesFile(log), 'utf8').trim().split(' ').map(Number);
		if (Number.isSafeInteger(current) && Number.isSafeInteger(older)) return {current: current ?? 0, older: older ?? 0};
	} catch {
		// Never rotated.
	}
	return {current: 0, older: 0};
}

const sizeOf = (file: string): number => {
	try {
		return statSync(file).size;
	} catch {
		return 0;
	}
};

/** Up to `maxBytes` from an offset. What was rotated away for good is skipped. Throws errno exceptions. */
export function readLog(log: string, offset: number, maxBytes: number): Chunk {
	const bases = basesOf(log);
	const end = bases.current + sizeOf(log);
	if (offset < bases.current) {
		const from = Math.max(offset, bases.older);
		const data = readAt(olderFile(log), from - bases.older, Math.min(maxBytes, bases.current - from));
		// What was written between the copy and the cut is in neither file.
		const nextOffset = data.length === 0 ? bases.current : from + data.length;
		return {data, nextOffset, atEnd: nextOffset >= end};
	}
	if (offset > end) return {data: Buffer.alloc(0), nextOffset: end, atEnd: true}; // The program cut its own log.
	const data = readAt(log, offset - bases.current, maxBytes);
	return {data, nextOffset: offset + data.length, atEnd: offset + data.length >= end};
}

/** Where the last `lines` lines begin. Reads backwards in blocks, through the older file too. Throws errno exceptions. */
export function offsetOfTail(log: string, lines: number): number {
	const bases = basesOf(log);
	const end = bases.current + sizeOf(log);
	if (lines <= 0) return end;
	let missing = lines;
	const parts = [
		{file: log, base: bases.current, size: end - bases.current},
		{file: olderFile(log), base: bases.older, size: Math.min(bases.current - bases.older, sizeOf(olderFile(log)))},
	];
	for (const {file, base, size} of parts) {
		for (let to = size; to > 0;) {
			const from = Math.max(0, to - blockBytes);
			const block = readAt(file, from, to - from);
			for (let index = block.length - 1; index >= 0; index--) {
				// The newline at the very end closes the last line and opens none.
				if (block[index] !== 10 || base + from + index + 1 === end) continue;
				if (--missing === 0) return base + from + index + 1;
			}
			to = from;
		}
	}
	return bases.older;
}

/** How much was written since the attempt's start, and the first of it that is still there. */
export function extentOf(log: string): {readonly first: number; readonly end: number} {
	const bases = basesOf(log);
	return {first: bases.older, end: bases.current + sizeOf(log)};
}

/** Whether a line begins at this offset. What is left of a line that was rotated away counts as one. Throws errno exceptions. */
export function beginsLine(log: string, offset: number): boolean {
	return offset <= basesOf(log).older || readLog(log, offset - 1, 1).data[0] === 10;
}

/** Where the next line begins, from this offset on; the end where none does. Throws errno exceptions. */
export function nextLine(log: string, offset: number): number {
	if (beginsLine(log, offset)) return offset;
	for (let from = offset; ;) {
		const {data, nextOffset, atEnd} = readLog(log, from, blockBytes);
		const newline = data.indexOf(10);
		if (newline >= 0) return nextOffset - data.length + newline + 1;
		if (atEnd) return nextOffset;
		from = nextOffset;
	}
}

function readAt(file: string, position: number, maxBytes: number): Buffer {
	let descriptor: number;
	try {
		descriptor = openSync(file, 'r');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
		throw error;
	}
	try {
		const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(maxBytes, fstatSync(descriptor).size - position)));
		return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, position));
	} finally {
		closeSync(descriptor);
	}
}

/**
 * Calls back with an error, or with nothing when the log is below the limit or was rotated. Of a log that has grown far beyond it only the
 * end is kept. One call per log at a time.
 */
export function rotateLog(log: string, limitBytes: number, done: (error?: unknown) => void): void {
	const size = sizeOf(log);
	if (size < limitBytes) return done();
	const copy = `${olderFile(log)}.new`;
	const skipped = size > 2 * limitBytes ? size - limitBytes : 0;
	const copied = (error: Error | null | undefined): void => {
		if (error !== null && error !== undefined) return done(error);
		try {
			cut(log, copy, skipped);
		} catch (failure) {
			return done(failure);
		}
		done();
	};
	if (skipped === 0) copyFile(log, copy, copied);
	else pipeline(createReadStream(log, {start: skipped, end: size - 1}), createWriteStream(copy, {mode: 0o600}), copied);
}

/**
 * Adds what was written during the copy, then cuts. Should the agent die before the cut, readers get those lines twice, never
 * not at all.
 */
function cut(log: string, copy: string, skipped: number): void {
	const source = openSync(log, 'r+');
	try {
		const bases = basesOf(log);
		const target = openSync(copy, 'a');
		try {
			for (let block = 0; block < lastBlocks; block++) {
				const rest = readAt(log, skipped + sizeOf(copy), blockBytes);
				if (rest.length === 0) break;
				writeSync(target, rest);
			}
		} finally {
			closeSync(target);
		}
		const current = bases.current + Math.max(fstatSync(source).size, skipped + sizeOf(copy));
		writeFileSync(`${basesFile(log)}.new`, `${bases.current + skipped} ${current}\n`, {mode: 0o600});
		renameSync(copy, olderFile(log));
		renameSync(`${basesFile(log)}.new`, basesFile(log));
		ftruncateSync(source, 0);
	} finally {
		closeSync(source);
	}
}
