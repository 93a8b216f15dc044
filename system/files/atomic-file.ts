// Small files that must never be seen half written, and that survive a power cut once they are there: tokens, keys, formats.

import {randomBytes} from 'node:crypto';
import {open, rename, unlink, writeFile} from 'node:fs/promises';
import path from 'node:path';

/**
 * Replaces the file with this text in one step: a reader sees the old one or the new one. When it returns, the new one
 * survives a power cut. `mode` is exact, whatever the process's umask.
 *
 * @throws the system's error, which names the file; then the old one is there.
 */
export async function writeFileAtomic(file: string, text: string, mode: number): Promise<void> {
	const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString('hex')}`);
	try {
		await writeSynced(temporary, text, mode);
		await rename(temporary, file);
	} catch (error) {
		await unlink(temporary).catch(() => undefined);
		// A full disk says neither of which file nor where; the code stays what it is.
		if (error instanceof Error) error.message = `${file} cannot be written: ${error.message}`;
		throw error;
	}
	await syncDirectory(path.dirname(file));
}

/** Writes a file that must not exist yet, down to the disk. */
export async function writeSynced(file: string, data: string | Uint8Array | AsyncIterable<Uint8Array>, mode: number): Promise<void> {
	const handle = await open(file, 'wx', mode);
	try {
		await handle.chmod(mode);
		await writeFile(handle, data);
		await handle.sync();
	} finally {
		await handle.close();
	}
}

/** A new name is only durable when its directory is. */
export async function syncDirectory(directory: string): Promise<void> {
	const handle = await open(directory, 'r');
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}
