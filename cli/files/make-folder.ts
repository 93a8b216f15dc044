// Makes a folder of a home. That it cannot be made or written is no bug but news for a person: a wrong --home, a disk mounted
// read-only, another user's folder.

import {accessSync, constants, existsSync} from 'node:fs';
import path from 'node:path';
import {makeDirectory} from '../../system/files/make-directory.js';
import {failedError} from '../command.js';

/** Makes a folder for this user alone, and its parents, if need be. Throws when nothing can be written into it. */
export function makeFolder(folder: string): void {
	try {
		accessSync(nearest(folder), constants.W_OK); // mkdir on a read-only disk says ENOENT, which would mislead.
		makeDirectory(folder);
	} catch (error) {
		throw failedError(`${folder} cannot be written: ${(error as Error).message}; --home or TROUPE_HOME names another place`);
	}
}

/** The folder itself, or the nearest one above it that is there. */
const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(path.dirname(folder)));
