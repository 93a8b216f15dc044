// Whose the containers of an Engine are: an id of this directory, so that several homes may use one Engine.

import {mkdirSync} from 'node:fs';
import path from 'node:path';
import {systemRandom} from '../../system/time/random.js';
import {readRecord, writeRecordSynced} from './files.js';

const ownerFile = 'owner';

/** Undefined: nothing was ever started from there. */
export function readOwner(directory: string): string | undefined {
	const {id} = readRecord(path.join(directory, ownerFile));
	return typeof id === 'string' && /^[0-9a-f-]{36}$/.test(id) ? id : undefined;
}

/** Made at the first start. Throws errno exceptions. */
export function ownerOf(directory: string): string {
	mkdirSync(directory, {recursive: true, mode: 0o700});
	const known = readOwner(directory);
	if (known !== undefined) return known;
	const id = systemRandom.uuid();
	writeRecordSynced(path.join(directory, ownerFile), {id});
	return id;
}
