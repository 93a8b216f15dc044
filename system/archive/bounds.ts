// What an archive may be, the same for who packs one and who unpacks it: what is packed can be unpacked.

import {createHash} from 'node:crypto';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {shownName} from '../../api/shown.js';

export type ArchiveBounds = {
	/** Files and folders, without the one that is packed. */
	readonly entries: number;
	/** How many names a path has at most. */
	readonly depth: number;
	readonly pathCharacters: number;
	/** Of one file. */
	readonly fileBytes: number;
	/** Of the tar: the files, and what is around them. */
	readonly bytes: number;
	/** Of the tar, compressed. */
	readonly packedBytes: number;
	/** How many times as large as what is compressed the tar may be, beyond `ratioFromBytes`. */
	readonly ratio: number;
	readonly ratioFromBytes: number;
};

/** Those of every archive of Troupe. */
export const archiveBounds: ArchiveBounds = {
	entries: limits.archiveEntries,
	depth: limits.archiveDepth,
	pathCharacters: limits.archivePathCharacters,
	fileBytes: limits.archiveFileBytes,
	bytes: limits.archiveBytes,
	packedBytes: limits.archivePackedBytes,
	ratio: limits.archiveRatio,
	ratioFromBytes: limits.archiveRatioFromBytes,
};

export const blockBytes = 512;

/** A tar ends with two empty blocks. */
export const endBytes = 2 * blockBytes;

/** What stands around a file or folder in a tar, at least: its head, and what fills its last block. */
export const withHead = (size: number): number => blockBytes + Math.ceil(size / blockBytes) * blockBytes;

export const refused = (message: string): AppError => new AppError('ERR_INVALID', {message});

export const tooLarge = (message: string): AppError => new AppError('ERR_TOO_LARGE', {message});

/** A path of an entry in a message: what is odd in it can be seen. */
export const quoted = (name: string): string => JSON.stringify(shownName(name));

/** What is wrong with the path of an entry, its trailing slash aside; undefined when nothing is. */
export function faultOfPath(name: string): string | undefined {
	if (name.startsWith('/')) return 'is no path within a folder: it begins at the root';
	if (name.includes('\0')) return 'has a zero byte in its path';
	// It stands for bytes that could not be read; who really has it in a name is refused as well.
	if (name.includes('\u{FFFD}')) return 'has a name that is no valid UTF-8';
	const names = name.split('/');
	if (names.includes('')) return 'has an empty name in its path';
	return names.includes('.') || names.includes('..') ? 'has "." or ".." in its path' : undefined;
}

export type Tally = {
	/** Takes note of an entry before anything of it is read or written. Throws ERR_TOO_LARGE. */
	readonly add: (name: string, size: number) => void;
	readonly entries: () => number;
};

/** Counts entries against their bounds. */
export function createTally(bounds: ArchiveBounds): Tally {
	let entries = 0;
	let bytes = endBytes;
	return {
		add(name, size) {
			entries++;
			bytes += withHead(size);
			if (entries > bounds.entries)
				throw tooLarge(`there are more than ${bounds.entries} files and folders: ${quoted(name)} is one too many`);
			if (name.length > bounds.pathCharacters) throw tooLarge(`${quoted(name)} is longer than ${bounds.pathCharacters} characters`);
			if (name.split('/').length > bounds.depth) throw tooLarge(`${quoted(name)} is deeper than ${bounds.depth} folders`);
			if (size > bounds.fileBytes) throw tooLarge(`${quoted(name)} has ${size} bytes; a file may have ${bounds.fileBytes}`);
			if (bytes > bounds.bytes) throw tooLarge(`with ${quoted(name)} all files together have more than ${bounds.bytes} bytes`);
		},
		entries: () => entries,
	};
}

/** Whether a tar of this size is too much for so many compressed bytes. */
export const isTooDense = (bounds: ArchiveBounds, bytes: number, packedBytes: number): boolean =>
	bytes > bounds.ratioFromBytes && bytes > bounds.ratio * packedBytes;

export type Meter = {
	/** The tar again, piece by piece. Throws ERR_TOO_LARGE before it passes a piece on that is too much. */
	readonly pass: (tar: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>;
	readonly bytes: () => number;
	/** Whether the last two blocks are empty. */
	readonly isEnded: () => boolean;
	/** Once, when all has passed. */
	readonly digest: () => string;
};

/** Measures a tar that goes through it. `onBytes` is told how many bytes there are with the next piece, and may throw. */
export function createMeter(bounds: ArchiveBounds, onBytes: (bytes: number) => void = () => undefined): Meter {
	const hash = createHash('sha256');
	let bytes = 0;
	let end = Buffer.alloc(0);
	return {
		async *pass(tar) {
			for await (const piece of tar) {
				bytes += piece.length;
				if (bytes > bounds.bytes) throw tooLarge(`all files together have more than ${bounds.bytes} bytes, with what is around them`);
				onBytes(bytes);
				hash.update(piece);
				end = Buffer.concat([end, piece.subarray(-endBytes)]).subarray(-endBytes);
				yield piece;
			}
		},
		bytes: () => bytes,
		isEnded: () => end.length === endBytes && end.every(byte => byte === 0),
		digest: () => `sha256:${hash.digest('hex')}`,
	};
}

/**
 * What went wrong of those that work together, where one that fails breaks the others: a refusal first, then what the file system says, for a
 * break has no words.
 */
export function throwFirst(outcomes: readonly PromiseSettledResult<unknown>[]): void {
	const reasons = outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
	if (reasons.length === 0) return;
	const own = reasons.find(reason => reason instanceof AppError);
	throw own ?? reasons.find(reason => reason instanceof Error && 'syscall' in reason) ?? reasons[0];
}
