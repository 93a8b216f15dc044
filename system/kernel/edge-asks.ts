// Questions from outside the tree (HTTP handlers, the CLI) that wait for their answer. Each is answered exactly once.

import {failed, type Failure, type Outcome} from '../../api/errors.js';
import {parseAddress, type Address} from '../../api/keys.js';
import type {Deadlines} from './deadlines.js';

/** The path that answers to questions from outside the tree. */
export const edgePath = 'edge';

type Answer = (outcome: Outcome<unknown>) => void;

export class EdgeAsks {
	readonly #deadlines: Deadlines;
	readonly #open = new Map<string, {readonly to: Address; readonly answer: Answer}>();
	#count = 0;

	constructor(deadlines: Deadlines) {
		this.#deadlines = deadlines;
	}

	/** Opens a question; its id. Without an answer in time the outcome is ERR_TIMEOUT. */
	open(to: Address, deadlineMs: number, answer: Answer): string {
		const id = String(++this.#count);
		const cancel = this.#deadlines.after(deadlineMs, () => this.#end(id, failed('ERR_TIMEOUT', {address: to, deadlineMs})));
		this.#open.set(id, {
			to,
			answer(outcome) {
				cancel();
				answer(outcome);
			},
		});
		return id;
	}

	/** Takes an answer from the system that was asked; false when its question is closed. */
	answer(id: string, from: Address, outcome: Outcome<unknown>): boolean {
		const asked = this.#open.get(id);
		if (asked === undefined || parseAddress(asked.to)?.system !== parseAddress(from)?.system) return false;
		this.#end(id, outcome);
		return true;
	}

	/** Fails what was asked of those. */
	fail(isMeant: (to: Address) => boolean, errorFor: (to: Address) => Failure): void {
		for (const [id, {to}] of [...this.#open]) if (isMeant(to)) this.#end(id, {ok: false, error: errorFor(to)});
	}

	#end(id: string, outcome: Outcome<unknown>): void {
		const asked = this.#open.get(id);
		this.#open.delete(id);
		asked?.answer(outcome);
	}
}
