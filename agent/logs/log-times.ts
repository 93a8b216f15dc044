// When what of a log was written. Programs write straight into their logs, so the agent notes how far a log had come by when.
//
// A file beside the log holds the marks, 16 bytes each: an offset, counted as everywhere from the attempt's start, and the time by which
// everything below it was written. What lies between two marks counts as written at the later one's time. Both only rise.

import {appendFileSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {valueOr} from '../../api/value-or.js';

export type Mark = {readonly end: number; readonly atMs: number};

const timesFile = (log: string): string => `${log}.times`;
const markBytes = 16;

/** Throws errno exceptions. */
export const addMarks = (log: string, marks: readonly Mark[]): void => appendFileSync(timesFile(log), bytesOf(marks), {mode: 0o600});

function bytesOf(marks: readonly Mark[]): Buffer {
	const buffer = Buffer.allocUnsafe(marks.length * markBytes);
	for (const [index, {end, atMs}] of marks.entries()) {
		buffer.writeDoubleLE(end, index * markBytes);
		buffer.writeDoubleLE(atMs, index * markBytes + 8);
	}
	return buffer;
}

/** All marks there are; one that was being written when its agent died is not among them. */
export function readMarks(log: string): readonly Mark[] {
	const buffer = valueOr(Buffer.alloc(0), () => readFileSync(timesFile(log)));
	return Array.from({length: Math.floor(buffer.length / markBytes)}, (_, index) => ({
		end: buffer.readDoubleLE(index * markBytes),
		atMs: buffer.readDoubleLE(index * markBytes + 8),
	}));
}

/**
 * Leaves out what is about text that is gone, at the beginning or at the end, and of the older half every other mark when there are more than
 * so many: lines of long ago then have a coarser time. Returns how many are left. Throws errno exceptions.
 */
export function trimMarks(log: string, extent: {readonly first: number; readonly end: number}, maxMarks: number): number {
	const kept = readMarks(log).filter(({end}) => end > extent.first && end <= extent.end);
	const marks = kept.length <= maxMarks ? kept : kept.filter((_, index) => index >= kept.length / 2 || index % 2 === 1);
	const file = timesFile(log);
	writeFileSync(`${file}.new`, bytesOf(marks), {mode: 0o600});
	renameSync(`${file}.new`, file);
	return marks.length;
}

/** Which mark tells of the byte at this offset; `marks.length` when none does yet. */
function indexOf(marks: readonly Mark[], offset: number): number {
	let low = 0;
	let high = marks.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((marks[middle]?.end ?? 0) > offset) high = middle;
		else low = middle + 1;
	}
	return low;
}

/** When the byte at this offset was written; `otherwiseMs` for what no mark tells of yet. */
export const timeOf = (marks: readonly Mark[], offset: number, otherwiseMs: number): number =>
	marks[indexOf(marks, offset)]?.atMs ?? otherwiseMs;

/** Where that begins which was written at `sinceMs` or later. What no mark tells of yet, up to `end`, is of now. */
export function offsetSince(marks: readonly Mark[], sinceMs: number, {end, nowMs}: {readonly end: number; readonly nowMs: number}): number {
	const index = marks.findIndex(({atMs}) => atMs >= sinceMs);
	if (index < 0 && sinceMs > nowMs) return end;
	return (index < 0 ? marks.at(-1) : marks[index - 1])?.end ?? 0;
}

/** Adds its time before each line that begins in a piece of a log. */
export function stamped(
	piece: {readonly data: Buffer; readonly offset: number; readonly beginsLine: boolean},
	timeAt: (offset: number) => number,
	maxBytes: number,
): {readonly data: Buffer; readonly taken: number} {
	const {data, offset, beginsLine} = piece;
	const parts: Buffer[] = [];
	let size = 0;
	let from = 0;
	while (from < data.length) {
		const stamp = from > 0 || beginsLine ? Buffer.from(`${new Date(timeAt(offset + from)).toISOString()} `) : Buffer.alloc(0);
		const newline = data.indexOf(10, from);
		const lineEnd = newline < 0 ? data.length : newline + 1;
		// However small an answer may be, it goes on by a byte.
		const room = Math.max(from === 0 ? 1 : 0, maxBytes - size - stamp.length);
		if (room === 0) break;
		const to = Math.min(lineEnd, from + room);
		parts.push(stamp, data.subarray(from, to));
		size += stamp.length + to - from;
		from = to;
		if (to < lineEnd) break;
	}
	return {data: Buffer.concat(parts), taken: from};
}
