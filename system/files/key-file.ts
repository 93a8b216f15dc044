// A key in a file of its own, made where there is none. It never enters a store: a copy of a store alone opens nothing.

import {randomBytes} from 'node:crypto';
import {chmod, link, readFile, unlink} from 'node:fs/promises';
import path from 'node:path';
import {AppError} from '../../api/errors.js';
import {syncDirectory, writeSynced} from './atomic-file.js';
import {orFor} from './errno.js';

export const keyBytes = 32;

/** The key of the file, which is made when there is none. Throws when it holds something else. */
export async function readOrMakeKey(file: string): Promise<Uint8Array> {
	const found = await readKey(file);
	if (found !== undefined) return found;
	// Written aside and linked: the name appears with the whole key or not at all, and never in place of another's.
	const temporary = `${file}.${randomBytes(6).toString('hex')}`;
	const made = randomBytes(keyBytes);
	await writeSynced(temporary, made, 0o600);
	try {
		await link(temporary, file);
		await syncDirectory(path.dirname(file));
		return made;
	} catch (error) {
		const other = await readKey(file);
		if (other === undefined) throw error;
		return other;
	} finally {
		await unlink(temporary);
	}
}

/** Undefined where there is no such file. */
export async function readKey(file: string): Promise<Uint8Array | undefined> {
	const bytes = await readFile(file).catch(orFor(undefined, 'ENOENT'));
	if (bytes === undefined) return undefined;
	if (bytes.length !== keyBytes)
		throw new AppError('ERR_INTERNAL', {message: `${file} must hold ${keyBytes} bytes, found ${bytes.length}; restore it from a backup`});
	// A copy restored from a backup may have come back readable for others.
	await chmod(file, 0o600);
	return bytes;
}
