// Histories of runs that are over, in files: a run's store records move into one, which goes with the run.
//
// A history is in the store as long as its run is under way, and until its file is whole on the disk. Files are of the server that led then; another one
// has none of it, but for what had not left the store yet. Of more bytes than `runArchiveBytes` the oldest files go first.

import {createReadStream} from 'node:fs';
import {mkdir, readdir, rename, rm, stat} from 'node:fs/promises';
import path from 'node:path';
import {pipeline} from 'node:stream/promises';
import {createGunzip, createGzip} from 'node:zlib';
import type {Run} from '../../api/kinds/run.js';
import {parseObjectKey, type ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {syncDirectory, writeSynced} from '../../system/files/atomic-file.js';
import {hasCode} from '../../system/files/errno.js';
import type {Change, Known} from '../../system/index/object-index.js';
import type {HistoryRange} from '../../system/index/parts.js';
import type {Cancel, Clock} from '../../system/time/clock.js';

export type RunArchiveOptions = {
	/** Made where it is not there. */
	readonly folder: string;
	readonly known: Pick<Known, 'byUid' | 'list'>;
	/** Which records of that object's history are in the store; undefined: none. */
	readonly rangeOf: (key: ObjectKey) => HistoryRange | undefined;
	/** Those records, in order, each a JSON text, read as they are asked for. Throws where the store cannot be read. */
	readonly readHistory: (key: ObjectKey, range: HistoryRange) => AsyncIterable<string>;
	/** They leave the store, the first ones first. */
	readonly dropHistory: (key: ObjectKey) => void;
	readonly clock: Clock;
	/** A history stays in the store for now. */
	readonly onProblem: (error: unknown) => void;
};

export type RunArchive = {
	/** Of every committed change. */
	readonly hear: (change: Change) => void;
	/**
	 * Lines of the file of a run from number `from` on, each a record as JSON: at most so many, and none after those that are more than
	 * `runHistoryPageBytes` together, two in any case. Undefined: there is no file.
	 */
	readonly read: (uid: string, from: number, most: number) => Promise<readonly string[] | undefined>;
	/** Resolves when nothing is being written or removed. */
	readonly settled: () => Promise<void>;
	readonly close: () => void;
};

const suffix = '.jsonl.gz';

/** Begins with what is over and still in the store, and with files of runs that there are not any more. */
export function openRunArchive(options: RunArchiveOptions): RunArchive {
	const {folder, known, rangeOf, clock, onProblem} = options;
	let isOpen = true;
	let written = 0;
	let cancel: Cancel = () => undefined;
	/** One thing at a time. */
	let last: Promise<void> = Promise.resolve();
	const inTurn = (act: () => Promise<void>): void => {
		last = last.then(async () => {
			if (isOpen) await act().catch((error: unknown) => void (isOpen && onProblem(error)));
		});
	};
	const archive = (run: Run): void =>
		inTurn(async () => {
			try {
				await archived(options, run);
				if (++written % limits.runArchiveSweep === 0) await sweep(options);
			} catch (error) {
				cancel();
				cancel = clock.after(limits.runArchiveAgainMs, lookAgain);
				throw error;
			}
		});
	const lookAgain = (): void => {
		for (const object of known.list('runs')) if (isOver(object) && rangeOf(keyOf(object)) !== undefined) archive(object as Run);
	};
	lookAgain();
	inTurn(() => sweep(options));
	return {
		hear({key, before, after}) {
			if (parseObjectKey(key).plural !== 'runs') return;
			if (after === undefined) {
				const {uid} = before?.object.metadata ?? {};
				if (uid !== undefined) inTurn(() => rm(fileOf(folder, uid), {force: true}));
			} else if (isOver(after.object) && (before === undefined || !isOver(before.object))) archive(after.object as Run);
		},
		read: (uid, from, most) => linesOf(fileOf(folder, uid), from, most),
		settled: () => last,
		close() {
			isOpen = false;
			cancel();
		},
	};
}

const isOver = (object: ApiObject): boolean => (object as Run).status?.completionTime !== undefined;

const keyOf = ({metadata}: ApiObject): ObjectKey => `runs/${metadata.namespace ?? ''}/${metadata.name}`;

const fileOf = (folder: string, uid: string): string => path.join(folder, `${uid}${suffix}`);

async function archived({folder, rangeOf, readHistory, dropHistory, known}: RunArchiveOptions, run: Run): Promise<void> {
	const key = keyOf(run);
	const {uid} = run.metadata;
	const range = rangeOf(key);
	// It may be gone, or done, by the time of its turn.
	if (known.byUid(uid) === undefined || range === undefined) return;
	const file = fileOf(folder, uid);
	// They leave only when the file is whole: the process has ended before all of them had gone. Without a file here these are all that there is.
	if (range.first > 0) return (await isThere(file)) ? dropHistory(key) : undefined;
	const beginning = `${file}.new`;
	await mkdir(folder, {recursive: true, mode: 0o700});
	await rm(beginning, {force: true});
	await pipeline(linesFrom(readHistory(key, range)), createGzip(), packed => writeSynced(beginning, packed, 0o600));
	await rename(beginning, file);
	await syncDirectory(folder);
	// Another run may have its name by now, with records of its own.
	if (known.byUid(uid) === undefined) await rm(file, {force: true});
	else dropHistory(key);
}

const isThere = async (file: string): Promise<boolean> => (await stat(file).catch(() => undefined)) !== undefined;

async function* linesFrom(records: AsyncIterable<string>): AsyncIterable<string> {
	for await (const record of records) yield `${record}\n`;
}

/** Files of runs that are gone, and the oldest of too many bytes. */
async function sweep({folder, known}: RunArchiveOptions): Promise<void> {
	const names = await readdir(folder).catch((error: unknown) => {
		if (hasCode(error, 'ENOENT')) return [];
		throw error;
	});
	const kept: {readonly file: string; readonly bytes: number; readonly atMs: number}[] = [];
	for (const name of names) {
		const file = path.join(folder, name);
		const uid = name.endsWith(suffix) ? name.slice(0, -suffix.length) : '';
		if (known.byUid(uid) === undefined) await rm(file, {force: true});
		else {
			const {size, mtimeMs} = await stat(file);
			kept.push({file, bytes: size, atMs: mtimeMs});
		}
	}
	let bytes = kept.reduce((sum, each) => sum + each.bytes, 0);
	for (const each of kept.sort((a, b) => a.atMs - b.atMs)) {
		if (bytes <= limits.runArchiveBytes) return;
		await rm(each.file, {force: true});
		bytes -= each.bytes;
	}
}

/** Rejects where the file is damaged. */
async function linesOf(file: string, from: number, most: number): Promise<readonly string[] | undefined> {
	if (!(await isThere(file))) return undefined;
	const found: string[] = [];
	let at = 0;
	let bytes = 0;
	for await (const line of linesIn(file)) {
		if (at++ < from) continue;
		found.push(line);
		bytes += line.length;
		if (found.length === most || (found.length > 1 && bytes > limits.runHistoryPageBytes)) break;
	}
	return found;
}

async function* linesIn(file: string): AsyncIterable<string> {
	const input = createReadStream(file);
	const text = createGunzip();
	input.once('error', error => text.destroy(error));
	let rest = '';
	try {
		for await (const chunk of input.pipe(text).setEncoding('utf8') as AsyncIterable<string>) {
			rest += chunk;
			// A long line comes in many pieces: it is looked through once.
			if (!chunk.includes('\n')) continue;
			const lines = rest.split('\n');
			rest = lines.pop() ?? '';
			yield* lines;
		}
	} finally {
		input.destroy();
		text.destroy();
	}
}
