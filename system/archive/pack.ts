// A folder as an archive: a tar, compressed. The same contents make the same tar, whenever and by whomever they were written; what cannot be
// packed as it is, is refused and not followed.

import type {BigIntStats} from 'node:fs';
import {constants, lstat, open, opendir, realpath} from 'node:fs/promises';
import {pipeline} from 'node:stream/promises';
import {createGzip} from 'node:zlib';
import {pack as createPack, type Pack} from 'tar-stream';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {hasCode} from '../files/errno.js';
import {
	createMeter,
	createTally,
	faultOfPath,
	isTooDense,
	quoted,
	refused,
	throwFirst,
	tooLarge,
	type ArchiveBounds,
	type Tally,
} from './bounds.js';

export type Archive = {
	/** `sha256:` and the digest of the tar, before it is compressed: compressors of other versions write other bytes for the same. */
	readonly digest: string;
	/** The tar, compressed with gzip. */
	readonly bytes: Buffer;
};

/** What is never packed, wherever it is: histories, and what programs and systems leave behind. A star stands for the begin of a name. */
export const leftOut: readonly string[] = ['.git', '__pycache__', '*.pyc', '.DS_Store'];

/**
 * Packs the files and folders below a folder, without `leftOut` and what is at the path `without`: names, contents and whether the owner may execute them, nothing else. Hard
 * links become files of their own.
 *
 * @throws {AppError} ERR_TOO_LARGE beyond a bound; ERR_INVALID for what is no folder or cannot be read, for anything that is neither file nor
 * folder, and for files that change meanwhile.
 */
export async function packFolder(dir: string, bounds: ArchiveBounds, without?: string): Promise<Archive> {
	const entries = await entriesOf(dir, bounds, without);
	const tar = createPack();
	const meter = createMeter(bounds);
	const pieces: Buffer[] = [];
	const packing = pipeline(tar as AsyncIterable<Buffer>, meter.pass, createGzip(), gathering(pieces, bounds));
	throwFirst(await Promise.allSettled([packing, fill(tar, entries)]));
	const bytes = Buffer.concat(pieces);
	// Of the head of gzip only the system that made it (RFC 1952, 2.3.1) is not the same everywhere: it is not told.
	bytes.writeUInt8(255, 9);
	if (isTooDense(bounds, meter.bytes(), bytes.length))
		throw tooLarge(
			`the files are more than ${bounds.ratio} times as large as their archive, and no such archive is unpacked: leave out what is empty space`,
		);
	return {digest: meter.digest(), bytes};
}

/** What is known of an entry before it is read. */
type Entry = {
	/** Below the folder, with slashes. */
	readonly name: string;
	readonly place: Buffer;
	readonly found: BigIntStats;
};

type Walk = {readonly without: string | undefined; readonly tally: Tally; readonly entries: Entry[]; readonly problems: string[]};

/** All entries in order: a folder stands before what is in it, and names are sorted by their bytes. */
async function entriesOf(dir: string, bounds: ArchiveBounds, without: string | undefined): Promise<readonly Entry[]> {
	const top = await reading(JSON.stringify(dir), () => realpath(dir, {encoding: 'buffer'}));
	const found = await reading(JSON.stringify(dir), () => lstat(top, {bigint: true}));
	if (!found.isDirectory()) throw refused(`${JSON.stringify(dir)} is no folder`);
	const walk: Walk = {without, tally: createTally(bounds), entries: [], problems: []};
	await walkFolder(walk, {name: '', place: top, found}, bounds.entries);
	const {problems} = walk;
	if (problems.length > 0)
		throw new AppError('ERR_INVALID', {problems: problems.slice(0, limits.problemsShown).map(message => ({path: '', message}))});
	return walk.entries;
}

async function walkFolder(walk: Walk, folder: Entry, namesMax: number): Promise<void> {
	for (const bytes of await namesIn(folder, namesMax)) {
		const name = `${folder.name}${folder.name === '' ? '' : '/'}${bytes.toString('utf8')}`;
		if (name === walk.without) continue;
		const place = Buffer.concat([folder.place, Buffer.from('/'), bytes]);
		const found = await reading(quoted(name), () => lstat(place, {bigint: true}));
		const entry = {name, place, found};
		const problem = problemOf(entry);
		walk.tally.add(name, found.isFile() ? Number(found.size) : 0);
		if (problem !== undefined) {
			walk.problems.push(problem);
			continue;
		}
		walk.entries.push(entry);
		if (found.isDirectory()) await walkFolder(walk, entry, namesMax);
	}
	// A link in its place would have led elsewhere.
	const still = await reading(placeOf(folder.name), () => lstat(folder.place, {bigint: true}));
	if (!still.isDirectory() || !isSame(still, folder.found)) throw changed(folder.name);
}

/** Never more than are wanted: a folder may have any number. */
async function namesIn({name, place}: Entry, max: number): Promise<readonly Buffer[]> {
	return reading(placeOf(name), async () => {
		const names: Buffer[] = [];
		// Names need not be UTF-8: as latin1 each character is a byte.
		for await (const {name: each} of await opendir(place, {encoding: 'latin1'})) {
			if (isLeftOut(each)) continue;
			if (names.push(Buffer.from(each, 'latin1')) > max) throw tooLarge(`there are more than ${max} files and folders in one folder`);
		}
		return names.sort((one, other) => one.compare(other));
	});
}

const isLeftOut = (name: string): boolean => leftOut.some(each => (each.startsWith('*') ? name.endsWith(each.slice(1)) : name === each));

function problemOf({name, found}: Entry): string | undefined {
	const fault = faultOfPath(name);
	if (fault !== undefined) return `${quoted(name)} ${fault}`;
	if (found.isFile() || found.isDirectory()) return undefined;
	if (found.isSymbolicLink())
		return `${quoted(name)} is a symbolic link, and an archive has none: put a copy of what it leads to in its place`;
	return `${quoted(name)} is neither a file nor a folder: take it out of the folder`;
}

const isSame = (one: BigIntStats, other: BigIntStats): boolean => one.dev === other.dev && one.ino === other.ino;

/** The folder itself has no name in it. */
const placeOf = (name: string): string => (name === '' ? 'the folder' : quoted(name));

const changed = (name: string): AppError => refused(`${placeOf(name)} was changed while it was packed; try again`);

/** What is read; an error of the system as one line that says of what. */
async function reading<Value>(what: string, read: () => Promise<Value>): Promise<Value> {
	try {
		return await read();
	} catch (error) {
		if (hasCode(error, 'ENOENT')) throw new AppError('ERR_INVALID', {message: `${what} is not there`}, error);
		if (error instanceof Error && 'syscall' in error)
			throw new AppError('ERR_INVALID', {message: `${what} cannot be read: ${error.message.replace(/, \w+( '.*')?$/s, '')}`}, error);
		throw error;
	}
}

const executable = 0o100n;

async function fill(tar: Pack, entries: readonly Entry[]): Promise<void> {
	for (const entry of entries) {
		const {name, found} = entry;
		const common = {uid: 0, gid: 0, mtime: new Date(0)};
		if (found.isDirectory()) await addFolder(tar, {...common, name: `${name}/`, type: 'directory', mode: 0o755});
		else {
			const mode = (found.mode & executable) === 0n ? 0o644 : 0o755;
			await pipeline(contentOf(entry), tar.entry({...common, name, type: 'file', mode, size: Number(found.size)}));
		}
	}
	tar.finalize();
}

const addFolder = (tar: Pack, head: Parameters<Pack['entry']>[0]): Promise<void> =>
	new Promise((resolve, reject) => {
		tar.entry(head, error => (error instanceof Error ? reject(error) : resolve()));
	});

const pieceBytes = 65_536;

/** The bytes of the very file that was found, and as many as it had: through no link, and without waiting for the writer of a pipe. */
async function* contentOf({name, place, found}: Entry): AsyncGenerator<Buffer> {
	const handle = await reading(quoted(name), () => open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)).catch(
		(error: unknown) => {
			throw error instanceof AppError && hasCode(error.cause, 'ELOOP', 'ENOENT', 'ENXIO', 'ENOTDIR') ? changed(name) : error;
		},
	);
	const isAsFound = async (): Promise<boolean> => {
		const now = await handle.stat({bigint: true});
		return now.isFile() && isSame(now, found) && now.size === found.size && now.mtimeNs === found.mtimeNs;
	};
	try {
		if (!(await isAsFound())) throw changed(name);
		for (let left = Number(found.size); left > 0;) {
			const wanted = Math.min(left, pieceBytes);
			const {bytesRead, buffer} = await reading(quoted(name), () => handle.read(Buffer.allocUnsafe(wanted), 0, wanted));
			if (bytesRead === 0) throw changed(name);
			left -= bytesRead;
			yield buffer.subarray(0, bytesRead);
		}
		if (!(await isAsFound())) throw changed(name);
	} finally {
		await handle.close();
	}
}

/** Keeps what is compressed. */
const gathering = (pieces: Buffer[], {packedBytes}: ArchiveBounds) =>
	async function (packed: AsyncIterable<Buffer>): Promise<void> {
		let bytes = 0;
		for await (const piece of packed) {
			bytes += piece.length;
			if (bytes > packedBytes) throw tooLarge(`all files together have more than ${packedBytes} bytes when they are compressed`);
			pieces.push(piece);
		}
	};
