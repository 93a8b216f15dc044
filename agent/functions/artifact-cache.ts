// The code of functions that a node keeps: archives by their digest, in a folder of their own, fetched when a pod needs one. A file appears there
// whole and verified, or not at all; one that an earlier agent left is looked at once more before it is used.

import {createReadStream, mkdirSync, readdirSync, rmSync, statSync} from 'node:fs';
import {open, rename, rm, stat, utimes, type FileHandle} from 'node:fs/promises';
import path from 'node:path';
import {AppError, type Failure, type Outcome} from '../../api/errors.js';
import {digestOfHex, hexOfDigest, isArtifactDigest} from '../../api/function-instance.js';
import {limits} from '../../api/limits.js';
import {archiveBounds} from '../../system/archive/bounds.js';
import {verifyArchive} from '../../system/archive/unpack.js';
import {syncDirectory} from '../../system/files/atomic-file.js';
import {orFor} from '../../system/files/errno.js';
import type {Clock} from '../../system/time/clock.js';
import {explained} from '../os/explained.js';
import {createLanes} from '../os/turns.js';

/** Asks the control plane. `ERR_NOT_FOUND` and `ERR_FORBIDDEN`: it is not there, or not for this node; else it may be asked again. */
export type FetchArtifact = (digest: string) => Promise<Outcome<AsyncIterable<Uint8Array>>>;

export type ArtifactCacheOptions = {
	/** Made when it is not there; of one agent at a time. */
	readonly folder: string;
	readonly fetch: FetchArtifact;
	readonly clock: Clock;
	/** Of all files together. */
	readonly bytes?: number;
};

export type ArtifactCache = {
	/**
	 * The file with the archive, for who reads it at once: later it may make room for others.
	 *
	 * @throws {AppError} ERR_CONFIG_MISSING: there is no such code for this node; ERR_NOT_REACHABLE: control cannot be asked now; ERR_RUNTIME: it
	 * cannot be kept here, or what came is something else.
	 */
	readonly ensure: (digest: string) => Promise<string>;
};

type Kept = {readonly bytes: number; usedAtMs: number; isVerified: boolean};

type State = {
	readonly options: ArtifactCacheOptions;
	readonly kept: Map<string, Kept>;
	/** Those that are looked at, or fetched: pods that start together ask once. */
	readonly underWay: Map<string, Promise<string>>;
	readonly inLane: ReturnType<typeof createLanes>;
};

/** Throws errno exceptions when the folder cannot be made or read. */
export function createArtifactCache(options: ArtifactCacheOptions): ArtifactCache {
	mkdirSync(options.folder, {recursive: true, mode: 0o700});
	const state: State = {options, kept: foundIn(options.folder), underWay: new Map(), inLane: createLanes(limits.artifactFetches)};
	return {
		ensure(digest) {
			const shared = state.underWay.get(digest) ?? ensure(state, digest).finally(() => state.underWay.delete(digest));
			state.underWay.set(digest, shared);
			return shared;
		},
	};
}

const suffix = '.tar.gz';

const fileOf = ({options: {folder}}: State, digest: string): string => path.join(folder, hexOfDigest(digest) + suffix);

/** What an agent that died has begun to write is removed. */
function foundIn(folder: string): Map<string, Kept> {
	const kept = new Map<string, Kept>();
	for (const name of readdirSync(folder)) {
		const file = path.join(folder, name);
		const digest = digestOfHex(name.slice(0, -suffix.length));
		if (name.startsWith('.')) rmSync(file, {recursive: true, force: true});
		else if (name.endsWith(suffix) && isArtifactDigest(digest)) {
			const {size, mtimeMs} = statSync(file);
			kept.set(digest, {bytes: size, usedAtMs: mtimeMs, isVerified: false});
		}
	}
	return kept;
}

async function ensure(state: State, digest: string): Promise<string> {
	if (!isArtifactDigest(digest)) throw runtimeError(`${JSON.stringify(digest)} is no digest of the code of a function`);
	const file = fileOf(state, digest);
	try {
		if (!(await isSound(state, digest, file))) await state.inLane(() => fetchTo(state, digest, file));
		await use(state, digest, file);
		return file;
	} catch (error) {
		throw error instanceof AppError ? error : runtimeError(`the code ${digest} cannot be kept: ${explained(error)}`);
	}
}

const runtimeError = (message: string): AppError => new AppError('ERR_RUNTIME', {message});

/** Whether the file is there and what it should be. One that is not is removed. */
async function isSound({kept}: State, digest: string, file: string): Promise<boolean> {
	const known = kept.get(digest);
	if (known === undefined) return false;
	const found = await stat(file).catch(orFor(undefined, 'ENOENT'));
	if (found?.isFile() === true && found.size === known.bytes) {
		known.isVerified ||= await verifyArchive(createReadStream(file), archiveBounds, digest).then(
			() => true,
			(error: unknown) => {
				if (error instanceof AppError) return false;
				throw error;
			},
		);
		if (known.isVerified) return true;
	}
	kept.delete(digest);
	await rm(file, {recursive: true, force: true});
	return false;
}

/** The time is for the next agent, which need not know it. */
async function use({kept, options: {clock}}: State, digest: string, file: string): Promise<void> {
	const known = kept.get(digest);
	const nowMs = clock.nowMs();
	if (known !== undefined) known.usedAtMs = nowMs;
	await utimes(file, nowMs / 1_000, nowMs / 1_000).catch(() => undefined);
}

async function fetchTo(state: State, digest: string, file: string): Promise<void> {
	const {folder, fetch} = state.options;
	const fetched = await fetch(digest).catch((error: unknown): Outcome<never> => ({ok: false, error: failureOf(digest, error)}));
	if (!fetched.ok) throw worded(digest, fetched.error);
	const unfinished = path.join(folder, `.${path.basename(file)}`);
	try {
		const bytes = await write(unfinished, whole(digest, fetched.value));
		await verifyArchive(createReadStream(unfinished), archiveBounds, digest).catch((error: unknown) => {
			throw error instanceof AppError ? runtimeError(`what came as the code ${digest} is not it: ${error.message}`) : error;
		});
		makeRoom(state, digest, bytes);
		await rename(unfinished, file);
		await syncDirectory(folder);
	} catch (error) {
		state.kept.delete(digest);
		await rm(unfinished, {force: true});
		throw error;
	}
}

const failureOf = (digest: string, error: unknown): Failure =>
	error instanceof AppError
		? error.failure
		: new AppError('ERR_NOT_REACHABLE', {message: `the code ${digest} cannot be fetched: ${explained(error)}`}).failure;

function worded(digest: string, error: Failure): AppError {
	if (error.code !== 'ERR_NOT_FOUND' && error.code !== 'ERR_FORBIDDEN') return AppError.of(error);
	const message = `the code ${digest} is not in the cluster, or no pod of this node is run from it: troupe apply of its Function uploads it`;
	return new AppError('ERR_CONFIG_MISSING', {message});
}

/** What breaks on the way is told as that, whatever the connection says of it. */
async function* whole(digest: string, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	let bytes = 0;
	const iterator = pieces[Symbol.asyncIterator]();
	const next = (): Promise<IteratorResult<Uint8Array>> =>
		iterator.next().catch((error: unknown) => {
			throw AppError.of(failureOf(digest, error));
		});
	try {
		for (let piece = await next(); piece.done !== true; piece = await next()) {
			bytes += piece.value.length;
			if (bytes > limits.archivePackedBytes)
				throw runtimeError(`what came as the code ${digest} is larger than ${limits.archivePackedBytes} bytes`);
			yield piece.value;
		}
	} finally {
		await iterator.return?.();
	}
}

/** Down to the disk; how many bytes there are. */
async function write(file: string, pieces: AsyncIterable<Uint8Array>): Promise<number> {
	await rm(file, {recursive: true, force: true});
	const handle: FileHandle = await open(file, 'wx', 0o600);
	let bytes = 0;
	try {
		await handle.chmod(0o600);
		for await (const piece of pieces) {
			await handle.writeFile(piece);
			bytes += piece.length;
		}
		await handle.sync();
	} finally {
		await handle.close();
	}
	return bytes;
}

/**
 * Takes the place for another one; the least recently used go for it, and none that was handed out just now.
 *
 * @throws {AppError} ERR_RUNTIME where all of them are in use.
 */
function makeRoom(state: State, digest: string, more: number): void {
	const {kept, underWay, options} = state;
	const {clock, bytes: most = limits.artifactCacheBytes} = options;
	const nowMs = clock.nowMs();
	const others = [...kept].filter(([other]) => other !== digest);
	const idle = others
		.filter(([other, {usedAtMs}]) => !underWay.has(other) && nowMs - usedAtMs >= limits.artifactInUseMs)
		.sort(([, one], [, other]) => one.usedAtMs - other.usedAtMs);
	let excess = others.reduce((sum, [, {bytes}]) => sum + bytes, more) - most;
	const going: string[] = [];
	for (const [other, {bytes}] of idle) {
		if (excess <= 0) break;
		going.push(other);
		excess -= bytes;
	}
	if (excess > 0)
		throw runtimeError(`there is no room for the code ${digest}: this node keeps ${most} bytes of code, and all of it is in use`);
	// With nothing waited for: two that come at once do not count on the same room, and none of these is fetched anew before it is gone.
	for (const other of going) kept.delete(other);
	kept.set(digest, {bytes: more, usedAtMs: nowMs, isVerified: true});
	for (const other of going) rmSync(fileOf(state, other), {force: true});
}
