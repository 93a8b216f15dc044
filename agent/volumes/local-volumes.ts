// The volumes of class `local`: folders that stay when pods go, in one folder that nobody but the agent can change.

import {lstatSync, type Stats} from 'node:fs';
import {chmod, chown} from 'node:fs/promises';
import path from 'node:path';
import {makeDirectory} from '../../system/files/make-directory.js';
import {syncDirectory} from '../../system/files/atomic-file.js';
import {removeTree} from '../os/trees.js';
import type {VolumeOwner} from './memory.js';
import {makeFolder} from './volume-folder.js';

export type LocalVolumes = {
	/** Absolute. */
	readonly folder: string;
	/** The folder of a volume, made when it is not there; `said`: where it was said to be. Rejects with Errors and errno exceptions. */
	readonly make: (volume: string, said: string, owner: VolumeOwner | undefined) => Promise<string>;
	readonly placeOf: (volume: string) => string;
	/** With all that is in it; fine when there is none. Rejects with Errors. */
	readonly remove: (volume: string) => Promise<void>;
};

/** Of an absolute folder, which is made for the first volume. */
export function openLocalVolumes(folder: string): LocalVolumes {
	const placeOf = (volume: string): string => path.join(folder, volume);
	return {
		folder,
		placeOf,
		make: (volume, said, owner) => make(folder, placeOf(volume), said, owner),
		async remove(volume) {
			if (statOf(placeOf(volume)) === undefined) return;
			await removeTree(placeOf(volume));
			await syncDirectory(folder);
		},
	};
}

const statOf = (file: string): Stats | undefined => lstatSync(file, {throwIfNoEntry: false});

async function make(folder: string, place: string, said: string, owner: VolumeOwner | undefined): Promise<string> {
	// What was made elsewhere would be missed, and an empty folder shown for it.
	if (said !== place) throw new Error(`it is at "${said}", and this agent keeps volumes in "${folder}" (--volumes)`);
	makeDirectory(folder);
	const found = statOf(place);
	if (found?.isDirectory() === false) throw new Error(`"${place}" is no folder`);
	await makeFolder(place, 0o777, owner);
	if (found === undefined) await syncDirectory(folder);
	else await regrouped(place, found, owner);
	return place;
}

/** Pods of another group than those before may use it; what is in it stays as it is. */
async function regrouped(place: string, {gid, mode}: Stats, owner: VolumeOwner | undefined): Promise<void> {
	if (owner?.isGroup !== true || (gid === owner.gid && (mode & 0o2070) === 0o2070)) return;
	await chown(place, -1, owner.gid);
	await chmod(place, (mode & 0o7777) | 0o2070);
}
