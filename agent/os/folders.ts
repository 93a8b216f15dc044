// Folders that are named after pods, containers and volumes.

import {readdirSync} from 'node:fs';
import {valueOrFor} from '../../system/files/errno.js';

/** Names of pods and containers become folders; nothing else may. */
export const isFolderName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/.test(name);

/** Names of the folders in a folder; none when it is not there. Throws other errno exceptions. */
export const foldersIn = (folder: string): string[] =>
	valueOrFor([], ['ENOENT'], () => readdirSync(folder, {withFileTypes: true}))
		.filter(entry => entry.isDirectory() && isFolderName(entry.name))
		.map(entry => entry.name);
