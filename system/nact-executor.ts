// Turns by nact: one nact actor per cell, flat under the nact system, whose mailbox carries nothing but ticks.
//
// nact runs one tick per event-loop turn and actor. Above it stands one run queue: only so many ticks are out at a time, and
// once the slice is used up the rest waits until I/O was looked at, so that ten thousand runnable actors never hold up a socket.

import {dispatch, spawn, start, stop} from 'nact';
import {limits} from '../api/limits.js';
import type {Clock} from './clock.js';
import type {Executor, Seat} from './executor.js';

type Tick = {readonly type: 'tick'};
const tick: Tick = {type: 'tick'};

/** Turns catch what a behaviour throws; what comes here is a bug of the runtime itself, and must not be hidden. */
const onCrash: NonNullable<NonNullable<Parameters<typeof spawn>[3]>['onCrash']> = (_message, error, context) => {
	setImmediate(() => {
		throw error instanceof Error ? error : new Error(String(error));
	});
	return context.stop;
};

const afterStop = (): void => undefined;

/** An executor over a nact system of its own. */
export function createNactExecutor(clock: Clock): Executor {
	const system = start();

	/** There are tens of thousands, so each is data and a reference; what is done with it is shared. */
	class NactSeat implements Seat {
		/** Waits for a turn. */
		requested = false;
		/** nact holds a tick of it. */
		ticking = false;
		gone = false;
		readonly run: () => boolean;
		readonly ref: ReturnType<typeof spawnSeat>;

		constructor(run: () => boolean) {
			this.run = run;
			this.ref = spawnSeat(this);
		}

		request(): void {
			if (this.requested || this.gone) return;
			this.requested = true;
			enqueue(this);
		}

		leave(): void {
			if (this.gone) return;
			this.gone = true;
			stop(this.ref);
			if (!this.ticking) return;
			// nact forgets the tick of an actor that is stopped: its place is free again.
			out--;
			pumpSoon();
		}
	}

	const onTick = (seat: NactSeat, _message: Tick): NactSeat => {
		turn(seat);
		return seat;
	};
	const spawnSeat = (seat: NactSeat) => spawn(system, onTick, `c${seats++}`, {initialState: seat, onCrash, afterStop});

	const waiting: NactSeat[] = [];
	let head = 0;
	let out = 0;
	let sliceEndsAt: number | undefined;
	let seats = 0;
	let pumping = false;

	const send = (seat: NactSeat): void => {
		out++;
		seat.ticking = true;
		dispatch(seat.ref, tick);
	};

	const pump = (): void => {
		pumping = false;
		while (out < limits.executorTicks && head < waiting.length) {
			const seat = waiting[head++];
			if (seat !== undefined && !seat.gone) send(seat);
		}
		// What was taken is dropped in portions: under steady load the queue never runs empty.
		if (head === waiting.length || head > 1_024) {
			waiting.splice(0, head);
			head = 0;
		}
	};

	const pumpSoon = (): void => {
		if (pumping || head === waiting.length) return;
		pumping = true;
		setImmediate(pump);
	};

	const enqueue = (seat: NactSeat): void => {
		if (out < limits.executorTicks && head === waiting.length) {
			send(seat);
		} else {
			waiting.push(seat);
			pumpSoon();
		}
	};

	const inSlice = (): boolean => {
		const now = clock.monotonicMs();
		if (sliceEndsAt === undefined) {
			sliceEndsAt = now + limits.runSliceMs;
			setImmediate(() => {
				sliceEndsAt = undefined;
			});
		}
		return now <= sliceEndsAt;
	};

	const turn = (seat: NactSeat): void => {
		out--;
		seat.ticking = false;
		if (!seat.gone) {
			if (inSlice()) {
				seat.requested = false;
				if (seat.run()) seat.request();
			} else {
				waiting.push(seat);
			}
		}
		pumpSoon();
	};

	const deferred: (() => void)[] = [];

	/** Those that are added meanwhile come next time, after I/O. */
	const runDeferred = (): void => {
		const due = deferred.splice(0);
		for (const callback of due) callback();
	};

	return {
		seat: run => new NactSeat(run),
		defer(callback) {
			if (deferred.push(callback) === 1) setImmediate(runDeferred);
		},
		close: () => stop(system),
	};
}
