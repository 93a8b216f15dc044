// A folder for the programs of a pod.

import {existsSync} from 'node:fs';
import {chmod, chown, mkdir, rename} from 'node:fs/promises';
import type {VolumeOwner} from './memory.js';

/**
 * For programs of all users of the pod, unless it names a group: then for those of that group, and so is what they make in it. One that is there already is
 * as its programs want it; it gets its name last, so none is there half made. Rejects with errno exceptions.
 */
export async function makeFolder(folder: string, mode: number, owner?: VolumeOwner): Promise<string> {
	if (existsSync(folder)) return folder;
	const fresh = `${folder}.new`;
	await mkdir(fresh, {recursive: true, mode: 0o700});
	if (owner !== undefined) await chown(fresh, owner.uid, owner.gid);
	await chmod(fresh, owner?.isGroup === true ? mode | 0o2000 : mode);
	await rename(fresh, folder);
	return folder;
}
