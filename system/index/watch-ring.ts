// The newest changes, kept for watchers that come back. Bounded by count and bytes; what fell out is answered with 410.

import {limits} from '../../api/limits.js';
import type {Change} from './object-index.js';

export type WatchListener = (change: Change) => void;

export type WatchStart =
	| {readonly ok: true; readonly cancel: () => void}
	/** `oldest`: the lowest version that could be continued from. */
	| {readonly ok: false; readonly oldest: number};

export class WatchRing {
	#changes: Change[] = [];
	/** Where the oldest kept change stands; what lies before it is dropped now and then. */
	#head = 0;
	readonly #listeners = new Set<WatchListener>();
	readonly #maxChanges: number;
	readonly #maxBytes: number;
	#bytes = 0;
	/** Every change above this version is in the ring. */
	#floor: number;
	#newest: number;

	constructor(version: number, maxChanges: number = limits.watchRingChanges, maxBytes: number = limits.watchRingBytes) {
		this.#floor = version;
		this.#newest = version;
		this.#maxChanges = maxChanges;
		this.#maxBytes = maxBytes;
	}

	/** The oldest version a watch can continue from. */
	get floor(): number {
		return this.#floor;
	}

	/** Called by the pipeline, in order of version. */
	push(change: Change): void {
		this.#newest = change.version;
		if (this.#maxChanges === 0) {
			this.#floor = change.version; // Nothing is kept, so nothing is serialised to be measured.
		} else {
			this.#changes.push(change);
			this.#bytes += sizeOf(change);
			while (this.#changes.length - this.#head > this.#maxChanges || this.#bytes > this.#maxBytes) this.#forget();
		}
		for (const listener of [...this.#listeners]) listener(change);
	}

	/**
	 * Replays every change above `version` to the listener at once, then follows. A version from before the ring, or above
	 * the counter (another lineage), is refused.
	 */
	watch(version: number, listener: WatchListener): WatchStart {
		if (version < this.#floor || version > this.#newest) return {ok: false, oldest: this.#floor};
		for (const change of this.#from(version)) listener(change);
		this.#listeners.add(listener);
		return {ok: true, cancel: () => this.#listeners.delete(listener)};
	}

	/** Moves on without a change of an object: events take versions too. */
	advance(version: number): void {
		this.#newest = Math.max(this.#newest, version);
	}

	#from(version: number): Change[] {
		let low = this.#head;
		let high = this.#changes.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			const change = this.#changes[middle];
			if (change !== undefined && change.version <= version) low = middle + 1;
			else high = middle;
		}
		return this.#changes.slice(low);
	}

	#forget(): void {
		const gone = this.#changes[this.#head];
		if (gone === undefined) return;
		this.#head++;
		this.#floor = gone.version;
		this.#bytes -= sizeOf(gone);
		// What is forgotten and not dropped yet is in memory: no more of it than of what is kept.
		if (2 * this.#head >= this.#changes.length) {
			this.#changes = this.#changes.slice(this.#head);
			this.#head = 0;
		}
	}
}

/** A removal keeps the object as it was: watchers are shown it. */
const sizeOf = ({after, before}: Change): number => (after ?? before)?.json().length ?? 0;
