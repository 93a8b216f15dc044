// Store keys of what was kept beside objects and has to go, by the object that it was beside: a portion of them goes with each batch. Only in memory: what is
// lost of it is found again at the next start.

import {parseBesideStoreKey, type ObjectKey} from '../../api/keys.js';

export class Leaving {
	/** No list is empty. */
	readonly #of = new Map<ObjectKey, string[]>();

	get isEmpty(): boolean {
		return this.#of.size === 0;
	}

	/** Whether anything that was beside an object of that name has to go. */
	has(owner: ObjectKey): boolean {
		return this.#of.has(owner);
	}

	/** What was beside that object, one key at least: a history can be very long, so keys are not looked into. */
	add(owner: ObjectKey, storeKeys: readonly string[]): void {
		const list = this.#listOf(owner);
		for (const storeKey of storeKeys) list.push(storeKey);
	}

	/** What was taken and did not go: it stays in its order, so that of a history the last records stay longest. */
	putBack(storeKeys: readonly string[]): void {
		for (const storeKey of storeKeys.toReversed()) {
			const owner = parseBesideStoreKey(storeKey)?.key;
			if (owner !== undefined) this.#listOf(owner).unshift(storeKey);
		}
	}

	/** At most so many, those first that were beside the objects of `urgent`. */
	take(most: number, urgent: readonly ObjectKey[]): readonly string[] {
		const taken: string[] = [];
		for (const owners of [urgent, this.#of.keys()])
			for (const owner of owners) {
				if (taken.length >= most) return taken;
				const list = this.#of.get(owner) ?? [];
				taken.push(...list.splice(0, most - taken.length));
				if (list.length === 0) this.#of.delete(owner);
			}
		return taken;
	}

	#listOf(owner: ObjectKey): string[] {
		const list = this.#of.get(owner) ?? [];
		this.#of.set(owner, list);
		return list;
	}
}
