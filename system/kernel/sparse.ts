// Maps and sets that are nothing while they are empty. Every actor has half a dozen, there are tens of thousands of actors, and
// hardly any has more than one of them in use at a time: an empty Map takes 200 bytes.

const emptyMap: ReadonlyMap<never, never> = new Map<never, never>();
const emptySet: ReadonlySet<never> = new Set<never>();

export class SparseMap<Key, Value> implements ReadonlyMap<Key, Value> {
	#map: Map<Key, Value> | undefined;

	get size(): number {
		return this.#map?.size ?? 0;
	}

	get(key: Key): Value | undefined {
		return this.#map?.get(key);
	}

	has(key: Key): boolean {
		return this.#map?.has(key) === true;
	}

	set(key: Key, value: Value): void {
		(this.#map ??= new Map<Key, Value>()).set(key, value);
	}

	delete(key: Key): boolean {
		const deleted = this.#map?.delete(key) === true;
		if (deleted && this.#map?.size === 0) this.#map = undefined;
		return deleted;
	}

	clear(): void {
		this.#map = undefined;
	}

	keys(): MapIterator<Key> {
		return this.#some().keys();
	}

	values(): MapIterator<Value> {
		return this.#some().values();
	}

	entries(): MapIterator<[Key, Value]> {
		return this.#some().entries();
	}

	[Symbol.iterator](): MapIterator<[Key, Value]> {
		return this.entries();
	}

	forEach(callback: (value: Value, key: Key, map: ReadonlyMap<Key, Value>) => void): void {
		for (const [key, value] of this) callback(value, key, this);
	}

	#some(): ReadonlyMap<Key, Value> {
		return this.#map ?? emptyMap;
	}
}

export class SparseSet<Value> implements Iterable<Value> {
	#set: Set<Value> | undefined;

	get size(): number {
		return this.#set?.size ?? 0;
	}

	has(value: Value): boolean {
		return this.#set?.has(value) === true;
	}

	add(value: Value): void {
		(this.#set ??= new Set<Value>()).add(value);
	}

	delete(value: Value): boolean {
		const deleted = this.#set?.delete(value) === true;
		if (deleted && this.#set?.size === 0) this.#set = undefined;
		return deleted;
	}

	clear(): void {
		this.#set = undefined;
	}

	[Symbol.iterator](): SetIterator<Value> {
		return (this.#set ?? emptySet).values();
	}
}
