// The beginning of an epoch, as each start of a system over its store is one: the new number is written before anything is read, so that
// an older leader can change nothing behind our back; then everything is loaded. A record that cannot be read stops the start and is named.

import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {parseObjectKey, parseStoreKey, storePrefix} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import type {Random} from '../time/random.js';
import type {Clock} from '../time/clock.js';
import {noMeta, restoringLineage} from '../store/meta.js';
import type {ObjectIndex} from '../index/object-index.js';
import {parseRecord} from '../store/record.js';
import type {Meta, StoreDriver, StoreFailure, StoredRecord} from '../store/store.js';

/** How snapshots of older code become today's. */
export type Schemas = {
	/** Undefined: this code knows no such kind. */
	readonly schemaVersionOf: (plural: string) => number | undefined;
	/** Leads an object from an older version to today's. */
	readonly upgrade: (plural: string, fromVersion: number, object: ApiObject) => ApiObject;
};

export type EpochOptions = Schemas & {
	readonly driver: StoreDriver;
	readonly index: ObjectIndex;
	readonly clock: Clock;
	readonly random: Random;
	/** What else is kept: events, the vault. */
	readonly onRecord?: ((storeKey: string, body: string) => void) | undefined;
};

/** Takes the store over and loads it. The outcome is the fence of the new epoch; after a failed one the index is of no use. */
export function beginEpoch(options: EpochOptions, done: (outcome: Outcome<Meta>) => void): void {
	const {driver, clock, random} = options;
	driver.readMeta(read => {
		if (!read.ok) return done(unreadable(read));
		const expected = read.meta ?? noMeta;
		if (expected.lineage === restoringLineage) return done(failed('ERR_INTERNAL', {message: unfinished}));
		const next = nextEpoch(expected, Math.floor(clock.nowMs() / 1_000), random);
		// An unknown outcome is not read back here: another writer may have written the same words in the same second.
		driver.commit({writes: [], expected, next}, taken => {
			if (taken.type === 'committed') loadAll(options, next, done);
			else done(failed('ERR_STORE', {message: taken.message}));
		});
	});
}

const unfinished = 'a backup is being restored into the store, or was not to its end; troupe restore does it from the start';

export const unreadable = ({message, damaged}: StoreFailure): Outcome<never> =>
	damaged === true
		? failed('ERR_DAMAGED', {message: `the store is damaged: ${message}`})
		: failed('ERR_NOT_REACHABLE', {message: `the store cannot be read: ${message}`});

/** A store that was restored from a backup has no lineage either. */
const nextEpoch = ({lineage, epoch, ...meta}: Meta, nowSeconds: number, random: Random): Meta => ({
	...meta,
	epoch: Math.max(epoch + 1, nowSeconds),
	lineage: lineage === '' ? random.uuid() : lineage,
});

function loadAll(options: EpochOptions, meta: Meta, done: (outcome: Outcome<Meta>) => void): void {
	options.driver.load(storePrefix, loaded => {
		if (!loaded.ok) return done(unreadable(loaded));
		for (const record of loaded.records) {
			const problem = loadOne(options, meta, record);
			if (problem !== undefined) return done(failed('ERR_INTERNAL', {message: `the record "${record.key}" cannot be loaded: ${problem}`}));
		}
		options.index.advance(meta.version);
		done(succeeded(meta));
	});
}

/** Of what is no object: what is wrong with it, if anything. */
function loadFurther({index, onRecord}: Pick<EpochOptions, 'index' | 'onRecord'>, key: string, body: string): string | undefined {
	try {
		if (!index.parts.load(key, body)) onRecord?.(key, body);
		return undefined;
	} catch (error) {
		return `it is no JSON: ${(error as Error).message}`;
	}
}

/** What is wrong with a record, if anything. */
function loadOne({index, onRecord, ...schemas}: EpochOptions, meta: Meta, {key, body}: StoredRecord): string | undefined {
	const parsed = parseStoreKey(key);
	if (parsed?.holds !== 'object') return loadFurther({index, onRecord}, key, body);
	const record = parseRecord(parsed.key, body);
	if ('problem' in record) return record.problem;
	if (Number(record.object.metadata.resourceVersion) > meta.version) return `it is newer than the store's counter, ${meta.version}`;
	const {plural} = parseObjectKey(parsed.key);
	const today = schemas.schemaVersionOf(plural);
	if (today === undefined) return `this version of Troupe knows no "${plural}"`;
	if (record.schemaVersion > today)
		return `it was written by a newer version (schema ${record.schemaVersion}, this one reads up to ${today})`;
	try {
		const isOld = record.schemaVersion < today;
		const object = isOld ? schemas.upgrade(plural, record.schemaVersion, record.object) : record.object;
		const json = isOld ? JSON.stringify(object) : record.json;
		index.load(parsed.key, object, () => json);
		return undefined;
	} catch (error) {
		// Whatever is in a record, it stops the start with its name and not with a stack.
		return `it does not fit: ${error instanceof Error ? error.message : String(error)}`;
	}
}
