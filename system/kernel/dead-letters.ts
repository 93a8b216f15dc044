// The newest dead letters of a system, for a search for a message that never came. Each is small, however large the message was.

import {limits} from '../../api/limits.js';
import type {DeadLetter} from './observer.js';

export type RecentLetter = Omit<DeadLetter, 'error'> & {readonly atMs: number};

export class DeadLetters {
	readonly #letters: RecentLetter[] = [];
	#oldest = 0;

	/** `atMs` is wall time. */
	add({to, from, messageType, cause, why}: DeadLetter, atMs: number): void {
		const letter = {atMs, to: cut(to), from: cut(from), messageType: cut(messageType), cause: cut(cause), why};
		this.#letters[this.#oldest] = letter;
		this.#oldest = (this.#oldest + 1) % limits.deadLettersKept;
	}

	/** Oldest first. */
	all(): readonly RecentLetter[] {
		return [...this.#letters.slice(this.#oldest), ...this.#letters.slice(0, this.#oldest)];
	}
}

/** A slice keeps the whole text alive; joined with another one it is a text of its own. */
const cut = (text: string): string =>
	text.length <= limits.shownPathCharacters ? text : `${Array.from(text.slice(0, limits.shownPathCharacters)).join('')}…`;
