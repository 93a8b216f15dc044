// Where a node has the folders that no program of a pod is to see. An agent that is an ordinary user needs it: its pods are that user, too, and
// so the modes of files keep nothing from them.

import {readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import {isWithin, resolved} from './beneath.js';

/**
 * Each of the folders that is there, without links, and wherever else the node has it by a bind mount; none in another. Throws errno exceptions
 * where there is no /proc.
 */
export function placesOf(folders: readonly string[]): readonly string[] {
	const mounts = mountsIn(readFileSync('/proc/self/mountinfo', 'utf8'));
	const there = folders.map(folder => resolved(folder)).filter(({missing}) => missing.length === 0);
	return outermost(there.flatMap(({place}) => [place, ...alsoAt(place, mounts).filter(other => isSame(other, place))]));
}

/** Without what is in another one. */
export const outermost = (folders: readonly string[]): readonly string[] =>
	[...new Set(folders)].filter(folder => !folders.some(other => other !== folder && isWithin(other, folder)));

/** A mount of the node: which part of which file system is where. */
export type MountEntry = {readonly device: string; readonly root: string; readonly point: string};

/** Source: proc_pid_mountinfo(5). */
export const mountsIn = (text: string): readonly MountEntry[] =>
	text
		.split('\n')
		.filter(line => line !== '')
		.map(line => {
			const [, , device = '', root = '', point = ''] = line.split(' ');
			return {device, root: unescaped(root), point: unescaped(point)};
		});

const unescaped = (name: string): string =>
	name.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

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
