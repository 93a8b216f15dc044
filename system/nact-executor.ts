// Turns by nact: one nact actor per cell, flat under the nact system, whose mailbox carries nothing but ticks.
//
// nact runs one tick per event-loop turn and actor. Above it stands one run queue: only so many ticks are out at a time, and
// once the slice is used up the rest waits until I/O was looked at, so that ten thousand runnable actors never hold up a socket.

import {dispatch, spawn, start, stop} from 'nact';
import {limits} from '../api/limits.js';
import type {Clock} from './clock.js';
import type {Executor, Seat} from './executor.js';

/** Ticks that nact may hold at a time; enough to fill a slice, few enough to hand back cheaply when it is used up. */
const ticksOut = 256;

type Tick = {readonly type: 'tick'};
const tick: Tick = {type: 'tick'};

type NactSeat = {
	readonly run: () => boolean;
	/** Waits for a turn. */
	requested: boolean;
	/** nact holds a tick of it. */
	ticking: boolean;
	gone: boolean;
	readonly tick: () => void;
};

/** An executor over a nact system of its own. */
export function createNactExecutor(clock: Clock): Executor {
	const system = start();
	const waiting: NactSeat[] = [];
	let head = 0;
	let out = 0;
	let sliceEndsAt: number | undefined;
	let seats = 0;
	let pumping = false;

	const send = (seat: NactSeat): void => {
		out++;
		seat.ticking = true;
		seat.tick();
	};

	const pump = (): void => {
		pumping = false;
		while (out < ticksOut && head < waiting.length) {
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
		if (out < ticksOut && head === waiting.length) {
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
				if (seat.run()) request(seat);
			} else {
				waiting.push(seat);
			}
		}
		pumpSoon();
	};

	const request = (seat: NactSeat): void => {
		if (seat.requested || seat.gone) return;
		seat.requested = true;
		enqueue(seat);
	};

	return {
		seat(run): Seat {
			const seat: NactSeat = {run, requested: false, ticking: false, gone: false, tick: () => dispatch(ref, tick)};
			const ref = spawn(
				system,
				(_state: undefined, _message: Tick) => {
					turn(seat);
					return undefined;
				},
				`c${seats++}`,
				// Turns catch what a behaviour throws; what comes here is a bug of the runtime itself, and must not be hidden.
				{
					onCrash: (_message, error, context) => {
						setImmediate(() => {
							throw error instanceof Error ? error : new Error(String(error));
						});
						return context.stop;
					},
				},
			);
			return {
				request: () => request(seat),
				leave() {
					if (seat.gone) return;
					seat.gone = true;
					stop(ref);
					if (!seat.ticking) return;
					// nact forgets the tick of an actor that is stopped: its place is free again.
					out--;
					pumpSoon();
				},
			};
		},
		defer: callback => {
			setImmediate(callback);
		},
		close: () => stop(system),
	};
}
