// Where the parts of artifacts are: written as all else of a term is, and read from the store when they are asked for.

import {AppError} from '../../../api/errors.js';
import type {ArtifactRecords} from '../../../server/artifact-store.js';
import type {Pipeline} from '../../../system/commit/pipeline.js';
import type {StoreDriver} from '../../../system/store/store.js';
import {recordsFrom} from '../../../system/store/store-calls.js';
import {opened} from '../process/opened.js';

export const artifactRecords = (pipeline: Pick<Pipeline, 'put'>, driver: StoreDriver): ArtifactRecords => ({
	async put(key, body) {
		await opened<unknown>(done => pipeline.put(key, body === undefined ? undefined : () => body, done));
	},
	async get(key) {
		const loaded = await recordsFrom(driver, key);
		if (!loaded.ok)
			throw new AppError(loaded.damaged === true ? 'ERR_DAMAGED' : 'ERR_NOT_REACHABLE', {
				message: `the store cannot be read: ${loaded.message}`,
			});
		// No key of an artifact begins another one.
		const [record] = loaded.records;
		return record?.body;
	},
});
