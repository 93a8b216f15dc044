// What the control plane must keep secret lies sealed in the store: the CA's key, the hashes of tokens.
//
// AES-256-GCM with a key that never enters the store (`data/cluster.key`): a copy of the store alone opens nothing. The name
// of a value is authenticated with it, so that sealed values cannot be swapped.

import {createCipheriv, createDecipheriv, randomBytes} from 'node:crypto';
import {chmod, link, readFile, unlink} from 'node:fs/promises';
import path from 'node:path';
import {AppError} from '../api/errors.js';
import {syncDirectory, writeSynced} from '../system/atomic-file.js';

/** Where sealed values are kept: the store. */
export type Kept = {
	readonly get: (name: string) => string | undefined;
	readonly put: (name: string, value: string) => Promise<void>;
};

export type Vault = {
	/** The opened value; throws when it was sealed with another key or was changed. */
	readonly get: (name: string) => string | undefined;
	readonly put: (name: string, value: string) => Promise<void>;
};

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
/** Says how a value was sealed, so that a later version can read it. */
const format = 'v1.';

/** A vault over `kept` with the key of `keyFile`, which is made when there is none. */
export async function openVault(keyFile: string, kept: Kept): Promise<Vault> {
	const key = await readOrMakeKey(keyFile);
	return {
		get(name) {
			const sealed = kept.get(name);
			return sealed === undefined ? undefined : unseal(key, name, sealed);
		},
		put: (name, value) => kept.put(name, seal(key, name, value)),
	};
}

function seal(key: Uint8Array, name: string, value: string): string {
	const nonce = randomBytes(nonceBytes);
	const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name));
	const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
	return format + Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url');
}

function unseal(key: Uint8Array, name: string, sealed: string): string {
	try {
		if (!sealed.startsWith(format)) throw new Error('unknown format');
		const bytes = Buffer.from(sealed.slice(format.length), 'base64url');
		const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), {authTagLength: tagBytes});
		decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(bytes.length - tagBytes));
		return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, bytes.length - tagBytes)), decipher.final()]).toString('utf8');
	} catch (error) {
		const message = `"${name}" in the store cannot be opened with this cluster.key: the key belongs to another store, or the value was changed`;
		throw new AppError('ERR_INTERNAL', {message}, error);
	}
}

async function readOrMakeKey(file: string): Promise<Uint8Array> {
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

async function readKey(file: string): Promise<Uint8Array | undefined> {
	const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return undefined;
		throw error;
	});
	if (bytes === undefined) return undefined;
	if (bytes.length !== keyBytes)
		throw new AppError('ERR_INTERNAL', {message: `${file} must hold ${keyBytes} bytes, found ${bytes.length}; restore it from a backup`});
	// A copy restored from a backup may have come back readable for others.
	await chmod(file, 0o600);
	return bytes;
}
