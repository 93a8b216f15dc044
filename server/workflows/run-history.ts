// The history of a run, read record by record where it is kept, in the store or in its file: it is for people, so nothing of it is in memory.

import {AppError} from '../../api/errors.js';
import {historyStoreKey, parseBesideStoreKey, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import type {RunEnding, RunNews} from '../../actors/workflows/run.js';
import type {HistoryRange} from '../../system/index/parts.js';
import type {LoadOutcome} from '../../system/store/store.js';

/** One step of a run: numbered from 0. */
export type HistoryRecord = {
	readonly number: number;
	readonly atMs: number;
	readonly news: readonly RunNews[];
	readonly ending?: RunEnding;
	/** Of a run that has failed or was cancelled: the last state that it entered in its outermost machine, and with what. */
	readonly last?: {readonly state: string; readonly input: Json};
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

/** Lines of the file of a run from a number on, at most so many, and no more than a page takes and one; undefined: there is no file. */
export type ReadArchive = (uid: string, from: number, most: number) => Promise<readonly string[] | undefined>;

export type RunHistoryOptions = {
	/** Which records a run has in the store; undefined: none. */
	readonly rangeOf: (key: ObjectKey) => HistoryRange | undefined;
	/** All records of the store whose keys begin so, in key order. */
	readonly load: (prefix: string) => Promise<LoadOutcome>;
	/** Of the run with that key; undefined: it is gone. */
	readonly uidOf: (key: ObjectKey) => string | undefined;
	readonly archived: ReadArchive;
};

/** Histories as the store has them, and of runs that are over as their files have. */
export function openRunHistory(options: RunHistoryOptions): RunHistory {
	const {rangeOf, uidOf} = options;
	return {
		async read(key, from, limit) {
			const range = rangeOf(key);
			const page = range === undefined ? undefined : await storedPage(options, key, range, from, limit);
			// It may have moved into its file meanwhile.
			if (page !== undefined && rangeOf(key) !== undefined) return page;
			const uid = uidOf(key);
			return uid === undefined ? {records: []} : archivedPage(options.archived, uid, from, limit);
		},
	};
}

type Found = {readonly number: number; readonly body: string};

/** Takes records as long as there is room; true: one has found none, and is the next. */
function take(page: {records: HistoryRecord[]; next?: number; bytes: number}, {number, body}: Found, limit: number): boolean {
	const {records} = page;
	page.bytes += body.length;
	if (records.length >= limit || (records.length > 0 && page.bytes > limits.runHistoryPageBytes)) {
		page.next = number;
		return true;
	}
	records.push({number, ...(JSON.parse(body) as Omit<HistoryRecord, 'number'>)});
	return false;
}

const pageOf = ({records, next}: HistoryPage): HistoryPage => ({records, ...(next === undefined ? {} : {next})});

async function storedPage(
	{load}: RunHistoryOptions,
	key: ObjectKey,
	range: HistoryRange,
	from: number,
	limit: number,
): Promise<HistoryPage> {
	const page = {records: [], bytes: 0};
	for await (const found of storedRecords(load, key, {...range, first: Math.max(from, range.first)})) if (take(page, found, limit)) break;
	return pageOf(page);
}

/** The records of a history that the store has, in order, read ten at a time as they are asked for. Throws an AppError where they cannot be read. */
export async function* storedRecords(load: RunHistoryOptions['load'], key: ObjectKey, {first, next}: HistoryRange): AsyncIterable<Found> {
	for (let number = first; number < next; number += tenth - (number % tenth))
		for (const found of await tenFrom(load, key, number)) if (found.number >= number && found.number < next) yield found;
}

async function archivedPage(archived: ReadArchive, uid: string, from: number, limit: number): Promise<HistoryPage> {
	const page = {records: [], bytes: 0};
	const lines = await archived(uid, from, limit + 1).catch((error: unknown) => {
		throw new AppError('ERR_DAMAGED', {message: 'the file with the history of the run cannot be read'}, error);
	});
	for (const [at, body] of (lines ?? []).entries()) if (take(page, {number: from + at, body}, limit)) break;
	return pageOf(page);
}

/** Records that are read at once: those whose numbers differ in the last digit. */
const tenth = 10;

async function tenFrom(load: RunHistoryOptions['load'], key: ObjectKey, number: number): Promise<readonly Found[]> {
	const loaded = await load(historyStoreKey(key, number).slice(0, -1));
	if (!loaded.ok)
		throw new AppError(loaded.damaged === true ? 'ERR_DAMAGED' : 'ERR_NOT_REACHABLE', {
			message: `the store cannot be read: ${loaded.message}`,
		});
	return [...loaded.records].flatMap(({key: storeKey, body}) => {
		const place = parseBesideStoreKey(storeKey);
		return place !== undefined && 'number' in place ? [{number: place.number, body}] : [];
	});
}
