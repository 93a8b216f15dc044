// Commands that run at the edge of the process, by their key: a repeat joins the run, and each run has one outcome for all.

import {failed, type Outcome} from '../api/errors.js';
import type {Command} from './behavior.js';

/** Runs a command at the edge of the process and calls back once. */
export type Perform = (command: Command, done: (outcome: Outcome<unknown>) => void) => void;

type Listener = (outcome: Outcome<unknown>) => void;

export class Performs {
	readonly #perform: Perform;
	readonly #running = new Map<string, Listener[]>();

	constructor(perform: Perform = nothingPerforms) {
		this.#perform = perform;
	}

	/** Runs the command unless one of its key runs already; either way the listener gets the outcome. */
	run(key: string, command: Command, listener: Listener): void {
		const running = this.#running.get(key);
		if (running !== undefined) {
			running.push(listener);
			return;
		}
		const listeners = [listener];
		this.#running.set(key, listeners);
		try {
			this.#perform(command, outcome => {
				if (this.#running.get(key) !== listeners) return;
				this.#running.delete(key);
				for (const each of listeners) each(outcome);
			});
		} catch (error) {
			this.#running.delete(key); // Nothing runs: the next of this key must not wait for it.
			throw error;
		}
	}

	/** Outcomes of what runs reach nobody any more. */
	clear(): void {
		this.#running.clear();
	}
}

const nothingPerforms: Perform = ({type}, done) => done(failed('ERR_INTERNAL', {message: `nothing performs "${type}" here`}));
