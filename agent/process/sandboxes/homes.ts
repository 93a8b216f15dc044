// Folders of pods' own, in which their programs begin and which are their HOME where the manifest says nothing: one for each pod and user.
//
// A runtime's directory is mostly below a folder that is closed to others, such as the home of root. So an agent that is root keeps them where
// every user gets to: below /var/lib, by the name of its directory.

import {chmodSync, chownSync, existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmdirSync} from 'node:fs';
import path from 'node:path';
import {groupsName} from '../cgroups/container-groups.js';
import {explained} from '../../os/explained.js';
import {removeTree} from '../../os/trees.js';
import type {User} from '../../os/user.js';
import {foldersIn} from '../../os/folders.js';

export type Homes = {
	/** Made when it is first asked for; undefined where it cannot be. */
	readonly homeOf: (uid: string, user: User) => string | undefined;
	/** Where it is, if it was made. */
	readonly placeOf: (uid: string, user: User) => string;
	/** Rejects with Errors that say what the system said. */
	readonly remove: (uid: string) => Promise<void>;
};

const shared = '/var/lib/troupe';
/** Where the agent of a directory, which must be there, keeps them. */
export const homesFolder = (directory: string, isRoot: boolean): string =>
	isRoot ? path.join(shared, groupsName(directory)) : path.join(directory, '.homes');

/** `isThere`: whether there is such a pod; folders of others are removed. */
export function openHomes({
	folder,
	isRoot,
	isThere,
	onWarning,
}: {
	readonly folder: string;
	readonly isRoot: boolean;
	readonly isThere: (uid: string) => boolean;
	readonly onWarning: (message: string) => void;
}): Homes {
	let hasWarned = false;
	const placeOf = (uid: string, user: User): string => path.join(folder, uid, String(user.uid));

	function make(uid: string, user: User): string {
		const home = placeOf(uid, user);
		if (existsSync(home)) return home;
		for (const above of [...(isRoot ? [path.dirname(folder)] : []), folder, path.dirname(home)]) makeOpen(above);
		// There under its name only once it is that user's: this process may be killed in between.
		const made = `${home}.new`;
		mkdirSync(made, {recursive: true, mode: 0o700});
		if (isRoot) chownSync(made, user.uid, user.gid);
		renameSync(made, home);
		return home;
	}

	for (const uid of foldersIn(folder).filter(each => !isThere(each))) {
		removeTree(path.join(folder, uid)).catch((error: unknown) => onWarning(explained(error)));
	}
	return {
		placeOf,
		homeOf(uid, user) {
			try {
				return make(uid, user);
			} catch (error) {
				if (!hasWarned) onWarning(`pods have no folder of their own, and begin in "/": ${explained(error)}`);
				hasWarned = true;
				return undefined;
			}
		},
		async remove(uid) {
			await removeTree(path.join(folder, uid));
			try {
				rmdirSync(folder); // With the last pod.
			} catch {
				// There are others.
			}
		},
	};
}

/** Others get through it and see nothing of it. */
function makeOpen(folder: string): void {
	if (existsSync(folder)) return;
	mkdirSync(folder, {recursive: true});
	chmodSync(folder, 0o711);
}

/** All there are of a directory, when no agent is there: before the directory itself goes. */
export async function removeHomes(directory: string, isRoot: boolean): Promise<void> {
	if (!existsSync(directory)) return;
	await removeTree(homesFolder(realpathSync(directory), isRoot));
	if (isRoot && existsSync(shared) && readdirSync(shared).length === 0) rmdirSync(shared);
}
