// Why each object is as it is: the last commits of every object with what set them going. In memory only, and of very many objects only the last few of
// each: what changed longest ago is cut first.

import type {ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Origin} from '../kernel/actor-options.js';

export type JournalEntry = Omit<Origin, 'span'> & {readonly version: number; readonly atMs: number};

export class Journal {
	readonly #entries = new Map<ObjectKey, JournalEntry[]>();
	/** Objects with more than those few, what changed longest ago first, and how many more these are together. */
	readonly #long = new Set<ObjectKey>();
	#more = 0;
	/** Removed objects, oldest first. */
	readonly #gone = new Map<ObjectKey, number>();

	add(key: ObjectKey, entry: JournalEntry, removed: boolean): void {
		const entries = this.#entries.get(key) ?? [];
		entries.push(entry);
		if (entries.length > limits.journalEntries) entries.shift();
		else if (entries.length > limits.journalEntriesKept) this.#more++;
		this.#entries.set(key, entries);
		if (this.#long.delete(key) || entries.length > limits.journalEntriesKept) this.#long.add(key);
		this.#gone.delete(key);
		if (removed) this.#gone.set(key, entry.atMs);
		this.#forget(entry.atMs);
		for (const oldest of this.#long) {
			if (this.#more <= limits.journalEntriesMore) break;
			this.#cut(oldest);
		}
	}

	of(key: ObjectKey): readonly JournalEntry[] {
		return this.#entries.get(key) ?? [];
	}

	#forget(nowMs: number): void {
		for (const [key, atMs] of this.#gone) {
			if (nowMs - atMs < limits.journalTtlMs && this.#gone.size <= limits.goneObjects) return;
			this.#gone.delete(key);
			this.#cut(key);
			this.#entries.delete(key);
		}
	}

	/** To the last few. */
	#cut(key: ObjectKey): void {
		const entries = this.#entries.get(key);
		if (entries === undefined || !this.#long.delete(key)) return;
		this.#more -= entries.splice(0, entries.length - limits.journalEntriesKept).length;
	}
}
