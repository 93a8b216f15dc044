// Turns by nact: one nact actor per cell, flat under the nact system, whose mailbox carries nothing but ticks.
//
// nact runs one tick per event-loop turn and actor. Above it stands one run queue.

import {dispatch, spawn, start, stop} from 'nact';
import type {Clock} from '../time/clock.js';
import type {Executor, Seat} from './executor.js';
import {RunQueue, type QueuedSeat} from './run-queue.js';

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

	class NactSeat implements Seat, QueuedSeat {
		requested = false;
		ticking = false;
		gone = false;
		readonly run: () => boolean;
		readonly ref: ReturnType<typeof spawnSeat>;

		constructor(run: () => boolean) {
			this.run = run;
			this.ref = spawnSeat(this);
		}

		request(): void {
			queue.request(this);
		}

		leave(): void {
			// nact forgets the tick of an actor that is stopped.
			if (queue.leave(this)) stop(this.ref);
		}
	}

	const queue = new RunQueue<NactSeat>({
		send: seat => dispatch(seat.ref, tick),
		soon: callback => void setImmediate(callback),
		monotonicMs: clock.monotonicMs,
	});
	const onTick = (seat: NactSeat, _message: Tick): NactSeat => {
		queue.ticked(seat);
		return seat;
	};
	let seats = 0;
	const spawnSeat = (seat: NactSeat) => spawn(system, onTick, `c${seats++}`, {initialState: seat, onCrash, afterStop});

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
