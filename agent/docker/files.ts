// The small files of the Docker runtime: JSON, written whole and renamed before the Engine is asked to do what they speak of.

import {closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {parsedJson, valueOr} from '../../api/value-or.js';

/** Throws errno exceptions. */
export function writeRecord(file: string, record: object): void {
	writeFileSync(`${file}.new`, `${JSON.stringify(record)}\n`, {mode: 0o600});
	renameSync(`${file}.new`, file);
}

/** The same, and it survives a power cut. Throws errno exceptions. */
export function writeRecordSynced(file: string, record: object): void {
	const descriptor = openSync(`${file}.new`, 'w', 0o600);
	try {
		writeFileSync(descriptor, `${JSON.stringify(record)}\n`);
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
	renameSync(`${file}.new`, file);
	syncFolder(path.dirname(file));
}

/** A new name is only durable when its folder is. */
function syncFolder(folder: string): void {
	const descriptor = openSync(folder, 'r');
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

/** The members of what stands there; none when it is missing or damaged. */
export const readRecord = (file: string): Readonly<Record<string, unknown>> =>
	Object(valueOr(undefined, () => parsedJson(readFileSync(file, 'utf8')))) as Record<string, unknown>;
