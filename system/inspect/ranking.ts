// What of a system deserves a look first: what is wrong, then what is busy; and the first few of many without sorting them all.

import {limits} from '../../api/limits.js';
import type {Cell} from '../kernel/cell.js';
import {troubleOf} from '../kernel/look.js';

/** From `wrong` on an actor is wrong: parked, about to be restarted, paused or under a fault, in trouble as it says itself, or crashed not long ago. */
const ranks = {parked: 5e9, restarting: 4e9, paused: 3e9, troubled: 2e9, crashed: 1e9, wrong: 1e9, restarted: 1} as const;

/** The higher the sooner it is looked at; 0: it rests. */
export function rankOf(cell: Cell, monotonicMs: number): number {
	const {parked, status, longRests, held, faults, failure, mailbox, restarts} = cell;
	const waiting = mailbox.length;
	if (parked !== undefined || (status === 'restarting' && longRests > 0)) return ranks.parked + waiting;
	if (status === 'restarting') return ranks.restarting + waiting;
	if (held !== undefined || faults !== undefined) return ranks.paused + waiting;
	if (troubleOf(cell) !== undefined) return ranks.troubled + waiting;
	if (failure !== undefined && monotonicMs - cell.crashedAtMs < limits.actorWellMs) return ranks.crashed + waiting;
	return waiting > 0 ? ranks.restarted + waiting : Math.min(restarts, ranks.restarted);
}

export const isWrong = (rank: number): boolean => rank >= ranks.wrong;

/** The highest of many, in order, those that were added first before their equals; costs no more memory than twice as many. */
export class Highest<Item> {
	readonly #most: number;
	#items: {readonly item: Item; readonly value: number; readonly at: number}[] = [];
	#added = 0;
	/** Below it an item has no chance any more. */
	#least = Number.NEGATIVE_INFINITY;

	constructor(most: number) {
		this.#most = most;
	}

	add(item: Item, value: number): void {
		this.#added++;
		if (value <= this.#least && this.#items.length >= this.#most) return;
		this.#items.push({item, value, at: this.#added});
		if (this.#items.length >= this.#most * 2 + 16) this.#cut();
	}

	all(): readonly {readonly item: Item; readonly value: number}[] {
		this.#cut();
		return this.#items;
	}

	#cut(): void {
		this.#items = this.#items.sort((a, b) => b.value - a.value || a.at - b.at).slice(0, this.#most);
		if (this.#items.length === this.#most) this.#least = this.#items.at(-1)?.value ?? this.#least;
	}
}
