// A folder and its parents. `mkdir` with `recursive` never ends where a file system answers ENOENT below a folder that is there (/proc).

import {mkdirSync, statSync} from 'node:fs';
import path from 'node:path';

/** Makes what is missing, for this user alone. Throws what the file system says. */
export function makeDirectory(folder: string): void {
	const parent = path.dirname(folder);
	if (isFolder(folder)) return;
	if (parent !== folder) makeDirectory(parent);
	try {
		mkdirSync(folder, {mode: 0o700});
	} catch (error) {
		// Another process may have been first.
		if (!isFolder(folder)) throw error;
	}
}

const isFolder = (folder: string): boolean => statSync(folder, {throwIfNoEntry: false})?.isDirectory() === true;
