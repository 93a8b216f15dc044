// The log of one attempt, written from an Engine's: no message twice, none left out, however often the Engine is asked again.
//
// The file is ahead of what is noted as copied, after a crash by as much as was written since the last note. The Engine sends that once more, and it
// is compared with what is there already.

import {writeFileSync} from 'node:fs';
import {open, type FileHandle} from 'node:fs/promises';
import {limits} from '../../../api/limits.js';
import {rotateLog} from '../../logs/log-rotation.js';
import {addMarks, readMarks, trimMarks, type Mark} from '../../logs/log-times.js';
import {basesOf, extentOf, readLog} from '../../logs/logs.js';
import {createWasCopied, msOf, readCopied, sinceOf, writeCopied, type Copied} from './copied.js';
import type {MessagePart} from './log-messages.js';

const newline = 10;

export class LogCopy {
	readonly #log: string;
	readonly #limitBytes: number;
	readonly #marks: Marks;
	/** What the file has for sure; and with what was taken since the last write. */
	#copied: Copied;
	#next: Copied;
	#saved: Copied;
	#wasCopied: ReturnType<typeof createWasCopied>;
	/** Of the message that comes. */
	#isOld = false;
	#lastByte = newline;
	/** Where the next byte belongs, and up to where the file has what may come once more. */
	#position = 0;
	#thereEnd = 0;
	/** Where the file begins. */
	#base = 0;
	#taken: Buffer[] = [];
	#file: FileHandle | undefined;

	/** The file is there from then on: readers watch it. Throws errno exceptions. */
	constructor(log: string, limitBytes: number) {
		writeFileSync(log, '', {flag: 'a', mode: 0o600});
		this.#log = log;
		this.#limitBytes = limitBytes;
		this.#marks = new Marks(log);
		this.#copied = readCopied(log);
		this.#next = this.#copied;
		this.#saved = this.#copied;
		this.#wasCopied = createWasCopied(this.#copied);
	}

	/** The Engine is about to be asked, for what is as old as this and newer; undefined: for all. Throws errno exceptions. */
	begin(): string | undefined {
		this.#taken = [];
		this.#next = this.#copied;
		this.#wasCopied = createWasCopied(this.#copied);
		this.#position = this.#copied.end;
		this.#thereEnd = extentOf(this.#log).end;
		this.#base = basesOf(this.#log).current;
		return sinceOf(this.#copied);
	}

	/** Throws errno exceptions. */
	take({stream, stamp, data, isFirst, isLast}: MessagePart): void {
		if (isFirst) {
			this.#isOld = this.#wasCopied(stream, stamp);
			this.#lastByte = newline;
		}
		if (this.#isOld) return;
		if (data.length > 0) {
			this.#lastByte = data[data.length - 1] ?? newline;
			const missing = this.#withoutWhatIsThere(data);
			if (missing.length > 0) this.#taken.push(missing);
			this.#position += missing.length;
		}
		if (!isLast) return;
		const before = this.#next[stream];
		const count = before?.stamp === stamp ? before.count + 1 : 1;
		this.#next = {...this.#next, end: this.#position, [stream]: {stamp, count, isOpen: this.#lastByte !== newline}};
		this.#marks.note(this.#position, stamp);
	}

	/** What is not in the file. What was rotated away is taken for the same. */
	#withoutWhatIsThere(data: Buffer): Buffer {
		let rest = data;
		while (rest.length > 0 && this.#position < this.#thereEnd) {
			const wanted = Math.min(rest.length, this.#thereEnd - this.#position);
			const {data: there, nextOffset} = readLog(this.#log, this.#position, wanted);
			const gone = Math.min(wanted, nextOffset - there.length - this.#position);
			const same = Math.min(rest.length, gone + there.length);
			if (same <= 0 || !rest.subarray(gone, same).equals(there.subarray(0, same - gone))) {
				// The Engine has less than was copied: what it sends is new.
				this.#position = this.#thereEnd;
				break;
			}
			rest = rest.subarray(same);
			this.#position += same;
		}
		return rest;
	}

	/** Writes what was taken. Rejects with errno exceptions; the Engine has to be asked anew then. */
	async write(): Promise<void> {
		if (this.#taken.length > 0) {
			const data = Buffer.concat(this.#taken);
			this.#taken = [];
			this.#file ??= await open(this.#log, 'a', 0o600);
			await this.#file.appendFile(data);
			if (this.#position - this.#base >= this.#limitBytes) {
				await rotateLog(this.#log, this.#limitBytes);
				this.#base = basesOf(this.#log).current;
			}
		}
		this.#copied = this.#next;
		this.#marks.write();
	}

	/** Notes how far it has come. Throws errno exceptions. */
	save(): void {
		this.#marks.save();
		if (this.#saved === this.#copied) return;
		writeCopied(this.#log, this.#copied);
		this.#saved = this.#copied;
	}

	/** Rejects with errno exceptions. */
	async close(): Promise<void> {
		const file = this.#file;
		this.#file = undefined;
		await file?.close();
	}
}

/** Messages of one tenth of a second have one mark. */
const tenthLength = 'YYYY-MM-DDTHH:MM:SS.d'.length;

/** When what of a log was written, by the times of the Engine. */
class Marks {
	readonly #log: string;
	#count: number;
	#last: Mark;
	/** The messages of the newest tenth. */
	#newest: {readonly tenth: string; readonly end: number; readonly stamp: string} | undefined;
	#due: Mark[] = [];

	constructor(log: string) {
		this.#log = log;
		const marks = readMarks(log);
		this.#count = marks.length;
		this.#last = marks.at(-1) ?? {end: 0, atMs: 0};
	}

	/** A message ends here. */
	note(end: number, stamp: string): void {
		const tenth = stamp.slice(0, tenthLength);
		if (this.#newest !== undefined && this.#newest.tenth !== tenth) this.#close();
		this.#newest = {tenth, end, stamp};
	}

	#close(): void {
		if (this.#newest === undefined) return;
		const {end, stamp} = this.#newest;
		this.#newest = undefined;
		// Both only rise; what is read again has its mark.
		if (end <= this.#last.end) return;
		this.#last = {end, atMs: Math.max(this.#last.atMs, msOf(stamp))};
		this.#due.push(this.#last);
	}

	/** Those that are complete. Throws errno exceptions. */
	write(): void {
		if (this.#due.length === 0) return;
		addMarks(this.#log, this.#due);
		this.#count += this.#due.length;
		this.#due = [];
		if (this.#count > limits.logMarks) this.#count = trimMarks(this.#log, extentOf(this.#log), limits.logMarks);
	}

	/** All of them. */
	save(): void {
		this.#close();
		this.write();
	}
}
