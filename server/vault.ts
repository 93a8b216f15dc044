// What the control plane must keep secret lies sealed in the store: the CA's key, the hashes of tokens.
//
// AES-256-GCM with a key that never enters the store (`data/cluster.key`): a copy of the store alone opens nothing. The name
// of a value is authenticated with it, so that sealed values cannot be swapped.

import {AppError} from '../api/errors.js';
import {readKey, readOrMakeKey} from '../system/files/key-file.js';
import {openBytes, sealBytes} from '../system/files/sealing.js';

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

/** Says how a value was sealed, so that a later version can read it. */
const format = 'v1.';

/**
 * A vault over `kept` with the key of `keyFile`, which is made when there is none. Where `kept` has a value already, its key is
 * another server's, and must be brought: `witness` names such a value.
 */
export async function openVault(keyFile: string, kept: Kept, witness?: string): Promise<Vault> {
	const sealed = witness === undefined ? undefined : kept.get(witness);
	const key = sealed === undefined ? await readOrMakeKey(keyFile) : await readKey(keyFile);
	const isForeign = witness !== undefined && sealed !== undefined && key !== undefined && !opens(key, witness, sealed);
	if (key === undefined || isForeign) throw foreignKey(keyFile);
	return {
		get(name) {
			const sealed = kept.get(name);
			return sealed === undefined ? undefined : unseal(key, name, sealed);
		},
		put: (name, value) => kept.put(name, seal(key, name, value)),
	};
}

function opens(key: Uint8Array, name: string, sealed: string): boolean {
	try {
		unseal(key, name, sealed);
		return true;
	} catch {
		return false;
	}
}

/** Another server made the store's secrets, with a key that this one does not have. Trying again does not help. */
export const isForeignKey = (error: unknown): boolean => error instanceof AppError && error.failure.details['foreignKey'] === true;

const foreignKey = (file: string): AppError =>
	new AppError('ERR_INTERNAL', {
		foreignKey: true,
		message: `${file} does not hold the key that the servers of this store share; copy data/cluster.key from the home of one of them there`,
	});

const seal = (key: Uint8Array, name: string, value: string): string => format + sealBytes(key, name, Buffer.from(value));

function unseal(key: Uint8Array, name: string, sealed: string): string {
	try {
		if (!sealed.startsWith(format)) throw new Error('unknown format');
		return openBytes(key, name, sealed.slice(format.length)).toString('utf8');
	} catch (error) {
		const message = `"${name}" in the store cannot be opened with this cluster.key: the key belongs to another store, or the value was changed`;
		throw new AppError('ERR_INTERNAL', {message}, error);
	}
}
