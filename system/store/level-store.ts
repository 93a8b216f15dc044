// The embedded store: LevelDB, every batch flushed to disk before it counts. After any failed batch the handle is closed,
// opened again and compared with what was asked, key by key, before the next write: after a full disk LevelDB was seen to
// refuse for ever, or to acknowledge and lose.

import {readFile, readdir} from 'node:fs/promises';
import path from 'node:path';
import {ClassicLevel} from 'classic-level';
import {AppError} from '../../api/errors.js';
import {metaStoreKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {checkedStore} from './checked-store.js';
import {orFor} from '../files/errno.js';
import {databaseIn, raiseFormat, removeLeftovers} from './level-directory.js';
import {damageInLog} from './level-log.js';
import {giveUpReserve, openReserve, type Reserve} from './level-reserve.js';
import {isBehind, openWitness, readWitness, type Witness} from './level-witness.js';
import {aboutMeta, formatMeta, noMeta, parseMeta, sameMeta} from './meta.js';
import {takingTurns} from './turns.js';
import type {Batch, CommitOutcome, LoadOutcome, Meta, MetaOutcome, Snapshot, StoreDriver, StoredRecord} from './store.js';

type Level = ClassicLevel;
type LevelSnapshot = ReturnType<Level['snapshot']>;
type Values = readonly (string | undefined)[];
type Result<Value> = {readonly ok: true; readonly value: Value} | {readonly ok: false; readonly message: string};

/** A batch that failed and was not yet looked for. */
type Undecided = {
	readonly batch: Batch;
	/** What its keys held before it; undefined when even that could not be read. */
	readonly before: Values | undefined;
	/** Its writer has been told that it failed: should it turn up after all, it is taken back. */
	readonly toldFailed: boolean;
};

type State = {
	readonly directory: string;
	readonly location: string;
	readonly witness: Witness;
	readonly reserve: Reserve;
	/** Undefined between a failed batch and the next one. */
	level: Level | undefined;
	/** What the store is known to hold. */
	meta: Meta;
	undecided: Undecided | undefined;
	/** Set for ever when what is there cannot come from the writes that were made. */
	damage: string | undefined;
	closed: boolean;
};

/**
 * Opens the store in a directory, which is made if need be; the only process that may have it open.
 *
 * @throws AppError when another process has it, or when the directory holds something else, something newer or damage.
 */
export async function openLevelStore(directory: string): Promise<StoreDriver> {
	const state = await openState(directory);
	return checkedStore(driverOf(state), {whereIs: key => tablesOf(state, key), remedy});
}

/** The same without checksums of ours. */
export const openLevelDriver = async (directory: string): Promise<StoreDriver> => driverOf(await openState(directory));

async function openState(directory: string): Promise<State> {
	try {
		const {location, isOfOlderFormat} = await databaseIn(directory, create);
		await checkLogs(location);
		await giveUpReserve(location);
		const level = await opened(location);
		try {
			await removeLeftovers(directory);
			const meta = await readMetaOf(level);
			if (isOfOlderFormat) await raiseFormat(location, meta);
			if (isBehind(meta, await readWitness(location)))
				throw new Error(`${aboutMeta(meta)} is older than what was acknowledged last: its log was cut, or lost`);
			const witness = await openWitness(location);
			const reserve = openReserve(location);
			return {directory, location, witness, reserve, level, meta, undecided: undefined, damage: undefined, closed: false};
		} catch (error) {
			await level.close();
			throw error;
		}
	} catch (error) {
		throw error instanceof AppError ? error : cannotOpen(directory, error);
	}
}

/** Before LevelDB sees its logs, since it leaves out what it cannot read and then deletes them. */
async function checkLogs(location: string): Promise<void> {
	const logs = (await readdir(location)).filter(name => name.endsWith('.log'));
	for (const name of logs) {
		// Another process that has the store open has dropped the file meanwhile; the lock will say so.
		const bytes = await readFile(path.join(location, name)).catch(orFor(undefined, 'ENOENT'));
		const at = bytes === undefined ? undefined : damageInLog(bytes);
		if (at !== undefined) throw new Error(`"${name}" is damaged at byte ${at}, acknowledged writes would be lost; nothing was changed`);
	}
}

function driverOf(state: State): StoreDriver {
	// A reader never meets a handle that is about to be closed.
	const inTurn = takingTurns();
	return {
		name: 'level',
		commit: (batch, done) => void inTurn(() => commit(state, batch)).then(done),
		readMeta: done => void inTurn(() => readMeta(state)).then(done),
		load: (prefix, done, read) => void inTurn(() => load(state, prefix, read)).then(done),
		async snapshot(prefix) {
			const taken = await inTurn(() => snapshot(state, prefix));
			if (taken.ok) return taken.value;
			throw new Error(taken.message);
		},
		close: () =>
			inTurn(async () => {
				if (!state.closed) await Promise.all([state.witness.close(), state.reserve.close()]);
				state.closed = true;
				await dropHandle(state);
			}),
	};
}

async function commit(state: State, batch: Batch): Promise<CommitOutcome> {
	const ready = await readyHandle(state);
	if (!ready.ok) return {type: 'failed', message: ready.message};
	if (!sameMeta(state.meta, batch.expected)) {
		return {type: 'fenced', message: `the store is at ${aboutMeta(state.meta)}, the writer at ${aboutMeta(batch.expected)}`};
	}
	try {
		await writeBatch(ready.value, batch);
	} catch (error) {
		return afterFailure(state, ready.value, batch, messageOf(error));
	}
	state.meta = batch.next;
	state.reserve.count(batch.writes.reduce((sum, {body}) => sum + (body?.().length ?? 0), 0));
	await state.witness.note(state.meta);
	return {type: 'committed'};
}

const writeBatch = (level: Level, {writes, next}: Batch): Promise<void> =>
	level.batch([...writes.map(({key, body}) => operation(key, body?.())), operation(metaStoreKey, formatMeta(next))], {sync: true});

const operation = (key: string, value: string | undefined) =>
	value === undefined ? {type: 'del' as const, key} : {type: 'put' as const, key, value};

/** Opens again and looks. While that does not work either, the batch has failed, and `readyHandle` will see to it. */
async function afterFailure(state: State, level: Level, batch: Batch, message: string): Promise<CommitOutcome> {
	// A batch that failed never reaches the memory of its handle, which still reads what was there before.
	const before = await valuesOf(level, batch).catch(() => undefined);
	await dropHandle(state);
	state.undecided = {batch, before, toldFailed: false};
	const ready = await readyHandle(state);
	if (ready.ok) return sameMeta(state.meta, batch.next) ? {type: 'committed'} : {type: 'failed', message};
	if (state.damage !== undefined) return {type: 'unknown', message: state.damage};
	if (before === undefined) return {type: 'unknown', message};
	state.undecided = {batch, before, toldFailed: true};
	return {type: 'failed', message};
}

/** The handle, opened again if a failure closed it, once the batch that failed is surely in or surely out. */
async function readyHandle(state: State): Promise<Result<Level>> {
	if (state.closed) return {ok: false, message: 'the store is closed'};
	if (state.damage !== undefined) return {ok: false, message: state.damage};
	if (state.level !== undefined) return {ok: true, value: state.level};
	const again = await openAgain(state);
	if (!again.ok || state.undecided === undefined) return again;
	try {
		await settle(state, again.value, state.undecided);
	} catch (error) {
		await dropHandle(state);
		return {ok: false, message: messageOf(error)};
	}
	return state.damage === undefined ? again : {ok: false, message: state.damage};
}

async function settle(state: State, level: Level, {batch, before, toldFailed}: Undecided): Promise<void> {
	const found = await decide(level, batch, before);
	if (found === 'damaged') state.damage = damageOf(state);
	if (found === 'taken' && !toldFailed) state.meta = batch.next;
	if (found === 'taken' && toldFailed && before !== undefined) await writeBatch(level, takenBack(batch, before));
	state.undecided = undefined;
}

/** The batch that undoes another: it was reported as failed, so it must not show. */
function takenBack({writes, expected, next}: Batch, before: Values): Batch {
	const undone = writes.map(({key}, at) => {
		const value = before[at];
		return {key, body: value === undefined ? undefined : () => value};
	});
	return {writes: undone, expected: next, next: expected};
}

/** What a database that was opened again holds of a batch. Opening has flushed all that it recovered, so what it shows will stay. */
async function decide(level: Level, batch: Batch, before: Values | undefined): Promise<'taken' | 'not taken' | 'damaged'> {
	const [meta, values] = [await readMetaOf(level), await valuesOf(level, batch)];
	if (sameMeta(meta, batch.next)) return batch.writes.every(({body}, at) => values[at] === body?.()) ? 'taken' : 'damaged';
	if (!sameMeta(meta, batch.expected)) return 'damaged';
	return before === undefined || before.every((value, at) => values[at] === value) ? 'not taken' : 'damaged';
}

const damageOf = ({directory, meta}: State): string =>
	`the store in "${directory}" does not hold what was written before its last failure (${aboutMeta(meta)})`;

async function openAgain(state: State): Promise<Result<Level>> {
	const takeBack = await state.reserve.lend();
	try {
		state.level = await opened(state.location);
		// Before the next write, which may want the same room.
		await takeBack(true);
		return {ok: true, value: state.level};
	} catch (error) {
		await takeBack(false);
		return {ok: false, message: `the store could not be opened again after a failed write: ${messageOf(error)}`};
	}
}

/** A handle that does not close keeps its lock; opening again then says so. */
async function dropHandle(state: State): Promise<void> {
	const {level} = state;
	state.level = undefined;
	await level?.close().catch(() => undefined);
}

async function readMeta(state: State): Promise<MetaOutcome> {
	const ready = await readyHandle(state);
	if (!ready.ok) return ready;
	return {ok: true, meta: sameMeta(state.meta, noMeta) ? undefined : state.meta};
}

async function load(state: State, prefix: string, read = (record: StoredRecord): StoredRecord => record): Promise<LoadOutcome> {
	const ready = await readyHandle(state);
	if (!ready.ok) return ready;
	const records: StoredRecord[] = [];
	try {
		for await (const portion of portions(ready.value, prefix)) for (const record of portion) records.push(read(record));
		return {ok: true, records};
	} catch (error) {
		const message = messageOf(error);
		const where = `the records after "${records.at(-1)?.key ?? prefix}" cannot be read`;
		return {
			ok: false,
			message: withRemedy(`${where}: ${message} (in "${state.directory}")`),
			...(isRefusal(message) ? {} : {damaged: true}),
		};
	}
}

/** Taken in turn, read while others write; a handle that is closed after a failed batch ends it with an error. */
async function snapshot(state: State, prefix: string): Promise<Result<Snapshot>> {
	const ready = await readyHandle(state);
	if (!ready.ok) return ready;
	const {meta} = state;
	return {
		ok: true,
		value: {meta: sameMeta(meta, noMeta) ? undefined : meta, records: portions(ready.value, prefix, ready.value.snapshot())},
	};
}

async function* portions(level: Level, prefix: string, ofSnapshot?: LevelSnapshot): AsyncIterable<readonly StoredRecord[]> {
	const iterator = level.iterator({gte: prefix, lt: endOf(prefix), ...(ofSnapshot === undefined ? {} : {snapshot: ofSnapshot})});
	try {
		for (
			let entries = await iterator.nextv(limits.storeReadRecords);
			entries.length > 0;
			entries = await iterator.nextv(limits.storeReadRecords)
		) {
			yield entries.filter(([key]) => key !== metaStoreKey).map(([key, body]) => ({key, body}));
		}
	} finally {
		await iterator.close();
		await ofSnapshot?.close();
	}
}

/** The first key after all those with the prefix, whose last character is plain ASCII. */
const endOf = (prefix: string): string => prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

/** The tables that may hold a key, as LevelDB tells them: `5:1234['first' @ 7 : 1 .. 'last' @ 9 : 1]`, one a line. */
function tablesOf({level}: State, key: string): string | undefined {
	const lines = level?.getProperty('leveldb.sstables').split('\n') ?? [];
	const files = lines.flatMap(line => {
		const [, number = '', first = '', last = ''] = /^ (\d+):\d+\['(.*)' @ \d+ : \d \.\. '(.*)' @ \d+ : \d\]$/.exec(line) ?? [];
		return number !== '' && first <= key && key <= last ? [`level/${number.padStart(6, '0')}.ldb`] : [];
	});
	return files.length === 0 ? undefined : files.join(' or ');
}

async function create(location: string): Promise<void> {
	const level = new ClassicLevel(location, {createIfMissing: true, errorIfExists: true});
	await level.open();
	await level.close();
}

async function opened(location: string): Promise<Level> {
	const level = new ClassicLevel(location, {createIfMissing: false});
	await level.open();
	return level;
}

/**
 * Everything that can still be read where LevelDB has put together what it can, whatever it is; in key order. For a copy: what is there is
 * changed.
 */
export async function readRepaired(location: string): Promise<readonly StoredRecord[]> {
	await ClassicLevel.repair(location);
	const level = await opened(location);
	const records: StoredRecord[] = [];
	try {
		for await (const [key, body] of level.iterator()) records.push({key, body});
	} catch {
		// What comes after a block that cannot be read has come already: LevelDB tells of it at the end.
	} finally {
		await level.close();
	}
	return records;
}

async function readMetaOf(level: Level): Promise<Meta> {
	const text = await level.get(metaStoreKey);
	if (text === undefined) return noMeta;
	const meta = parseMeta(text);
	if (meta === undefined) throw new Error(`"${metaStoreKey}" is damaged`);
	return meta;
}

const valuesOf = (level: Level, {writes}: Batch): Promise<Values> => level.getMany(writes.map(({key}) => key));

/** What the system refuses says by itself what to do; the files are as they were. */
const isRefusal = (message: string): boolean => /No space left|Permission denied|Read-only|Too many open files/i.test(message);

/** Nothing here mends a store: what LevelDB saves of a damaged one is not what was acknowledged. */
const remedy =
	'put its files back as they were, or move that folder away and restore a backup in its place (troupe restore FILE), or save what can be saved (troupe restore --salvage); see docs/stores.md#damage';

/** What was found, for what is not mended in one of these ways. */
export const withoutRemedy = (message: string): string => message.replace(`; ${remedy}`, '');

const withRemedy = (message: string): string => (isRefusal(message) ? message : `${message}; ${remedy}`);

function cannotOpen(directory: string, error: unknown): AppError {
	if (codesOf(error).includes('LEVEL_LOCKED')) {
		return new AppError(
			'ERR_NOT_REACHABLE',
			{message: `another process uses the data directory "${directory}"; stop it first or choose another directory`},
			error,
		);
	}
	const message = messageOf(error);
	const code = isRefusal(message) ? 'ERR_INTERNAL' : 'ERR_DAMAGED';
	return new AppError(code, {message: `the store in "${directory}" cannot be opened: ${withRemedy(message)}`}, error);
}

/** LevelDB's own error is the cause of the one that classic-level throws. */
const causeOf = (error: unknown): unknown => (error instanceof Error && error.cause !== undefined ? error.cause : error);

const codesOf = (error: unknown): unknown[] =>
	[error, causeOf(error)].map(one => (one instanceof Error && 'code' in one ? one.code : undefined));

function messageOf(error: unknown): string {
	const cause = causeOf(error);
	return cause instanceof Error ? cause.message : String(cause);
}
