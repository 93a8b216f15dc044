// The history of a run, read record by record where it is kept: it is for people, so nothing of it is in memory.

import {AppError} from '../../api/errors.js';
import {historyStoreKey, parseBesideStoreKey, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {RunEnding, RunNews} from '../../actors/workflows/run.js';
import type {HistoryRange} from '../../system/index/parts.js';
import type {LoadOutcome} from '../../system/store/store.js';

/** One step of a run: numbered from 0. */
export type HistoryRecord = {
	readonly number: number;
	readonly atMs: number;
	readonly news: readonly RunNews[];
	readonly ending?: RunEnding;
};

/** `next`: the number of the next record, where there are more. */
export type HistoryPage = {readonly records: readonly HistoryRecord[]; readonly next?: number};

/** Where histories are read, whatever keeps them. */
export type RunHistory = {
	/**
	 * The records of the run with that key, from a number on: at most so many, and no more than `runHistoryPageBytes`, the first in any case. Rejects
	 * with an AppError where they cannot be read.
	 */
	readonly read: (key: ObjectKey, from: number, limit: number) => Promise<HistoryPage>;
};

export type StoredHistoryOptions = {
	/** Which records a run has in the store; undefined: none. */
	readonly rangeOf: (key: ObjectKey) => HistoryRange | undefined;
	/** All records of the store whose keys begin so, in key order. */
	readonly load: (prefix: string) => Promise<LoadOutcome>;
};

/** Histories as the store has them. */
export function storedHistory({rangeOf, load}: StoredHistoryOptions): RunHistory {
	return {
		async read(key, from, limit) {
			const range = rangeOf(key);
			const records: HistoryRecord[] = [];
			let bytes = 0;
			if (range === undefined) return {records};
			for (let number = Math.max(from, range.first); number < range.next; number += tenth - (number % tenth)) {
				for (const {found, body} of await tenFrom(load, key, number)) {
					if (found < number || found >= range.next) continue;
					bytes += body.length;
					if (records.length >= limit || (records.length > 0 && bytes > limits.runHistoryPageBytes)) return {records, next: found};
					records.push({number: found, ...(JSON.parse(body) as Omit<HistoryRecord, 'number'>)});
				}
			}
			return {records};
		},
	};
}

/** Records that are read at once: those whose numbers differ in the last digit. */
const tenth = 10;

async function tenFrom(
	load: StoredHistoryOptions['load'],
	key: ObjectKey,
	number: number,
): Promise<readonly {readonly found: number; readonly body: string}[]> {
	const loaded = await load(historyStoreKey(key, number).slice(0, -1));
	if (!loaded.ok)
		throw new AppError(loaded.damaged === true ? 'ERR_DAMAGED' : 'ERR_NOT_REACHABLE', {
			message: `the store cannot be read: ${loaded.message}`,
		});
	return [...loaded.records].flatMap(({key: storeKey, body}) => {
		const place = parseBesideStoreKey(storeKey);
		return place !== undefined && 'number' in place ? [{found: place.number, body}] : [];
	});
}
