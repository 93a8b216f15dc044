// The artifacts of functions and SlurmJobs, as the control plane keeps them: records of the store, each with a part of the bytes, and a last one that makes
// an artifact complete. What is without that counts for nothing, and is removed.
//
// In memory is which there are and how large; bytes are read when they are asked for, one record at a time.

import {createHash} from 'node:crypto';
import {AppError} from '../api/errors.js';
import {digestOfHex, hexOfDigest} from '../api/function-instance.js';
import {artifactStoreKey, parseArtifactStoreKey, type ArtifactPart} from '../api/keys.js';
import {limits} from '../api/limits.js';
import {membersOf} from '../api/rules/report.js';
import {parsedJson} from '../api/value-or.js';
import {archiveBounds} from '../system/archive/bounds.js';
import {verifyArchive} from '../system/archive/unpack.js';
import {takingTurns} from '../system/store/turns.js';
import type {Clock} from '../system/time/clock.js';
import type {StoreRecords} from './store-records.js';

/** One that is complete. */
export type Artifact = {
	/** `sha256:` and 64 hexadecimal digits. */
	readonly digest: string;
	/** Packed. */
	readonly bytes: number;
	/** When it was uploaded, or asked for by who means to name it, whichever was later. */
	readonly wantedAtMs: number;
};

export type ArtifactStore = {
	readonly has: (digest: string) => boolean;
	readonly find: (digest: string) => Artifact | undefined;
	readonly list: () => readonly Artifact[];
	/** Somebody means to name it soon: it is as good as uploaded now. */
	readonly want: (digest: string) => void;
	/**
	 * Keeps an archive. True: it was not there before.
	 *
	 * @throws {AppError} ERR_INVALID and ERR_TOO_LARGE for an archive that is refused, or is another one; ERR_TOO_LARGE when there is no room; and
	 * what the store says.
	 */
	readonly put: (digest: string, bytes: Uint8Array) => Promise<boolean>;
	/** Keeps a file as it is, and gives its digest. Rejects as `put` does, but for what an archive must be. */
	readonly keep: (bytes: Uint8Array) => Promise<string>;
	/** Its bytes, piece by piece; undefined where there is none. Rejects on the way with an AppError when it cannot be read to its end. */
	readonly read: (digest: string, range?: ByteRange) => AsyncIterable<Uint8Array> | undefined;
	/** It is gone for all others at once, and from the store when this resolves. Rejects with an AppError; then `clear` does the rest. */
	readonly remove: (digest: string) => Promise<void>;
	/** Removes what is not complete. Rejects with an AppError. */
	readonly clear: () => Promise<void>;
	/** Counts an upload until what comes back is called; undefined: there are too many. */
	readonly addUpload: () => (() => void) | undefined;
};

/** Some of the bytes: from there, so many. */
export type ByteRange = {readonly from: number; readonly bytes: number};

/** What a store has of artifacts, gathered while it is loaded. */
export type FoundArtifacts = {
	/** False: the record is of something else. */
	readonly note: (key: string, body: string) => boolean;
	readonly all: ReadonlyMap<string, Found>;
};

type Found = {meta: string | undefined; readonly parts: Set<ArtifactPart>};

export function createFoundArtifacts(): FoundArtifacts {
	const all = new Map<string, Found>();
	return {
		note(key, body) {
			const place = parseArtifactStoreKey(key);
			if (place === undefined) return false;
			const found = all.get(place.hex) ?? {meta: undefined, parts: new Set()};
			all.set(place.hex, found);
			found.parts.add(place.part);
			if (place.part === 'meta') found.meta = body;
			return true;
		},
		all,
	};
}

type Complete = {readonly bytes: number; readonly chunks: number; wantedAtMs: number};

type State = {
	readonly records: StoreRecords;
	readonly clock: Clock;
	readonly complete: Map<string, Complete>;
	/** Parts that are in the store of what is not complete, by the digits of the digest. */
	readonly leftovers: Map<string, Set<ArtifactPart>>;
	readonly uploads: Set<object>;
};

export function openArtifactStore(found: FoundArtifacts, records: StoreRecords, clock: Clock): ArtifactStore {
	const state: State = {records, clock, complete: new Map(), leftovers: new Map(), uploads: new Set()};
	for (const [hex, each] of found.all) {
		const complete = completeOf(each);
		if (complete === undefined) state.leftovers.set(hex, each.parts);
		else state.complete.set(digestOfHex(hex), complete);
	}
	const ordered = inOrder();
	const find = (digest: string): Artifact | undefined => {
		const complete = state.complete.get(digest);
		return complete === undefined ? undefined : {digest, bytes: complete.bytes, wantedAtMs: complete.wantedAtMs};
	};
	return {
		has: digest => state.complete.has(digest),
		find,
		list: () => [...state.complete.keys()].flatMap(digest => find(digest) ?? []),
		want(digest) {
			const complete = state.complete.get(digest);
			if (complete !== undefined) complete.wantedAtMs = clock.nowMs();
		},
		async put(digest, bytes) {
			await verifyArchive(bytes, archiveBounds, digest);
			return ordered(() => put(state, digest, bytes));
		},
		keep(bytes) {
			const digest = digestOfHex(createHash('sha256').update(bytes).digest('hex'));
			return ordered(async () => {
				await put(state, digest, bytes);
				return digest;
			});
		},
		read(digest, range) {
			const complete = state.complete.get(digest);
			if (complete === undefined) return undefined;
			return range === undefined ? piecesOf(records, digest, complete) : rangeOf(records, digest, complete, range);
		},
		remove(digest) {
			forget(state, digest);
			return ordered(() => removeLeftover(state, hexOfDigest(digest)));
		},
		clear: () =>
			ordered(async () => {
				for (const hex of [...state.leftovers.keys()]) await removeLeftover(state, hex);
			}),
		addUpload() {
			if (state.uploads.size >= limits.artifactUploads) return undefined;
			const one = {};
			state.uploads.add(one);
			return () => void state.uploads.delete(one);
		},
	};
}

/** One write at a time, and no upload of what is just being removed. */
function inOrder(): <Value>(work: () => Promise<Value>) => Promise<Value> {
	const inTurn = takingTurns();
	return async work => {
		const [outcome] = await inTurn(() => Promise.allSettled([work()]));
		if (outcome.status === 'rejected') throw outcome.reason;
		return outcome.value;
	};
}

/** Undefined: a part is missing, or it was never finished. */
function completeOf({meta, parts}: Found): Complete | undefined {
	const {bytes, chunks, uploadedAtMs} = membersOf(parsedJson(meta ?? ''));
	if (!isCount(bytes) || !isCount(chunks) || typeof uploadedAtMs !== 'number' || parts.size !== chunks + 1) return undefined;
	for (let at = 0; at < chunks; at++) if (!parts.has(at)) return undefined;
	return {bytes, chunks, wantedAtMs: uploadedAtMs};
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

async function put(state: State, digest: string, bytes: Uint8Array): Promise<boolean> {
	const {complete, clock} = state;
	const there = complete.get(digest);
	if (there !== undefined) {
		there.wantedAtMs = clock.nowMs();
		return false;
	}
	refuseFull(state, bytes.length);
	const hex = hexOfDigest(digest);
	await removeLeftover(state, hex);
	try {
		const chunks = Math.ceil(bytes.length / limits.artifactChunkBytes);
		for (let at = 0; at < chunks; at++) await write(state, hex, at, base64Of(bytes, at));
		const wantedAtMs = clock.nowMs();
		await write(state, hex, 'meta', JSON.stringify({bytes: bytes.length, chunks, uploadedAtMs: wantedAtMs}));
		state.leftovers.delete(hex);
		complete.set(digest, {bytes: bytes.length, chunks, wantedAtMs});
		return true;
	} catch (error) {
		// A store that takes nothing takes no removal either: what is left then is for the next look.
		await removeLeftover(state, hex).catch(() => undefined);
		throw error;
	}
}

function base64Of(bytes: Uint8Array, at: number): string {
	const from = at * limits.artifactChunkBytes;
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64', from, from + limits.artifactChunkBytes);
}

function refuseFull({complete}: State, more: number): void {
	const bytes = [...complete.values()].reduce((sum, each) => sum + each.bytes, 0);
	if (complete.size < limits.artifacts && bytes + more <= limits.artifactsBytes) return;
	throw new AppError('ERR_TOO_LARGE', {
		message:
			`there is no room for ${more} bytes: the cluster keeps ${complete.size} artifacts of functions and SlurmJobs with ${bytes} bytes, and at most ` +
			`${limits.artifacts} with ${limits.artifactsBytes}; delete Functions and SlurmJobs, or lower their revisionHistoryLimit: what nothing names any more ` +
			'is removed within two hours',
	});
}

/** Noted before it is there: a write whose outcome is not known may be. */
async function write({records, leftovers}: State, hex: string, part: ArtifactPart, body: string): Promise<void> {
	const parts = leftovers.get(hex) ?? new Set();
	leftovers.set(hex, parts.add(part));
	await records.put(artifactStoreKey(hex, part), body);
}

function forget({complete, leftovers}: State, digest: string): void {
	const known = complete.get(digest);
	if (known === undefined) return;
	complete.delete(digest);
	leftovers.set(hexOfDigest(digest), new Set<ArtifactPart>(['meta', ...Array.from({length: known.chunks}, (_, at) => at)]));
}

/** First that which makes it complete, so that no half of one ever counts. */
async function removeLeftover({records, leftovers}: State, hex: string): Promise<void> {
	const parts = leftovers.get(hex);
	if (parts === undefined) return;
	for (const part of [...parts].sort((one, other) => Number(other === 'meta') - Number(one === 'meta'))) {
		await records.put(artifactStoreKey(hex, part), undefined);
		parts.delete(part);
	}
	leftovers.delete(hex);
}

/** Only the records that have some of it are read. */
async function* rangeOf({get}: StoreRecords, digest: string, {bytes}: Complete, range: ByteRange): AsyncGenerator<Uint8Array> {
	const end = Math.min(bytes, range.from + range.bytes);
	for (let at = range.from; at < end;) {
		const chunk = Math.floor(at / limits.artifactChunkBytes);
		const begin = chunk * limits.artifactChunkBytes;
		const piece = Buffer.from((await get(artifactStoreKey(hexOfDigest(digest), chunk))) ?? '', 'base64').subarray(at - begin, end - begin);
		if (piece.length === 0) throw new AppError('ERR_INTERNAL', {message: `the artifact ${digest} is not there any more`});
		yield piece;
		at += piece.length;
	}
}

async function* piecesOf({get}: StoreRecords, digest: string, {bytes, chunks}: Complete): AsyncGenerator<Uint8Array> {
	const hex = hexOfDigest(digest);
	let left = bytes;
	for (let at = 0; at < chunks; at++) {
		const piece = Buffer.from((await get(artifactStoreKey(hex, at))) ?? '', 'base64');
		left -= piece.length;
		if (piece.length === 0 || left < 0) throw new AppError('ERR_INTERNAL', {message: `the artifact ${digest} is not there any more`});
		yield piece;
	}
	if (left > 0) throw new AppError('ERR_DAMAGED', {message: `the artifact ${digest} is ${left} bytes too short`});
}
