// The messages of an Engine's log: what comes with `timestamps`, each with the time before it.
//
// A message is a line, or 16 KiB of a longer one, which then has the same time in each. Of a container without a terminal each is a frame. With a
// terminal nothing stands between them: there a message ends with its line, or after 16 KiB where the same time follows once more.

import {createFrames, type FrameStream} from '../engine/frames.js';

export type MessagePart = {
	readonly stream: FrameStream;
	/** When it was written, in UTC with nine digits of a second: later ones are greater. */
	readonly stamp: string;
	readonly data: Buffer;
	readonly isFirst: boolean;
	readonly isLast: boolean;
};

export type LogMessages = {
	/** Throws an Error where it is no such log. */
	readonly feed: (chunk: Buffer) => void;
	/** The Engine has sent all there is. */
	readonly end: () => void;
};

/** "2026-01-02T03:04:05.123456789Z" */
const stampLength = 30;
/** With an offset, as Podman writes it, it is longer. */
const longestStamp = 40;
/** Of the Engine's copier. */
const longestMessage = 16_384;
const newline = 10;
const space = 32;

export const createLogMessages = (tty: boolean, onPart: (part: MessagePart) => void): LogMessages =>
	tty ? rawLog(onPart) : framedLog(onPart);

function framedLog(onPart: (part: MessagePart) => void): LogMessages {
	let head: Buffer = Buffer.alloc(0);
	let stamp: string | undefined;
	const feed = createFrames(({stream, data, isFirst, isLast}) => {
		if (isFirst) {
			head = Buffer.alloc(0);
			stamp = undefined;
		}
		if (stamp !== undefined) return onPart({stream, stamp, data, isFirst: false, isLast});
		head = head.length === 0 ? data : Buffer.concat([head, data]);
		const length = stampIn(head);
		if (length === undefined && !isLast) return;
		if (length === undefined) throw noStamp();
		stamp = canonical(head, length);
		onPart({stream, stamp, data: head.subarray(length + 1), isFirst: true, isLast});
	});
	return {feed, end: () => undefined};
}

function rawLog(onPart: (part: MessagePart) => void): LogMessages {
	/** What may be a time. */
	let held: Buffer = Buffer.alloc(0);
	let stamp: string | undefined;
	/** The bytes in which it came. */
	let stampBytes: Buffer = Buffer.alloc(0);
	/** Of the message so far; undefined: no border is looked for in this line any more. */
	let length: number | undefined = 0;
	let isFirst = true;

	function text(data: Buffer, isLast: boolean): void {
		if (stamp === undefined) return;
		onPart({stream: 'stdout', stamp, data, isFirst, isLast});
		isFirst = false;
		if (length !== undefined) length += data.length;
	}

	function begin(): void {
		length = 0;
		isFirst = true;
	}

	/** Takes the time before a message; returns what of the chunk is left. */
	function takeStamp(chunk: Buffer): Buffer {
		const all = Buffer.concat([held, chunk]);
		const found = stampIn(all);
		held = found === undefined ? all : Buffer.alloc(0);
		if (found === undefined) return Buffer.alloc(0);
		stamp = canonical(all, found);
		stampBytes = Buffer.from(all.subarray(0, found + 1));
		begin();
		text(Buffer.alloc(0), false);
		return all.subarray(found + 1);
	}

	/** After 16 KiB: the same time once more, or text that goes on. */
	function takeBorder(chunk: Buffer): Buffer {
		const all = Buffer.concat([held, chunk]);
		const compared = Math.min(all.length, stampBytes.length);
		const isSame = all.compare(stampBytes, 0, compared, 0, compared) === 0;
		held = isSame && compared < stampBytes.length ? all : Buffer.alloc(0);
		if (held.length > 0) return Buffer.alloc(0);
		if (!isSame) {
			length = undefined;
			return all;
		}
		text(Buffer.alloc(0), true);
		begin();
		text(Buffer.alloc(0), false);
		return all.subarray(stampBytes.length);
	}

	function takeText(chunk: Buffer): Buffer {
		const found = chunk.indexOf(newline);
		const lineEnd = found < 0 ? chunk.length : found + 1;
		const to = length === undefined ? lineEnd : Math.min(lineEnd, longestMessage - length);
		const isLast = found >= 0 && to === lineEnd;
		text(chunk.subarray(0, to), isLast);
		if (isLast) stamp = undefined;
		return chunk.subarray(to);
	}

	return {
		feed(chunk) {
			for (let rest = chunk; rest.length > 0;) {
				if (stamp === undefined) rest = takeStamp(rest);
				// A line's end belongs to its message, even behind 16 KiB.
				else rest = length === longestMessage ? takeBorder(rest) : takeText(rest);
			}
		},
		end() {
			// It looked like the beginning of a time, and was the end of a text.
			if (stamp !== undefined && held.length > 0) text(held, false);
			held = Buffer.alloc(0);
		},
	};
}

const noStamp = (): Error => new Error("the Engine's log has no time before a line");

/** How long the time at the beginning is; undefined: its end has not come yet. Throws where there is none. */
function stampIn(head: Buffer): number | undefined {
	const found = head.subarray(0, longestStamp + 1).indexOf(space);
	if (found >= 0) return found;
	if (head.length > longestStamp) throw noStamp();
	return undefined;
}

/** The same for every Engine. Throws where it is no time. */
function canonical(head: Buffer, length: number): string {
	const text = head.toString('latin1', 0, length);
	if (length === stampLength && text.endsWith('Z') && text[19] === '.') return text;
	const [, seconds, fraction = '', zone] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
	const atMs = Date.parse(`${seconds}${zone}`);
	if (Number.isNaN(atMs)) throw noStamp();
	return `${new Date(atMs).toISOString().slice(0, 19)}.${fraction.padEnd(9, '0')}Z`;
}
