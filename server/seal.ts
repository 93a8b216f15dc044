// Seals values of objects with the cluster's secret key, as they come in, and opens them for who may read them.
//
// The key is random and lies in the vault. The same value at the same place has always the same sealed form, so that a write that
// changes nothing is seen to change nothing: the nonce is made from the value, with a key that only this place has. At another
// place the same value looks different, and a sealed value that was moved does not open.

import {createHmac, randomBytes} from 'node:crypto';
import {AppError} from '../api/errors.js';
import {sealedPrefix} from '../api/sealed.js';
import {keyBytes} from '../system/files/key-file.js';
import {nonceBytes, openBytes, sealBytes} from '../system/files/sealing.js';
import type {Vault} from './vault.js';

/** Where a value stands: none of the parts has a slash but the last. */
export type Place = {readonly namespace: string; readonly name: string; readonly entry: string};

export type Seals = {
	readonly seal: (place: Place, value: Uint8Array) => string;
	/** Throws when it was sealed by another cluster or for another place, or was changed. */
	readonly open: (place: Place, sealed: string) => Buffer;
};

const vaultName = 'secret-key';

/** The seals of the cluster whose vault this is; the first time its key is made. */
export async function openSeals(vault: Vault): Promise<Seals> {
	const kept = vault.get(vaultName);
	if (kept !== undefined) return sealsOf(Buffer.from(kept, 'base64url'));
	const key = randomBytes(keyBytes);
	await vault.put(vaultName, key.toString('base64url'));
	return sealsOf(key);
}

/** The seals of one key. */
export function sealsOf(key: Uint8Array): Seals {
	const derived = (purpose: string, text: string): Buffer => createHmac('sha256', key).update(`${purpose}\0${text}`).digest();
	return {
		seal(place, value) {
			const text = textOf(place);
			const nonce = createHmac('sha256', derived('nonce', text)).update(value).digest().subarray(0, nonceBytes);
			return sealedPrefix + sealBytes(derived('value', text), text, value, nonce);
		},
		open(place, sealed) {
			const text = textOf(place);
			try {
				if (!sealed.startsWith(sealedPrefix)) throw new Error('it is not sealed');
				return openBytes(derived('value', text), text, sealed.slice(sealedPrefix.length));
			} catch (error) {
				const message = `the value ${text} cannot be opened: it was sealed by another cluster, or changed in the store`;
				throw new AppError('ERR_INTERNAL', {message}, error);
			}
		},
	};
}

const textOf = ({namespace, name, entry}: Place): string => `${namespace}/${name}/${entry}`;
