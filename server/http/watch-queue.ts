// What one watcher still has to be sent. References to what is committed, not copies of its bytes.
//
// What was there when the watch began is bounded by the index and the ring. What comes later is bounded by
// `limits.watchBufferBytes`: a watcher that lets more than that wait is cut off.

import type {Change, Entry} from '../../system/index/object-index.js';
import {limits} from '../../api/limits.js';

export type Line =
	| {readonly type: 'ADDED' | 'MODIFIED'; readonly entry: Entry}
	/** What was there before, with the version of its going. */
	| {readonly type: 'DELETED'; readonly entry: Entry; readonly change: Change}
	| {readonly type: 'BOOKMARK'; readonly version: number; readonly initialEnd: boolean}
	| {readonly type: 'EXPIRED'; readonly requested: number; readonly oldest: number};

export class WatchQueue {
	#lines: Line[] = [];
	#bytes = 0;
	#isLive = false;
	#isEnded = false;
	#wake: (() => void) | undefined;
	readonly #onOverflow: () => void;
	readonly #maxBytes: number;

	/** `onOverflow` is called once, when too much waits; the queue is over then. */
	constructor(onOverflow: () => void, maxBytes: number = limits.watchBufferBytes) {
		this.#onOverflow = onOverflow;
		this.#maxBytes = maxBytes;
	}

	get isEnded(): boolean {
		return this.#isEnded;
	}

	/** From here on what is added counts against the limit. */
	goLive(): void {
		this.#isLive = true;
	}

	add(line: Line): void {
		if (this.#isEnded) return;
		this.#lines.push(line);
		if (this.#isLive) this.#bytes += sizeOf(line);
		if (this.#bytes > this.#maxBytes) this.#overflow();
		this.#wake?.();
	}

	#overflow(): void {
		this.#lines = [];
		this.end();
		this.#onOverflow();
	}

	/** Nothing more will be added; what is there is still taken. */
	end(): void {
		this.#isEnded = true;
		this.#wake?.();
	}

	/** Everything that waits, oldest first. */
	take(): readonly Line[] {
		const lines = this.#lines;
		this.#lines = [];
		this.#bytes = 0;
		return lines;
	}

	/** Resolves when there is something to take, or the end. */
	ready(): Promise<void> {
		if (this.#lines.length > 0 || this.#isEnded) return Promise.resolve();
		return new Promise(resolve => {
			this.#wake = () => {
				this.#wake = undefined;
				resolve();
			};
		});
	}
}

const sizeOf = (line: Line): number => ('entry' in line ? line.entry.json().length : 0);
