// Work on a whole system that must not hold up its actors: in slices of a few milliseconds, several works in turn, nothing else meanwhile.

import {limits} from '../../api/limits.js';
import type {Clock} from '../time/clock.js';

/** Yields wherever it may be interrupted. */
export type Work<Result> = Generator<undefined, Result>;

type Open = {readonly go: () => boolean};

export type SlicesOptions = {
	readonly clock: Pick<Clock, 'monotonicMs'>;
	/** Calls back once others had their turn. */
	readonly defer: (callback: () => void) => void;
};

export class Slices {
	readonly #options: SlicesOptions;
	readonly #open: Open[] = [];
	#isDue = false;

	constructor(options: SlicesOptions) {
		this.#options = options;
	}

	get underWay(): number {
		return this.#open.length;
	}

	/** Begins at once where nothing else is under way. What the work throws goes to `failed`. */
	run<Result>(work: Work<Result>, done: (result: Result) => void, failed: (error: unknown) => void): void {
		this.#open.push({go: () => this.#slice(work, done, failed)});
		if (this.#isDue) return;
		this.#isDue = true;
		this.#next();
	}

	close(): void {
		this.#open.length = 0;
	}

	readonly #next = (): void => {
		const open = this.#open.shift();
		const goesOn = open?.go() === true;
		if (open !== undefined && goesOn) this.#open.push(open);
		this.#isDue = this.#open.length > 0;
		if (this.#isDue) this.#options.defer(this.#next);
	};

	/** Whether there is more. */
	#slice<Result>(work: Work<Result>, done: (result: Result) => void, failed: (error: unknown) => void): boolean {
		const {clock} = this.#options;
		const untilMs = clock.monotonicMs() + limits.lookSliceMs;
		let step: IteratorResult<undefined, Result>;
		try {
			do step = work.next();
			while (step.done !== true && clock.monotonicMs() < untilMs);
		} catch (error) {
			failed(error);
			return false;
		}
		if (step.done !== true) return true;
		done(step.value);
		return false;
	}
}
