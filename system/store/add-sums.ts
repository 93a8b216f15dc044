// Gives the records of an older version their checksums, once, before the first term of this one: every record is written again, each batch
// under the fence and one version on. One that was interrupted is done again.

import {AppError} from '../../api/errors.js';
import {storePrefix} from '../../api/keys.js';
import type {Batch, Meta, StoreDriver, StoredRecord} from './store.js';
import {commitTo, metaFrom} from './store-calls.js';
import {batchesOf} from './write-batches.js';

/**
 * Only for the system that is about to begin an epoch over the store.
 *
 * @throws AppError when the store cannot be read, or does not take it.
 */
export async function addSums(driver: StoreDriver): Promise<void> {
	const found = await metaFrom(driver);
	if (!found.ok) throw new AppError('ERR_NOT_REACHABLE', {message: `the store cannot be read: ${found.message}`});
	if (found.meta === undefined || found.meta.records !== undefined) return;
	let {meta} = found;
	const write = async (writes: Batch['writes']): Promise<void> => {
		const next: Meta = {...meta, version: meta.version + 1};
		const outcome = await commitTo(driver, {writes, expected: meta, next});
		if (outcome.type !== 'committed') throw new AppError('ERR_STORE', {message: outcome.message});
		meta = next;
	};
	// Where there is no record this alone says so.
	await write([]);
	for await (const writes of batchesOf(recordsOf(driver))) await write(writes);
}

async function* recordsOf(driver: StoreDriver): AsyncIterable<StoredRecord> {
	const {records} = await driver.snapshot(storePrefix);
	for await (const portion of records) yield* portion;
}
