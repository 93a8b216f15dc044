// Which folders and files of its host a node lends to pods: what its operator allows, and never its own.
//
// Links are followed before anything is decided. What is decided is a path without links; the mount itself takes no other one.

import type {Stats} from 'node:fs';
import {valueOr} from '../../api/value-or.js';
import {isWithin, makeFileBeneath, makeFoldersBeneath, resolved, statsOf} from '../os/beneath.js';

export type HostPaths = {
	/** Prefixes; nothing where there are none. */
	readonly allowed: 'all' | readonly string[];
	/** Folders of the agent itself. */
	readonly never: readonly string[];
	/** Folders and sockets of the Engine that runs containers, where they are lent to nobody. */
	readonly ofEngine?: () => readonly string[];
};

export type HostPathOutcome = {readonly ok: true; readonly path: string} | {readonly ok: false; readonly reason: string};

/**
 * Where it really is, once it is allowed and of the kind that is asked for; `...OrCreate` makes it. Throws errno exceptions where it cannot be
 * looked at or made.
 */
export function hostPathOf(wanted: string, check: string, rule: HostPaths): HostPathOutcome {
	const {place, missing} = resolved(wanted);
	const refusal = refusalOf(wanted, place, rule);
	if (refusal !== undefined) return {ok: false, reason: refusal};
	if (missing.length > 0 && check === 'DirectoryOrCreate') makeFoldersBeneath('/', place);
	else if (missing.length === 1 && check === 'FileOrCreate') makeFileBeneath('/', place, 0o644);
	else if (missing.length > 0) return {ok: false, reason: `hostPath "${wanted}" does not exist on this node`};
	const found = statsOf(place);
	const isRight = kinds[check.replace('OrCreate', '')]?.is(found) ?? true;
	if (isRight) return {ok: true, path: place};
	return {ok: false, reason: `hostPath "${wanted}" is not ${kinds[check.replace('OrCreate', '')]?.noun ?? check}`};
}

/** Undefined: the path, which is without links, may be mounted. */
export function refusalOf(wanted: string, place: string, {allowed, never, ofEngine}: HostPaths): string | undefined {
	// A prefix may itself be a link, or not there yet.
	const own = never.find(folder => isWithin(realOf(folder), place));
	if (own !== undefined) return `hostPath "${wanted}" is in the folder of Troupe itself, "${own}"`;
	const engines = ofEngine?.().find(folder => isWithin(realOf(folder), place));
	if (engines !== undefined)
		return `hostPath "${wanted}" belongs to the container engine of this node ("${engines}"): it would give the whole host (--allow-privileged)`;
	if (allowed === 'all' || allowed.some(prefix => isWithin(realOf(prefix), place))) return undefined;
	const said = allowed.length === 0 ? 'none are allowed' : `allowed are ${allowed.join(', ')}`;
	return `hostPath "${wanted}"${place === wanted ? '' : `, which is "${place}",`} is not allowed on this node: ${said} (--host-paths)`;
}

/** Where it leads, as far as it is there. */
export const realOf = (file: string): string => valueOr(file, () => resolved(file).place);

const kinds: Readonly<Record<string, {readonly noun: string; readonly is: (found: Stats) => boolean}>> = {
	Directory: {noun: 'a folder', is: found => found.isDirectory()},
	File: {noun: 'a file', is: found => found.isFile()},
	Socket: {noun: 'a socket', is: found => found.isSocket()},
	CharDevice: {noun: 'a character device', is: found => found.isCharacterDevice()},
	BlockDevice: {noun: 'a block device', is: found => found.isBlockDevice()},
};
