// Why each object is as it is: the last commits of every object with what set them going. In memory only.

import type {ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Origin} from '../kernel/actor-options.js';

export type JournalEntry = Omit<Origin, 'span'> & {readonly version: number; readonly atMs: number};

export class Journal {
	readonly #entries = new Map<ObjectKey, JournalEntry[]>();
	/** Removed objects, oldest first. */
	readonly #gone = new Map<ObjectKey, number>();

	add(key: ObjectKey, entry: JournalEntry, removed: boolean): void {
		const entries = this.#entries.get(key) ?? [];
		entries.push(entry);
		if (entries.length > limits.journalEntries) entries.shift();
		this.#entries.set(key, entries);
		this.#gone.delete(key);
		if (removed) this.#gone.set(key, entry.atMs);
		this.#forget(entry.atMs);
	}

	of(key: ObjectKey): readonly JournalEntry[] {
		return this.#entries.get(key) ?? [];
	}

	#forget(nowMs: number): void {
		for (const [key, atMs] of this.#gone) {
			if (nowMs - atMs < limits.journalTtlMs && this.#gone.size <= limits.goneObjects) return;
			this.#gone.delete(key);
			this.#entries.delete(key);
		}
	}
}
