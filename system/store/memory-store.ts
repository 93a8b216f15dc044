// A store that lives in an object: for tests, the virtual world and clusters that may forget. It keeps every promise of a
// driver (atomic batches, the fence, order of keys), and a second driver over the same data sees what a dead one left.

import {noMeta, sameMeta} from './meta.js';
import type {Batch, CommitOutcome, Meta, StoreDriver, StoredRecord} from './store.js';

/** What outlives a driver. Bodies stay unserialised until a driver loads them. */
export type MemoryStoreData = {meta: Meta | undefined; readonly bodies: Map<string, () => string>};

export const emptyMemoryStore = (): MemoryStoreData => ({meta: undefined, bodies: new Map()});

/** `defer` runs a function later and in order, so that no callback comes back into its caller. */
export function createMemoryStore(defer: (callback: () => void) => void, data: MemoryStoreData = emptyMemoryStore()): StoreDriver {
	let closed = false;
	const unlessClosed = <Value>(value: () => Value): Value | {readonly ok: false; readonly message: string} =>
		closed ? {ok: false, message: closedMessage} : value();

	return {
		name: 'memory',
		commit(batch, done) {
			const outcome: CommitOutcome = closed ? {type: 'failed', message: closedMessage} : take(data, batch);
			defer(() => done(outcome));
		},
		readMeta(done) {
			const outcome = unlessClosed(() => ({ok: true as const, meta: data.meta}));
			defer(() => done(outcome));
		},
		load(prefix, done) {
			const outcome = unlessClosed(() => ({ok: true as const, records: recordsOf(data, prefix)}));
			defer(() => done(outcome));
		},
		snapshot(prefix) {
			if (closed) return Promise.reject(new Error(closedMessage));
			return Promise.resolve({meta: data.meta, records: inOnePortion([...recordsOf(data, prefix)])});
		},
		close() {
			closed = true;
			return Promise.resolve();
		},
	};
}

const closedMessage = 'the store is closed';

function take(data: MemoryStoreData, {writes, expected, next}: Batch): CommitOutcome {
	if (!sameMeta(data.meta ?? noMeta, expected)) return {type: 'fenced', message: 'another writer has taken over the store'};
	for (const {key, body} of writes) {
		if (body === undefined) data.bodies.delete(key);
		else data.bodies.set(key, body);
	}
	data.meta = next;
	return {type: 'committed'};
}

/** The records as they are now, each serialised when it is its turn. */
function recordsOf(data: MemoryStoreData, prefix: string): Iterable<StoredRecord> {
	const found = [...data.bodies].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
	return lazily(found);
}

/** Serialised already, since the bodies of today are gone tomorrow. */
async function* inOnePortion(records: readonly StoredRecord[]): AsyncIterable<readonly StoredRecord[]> {
	yield await Promise.resolve(records);
}

function* lazily(found: readonly (readonly [string, () => string])[]): Iterable<StoredRecord> {
	for (const [key, body] of found) yield {key, body: body()};
}
