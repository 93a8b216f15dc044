// The calls of a store as promises, for those that never run in the virtual world.

import type {Batch, CommitOutcome, LoadOutcome, MetaOutcome, StoreDriver} from './store.js';

export const commitTo = (driver: StoreDriver, batch: Batch): Promise<CommitOutcome> =>
	new Promise(resolve => driver.commit(batch, resolve));

export const metaFrom = (driver: StoreDriver): Promise<MetaOutcome> => new Promise(resolve => driver.readMeta(resolve));

export const recordsFrom = (driver: StoreDriver, prefix: string): Promise<LoadOutcome> =>
	new Promise(resolve => driver.load(prefix, resolve));
