// The calls of a store as promises, for those that never run in the virtual world.

import type {Batch, CommitOutcome, LoadOutcome, MetaOutcome, StoreDriver} from './store.js';

/** Hands a batch over; what became of it. */
export const commitTo = (driver: StoreDriver, batch: Batch): Promise<CommitOutcome> =>
	new Promise(resolve => driver.commit(batch, resolve));

/** Who has written last, and how far. */
export const metaFrom = (driver: StoreDriver): Promise<MetaOutcome> => new Promise(resolve => driver.readMeta(resolve));

/** All records whose keys begin so. */
export const recordsFrom = (driver: StoreDriver, prefix: string): Promise<LoadOutcome> =>
	new Promise(resolve => driver.load(prefix, resolve));
