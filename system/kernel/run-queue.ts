// The run queue of an executor: only so many ticks are out at a time, and once the slice is used up the rest waits until I/O was looked at,
// so that ten thousand runnable actors never hold up a socket.

import {limits} from '../../api/limits.js';

/** One cell's place. There are tens of thousands: each is data, and what is done with it is shared. */
export type QueuedSeat = {
	readonly run: () => boolean;
	/** Waits for a turn. */
	requested: boolean;
	/** A tick of it is out. */
	ticking: boolean;
	gone: boolean;
};

export type RunQueueOptions<QueueSeat> = {
	/** Has `ticked` called for the seat, later, unless it is gone by then. */
	readonly send: (seat: QueueSeat) => void;
	/** Calls back once I/O was looked at. */
	readonly soon: (callback: () => void) => void;
	readonly monotonicMs: () => number;
	/** How many ticks may be out. */
	readonly ticks?: number;
};

/** One for all cells of a process. */
export class RunQueue<QueueSeat extends QueuedSeat> {
	readonly #options: RunQueueOptions<QueueSeat>;
	readonly #ticks: number;
	readonly #waiting: QueueSeat[] = [];
	#head = 0;
	#out = 0;
	#sliceEndsAt: number | undefined;
	#pumping = false;

	constructor(options: RunQueueOptions<QueueSeat>) {
		this.#options = options;
		this.#ticks = options.ticks ?? limits.executorTicks;
	}

	request(seat: QueueSeat): void {
		if (seat.requested || seat.gone) return;
		seat.requested = true;
		if (this.#out < this.#ticks && this.#head === this.#waiting.length) this.#send(seat);
		else {
			this.#waiting.push(seat);
			this.#pumpSoon();
		}
	}

	/** False when it was gone already. A tick of it that is out is forgotten, and its place is free again. */
	leave(seat: QueueSeat): boolean {
		if (seat.gone) return false;
		seat.gone = true;
		if (seat.ticking) {
			this.#out--;
			this.#pumpSoon();
		}
		return true;
	}

	/** A tick came. */
	ticked(seat: QueueSeat): void {
		if (seat.gone) return;
		this.#out--;
		seat.ticking = false;
		if (!this.#inSlice()) this.#waiting.push(seat);
		else {
			seat.requested = false;
			if (seat.run()) this.request(seat);
		}
		this.#pumpSoon();
	}

	#send(seat: QueueSeat): void {
		this.#out++;
		seat.ticking = true;
		this.#options.send(seat);
	}

	readonly #pump = (): void => {
		this.#pumping = false;
		while (this.#out < this.#ticks && this.#head < this.#waiting.length) {
			const seat = this.#waiting[this.#head++];
			if (seat !== undefined && !seat.gone) this.#send(seat);
		}
		// What was taken is dropped in portions: under steady load the queue never runs empty.
		if (this.#head === this.#waiting.length || this.#head > 1_024) {
			this.#waiting.splice(0, this.#head);
			this.#head = 0;
		}
	};

	#pumpSoon(): void {
		if (this.#pumping || this.#head === this.#waiting.length) return;
		this.#pumping = true;
		this.#options.soon(this.#pump);
	}

	#inSlice(): boolean {
		const {monotonicMs, soon} = this.#options;
		const now = monotonicMs();
		if (this.#sliceEndsAt === undefined) {
			this.#sliceEndsAt = now + limits.runSliceMs;
			soon(() => {
				this.#sliceEndsAt = undefined;
			});
		}
		return now <= this.#sliceEndsAt;
	}
}
