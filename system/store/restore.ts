// Puts a backup into an empty store. While it runs the store says so in its lineage, and no server begins a term on it; one that was
// interrupted is done again from the start. The store gets a lineage of its own with its first term.

import {AppError} from '../../api/errors.js';
import {storePrefix} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {BackupReader} from './backup.js';
import {noMeta, restoringLineage} from './meta.js';
import type {Meta, StoreDriver, StoredRecord, Write} from './store.js';
import {commitTo, metaFrom} from './store-calls.js';
import {batchesOf} from './write-batches.js';

export type Restored = {readonly meta: Meta; readonly records: number};

/**
 * The new life of the store replaces the one that was backed up, what that had replaced, and the lineages that are remembered beside it.
 * The backup must have been read to its end once before: whether it is whole is known only there.
 *
 * @throws AppError when the store is not empty, or does not take it.
 */
export async function restore(driver: StoreDriver, {head, records}: BackupReader, remembered: readonly string[] = []): Promise<Restored> {
	const filling = await begin(driver);
	let count = 0;
	for await (const writes of batchesOf(records)) {
		await filling.add(writes);
		count += writes.length;
	}
	const {version, epoch, lineage, replaces = []} = head.meta;
	const lineages = [...new Set([lineage, ...remembered, ...replaces])].filter(each => each !== '').slice(0, limits.lineagesReplaced);
	const meta: Meta = {version, epoch, lineage: '', ...(lineages.length === 0 ? {} : {replaces: lineages})};
	await filling.end(meta);
	return {meta, records: count};
}

type Filling = {readonly add: (writes: readonly Write[]) => Promise<void>; readonly end: (meta: Meta) => Promise<void>};

async function begin(driver: StoreDriver): Promise<Filling> {
	const found = await metaFrom(driver);
	if (!found.ok) throw new AppError('ERR_NOT_REACHABLE', {message: `the store cannot be read: ${found.message}`});
	let meta = found.meta ?? noMeta;
	if (found.meta !== undefined && meta.lineage !== restoringLineage)
		throw new AppError('ERR_BAD_REQUEST', {
			message:
				'the store is not empty; a backup is restored into an empty one only: move what is there away first (data/control of the home)',
		});
	const commit = async (writes: readonly Write[], next: Meta): Promise<void> => {
		const outcome = await commitTo(driver, {writes, expected: meta, next});
		if (outcome.type !== 'committed') throw new AppError('ERR_STORE', {message: outcome.message});
		meta = next;
	};
	const add = (writes: readonly Write[]): Promise<void> => commit(writes, {version: 0, epoch: meta.epoch + 1, lineage: restoringLineage});
	await add([]);
	// What an interrupted one has left may be of another backup.
	for await (const writes of batchesOf(leftovers(driver), () => undefined)) await add(writes);
	return {add, end: last => commit([], last)};
}

async function* leftovers(driver: StoreDriver): AsyncIterable<StoredRecord> {
	const {records} = await driver.snapshot(storePrefix);
	for await (const portion of records) yield* portion;
}
