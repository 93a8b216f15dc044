// What several servers share beside objects, read without leading: a standby shows the right certificate, and a server that
// lacks the cluster's key is told at once.

import {AppError} from '../../../api/errors.js';
import {vaultStoreKey} from '../../../api/keys.js';
import {authorityName} from '../../../server/certificates.js';
import {openVault, type Vault} from '../../../server/vault.js';
import {recordsFrom} from '../../../system/store/store-calls.js';
import type {Stores} from './stores.js';

/** Undefined: no server has led yet. Throws where the store cannot be read, or this server has another key. */
export async function readSharedVault(stores: Stores, keyFile: string): Promise<Vault | undefined> {
	const records = await readRecords(stores);
	if (!records.has(vaultStoreKey(authorityName))) return undefined;
	const kept = {
		get: (name: string) => records.get(vaultStoreKey(name)),
		put: (name: string) => Promise.reject(new Error(`"${name}" was written by a server that does not lead`)),
	};
	return openVault(keyFile, kept, authorityName);
}

async function readRecords({open}: Stores): Promise<ReadonlyMap<string, string>> {
	const driver = await open();
	try {
		const loaded = await recordsFrom(driver, vaultStoreKey(''));
		if (!loaded.ok) throw new AppError('ERR_NOT_REACHABLE', {message: `the store cannot be read: ${loaded.message}`});
		return new Map(Array.from(loaded.records, ({key, body}) => [key, body]));
	} finally {
		await driver.close();
	}
}
