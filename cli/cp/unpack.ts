// An archive from a container becomes files here. The container is not trusted: nothing is written outside of the destination,
// through no link, and no link that is made leads out of it.
//
// Therefore: names with `..` end it all, a folder on the way must be a folder and no link, links are made last, and what is no file,
// folder or link is left out. Permissions are kept but for set-user-id and its kin.

import {constants} from 'node:fs';
import {copyFile, lstat, mkdir, open, symlink, unlink, chmod} from 'node:fs/promises';
import type {Stats} from 'node:fs';
import {shown} from '../../api/shown.js';
import {hasCode} from '../../system/files/errno.js';
import {failedError} from '../command.js';
import {entryTypes} from './tar-format.js';
import type {TarEntry} from './tar-reader.js';

export type Unpacking = {
	/** What the archive calls what was asked for; empty: its content. */
	readonly base: string;
	/** Where that goes: a byte string, as all names here. */
	readonly to: string;
	readonly onBytes: (count: number) => void;
	/** Told of what is left out. */
	readonly onSkipped: (why: string) => void;
};

/** How many entries there were. Throws AppError for an archive that would go elsewhere, and errno exceptions. */
export async function unpack(entries: AsyncIterable<TarEntry>, unpacking: Unpacking): Promise<number> {
	const {onSkipped} = unpacking;
	const links: {readonly path: readonly string[]; readonly link: string}[] = [];
	const locked: {readonly at: string; readonly mode: number}[] = [];
	const files = new Set<string>();
	let count = 0;
	for await (const entry of entries) {
		count++;
		const path = pathWithin(entry.name, unpacking.base);
		const at = placeOf(unpacking.to, path);
		switch (entry.type) {
			case entryTypes.directory:
				await parents(unpacking.to, path);
				await folder(at, entry.mode & 0o777);
				if ((entry.mode & 0o700) !== 0o700) locked.push({at, mode: entry.mode & 0o777});
				break;
			case entryTypes.file:
				await parents(unpacking.to, path);
				await write(at, entry, unpacking.onBytes);
				files.add(path.join('/'));
				break;
			case entryTypes.hardLink: {
				const source = pathWithin(entry.link, unpacking.base);
				if (!files.has(source.join('/')))
					throw failedError(`the archive links ${shownName(entry.name)} to ${shownName(entry.link)}, which is not in it`);
				await parents(unpacking.to, path);
				await clear(at);
				await copyFile(bytes(placeOf(unpacking.to, source)), bytes(at), constants.COPYFILE_EXCL);
				files.add(path.join('/'));
				break;
			}
			case entryTypes.symbolicLink:
				if (staysWithin(path, entry.link)) links.push({path, link: entry.link});
				else onSkipped(`the link ${shownName(entry.name)} to ${shownName(entry.link)} leads out of what is copied`);
				break;
			default:
				onSkipped(`${shownName(entry.name)} is no file, folder or link`);
		}
	}
	for (const {path, link} of links) {
		await parents(unpacking.to, path);
		const at = placeOf(unpacking.to, path);
		await clear(at);
		await symlink(bytes(link), bytes(at));
	}
	for (const {at, mode} of locked.reverse()) await chmod(bytes(at), mode);
	return count;
}

const bytes = (name: string): Buffer => Buffer.from(name, 'latin1');

const shownName = (name: string): string => shown(bytes(name).toString('utf8'));

const placeOf = (to: string, path: readonly string[]): string => [to, ...path].join('/');

/** The parts of a name behind the base. Throws when it is not what was asked for. */
function pathWithin(name: string, base: string): readonly string[] {
	const parts = name.split('/').filter(part => part !== '' && part !== '.');
	const isOutside = name.startsWith('/') || parts.includes('..') || name.includes('\0');
	if (base === '') {
		if (!isOutside) return parts;
	} else if (!isOutside && parts[0] === base) return parts.slice(1);
	throw failedError(`the archive from the container names ${shownName(name)}, which was not asked for; nothing more is copied`);
}

/**
 * Whether a link's target is within what is copied, wherever links in it lead: it goes up first and then only down, not above the
 * top, so that each step is through a real folder or another such link.
 */
export function staysWithin(path: readonly string[], link: string): boolean {
	if (link === '' || link.startsWith('/') || link.includes('\0')) return false;
	const parts = link.split('/').filter(part => part !== '' && part !== '.');
	const ups = parts.findIndex(part => part !== '..');
	const height = ups < 0 ? parts.length : ups;
	// The top itself is no folder when all that is copied is the link.
	return height <= path.length - 1 && !parts.slice(height).includes('..');
}

/** Makes the folders on the way; a link among them is never followed. */
async function parents(to: string, path: readonly string[]): Promise<void> {
	for (let depth = 0; depth < path.length; depth++) await folder(placeOf(to, path.slice(0, depth)));
}

/** A new one can be written into, whatever its mode. */
async function folder(at: string, mode = 0o777): Promise<void> {
	const found = await statOf(at);
	if (found === undefined) await mkdir(bytes(at), {mode: mode | 0o700});
	else if (!found.isDirectory()) throw failedError(`${shownName(at)} is there already and is no folder`);
}

async function write(at: string, entry: TarEntry, onBytes: (count: number) => void): Promise<void> {
	await clear(at);
	const file = await open(bytes(at), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, entry.mode & 0o777);
	try {
		for await (const piece of entry.content()) {
			await file.writeFile(piece);
			onBytes(piece.length);
		}
	} finally {
		await file.close();
	}
}

/** What was of that name goes: a file that another program reads keeps its old content, and a link's target is left alone. */
async function clear(at: string): Promise<void> {
	const found = await statOf(at);
	if (found === undefined) return;
	if (found.isDirectory()) throw failedError(`${shownName(at)} is a folder here and is none in the container`);
	await unlink(bytes(at));
}

async function statOf(at: string): Promise<Stats | undefined> {
	try {
		return await lstat(bytes(at));
	} catch (error) {
		if (hasCode(error, 'ENOENT')) return undefined;
		throw error;
	}
}
