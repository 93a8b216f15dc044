// A node's cache in a folder.

import {rename, rm} from 'node:fs/promises';
import {openLevelStore, withoutRemedy} from '../../system/store/level-store.js';
import type {StoreDriver} from '../../system/store/store.js';
import type {Log} from './log.js';
import {openSoundCache} from './sound-cache.js';

/** @throws AppError when another process has it, or the disk does not take it. */
export const openLevelCache = (directory: string, log: Log): Promise<StoreDriver> =>
	openSoundCache({open: () => openLevelStore(directory), setAside: () => setAside(directory), finding: withoutRemedy}, log);

/** One is enough to look at. */
async function setAside(directory: string): Promise<string> {
	const aside = `${directory}-damaged`;
	await rm(aside, {recursive: true, force: true});
	await rename(directory, aside);
	return aside;
}
