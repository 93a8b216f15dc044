// A node's cache: a folder or a Redis. It belongs to one node, since what it holds is what that node was told; and when it takes no writes
// the log says so at once.

import path from 'node:path';
import {AppError} from '../../../api/errors.js';
import {storePrefix} from '../../../api/keys.js';
import type {Clock} from '../../../system/time/clock.js';
import {noMeta} from '../../../system/store/meta.js';
import type {Meta, StoreDriver} from '../../../system/store/store.js';
import {commitTo, metaFrom, recordsFrom} from '../../../system/store/store-calls.js';
import {quietly, type Log} from '../process/log.js';
import {openLevelCache, openSoundCache} from './sound-cache.js';
import {failedError} from '../../command.js';

/** Opens the cache at a folder or `redis://…`. Throws an AppError when it cannot be used, or is another node's. */
export async function openNodeCache(place: string, node: string, clock: Clock, log: Log): Promise<StoreDriver> {
	const {onTrouble, onTaken} = tellingOf(node, clock, log);
	const driver = await openCache(place, onTrouble, log);
	try {
		await claim(driver, node, shownPlace(place));
	} catch (error) {
		await driver.close();
		throw error;
	}
	return {
		...driver,
		commit: (batch, done) =>
			driver.commit(batch, outcome => {
				if (outcome.type === 'committed') onTaken();
				else if (outcome.type !== 'fenced') onTrouble(outcome.message);
				done(outcome);
			}),
	};
}

async function openCache(place: string, onTrouble: (message: string) => void, log: Log): Promise<StoreDriver> {
	if (!isRedis(place)) return openLevelCache(path.resolve(place), log);
	const {openRedisStore, setRedisAside} = await import('../../../system/store/redis-store.js');
	const open = (): Promise<StoreDriver> => openRedisStore(place, onTrouble);
	return openSoundCache({open, setAside: () => setRedisAside(place), finding: message => message}, log);
}

function tellingOf(node: string, clock: Clock, log: Log) {
	const quiet = quietly(clock);
	let inTrouble = false;
	return {
		onTrouble: (message: string): void => {
			inTrouble = true;
			const said = `the cache of node "${node}" does not take writes: ${message}; until it does, no pod begins or ends here`;
			quiet('trouble', () => log.warn(said));
		},
		onTaken: (): void => {
			if (inTrouble) log.info(`the cache of node "${node}" takes writes again`);
			inTrouble = false;
		},
	};
}

const ownerKey = `${storePrefix}owner`;

/** Writes the node's name into a cache that has no owner yet; two agents that try at once are told apart by the fence. */
async function claim(driver: StoreDriver, node: string, place: string): Promise<void> {
	const meta = await metaOf(driver, place);
	const owner = await ownerOf(driver, place);
	if (owner === node) return;
	if (owner !== undefined)
		throw failedError(`the cache at ${place} belongs to node "${owner}"; node "${node}" needs one of its own: choose another with --cache`);
	// Without a lineage the first term gives it one.
	const next: Meta = meta ?? {...noMeta, epoch: 1};
	const outcome = await commitTo(driver, {writes: [{key: ownerKey, body: () => node}], expected: meta ?? noMeta, next});
	if (outcome.type !== 'committed') throw unusable(place, outcome.message);
}

async function metaOf(driver: StoreDriver, place: string): Promise<Meta | undefined> {
	const read = await metaFrom(driver);
	if (!read.ok) throw unusable(place, read.message);
	return read.meta;
}

async function ownerOf(driver: StoreDriver, place: string): Promise<string | undefined> {
	const loaded = await recordsFrom(driver, ownerKey);
	if (!loaded.ok) throw unusable(place, loaded.message);
	return [...loaded.records].find(({key}) => key === ownerKey)?.body;
}

const unusable = (place: string, why: string): AppError =>
	new AppError('ERR_NOT_REACHABLE', {message: `the cache at ${place} cannot be used: ${why}`});

export const isRedis = (place: string): boolean => /^rediss?:/.test(place);

/** Without a password. */
export function shownPlace(place: string): string {
	if (!isRedis(place)) return path.resolve(place);
	const {protocol, host, pathname} = new URL(place);
	return `${protocol}//${host}${pathname}`;
}
