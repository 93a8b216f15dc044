// Makes damage visible, whatever is below: each record is stored with a checksum over key and body, and `meta` holds how many records
// there are and the sum of their checksums. What comes back otherwise than it was written, or does not come back, is never served.
//
// Records of an older version have no checksum. The system that owns the store rewrites them once (`addSums`); the batch that leaves none without
// one writes the totals, and from then on a record without one is damage.

import {bodyAtLoad, storePrefix} from '../../api/keys.js';
import {sameMeta} from './meta.js';
import {withoutSum, withSum, sumOf, type SummedRecord} from './record-sum.js';
import type {Batch, LoadOutcome, Meta, MetaOutcome, RecordTotals, StoreDriver, StoreFailure, StoredRecord, Write} from './store.js';

export type AboutDriver = {
	/** Where it keeps a record, for those who look for the damage; undefined where it cannot tell. */
	readonly whereIs: (key: string) => string | undefined;
	/** What is to be done where it is damaged, if anything. */
	readonly remedy?: string;
};

/** The sums of all records that are stored, and the keys of those that are stored without theirs. */
type Sums = {readonly byKey: Map<string, bigint>; readonly without: Set<string>};

type Change = {readonly key: string; readonly sum: bigint | undefined};

type Planned = {readonly batch: Batch; readonly changes: readonly Change[]};

type State = {
	readonly driver: StoreDriver;
	readonly about: AboutDriver;
	/** As of the last batch that was decided; undefined until `meta` was read. */
	totals: {readonly stored: RecordTotals | undefined} | undefined;
	/** Undefined until all was read. */
	sums: Sums | undefined;
	/** Batches of which the driver could not say whether they were taken. */
	undecided: Planned[];
};

const none: RecordTotals = {count: 0, sum: '0'.repeat(32)};

const nothingKnown: AboutDriver = {whereIs: () => undefined, remedy: 'restore a backup'};

export function checkedStore(driver: StoreDriver, about: AboutDriver = nothingKnown): StoreDriver {
	const state: State = {driver, about, totals: undefined, sums: undefined, undecided: []};
	return {
		...driver,
		readMeta: done => readMeta(state, done),
		commit: (batch, done) =>
			prepared(state, batch, problem => {
				const planned = problem ?? plan(state, batch);
				// Never before the call has returned.
				if ('message' in planned) return queueMicrotask(() => done({type: 'failed', message: planned.message}));
				driver.commit(planned.batch, outcome => {
					if (outcome.type === 'committed') settle(state, planned);
					if (outcome.type === 'unknown') state.undecided.push(planned);
					done(outcome);
				});
			}),
		load: (prefix, done) => load(state, prefix, done),
		async snapshot(prefix) {
			const {meta, records} = await driver.snapshot(prefix);
			return {meta, records: portions(state, prefix, meta === undefined ? none : meta.records, records)};
		},
	};
}

// ---- what is known -------------------------------------------------------------------------------------------------------

/** Decides, too, which of the batches without an outcome was taken. */
function readMeta(state: State, done: (outcome: MetaOutcome) => void): void {
	state.driver.readMeta(outcome => {
		if (outcome.ok) learn(state, outcome.meta);
		done(outcome);
	});
}

function learn(state: State, meta: Meta | undefined): void {
	const taken = state.undecided.find(({batch}) => meta !== undefined && sameMeta(batch.next, meta));
	if (taken !== undefined) settle(state, taken);
	// Of another writer's records nothing is known, and nothing of this one is taken any more.
	else state.totals ??= {stored: meta === undefined ? none : meta.records};
}

function settle(state: State, {batch, changes}: Planned): void {
	state.totals = {stored: batch.next.records};
	state.undecided = [];
	for (const {key, sum} of changes) {
		state.sums?.without.delete(key);
		if (sum === undefined) state.sums?.byKey.delete(key);
		else state.sums?.byKey.set(key, sum);
	}
}

function withTotals(state: State, done: (problem: StoreFailure | undefined) => void): void {
	if (state.totals !== undefined) return done(undefined);
	readTotals(state, done);
}

function readTotals(state: State, done: (problem: StoreFailure | undefined) => void): void {
	readMeta(state, outcome => done(outcome.ok ? undefined : outcome));
}

/** Before a record is replaced its sum must be known; and where some have none, which those are. */
function prepared(state: State, {writes}: Batch, done: (problem: StoreFailure | undefined) => void): void {
	withTotals(state, problem => {
		const isKnown = state.sums !== undefined || (writes.length === 0 && state.totals?.stored !== undefined);
		if (problem !== undefined || isKnown) return done(problem);
		const judge = (loaded: LoadOutcome): void => {
			const outcome = loaded.ok ? checked(state, storePrefix, loaded.records) : loaded;
			done(outcome.ok ? undefined : outcome);
		};
		state.driver.load(storePrefix, judge, readingOf(storePrefix));
	});
}

// ---- writing -------------------------------------------------------------------------------------------------------------

/** The batch as it is stored; a body that cannot be made fails it. */
function plan({totals, sums}: State, {writes, expected, next}: Batch): Planned | StoreFailure {
	try {
		const all = writes.map(write => summed(write));
		const changes = all.map(({key, sum}): Change => ({key, sum: sum === undefined ? undefined : BigInt(`0x${sum}`)}));
		const batch = {
			writes: all,
			expected: withRecords(expected, totals?.stored),
			next: withRecords(next, totalsAfter(totals?.stored, sums, changes)),
		};
		return {batch, changes};
	} catch (error) {
		return {ok: false, message: error instanceof Error ? error.message : String(error)};
	}
}

function summed({key, body}: Write): Write & {readonly sum: string | undefined} {
	if (body === undefined) return {key, body, sum: undefined};
	const text = body();
	const sum = sumOf(key, text);
	const stored = withSum(sum, text);
	return {key, body: () => stored, sum};
}

/** Undefined as long as a record stays without its checksum. */
function totalsAfter(stored: RecordTotals | undefined, sums: Sums | undefined, changes: readonly Change[]): RecordTotals | undefined {
	if (sums === undefined) return stored;
	if (stored === undefined) {
		const written = new Set(changes.map(({key}) => key));
		if ([...sums.without].some(key => !written.has(key))) return undefined;
	}
	const from = stored ?? totalsOf(sums.byKey.values());
	let {count} = from;
	let sum = BigInt(`0x${from.sum}`);
	for (const change of changes) {
		const old = sums.byKey.get(change.key);
		sum += (change.sum ?? 0n) - (old ?? 0n);
		count += (change.sum === undefined ? 0 : 1) - (old === undefined ? 0 : 1);
	}
	return {count, sum: hexOf(sum)};
}

function totalsOf(all: Iterable<bigint>): RecordTotals {
	let count = 0;
	let sum = 0n;
	for (const one of all) {
		count++;
		sum += one;
	}
	return {count, sum: hexOf(sum)};
}

const hexOf = (sum: bigint): string => BigInt.asUintN(128, sum).toString(16).padStart(32, '0');

const withRecords = ({version, epoch, lineage, replaces}: Meta, records: RecordTotals | undefined): Meta => ({
	version,
	epoch,
	lineage,
	...(replaces === undefined ? {} : {replaces}),
	...(records === undefined ? {} : {records}),
});

// ---- reading -------------------------------------------------------------------------------------------------------------

/** A batch without an outcome may have been taken before, or while this reads: what is stored then is no damage. */
function load(state: State, prefix: string, done: (outcome: LoadOutcome) => void, isLast = false): void {
	const isUndecided = state.undecided.length > 0;
	(isUndecided ? readTotals : withTotals)(state, problem => {
		if (problem !== undefined) return done(problem);
		const judge = (loaded: LoadOutcome): void => {
			const outcome = loaded.ok ? checked(state, prefix, loaded.records) : loaded;
			if (!outcome.ok && outcome.damaged === true && state.undecided.length > 0 && !isLast) load(state, prefix, done, isUndecided);
			else done(outcome);
		};
		state.driver.load(prefix, judge, readingOf(prefix));
	});
}

/**
 * Takes the sum of a record as it is read. Where everything is loaded, what is read when it is asked for is left out of it: all of
 * that together would not fit into memory.
 */
const readingOf =
	(prefix: string) =>
	(record: StoredRecord): SummedRecord => {
		const summed = withoutSum(record);
		return prefix === storePrefix ? {...summed, body: bodyAtLoad(record.key, summed.body)} : summed;
	};

/** What was read, if all of it is as it was written; what is known is known from it. */
function checked(state: State, prefix: string, stored: Iterable<StoredRecord | SummedRecord>): LoadOutcome {
	const read = readingOf(prefix);
	const totals = state.totals?.stored;
	const records: StoredRecord[] = [];
	const sums: Sums = {byKey: new Map(), without: new Set()};
	const damaged: string[] = [];
	for (const each of stored) {
		const record = 'state' in each ? each : read(each);
		if (isDamaged(record, totals)) damaged.push(record.key);
		else records.push({key: record.key, body: record.body});
		if (record.state === 'without') sums.without.add(record.key);
		sums.byKey.set(record.key, BigInt(`0x${record.sum}`));
	}
	const problem = problemOf(damaged, prefix === storePrefix ? totals : undefined, sums.byKey, state.about);
	const {remedy} = state.about;
	if (problem !== undefined) return {ok: false, message: remedy === undefined ? problem : `${problem}; ${remedy}`, damaged: true};
	if (prefix === storePrefix) state.sums = sums;
	return {ok: true, records};
}

const isDamaged = ({state}: SummedRecord, totals: RecordTotals | undefined): boolean =>
	state === 'damaged' || (state === 'without' && totals !== undefined);

async function* portions(
	{about}: State,
	prefix: string,
	totals: RecordTotals | undefined,
	stored: AsyncIterable<readonly StoredRecord[]>,
): AsyncIterable<readonly StoredRecord[]> {
	let count = 0;
	let sum = 0n;
	for await (const portion of stored) {
		const records = portion.map(withoutSum);
		const damaged = records.filter(record => isDamaged(record, totals)).map(({key}) => key);
		if (damaged.length > 0) throw new Error(wrongRecords(damaged, about));
		count += records.length;
		for (const record of records) sum += BigInt(`0x${record.sum}`);
		yield records.map(({key, body}) => ({key, body}));
	}
	const problem = prefix === storePrefix && totals !== undefined ? otherTotals(totals, {count, sum: hexOf(sum)}) : undefined;
	if (problem !== undefined) throw new Error(problem);
}

function problemOf(
	damaged: readonly string[],
	totals: RecordTotals | undefined,
	sums: ReadonlyMap<string, bigint>,
	about: AboutDriver,
): string | undefined {
	const found = totals === undefined ? undefined : otherTotals(totals, totalsOf(sums.values()));
	// Records that are wrong make the sum wrong as well: it says more only where some are missing.
	const missing = damaged.length === 0 || (totals !== undefined && totals.count !== sums.size) ? found : undefined;
	const problems = [damaged.length === 0 ? undefined : wrongRecords(damaged, about), missing].filter(text => text !== undefined);
	return problems.length === 0 ? undefined : problems.join('; ');
}

const keysShown = 10;

function wrongRecords(keys: readonly string[], {whereIs}: AboutDriver): string {
	const shown = keys.slice(0, keysShown).map(key => {
		const where = whereIs(key);
		return `"${key}"${where === undefined ? '' : ` in ${where}`}`;
	});
	const rest = keys.length > shown.length ? ` and ${keys.length - shown.length} more` : '';
	return `${keys.length === 1 ? 'a record is' : `${keys.length} records are`} not as written: ${shown.join(', ')}${rest}`;
}

function otherTotals(totals: RecordTotals, found: RecordTotals): string | undefined {
	if (totals.count !== found.count) return `${totals.count} records were written, ${found.count} are there`;
	return totals.sum === found.sum ? undefined : 'some records are older than what was written last, or none of this store';
}
