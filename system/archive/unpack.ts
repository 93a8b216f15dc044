// An archive becomes a folder, whole or not at all. It is not trusted: it is taken only in the form that `pack.ts` writes, with nothing before,
// between or behind, and nothing is written beyond its bounds or outside of the folder.

import {chmod, constants, lstat, mkdir, mkdtemp, open, rename, rm, rmdir} from 'node:fs/promises';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {createGunzip} from 'node:zlib';
import {extract as createExtract, type Extract} from 'tar-stream';
import {AppError} from '../../api/errors.js';
import {isObject} from '../../api/object.js';
import {hasCode, orFor} from '../files/errno.js';
import {
	blockBytes,
	createMeter,
	createTally,
	endBytes,
	faultOfPath,
	isTooDense,
	quoted,
	refused,
	throwFirst,
	tooLarge,
	withHead,
	type ArchiveBounds,
} from './bounds.js';

export type Unpacked = {
	/** As `packFolder` gives it: of the tar, before it was compressed. */
	readonly digest: string;
	/** Files and folders. */
	readonly entries: number;
	/** Of the tar. */
	readonly bytes: number;
};

/**
 * Unpacks an archive into a folder that must not be there yet, in one that is. It appears there when all is well: of the digest that is wanted,
 * if one is. Files have the mode 0644 or 0755, folders 0755, whatever the umask. A stream is read as fast as files are written, and destroyed
 * when it is refused.
 *
 * @throws {AppError} ERR_TOO_LARGE beyond a bound; ERR_INVALID for everything else that is refused. Also what the stream throws, and errors of
 * the file system.
 */
export async function unpackArchive(source: Uint8Array | Readable, dir: string, bounds: ArchiveBounds, wanted?: string): Promise<Unpacked> {
	try {
		return await unpackTo(source, dir, bounds, wanted);
	} catch (error) {
		if (!(source instanceof Uint8Array)) source.destroy();
		throw error;
	}
}

/**
 * Reads an archive as `unpackArchive` does, and refuses all that it refuses but what file systems do not take; nothing is written.
 *
 * @throws {AppError} as `unpackArchive`.
 */
export async function verifyArchive(source: Uint8Array | Readable, bounds: ArchiveBounds, wanted: string): Promise<Unpacked> {
	try {
		const found = await unpackInto(source, createFiles(nowhere, bounds), bounds);
		refuseOther(found, wanted);
		return found;
	} catch (error) {
		if (!(source instanceof Uint8Array)) source.destroy();
		throw error;
	}
}

function refuseOther({digest}: Unpacked, wanted: string): void {
	if (digest !== wanted) throw refused(`the archive has the digest ${digest}, and ${quoted(wanted)} is wanted`);
}

async function unpackTo(source: Uint8Array | Readable, dir: string, bounds: ArchiveBounds, wanted: string | undefined): Promise<Unpacked> {
	const target = path.resolve(dir);
	if ((await lstat(target).catch(orFor(undefined, 'ENOENT'))) !== undefined) throw alreadyThere(dir);
	// Nobody else may look into it, or change anything there, before it is whole.
	const folder = await mkdtemp(path.join(path.dirname(target), '.unpack-'));
	try {
		const unpacked = await unpackInto(source, createFiles(within(folder), bounds), bounds);
		if (wanted !== undefined) refuseOther(unpacked, wanted);
		await chmod(folder, 0o755);
		await moveTo(folder, target);
		return unpacked;
	} catch (error) {
		await rm(folder, {recursive: true, force: true});
		throw error;
	}
}

const alreadyThere = (dir: string): AppError => refused(`${JSON.stringify(dir)} is there already`);

/** To rename alone would take the place of an empty folder of somebody else. */
async function moveTo(folder: string, target: string): Promise<void> {
	await mkdir(target).catch((error: unknown) => {
		throw hasCode(error, 'EEXIST') ? alreadyThere(target) : error;
	});
	try {
		await rename(folder, target);
	} catch (error) {
		await rmdir(target).catch(() => undefined);
		throw error;
	}
}

async function unpackInto(source: Uint8Array | Readable, files: Files, bounds: ArchiveBounds): Promise<Unpacked> {
	const feed = createFeed(source, bounds);
	const gunzip = createGunzip({chunkSize: 65_536});
	const meter = createMeter(bounds, bytes => {
		if (isTooDense(bounds, bytes, feed.bytes()))
			throw tooLarge(`the archive gets more than ${bounds.ratio} times as large as it is when it is unpacked`);
	});
	const extract = createExtract();
	try {
		throwFirst(await Promise.allSettled([pipeline(feed.pieces, gunzip, meter.pass, extract), takeAll(extract, files)]));
	} catch (error) {
		throw feed.trouble() ?? worded(error);
	}
	if (gunzip.bytesWritten !== feed.bytes()) throw refused('there is something behind the end of the archive');
	if (meter.bytes() < files.end() + endBytes) throw refused('the archive ends too early');
	if (meter.bytes() > files.end() + endBytes || !meter.isEnded()) throw refused('there is something behind the last file of the archive');
	return {digest: meter.digest(), entries: files.entries(), bytes: meter.bytes()};
}

/** What comes in, counted. Errors of the source are kept apart from those of what it gives. */
function createFeed(source: Uint8Array | Readable, {packedBytes}: ArchiveBounds) {
	let bytes = 0;
	let trouble: unknown;
	const counted = (piece: Uint8Array): Uint8Array => {
		bytes += piece.length;
		if (bytes > packedBytes) throw tooLarge(`the archive has more than ${packedBytes} bytes`);
		return piece;
	};
	const pieces = async function* (): AsyncGenerator<Uint8Array> {
		if (source instanceof Uint8Array) {
			yield counted(source);
			return;
		}
		const iterator = source[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>;
		const next = (): Promise<IteratorResult<Uint8Array, undefined>> =>
			iterator.next().catch((error: unknown) => {
				trouble = error;
				throw error;
			});
		for (let piece = await next(); piece.done !== true; piece = await next()) yield counted(piece.value);
	};
	return {pieces, bytes: () => bytes, trouble: () => trouble};
}

/** Errors of gzip and tar in our words; any other as it is. */
function worded(error: unknown): unknown {
	if (!(error instanceof Error) || error instanceof AppError || 'syscall' in error) return error;
	const {message} = error;
	if (message === 'unexpected end of file' || message === 'Unexpected end of data')
		return new AppError('ERR_INVALID', {message: 'the archive ends too early'}, error);
	return new AppError('ERR_INVALID', {message: `this is no archive, or a damaged one: ${message}`}, error);
}

/** One entry as tar-stream gives it: its head, and its content to be read. */
type Entry = Extract extends AsyncIterable<infer Each> ? Each : never;

async function takeAll(extract: Extract, files: Files): Promise<void> {
	for await (const entry of extract) await files.take(entry);
}

type Files = ReturnType<typeof createFiles>;

/** What becomes of the entries that are well. */
type Place = {
	readonly folder: (name: string, entry: Entry) => Promise<void>;
	readonly file: (name: string, entry: Entry, mode: number) => Promise<void>;
};

/** Below a folder that nobody else writes to. */
const within = (folder: string): Place => ({
	folder: (name, entry) => writeFolder(path.join(folder, name), entry),
	file: (name, entry, mode) => writeFile(path.join(folder, name), entry, mode),
});

/** They are read, and that is all. */
const nowhere: Place = {
	folder(_name, entry) {
		entry.resume();
		return Promise.resolve();
	},
	async file(_name, entry) {
		for await (const piece of entry) void piece;
	},
};

/** Takes entries one by one, and refuses those that are none of ours. */
function createFiles(place: Place, bounds: ArchiveBounds) {
	const kinds = new Map<string, 'file' | 'folder'>();
	const tally = createTally(bounds);
	/** Where the last entry ended in the tar. */
	let end = 0;
	return {
		async take(entry: Entry): Promise<void> {
			const head = headOf(entry);
			if (head.from !== end) throw refused(`before ${quoted(head.name)} there is something in the archive that does not belong there`);
			const {name, kind, size} = checked(head);
			if (kinds.has(name)) throw refused(`the archive has ${quoted(name)} twice`);
			const parent = path.posix.dirname(name);
			if (parent !== '.' && kinds.get(parent) !== 'folder') throw refused(`the archive has ${quoted(name)} without a folder around it`);
			tally.add(name, size);
			kinds.set(name, kind);
			await (kind === 'folder' ? place.folder(name, entry) : place.file(name, entry, head.mode)).catch((error: unknown) => {
				throw hasCode(error, 'ENAMETOOLONG') ? refused(`${quoted(name)} is too long a name for this file system`) : error;
			});
			end = head.contentAt + withHead(size) - blockBytes;
		},
		end: () => end,
		entries: () => tally.entries(),
	};
}

type Head = {
	readonly name: string;
	readonly type: string;
	readonly mode: number;
	readonly size: number;
	/** Where in the tar it begins, if it is written as we write it; and where its content does. */
	readonly from: number;
	readonly contentAt: number;
};

/** Only a path may be told beside the head proper, as pax does; then the head of that, and the path, stand before it. */
function headOf({header}: Entry): Head {
	const {name, type, mode = 0, size = 0} = header;
	const contentAt = 'byteOffset' in header && typeof header.byteOffset === 'number' ? header.byteOffset : Number.NaN;
	const pax = 'pax' in header && isObject(header.pax) ? header.pax : undefined;
	if (pax !== undefined && (Object.keys(pax).join() !== 'path' || pax['path'] !== name))
		throw refused(`the archive says more of ${quoted(name)} than is known here`);
	const beside = pax === undefined ? 0 : withHead(paxBytes(name));
	return {name, type: type ?? 'unknown', mode, size, from: contentAt - blockBytes - beside, contentAt};
}

/** Of `LENGTH path=NAME`, and the end of the line; the length counts itself. */
function paxBytes(name: string): number {
	const rest = Buffer.byteLength(` path=${name}\n`);
	const length = rest + String(rest).length;
	return rest + String(length).length;
}

function checked({name, type, size}: Head): {readonly name: string; readonly kind: 'file' | 'folder'; readonly size: number} {
	if (type !== 'file' && type !== 'directory')
		throw refused(`${quoted(name)} in the archive is neither a file nor a folder, but of the type ${type}`);
	const isFolder = type === 'directory';
	const bare = isFolder && name.endsWith('/') ? name.slice(0, -1) : name;
	const fault = faultOfPath(bare);
	if (fault !== undefined) throw refused(`${quoted(name)} in the archive ${fault}`);
	if (isFolder && size !== 0) throw refused(`${quoted(name)} in the archive is a folder with a content`);
	return {name: bare, kind: isFolder ? 'folder' : 'file', size};
}

async function writeFolder(place: string, entry: Entry): Promise<void> {
	entry.resume();
	await mkdir(place);
	await chmod(place, 0o755);
}

async function writeFile(place: string, entry: Entry, mode: number): Promise<void> {
	const {O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW} = constants;
	const handle = await open(place, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
	try {
		for await (const piece of entry as AsyncIterable<Buffer>) await handle.writeFile(piece);
		await handle.chmod((mode & 0o100) === 0 ? 0o644 : 0o755);
	} finally {
		await handle.close();
	}
}
