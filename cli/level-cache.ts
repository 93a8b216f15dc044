// A node's cache in a folder. It can be made again, since control tells again what was in it: one that is damaged is set aside, where it
// can be looked at, and an empty one takes its place.

import {rename, rm} from 'node:fs/promises';
import {AppError} from '../api/errors.js';
import {storePrefix} from '../api/keys.js';
import {addSums} from '../system/add-sums.js';
import {openLevelStore, withoutRemedy} from '../system/level-store.js';
import type {LoadOutcome, StoreDriver} from '../system/store.js';
import type {Log} from './log.js';

/** @throws AppError when another process has it, or the disk does not take it. */
export async function openLevelCache(directory: string, log: Log): Promise<StoreDriver> {
	try {
		return await sound(directory);
	} catch (error) {
		if (!(error instanceof AppError && error.code === 'ERR_DAMAGED')) throw error;
		const aside = `${directory}-damaged`;
		// One is enough to look at.
		await rm(aside, {recursive: true, force: true});
		await rename(directory, aside);
		log.warn(
			`the node's cache is damaged and was set aside as "${aside}"; the node is told again what it had (${withoutRemedy(error.message)})`,
		);
		return sound(directory);
	}
}

/** Open, and found to be what was written. */
async function sound(directory: string): Promise<StoreDriver> {
	const driver = await openLevelStore(directory);
	try {
		await addSums(driver);
		const loaded = await new Promise<LoadOutcome>(resolve => driver.load(storePrefix, resolve));
		if (!loaded.ok) throw new AppError(loaded.damaged === true ? 'ERR_DAMAGED' : 'ERR_NOT_REACHABLE', {message: loaded.message});
		return driver;
	} catch (error) {
		await driver.close();
		throw error;
	}
}
