// Which of the waiting writes make the next batch: in their order, at most one per key, within the limits of one transaction.
// Versions are given here, one per write, deletions included.

import {Buffer} from 'node:buffer';
import {failure, type Failure, type Outcome} from '../../api/errors.js';
import {historyStoreKey, parseObjectKey, partStoreKey, storeKey, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject, Json} from '../../api/object.js';
import type {Beside} from '../index/parts.js';
import type {Submission} from '../kernel/actor-options.js';
import {formatRecord} from '../store/record.js';
import type {Write} from '../store/store.js';

export type ObjectWrite = {readonly type: 'object'; readonly storeKey: string; readonly submission: Submission};

/** A record that is no object. */
export type RawWrite = {
	readonly type: 'raw';
	readonly storeKey: string;
	body: (() => string) | undefined;
	/** Of this write and of those that it replaced while they waited. */
	readonly dones: ((outcome: Outcome<number>) => void)[];
};

export type Waiting = ObjectWrite | RawWrite;

/** One write with its version. */
export type VersionedWrite = {
	readonly waiting: Waiting;
	readonly version: number;
	readonly write: Write;
	/** In the same transaction: what is kept beside the object. */
	readonly beside: readonly Write[];
	/** The revision as the index will hold it; its bytes are made once, for store, index, watchers and topics. */
	readonly object: ApiObject | undefined;
	readonly json: () => string;
};

export type Refused = {readonly waiting: Waiting; readonly error: Failure};

export type Assembled = {
	readonly writes: readonly VersionedWrite[];
	readonly refused: readonly Refused[];
	/** How many of the waiting are in one of the two lists. */
	readonly taken: number;
};

export type BatchContext = {
	/** The last version given out; the first write gets the next. */
	readonly lastVersion: number;
	readonly schemaVersionOf: (plural: string) => number | undefined;
	/** Whether there is something to remove. */
	readonly exists: (key: ObjectKey) => boolean;
	/** The number of the next record of an object's history. */
	readonly nextInHistory: (key: ObjectKey) => number;
};

export function assemble(queue: readonly Waiting[], around: BatchContext): Assembled {
	const writes: VersionedWrite[] = [];
	const refused: Refused[] = [];
	const keys = new Set<string>();
	let bytes = 0;
	let operations = 0;
	for (const waiting of queue) {
		// No write overtakes another: a second write of one key, or one that does not fit, begins the next batch.
		if (operations === limits.batchOperations || keys.has(waiting.storeKey)) break;
		const write = versioned(waiting, around.lastVersion + writes.length + 1, around);
		const size = {object: atMostBytes(write), all: atMostBytes(write) + bytesOf(write.beside), operations: 1 + write.beside.length};
		const error = refusal(waiting, size, around);
		if (error === undefined && (bytes + size.all > limits.batchBytes || operations + size.operations > limits.batchOperations)) break;
		if (error !== undefined) refused.push({waiting, error});
		else {
			bytes += size.all;
			operations += size.operations;
			keys.add(waiting.storeKey);
			writes.push(write);
		}
	}
	return {writes, refused, taken: writes.length + refused.length};
}

/** Of one waiting write: the bytes of its object or record, those of all that goes with it, and how many writes these are. */
type Size = {readonly object: number; readonly all: number; readonly operations: number};

const bytesOf = (writes: readonly Write[]): number =>
	writes.reduce((sum, {key, body}) => sum + key.length + Buffer.byteLength(body?.() ?? ''), 0);

function refusal(waiting: Waiting, {object, all, operations}: Size, {exists}: BatchContext): Failure | undefined {
	if (object > limits.objectBytes) {
		const message = `"${waiting.storeKey}" would have ${object} bytes; one record may have up to ${limits.objectBytes}`;
		return failure('ERR_TOO_LARGE', {message});
	}
	if (all > limits.batchBytes || operations > limits.batchOperations) {
		const message = `"${waiting.storeKey}" and what is kept beside it would be ${operations} writes of ${all} bytes at once`;
		return failure('ERR_TOO_LARGE', {message: `${message}; up to ${limits.batchOperations} of ${limits.batchBytes} bytes are taken`});
	}
	// Asked for while its creation was waiting, which then failed.
	if (waiting.type === 'object' && waiting.submission.object === undefined && !exists(waiting.submission.key)) {
		return failure('ERR_STORE', {message: `"${waiting.submission.key}" was to be removed, but its creation has failed`});
	}
	return undefined;
}

function versioned(waiting: Waiting, version: number, {schemaVersionOf, nextInHistory}: BatchContext): VersionedWrite {
	if (waiting.type === 'raw') {
		const body = waiting.body === undefined ? undefined : once(waiting.body);
		return {waiting, version, write: {key: waiting.storeKey, body}, beside: [], object: undefined, json: body ?? nothing};
	}
	const {key, object: candidate} = waiting.submission;
	// What was beside it goes afterwards, in portions.
	if (candidate === undefined) {
		return {waiting, version, write: {key: waiting.storeKey, body: undefined}, beside: [], object: undefined, json: nothing};
	}
	const beside = besideWrites(waiting.submission, nextInHistory);
	const object = {...candidate, metadata: {...candidate.metadata, resourceVersion: String(version)}};
	const json = once(() => inOnePiece(JSON.stringify(object)));
	const schemaVersion = schemaVersionOf(parseObjectKey(key).plural) ?? 1;
	return {waiting, version, write: {key: waiting.storeKey, body: () => formatRecord(schemaVersion, json())}, beside, object, json};
}

function besideWrites({key, beside}: Submission, nextInHistory: BatchContext['nextInHistory']): readonly Write[] {
	const {parts = new Map<string, Json>(), history} = beside ?? {};
	return [
		...[...parts].flatMap(([name, value]) =>
			value === undefined ? [] : [{key: partStoreKey(key, name), body: once(() => JSON.stringify(value))}],
		),
		...removedParts(beside, 'now').map(name => ({key: partStoreKey(key, name), body: undefined})),
		...(history === undefined ? [] : [{key: historyStoreKey(key, nextInHistory(key)), body: once(() => JSON.stringify(history))}]),
	];
}

/** The parts that go with the write: the first of those that are removed; and those that go afterwards, in portions. */
export function removedParts(beside: Beside | undefined, when: 'now' | 'later'): readonly string[] {
	const removed = [...(beside?.parts ?? [])].flatMap(([name, value]) => (value === undefined ? [name] : []));
	return when === 'now' ? removed.slice(0, limits.leavingParts) : removed.slice(limits.leavingParts);
}

const nothing = (): string => '';

/**
 * V8 hands out a long JSON text as a tree of a dozen pieces and puts them together when a character is asked for. These texts
 * stay, so they are put together at once: one string in memory for each.
 */
function inOnePiece(text: string): string {
	text.charCodeAt(0);
	return text;
}

/** So many small ones always fit into one batch, whatever is in them. */
const smallBytes = Math.floor(limits.batchBytes / limits.batchOperations);

/** Exact for what is large; a small object is not serialised for it, and counts as the most that it can have. */
const atMostBytes = ({object, json}: VersionedWrite): number =>
	object !== undefined && fitsUnits(object, smallBytes / bytesPerUnit) ? smallBytes : Buffer.byteLength(json());

export const objectWrite = (submission: Submission): ObjectWrite => ({type: 'object', storeKey: storeKey(submission.key), submission});

/** A value that is made when it is first asked for, and then kept. */
function once<Value>(make: () => Value): () => Value {
	let made: {readonly value: Value} | undefined;
	return () => (made ??= {value: make()}).value;
}

// ---- a cheap look at how long JSON would be, so that small objects need not be serialised to know that they are small ------------------

/** Whether the JSON of a value has at most so many UTF-16 units, escapes not counted. Stops looking as soon as it has more. */
const fitsUnits = (value: unknown, units: number): boolean => unitsLeft(value, units) >= 0;

/** UTF-8 and escapes together make at most so many bytes of one unit: a control character becomes \u0000. */
const bytesPerUnit = 6;

const longestNumber = 25;

function unitsLeft(value: unknown, units: number): number {
	if (typeof value === 'string') return units - value.length - 2;
	if (typeof value !== 'object' || value === null) return units - longestNumber;
	let left = units - 2;
	if (Array.isArray(value)) {
		for (const item of value as readonly unknown[]) if ((left = unitsLeft(item, left - 1)) < 0) return left;
		return left;
	}
	// A list of entries would be garbage of the size of the object, for every write.
	const members = value as {readonly [key: string]: unknown};
	for (const key in members) if ((left = unitsLeft(members[key], left - key.length - 4)) < 0) return left;
	return left;
}
