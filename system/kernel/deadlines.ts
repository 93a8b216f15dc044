// Many deadlines over one timer: they fall into coarse buckets, and no timer is armed while none is open.

import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../time/clock.js';

const bucketMs = limits.deadlineBucketMs;

export class Deadlines {
	readonly #clock: Clock;
	readonly #buckets = new Map<number, Set<() => void>>();
	#armed: {readonly bucket: number; readonly cancel: Cancel} | undefined;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** Calls back once, at most one bucket after the delay, unless cancelled. */
	after(delayMs: number, callback: () => void): Cancel {
		const bucket = Math.ceil((this.#clock.monotonicMs() + delayMs) / bucketMs);
		const set = this.#buckets.get(bucket) ?? new Set();
		this.#buckets.set(bucket, set);
		set.add(callback);
		if (this.#armed === undefined || bucket < this.#armed.bucket) this.#arm(bucket);
		return () => {
			set.delete(callback);
			if (set.size === 0 && this.#buckets.get(bucket) === set) this.#empty(bucket);
		};
	}

	/** Forgets everything. */
	clear(): void {
		this.#buckets.clear();
		this.#armed?.cancel();
		this.#armed = undefined;
	}

	#empty(bucket: number): void {
		this.#buckets.delete(bucket);
		if (this.#armed?.bucket === bucket) this.#armNext();
	}

	#arm(bucket: number): void {
		this.#armed?.cancel();
		const delayMs = bucket * bucketMs - this.#clock.monotonicMs();
		this.#armed = {bucket, cancel: this.#clock.after(delayMs, () => this.#ring(bucket))};
	}

	#armNext(): void {
		this.#armed?.cancel();
		this.#armed = undefined;
		let first: number | undefined;
		for (const bucket of this.#buckets.keys()) if (first === undefined || bucket < first) first = bucket;
		if (first !== undefined) this.#arm(first);
	}

	#ring(bucket: number): void {
		const due = this.#buckets.get(bucket) ?? new Set<() => void>();
		this.#buckets.delete(bucket);
		this.#armNext();
		for (const callback of [...due]) if (due.delete(callback)) callback();
	}
}
