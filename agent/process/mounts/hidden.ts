// Where a node has the folders that no program of a pod is to see. An agent that is an ordinary user needs it: its pods are that user, too, and
// so the modes of files keep nothing from them.

import {statSync} from 'node:fs';
import path from 'node:path';
import {isWithin, resolved} from '../../os/beneath.js';
import {mountsIn, readMountinfo, type MountEntry} from '../../os/mountinfo.js';

/**
 * Each of the folders that is there, without links, and wherever else the node has it by a bind mount; none in another. Throws errno exceptions
 * where there is no /proc.
 */
export function placesOf(folders: readonly string[]): readonly string[] {
	const mounts = mountsIn(readMountinfo());
	const there = folders.map(folder => resolved(folder)).filter(({missing}) => missing.length === 0);
	return outermost(there.flatMap(({place}) => [place, ...alsoAt(place, mounts).filter(other => isSame(other, place))]));
}

/** Without what is in another one. */
export const outermost = (folders: readonly string[]): readonly string[] =>
	[...new Set(folders)].filter(folder => !folders.some(other => other !== folder && isWithin(other, folder)));

/** Where other mounts of the file system that a folder is on show it, if nothing hides that. */
export function alsoAt(folder: string, mounts: readonly MountEntry[]): readonly string[] {
	const around = mounts.filter(({point}) => isWithin(point, folder));
	const on = around.findLast(({point}) => around.every(other => isWithin(other.point, point)));
	if (on === undefined) return [];
	const place = path.join(on.root, path.relative(on.point, folder));
	return mounts
		.filter(mount => mount !== on && mount.device === on.device && isWithin(mount.root, place))
		.map(({root, point}) => path.join(point, path.relative(root, place)));
}

function isSame(one: string, other: string): boolean {
	const [a, b] = [one, other].map(file => statSync(file, {throwIfNoEntry: false}));
	return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}
