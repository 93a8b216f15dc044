// Commands that run at the edge of the process, by their key: a repeat joins the run, and each run has one outcome for all.
//
// No asker waits beyond its deadline, and a run whose askers are all gone is forgotten: an edge that never answers can be asked anew,
// and what is kept is bounded by the open questions.

import {failed, type Outcome} from '../../api/errors.js';
import type {Command} from './behavior.js';
import type {Cancel} from '../time/clock.js';
import type {Deadlines} from './deadlines.js';

/** Runs a command at the edge of the process and calls back once. */
export type Perform = (command: Command, done: (outcome: Outcome<unknown>) => void) => void;

type Listener = (outcome: Outcome<unknown>) => void;

/** The askers of one run, each until its deadline. */
type Run = Map<Listener, Cancel>;

export class Performs {
	readonly #deadlines: Deadlines;
	readonly #perform: Perform;
	readonly #running = new Map<string, Run>();

	constructor(deadlines: Deadlines, perform: Perform = nothingPerforms) {
		this.#deadlines = deadlines;
		this.#perform = perform;
	}

	/** Runs the command unless one of its key runs already; either way the listener gets the outcome, if it comes in time. */
	run(key: string, command: Command, deadlineMs: number, listener: Listener): void {
		const present = this.#running.get(key);
		const run: Run = present ?? new Map<Listener, Cancel>();
		run.set(
			listener,
			this.#deadlines.after(deadlineMs, () => this.#leave(key, run, listener)),
		);
		if (present === undefined) this.#start(key, command, run);
	}

	/** Outcomes of what runs are dropped. */
	clear(): void {
		for (const run of this.#running.values()) for (const cancel of run.values()) cancel();
		this.#running.clear();
	}

	#start(key: string, command: Command, run: Run): void {
		this.#running.set(key, run);
		try {
			this.#perform(command, outcome => {
				if (this.#forget(key, run)) for (const listener of [...run.keys()]) listener(outcome);
			});
		} catch (error) {
			this.#forget(key, run); // Nothing runs: the next of this key must not wait for it.
			throw error;
		}
	}

	#leave(key: string, run: Run, listener: Listener): void {
		run.delete(listener);
		if (run.size === 0) this.#forget(key, run);
	}

	/** Whether the run was still waited for. */
	#forget(key: string, run: Run): boolean {
		if (this.#running.get(key) !== run) return false;
		this.#running.delete(key);
		for (const cancel of run.values()) cancel();
		return true;
	}
}

/** The edge of a system that has none. */
export const nothingPerforms: Perform = ({type}, done) => done(failed('ERR_INTERNAL', {message: `nothing performs "${type}" here`}));
