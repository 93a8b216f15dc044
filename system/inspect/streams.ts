// What goes on, as streams that are pulled: entries wait until they are read, a bounded number of them. A stream ends by itself: when its time
// is over, when it has told as many as it should, when no tool reads it any more.

import {Buffer} from 'node:buffer';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import type {StreamEnd, StreamEntry, StreamOpened, StreamPortion} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../time/clock.js';

/** What a stream does when it is full: forgets the oldest, or does not take the newest. */
export type WhenFull = 'forgetOldest' | 'refuseNewest';

export type StreamOptions = {
	/** How long it is on, and how many entries it tells. */
	readonly forMs: number;
	readonly count: number;
	readonly most: number;
	readonly whenFull: WhenFull;
	/** Called once, when nothing more is taken. */
	readonly onEnd: () => void;
};

/** An entry that waits; `make` is called when it is read. Without bytes it is small until then. */
type Waiting = {readonly make: () => StreamEntry; readonly bytes: number | undefined};

type Reader = {readonly count: number; readonly done: (portion: StreamPortion) => void; readonly cancel: Cancel};

export class Stream {
	readonly #clock: Clock;
	readonly #options: StreamOptions;
	readonly #cancelTime: Cancel;
	/** Called when its end was told, or no tool asked for it in time. */
	readonly #forget: () => void;
	#waiting: Waiting[] = [];
	#bytes = 0;
	#left: number;
	#dropped = 0;
	#ended: StreamEnd | undefined;
	#reader: Reader | undefined;
	#cancelGathering: Cancel | undefined;
	#cancelLease: Cancel;

	constructor(clock: Clock, options: StreamOptions, forget: () => void) {
		this.#clock = clock;
		this.#options = options;
		this.#forget = forget;
		this.#left = options.count;
		this.#cancelTime = clock.after(options.forMs, () => this.end('time'));
		this.#cancelLease = this.#lease(0);
	}

	get isOn(): boolean {
		return this.#ended === undefined;
	}

	/** Adds an entry. What there is no room for is counted. */
	push(make: () => StreamEntry, bytes?: number): void {
		if (!this.isOn) return;
		const {most, whenFull} = this.#options;
		if (this.#waiting.length >= most || this.#bytes + (bytes ?? 0) > limits.streamEntriesBytes) {
			this.#dropped++;
			if (whenFull === 'refuseNewest') return;
			this.#bytes -= this.#waiting.shift()?.bytes ?? 0;
		}
		this.#waiting.push({make, bytes});
		this.#bytes += bytes ?? 0;
		if (--this.#left === 0) this.end('count');
		else if (this.#reader !== undefined) this.#gather(this.#waiting.length >= this.#reader.count ? 0 : limits.streamGatherMs);
	}

	/** Something is not told, since too much happened at once. */
	drop(): void {
		if (this.isOn) this.#dropped++;
	}

	end(why: StreamEnd): void {
		if (!this.isOn) return;
		this.#ended = why;
		this.#cancelTime();
		this.#options.onEnd();
		if (this.#reader !== undefined) this.#gather(0);
	}

	/** Calls back with what there is, or once there is something, at the latest after `waitMs`. One reader at a time: the last one. */
	read(waitMs: number, count: number, done: (portion: StreamPortion) => void): void {
		this.#answer();
		this.#cancelLease();
		this.#cancelLease = this.#lease(waitMs);
		this.#reader = {count, done, cancel: this.#clock.after(waitMs, () => this.#answer())};
		if (!this.isOn || this.#waiting.length >= count) this.#answer();
		else if (this.#waiting.length > 0 || this.#dropped > 0) this.#gather(limits.streamGatherMs);
	}

	/** Nothing of it goes on, and what was not told is not told any more; a reader that waits hears of the end. */
	close(): void {
		this.end('closed');
		this.#cancelLease();
		this.#cancelGathering?.();
		this.#forget();
		const reader = this.#reader;
		this.#reader = undefined;
		reader?.cancel();
		reader?.done({entries: [], dropped: this.#dropped + this.#waiting.length, ended: 'closed'});
	}

	#lease(waitMs: number): Cancel {
		return this.#clock.after(waitMs + limits.inspectUnreadMs, () => {
			this.end('unread');
			this.#forget();
		});
	}

	#gather(afterMs: number): void {
		this.#cancelGathering ??= this.#clock.after(afterMs, () => this.#answer());
	}

	#answer(): void {
		this.#cancelGathering?.();
		this.#cancelGathering = undefined;
		const reader = this.#reader;
		if (reader === undefined) return;
		this.#reader = undefined;
		reader.cancel();
		const entries = this.#take(reader.count);
		const isOver = this.#ended !== undefined && this.#waiting.length === 0;
		const portion: StreamPortion = {entries, dropped: this.#dropped, ...(isOver ? {ended: this.#ended} : {})};
		this.#dropped = 0;
		if (isOver) {
			this.#cancelLease();
			this.#forget();
		}
		reader.done(portion);
	}

	#take(count: number): readonly StreamEntry[] {
		const entries: StreamEntry[] = [];
		let bytes = 0;
		for (let next = this.#waiting[0]; next !== undefined && entries.length < count; next = this.#waiting[0]) {
			if (bytes + (next.bytes ?? 0) > limits.streamPortionBytes && entries.length > 0) break;
			this.#waiting.shift();
			this.#bytes -= next.bytes ?? 0;
			const entry = made(next);
			if (entry === undefined) {
				this.#dropped++;
				continue;
			}
			entries.push(entry);
			bytes += next.bytes ?? Buffer.byteLength(JSON.stringify(entry));
		}
		return entries;
	}
}

/** Undefined: what it shows cannot be looked at. */
function made({make}: Waiting): StreamEntry | undefined {
	try {
		return make();
	} catch {
		return undefined;
	}
}

/** The streams of one system, by name. */
export class Streams {
	readonly #clock: Clock;
	readonly #streams = new Map<string, Stream>();
	#count = 0;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** Undefined: there are too many. */
	open(options: StreamOptions): {readonly opened: StreamOpened; readonly stream: Stream} | undefined {
		if (this.#streams.size >= limits.systemStreams) return undefined;
		const name = String(++this.#count);
		const stream = new Stream(this.#clock, options, () => void this.#streams.delete(name));
		this.#streams.set(name, stream);
		return {opened: {stream: name}, stream};
	}

	get size(): number {
		return this.#streams.size;
	}

	read(name: string, waitMs: number, count: number, done: (outcome: Outcome<StreamPortion>) => void): void {
		const stream = this.#streams.get(name);
		if (stream === undefined) done(noStream(name));
		else stream.read(waitMs, count, portion => done(succeeded(portion)));
	}

	/** One that is not there any more is closed already. */
	close(name: string): void {
		this.#streams.get(name)?.close();
	}

	closeAll(): void {
		for (const stream of [...this.#streams.values()]) stream.close();
	}
}

const noStream = (name: string): Outcome<never> =>
	failed('ERR_BAD_REQUEST', {
		message: `there is no stream "${String(name).slice(0, limits.shownCharacters)}": it has ended, or was not read for ${limits.inspectUnreadMs / 1_000} s`,
	});
