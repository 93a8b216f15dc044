// A node's cache that is as it was written. It can be made again, since control tells again what was in it: one that is damaged is set
// aside, where it can be looked at, and an empty one takes its place.

import {rename, rm} from 'node:fs/promises';
import {AppError} from '../../../api/errors.js';
import {storePrefix} from '../../../api/keys.js';
import {addSums} from '../../../system/store/add-sums.js';
import type {StoreDriver} from '../../../system/store/store.js';
import {recordsFrom} from '../../../system/store/store-calls.js';
import type {Log} from '../process/log.js';

export type CacheKeeper = {
	readonly open: () => Promise<StoreDriver>;
	/** Empties the place. Returns where its former content is now. */
	readonly setAside: () => Promise<string>;
	/** What was found, without what a store's operator would have to do. */
	readonly finding: (message: string) => string;
};

/** A node's cache in a folder. @throws AppError when another process has it, or the disk does not take it. */
export async function openLevelCache(directory: string, log: Log): Promise<StoreDriver> {
	const {openLevelStore, withoutRemedy} = await import('../../../system/store/level-store.js');
	return openSoundCache({open: () => openLevelStore(directory), setAside: () => setAside(directory), finding: withoutRemedy}, log);
}

/** One is enough to look at. */
async function setAside(directory: string): Promise<string> {
	const aside = `${directory}-damaged`;
	await rm(aside, {recursive: true, force: true});
	await rename(directory, aside);
	return aside;
}

/** @throws AppError when another process has it, or the server that keeps it refuses. */
export async function openSoundCache({open, setAside, finding}: CacheKeeper, log: Log): Promise<StoreDriver> {
	let damage = '';
	// Looked at twice: where another agent can write meanwhile, what was read may be half of one state and half of the next.
	for (let look = 0; look < 2; look++) {
		try {
			return await sound(open);
		} catch (error) {
			if (!isDamaged(error)) throw error;
			damage = finding(error.message);
		}
	}
	const aside = await setAside();
	log.warn(`the node's cache is damaged and was set aside as "${aside}"; the node is told again what it had (${damage})`);
	return sound(open);
}

const isDamaged = (error: unknown): error is AppError => error instanceof AppError && error.code === 'ERR_DAMAGED';

/** Open, and found to be what was written: before anything is written, also into one of an older version. */
async function sound(open: () => Promise<StoreDriver>): Promise<StoreDriver> {
	const driver = await open();
	try {
		const loaded = await recordsFrom(driver, storePrefix);
		if (!loaded.ok) throw new AppError(loaded.damaged === true ? 'ERR_DAMAGED' : 'ERR_NOT_REACHABLE', {message: loaded.message});
		await addSums(driver);
		return driver;
	} catch (error) {
		await driver.close();
		throw error;
	}
}
