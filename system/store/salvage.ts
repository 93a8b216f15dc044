// Saves of a damaged store what is surely as it was written, into a store of its own. The damaged one is read from a copy and never touched.

import {cp, mkdtemp, rename, rm} from 'node:fs/promises';
import path from 'node:path';
import {AppError} from '../../api/errors.js';
import {metaStoreKey, parseStoreKey, storePrefix} from '../../api/keys.js';
import {openLevelStore, readRepaired} from './level-store.js';
import {reserveFile} from './level-reserve.js';
import {readWitness, type Witnessed} from './level-witness.js';
import {noMeta, parseMeta} from './meta.js';
import {parseRecord} from './record.js';
import {withoutSum} from './record-sum.js';
import {restore} from './restore.js';
import type {Meta, StoredRecord} from './store.js';
import {recordsFrom} from './store-calls.js';

export type Salvaged = {
	readonly records: number;
	/** Keys whose record is not as it was written. */
	readonly lost: readonly string[];
	/** Records that are missing with their keys; undefined where nothing tells how many there were. */
	readonly missing: number | undefined;
	/** Steps of the counter that nothing is left of: writes, each of one object. */
	readonly writesLost: number;
	/** Where the damaged store is now. */
	readonly aside: string;
};

/**
 * No other process may use the directory.
 *
 * @throws AppError when there is nothing to save, or no need.
 */
export async function salvage(directory: string, remembered: readonly string[]): Promise<Salvaged> {
	const work = await mkdtemp(`${directory}-salvage-`);
	try {
		await copied(directory, path.join(work, 'whole'));
		if (await isWhole(path.join(work, 'whole'))) {
			throw new AppError('ERR_BAD_REQUEST', {
				message: `the store in "${directory}" is whole: nothing is to be saved, and nothing was changed`,
			});
		}
		await copied(directory, path.join(work, 'damaged'));
		const witnessed = await readWitness(path.join(directory, 'level')).catch((): Witnessed => noMeta);
		const found = sorted(await readRepaired(path.join(work, 'damaged', 'level')));
		if (found.good.length === 0)
			throw new AppError('ERR_DAMAGED', {
				message: `nothing in "${directory}" can be saved; move that folder away and restore a backup in its place (troupe restore FILE)`,
			});
		const fresh = path.join(work, 'fresh');
		const counters = countersOf(found, witnessed);
		await fill(fresh, {...counters, lineage: found.meta?.lineage ?? ''}, found.good, [...remembered, ...(found.meta?.replaces ?? [])]);
		const aside = await setAside(directory);
		await rename(fresh, directory);
		const total = found.meta?.records?.count;
		return {
			records: found.good.length,
			lost: found.lost,
			missing: total === undefined ? undefined : Math.max(0, total - found.good.length - found.lost.length),
			writesLost: Math.max(0, witnessed.version - (found.meta?.version ?? 0)),
			aside,
		};
	} finally {
		await rm(work, {recursive: true, force: true});
	}
}

async function copied(directory: string, to: string): Promise<void> {
	await cp(directory, to, {recursive: true, filter: file => !['LOCK', reserveFile].includes(path.basename(file))});
}

async function isWhole(directory: string): Promise<boolean> {
	try {
		const driver = await openLevelStore(directory);
		try {
			return (await recordsFrom(driver, storePrefix)).ok;
		} finally {
			await driver.close();
		}
	} catch (error) {
		if (error instanceof AppError && error.code === 'ERR_DAMAGED') return false;
		throw error;
	}
}

type Sorted = {readonly meta: Meta | undefined; readonly good: readonly StoredRecord[]; readonly lost: readonly string[]};

function sorted(stored: readonly StoredRecord[]): Sorted {
	const text = stored.find(({key}) => key === metaStoreKey)?.body;
	const meta = text === undefined ? undefined : parseMeta(text);
	// Of a store that still has records without checksums they are the best there is.
	const needsSum = meta === undefined || meta.records !== undefined;
	const good: StoredRecord[] = [];
	const lost: string[] = [];
	for (const record of stored.filter(({key}) => key !== metaStoreKey).map(withoutSum)) {
		if (record.state === 'good' || (record.state === 'without' && !needsSum)) good.push({key: record.key, body: record.body});
		else lost.push(record.key);
	}
	return {meta, good, lost};
}

/** Above all that was ever given out, as far as anything tells. */
function countersOf({meta = noMeta, good}: Sorted, witnessed: Witnessed): Witnessed {
	const versions = good.map(versionOf);
	return {
		version: versions.reduce((highest, version) => Math.max(highest, version), Math.max(1, meta.version, witnessed.version)),
		epoch: Math.max(1, meta.epoch, witnessed.epoch),
	};
}

function versionOf({key, body}: StoredRecord): number {
	const stored = parseStoreKey(key);
	if (stored?.holds !== 'object') return 0;
	const record = parseRecord(stored.key, body);
	return 'problem' in record ? 0 : Number(record.object.metadata.resourceVersion);
}

async function fill(directory: string, meta: Meta, good: readonly StoredRecord[], lineages: readonly string[]): Promise<void> {
	const driver = await openLevelStore(directory);
	try {
		await restore(driver, {head: {madeAt: '', meta}, records: each(good)}, lineages);
	} finally {
		await driver.close();
	}
}

async function* each(records: readonly StoredRecord[]): AsyncIterable<StoredRecord> {
	yield* await Promise.resolve(records);
}

/** Each under a name of its own: what was set aside may be all that is left of something. */
async function setAside(directory: string): Promise<string> {
	const aside = await mkdtemp(`${directory}-damaged-`);
	await rename(directory, aside);
	return aside;
}
