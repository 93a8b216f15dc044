// What is kept beside objects: the parts of each, and how long its history is. Written as the index is.

import {parseBesideStoreKey, partStoreKey, historyStoreKey, type ObjectKey} from '../../api/keys.js';
import type {Json} from '../../api/object.js';

/**
 * What is kept beside an object under keys of its own, so that the object stays small: written in one transaction with it, and gone with it. Only
 * of actors that are persistent.
 */
export type Beside = {
	/**
	 * Parts that are other than they were, by name; undefined: it is gone. `known.part` has them, none of them is null. Of very many that go only the
	 * first `leavingParts` go in the same transaction: a later start may find others again.
	 */
	readonly parts?: ReadonlyMap<string, Json | undefined>;
	/** One more record of the object's history, which is numbered from 0 and only read by people. */
	readonly history?: Json;
};

/** Of a history that is in the store: the numbers from `first` up to `next`, that one excluded. */
export type HistoryRange = {readonly first: number; readonly next: number};

export class Parts {
	readonly #parts = new Map<ObjectKey, Map<string, Json>>();
	readonly #histories = new Map<ObjectKey, HistoryRange>();

	/** Takes in what the store has under a key; whether it is anything beside an object. Throws where the body is no JSON. */
	load(storeKey: string, body: string): boolean {
		const beside = parseBesideStoreKey(storeKey);
		if (beside === undefined) return false;
		if ('part' in beside) this.#put(beside.key, beside.part, JSON.parse(body) as Json);
		else this.#lengthen(beside.key, beside.number);
		return true;
	}

	/** Takes one committed step; the number that its history record has. */
	apply(key: ObjectKey, {parts, history}: Beside): number | undefined {
		for (const [name, value] of parts ?? []) this.#put(key, name, value);
		if (history === undefined) return undefined;
		const number = this.nextOf(key);
		this.#lengthen(key, number);
		return number;
	}

	/** The number of the next record of the history. */
	nextOf(key: ObjectKey): number {
		return this.#histories.get(key)?.next ?? 0;
	}

	historyOf(key: ObjectKey): HistoryRange | undefined {
		return this.#histories.get(key);
	}

	part(key: ObjectKey, name: string): Json | undefined {
		return this.#parts.get(key)?.get(name);
	}

	of(key: ObjectKey): ReadonlyMap<string, Json> {
		return this.#parts.get(key) ?? none;
	}

	/** All that is kept of an object, forgotten here: the store keys of it. */
	drop(key: ObjectKey): readonly string[] {
		const parts = [...this.of(key).keys()].map(name => partStoreKey(key, name));
		this.#parts.delete(key);
		return [...parts, ...this.dropHistory(key)];
	}

	/** The history alone, as once it is kept elsewhere. */
	dropHistory(key: ObjectKey): readonly string[] {
		const {first, next} = this.#histories.get(key) ?? {first: 0, next: 0};
		this.#histories.delete(key);
		return Array.from({length: next - first}, (_, at) => historyStoreKey(key, first + at));
	}

	/** Whether what is under that store key counts. */
	holds(storeKey: string): boolean {
		const beside = parseBesideStoreKey(storeKey);
		if (beside === undefined) return false;
		if ('part' in beside) return this.part(beside.key, beside.part) !== undefined;
		const {first, next} = this.#histories.get(beside.key) ?? {first: 0, next: 0};
		return beside.number >= first && beside.number < next;
	}

	/** The objects of which anything is kept. */
	owners(): Iterable<ObjectKey> {
		return new Set([...this.#parts.keys(), ...this.#histories.keys()]);
	}

	#put(key: ObjectKey, name: string, value: Json | undefined): void {
		const parts = this.#parts.get(key) ?? new Map<string, Json>();
		if (value === undefined) parts.delete(name);
		else parts.set(name, value);
		if (parts.size === 0) this.#parts.delete(key);
		else this.#parts.set(key, parts);
	}

	#lengthen(key: ObjectKey, number: number): void {
		const {first, next} = this.#histories.get(key) ?? {first: number, next: number};
		this.#histories.set(key, {first: Math.min(first, number), next: Math.max(next, number + 1)});
	}
}

const none: ReadonlyMap<string, Json> = new Map();
