// The last words of a program: what its record keeps of its log, for people.

import {limits} from '../../api/limits.js';
import {extentOf, readLog} from './logs.js';

/** At most `lastLines` lines and `lastLinesBytes` of text without control characters; '' when there is nothing. Throws errno exceptions. */
export function lastLinesOf(log: string): string {
	const parts: Buffer[] = [];
	const {first, end} = extentOf(log);
	const room = 2 * limits.lastLinesBytes;
	// The end of the log may be in two files, and nothing more is read of it than there was.
	for (let offset = Math.max(first, end - room); offset < end;) {
		const {data, nextOffset} = readLog(log, offset, end - offset);
		if (nextOffset <= offset) break;
		parts.push(data);
		offset = nextOffset;
	}
	return lastText(Buffer.concat(parts).toString('utf8'), limits.lastLinesBytes).split('\n').slice(-limits.lastLines).join('\n');
}

/** The end of a text that fits, not beginning inside of a character. Lines end with "\n", the last one without. */
export function lastText(text: string, maxBytes: number): string {
	const plain = text
		.replaceAll('\r\n', '\n')
		.replace(/[^\P{Cc}\n\t]/gu, '')
		.trimEnd();
	const bytes = Buffer.from(plain);
	let from = Math.max(0, bytes.length - maxBytes);
	while (from > 0 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
	return bytes.subarray(from).toString();
}
