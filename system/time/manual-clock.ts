// A clock that stands still until it is moved. Timers fire in order of their time, equal ones in order of their making.

import type {Cancel, Clock} from './clock.js';

/** The callback is gone once it was called or cancelled. */
type Timer = {readonly atMs: number; readonly order: number; callback: (() => void) | undefined};

export class ManualClock implements Clock {
	#nowMs: number;
	#order = 0;
	/** A binary heap by time, then order. */
	readonly #heap: Timer[] = [];

	constructor(startMs = 1_700_000_000_000) {
		this.#nowMs = startMs;
	}

	readonly nowMs = (): number => this.#nowMs;
	readonly monotonicMs = (): number => this.#nowMs;

	readonly after = (delayMs: number, callback: () => void): Cancel => {
		const timer: Timer = {atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, callback};
		this.#push(timer);
		return () => {
			timer.callback = undefined;
		};
	};

	/** When the next timer is due; undefined when there is none. */
	nextAtMs(): number | undefined {
		this.#dropCancelled();
		return this.#heap[0]?.atMs;
	}

	/** Moves to the next timer and fires it; false when there is none. */
	fireNext(): boolean {
		this.#dropCancelled();
		const timer = this.#pop();
		if (timer === undefined) return false;
		this.#nowMs = Math.max(this.#nowMs, timer.atMs);
		const {callback} = timer;
		timer.callback = undefined;
		callback?.();
		return true;
	}

	/** Moves on by so much, firing all that falls due. */
	advance(ms: number): void {
		const untilMs = this.#nowMs + ms;
		for (let at = this.nextAtMs(); at !== undefined && at <= untilMs; at = this.nextAtMs()) this.fireNext();
		this.#nowMs = untilMs;
	}

	#dropCancelled(): void {
		for (let top = this.#heap[0]; top !== undefined && top.callback === undefined; top = this.#heap[0]) this.#pop();
	}

	#push(timer: Timer): void {
		const heap = this.#heap;
		heap.push(timer);
		for (let child = heap.length - 1; child > 0;) {
			const parent = (child - 1) >> 1;
			if (!isBefore(heap[child], heap[parent])) break;
			swap(heap, child, parent);
			child = parent;
		}
	}

	#pop(): Timer | undefined {
		const heap = this.#heap;
		const top = heap[0];
		const last = heap.pop();
		if (top === undefined || last === undefined || heap.length === 0) return top;
		heap[0] = last;
		for (let parent = 0; ;) {
			const left = 2 * parent + 1;
			const smaller = isBefore(heap[left + 1], heap[left]) ? left + 1 : left;
			if (!isBefore(heap[smaller], heap[parent])) return top;
			swap(heap, parent, smaller);
			parent = smaller;
		}
	}
}

function isBefore(a: Timer | undefined, b: Timer | undefined): boolean {
	if (a === undefined || b === undefined) return false;
	return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

function swap(heap: Timer[], a: number, b: number): void {
	const x = heap[a];
	const y = heap[b];
	if (x === undefined || y === undefined) return;
	heap[a] = y;
	heap[b] = x;
}
