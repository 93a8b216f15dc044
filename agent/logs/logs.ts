// Logs on disk: the programs append to them by themselves, the agent reads them.
//
// Offsets count bytes since the attempt's start and never go back: a small file says at which of them the log file begins.
//
// A program may do to its log what it likes: make it as long as a file can be without writing anything, cut it, write no line end. So no
// call here reads more than it was given, what looks for a line looks through `logScanBytes` in turns with everything else, and of a log
// with holes no more than that is shown, without the holes.

import {constants, openSync, readFileSync, statSync} from 'node:fs';
import {limits} from '../../api/limits.js';
import {valueOr} from '../../api/value-or.js';
import {valueOrFor} from '../../system/files/errno.js';
import {turn} from '../os/turn.js';
import {bytesAt, whileOpen} from '../os/while-open.js';

export type Chunk = {readonly data: Buffer; readonly nextOffset: number; readonly atEnd: boolean};

/** Where the log file begins, and where the older one does, in bytes since the attempt's start. */
export type Bases = {readonly current: number; readonly older: number};

export const basesFile = (log: string): string => `${log}.base`;
export const olderFile = (log: string): string => `${log}.1`;
export const blockBytes = 65_536;

/** Of no file more is looked at, so that sums of offsets stay whole numbers. Some file systems take 8 EiB. */
export const longestBytes = 2 ** 52;

const page = Buffer.alloc(4_096);

export function basesOf(log: string): Bases {
	const neverRotated = '0 0';
	const words = valueOr(neverRotated, () => readFileSync(basesFile(log), 'utf8').trim());
	const [older, current] = words.split(' ').map(Number);
	if (Number.isSafeInteger(current) && Number.isSafeInteger(older)) return {current: current ?? 0, older: older ?? 0};
	return {current: 0, older: 0};
}

/** How long a file is, and what of that was ever written. */
export type Size = {
	readonly bytes: number;
	/** 0 also where the file system does not tell. */
	readonly written: number;
};

export const sizeIn = ({size, blocks}: {readonly size: number; readonly blocks: number}): Size => {
	const bytes = Math.min(size, longestBytes);
	return {bytes, written: Math.min(bytes, blocks * 512)};
};

const sizeOf = (file: string): Size => sizeIn(statSync(file, {throwIfNoEntry: false}) ?? {size: 0, blocks: 0});

/** What is before it was never written, or so long ago that it would have been rotated away. */
const firstShown = ({bytes, written}: Size): number =>
	written === bytes ? 0 : Math.max(0, bytes - Math.max(written, limits.logScanBytes));

/** Up to `maxBytes` from an offset: none where there is a hole, after which it goes on. What was rotated away for good is skipped. Throws errno exceptions. */
export function readLog(log: string, offset: number, maxBytes: number): Chunk {
	const bases = basesOf(log);
	const size = sizeOf(log);
	const end = bases.current + size.bytes;
	if (offset > end) return {data: Buffer.alloc(0), nextOffset: end, atEnd: true}; // The program cut its own log.
	if (offset < bases.current) {
		const from = Math.max(offset, bases.older);
		const {data, next} = readPart(olderFile(log), from - bases.older, Math.min(maxBytes, bases.current - from));
		// What was written between the copy and the cut is in neither file.
		const nextOffset = next === from - bases.older ? bases.current : bases.older + next;
		return {data, nextOffset, atEnd: nextOffset >= end};
	}
	const {data, next} = readPart(log, offset - bases.current, maxBytes);
	return {data, nextOffset: bases.current + next, atEnd: bases.current + next >= end};
}

/** `next`: where to go on. */
function readPart(file: string, position: number, maxBytes: number): {readonly data: Buffer; readonly next: number} {
	const size = sizeOf(file);
	const from = Math.max(position, firstShown(size));
	const data = readAt(file, from, Math.min(maxBytes, size.bytes - from));
	const shown = size.written === size.bytes ? data : data.subarray(hole(data));
	return {data: shown, next: from + data.length};
}

/** How much of the beginning is whole pages of nothing: in a file with holes they are taken for such. */
export function hole(data: Buffer): number {
	let bytes = 0;
	while (bytes + page.length <= data.length && data.compare(page, 0, page.length, bytes, bytes + page.length) === 0) bytes += page.length;
	return bytes;
}

/** Fewer bytes where the file ends. Throws errno exceptions other than a missing file. */
export function readAt(file: string, position: number, maxBytes: number): Buffer {
	// A program may have taken a lease on its log (fcntl(2)), for which others wait.
	const descriptor = valueOrFor(undefined, ['ENOENT'], () => openSync(file, constants.O_RDONLY | constants.O_NONBLOCK));
	if (descriptor === undefined) return Buffer.alloc(0);
	return whileOpen(descriptor, () => bytesAt(descriptor, position, maxBytes));
}

/** How much was written since the attempt's start, and the first of it that is still there. */
export function extentOf(log: string): {readonly first: number; readonly end: number} {
	const bases = basesOf(log);
	return {first: bases.older, end: bases.current + sizeOf(log).bytes};
}

/**
 * Where the last `lines` lines before an end begin: at the earliest `logScanBytes` before it. Reads backwards in blocks, through the older file too.
 * Rejects with errno exceptions.
 */
export async function offsetOfTail(log: string, lines: number, end = extentOf(log).end): Promise<number> {
	if (lines <= 0) return end;
	const {older: first, current: border} = basesOf(log);
	const earliest = Math.max(first, end - limits.logScanBytes);
	let missing = lines;
	for (let to = end; to > earliest;) {
		const from = Math.max(earliest, to - blockBytes, to > border ? border : 0);
		const {data, nextOffset} = readLog(log, from, to - from);
		const begin = nextOffset - data.length;
		for (let index = data.length - 1; index >= 0; index--) {
			// The newline at the very end closes the last line and opens none.
			if (data[index] !== 10 || begin + index + 1 === end) continue;
			if (--missing === 0) return begin + index + 1;
		}
		to = from;
		await turn();
	}
	return earliest;
}

/** Whether a line begins at this offset. What is left of a line that was rotated away counts as one. Throws errno exceptions. */
export function beginsLine(log: string, offset: number): boolean {
	return offset <= basesOf(log).older || readLog(log, offset - 1, 1).data[0] === 10;
}

/** Where the next line begins, from this offset on; the end where none does, or where it was given up. Rejects with errno exceptions. */
export async function nextLine(log: string, offset: number): Promise<number> {
	if (beginsLine(log, offset)) return offset;
	let from = offset;
	for (let left = limits.logScanBytes; left > 0; left -= blockBytes) {
		const {data, nextOffset, atEnd} = readLog(log, from, blockBytes);
		const newline = data.indexOf(10);
		if (newline >= 0) return nextOffset - data.length + newline + 1;
		if (atEnd) return nextOffset;
		from = nextOffset;
		await turn();
	}
	return from;
}
