// Turns in the virtual world: everything that can happen next stands in one list, and the seed says what does.

import type {Random} from '../time/random.js';
import type {Executor, Seat} from '../kernel/executor.js';

/** An executor without an event loop: `runOne` gives one turn, chosen by chance. */
export type Sequencer = Executor & {
	/** Runs one waiting thing; false when nothing waits. */
	readonly runOne: () => boolean;
	readonly waiting: () => number;
};

export function createSequencer(random: Random): Sequencer {
	const ready: (() => void)[] = [];
	return {
		seat(turn): Seat {
			let requested = false;
			let gone = false;
			const run = (): void => {
				requested = false;
				if (!gone && turn()) request();
			};
			const request = (): void => {
				if (requested || gone) return;
				requested = true;
				ready.push(run);
			};
			return {
				request,
				leave() {
					gone = true;
				},
			};
		},
		defer: callback => {
			ready.push(callback);
		},
		runOne() {
			const index = Math.floor(random.next() * ready.length);
			const chosen = ready[index];
			const last = ready.pop();
			if (chosen === undefined || last === undefined) return false;
			if (index < ready.length) ready[index] = last;
			chosen();
			return true;
		},
		waiting: () => ready.length,
		close: () => {
			ready.length = 0;
		},
	};
}
