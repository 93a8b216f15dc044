// Records that are no objects: written as all else of a term is, and read from the store when they are asked for.

import {AppError} from '../../../api/errors.js';
import type {StoreRecords} from '../../../server/store-records.js';
import type {Pipeline} from '../../../system/commit/pipeline.js';
import type {StoreDriver} from '../../../system/store/store.js';
import {recordsFrom} from '../../../system/store/store-calls.js';
import {opened} from '../process/opened.js';

export const storeRecords = (pipeline: Pick<Pipeline, 'put'>, driver: StoreDriver): StoreRecords => ({
	async put(key, body) {
		await opened<unknown>(done => pipeline.put(key, body === undefined ? undefined : () => body, done));
	},
	async get(key) {
		const loaded = await recordsFrom(driver, key);
		if (!loaded.ok)
			throw new AppError(loaded.damaged === true ? 'ERR_DAMAGED' : 'ERR_NOT_REACHABLE', {
				message: `the store cannot be read: ${loaded.message}`,
			});
		// No key of such a record begins another one.
		const [record] = loaded.records;
		return record?.body;
	},
});
