// Files that are replaced all at once: readers see those of one state, never a mixture and never a half.
//
//   ..3/nginx.conf              what there is, in a folder of its own
//   ..data -> ..3               the one link that is replaced
//   nginx.conf -> ..data/nginx.conf
//
// Source: Kubernetes, pkg/volume/util/atomic_writer.go.

import {constants} from 'node:fs';
import {chmod, chown, mkdir, readFile, readdir, readlink, rename, rm, stat, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {hasCode, orFor} from '../../system/files/errno.js';

/** -1: as it is. */
export type FileOwner = {readonly uid: number; readonly gid: number};

export type FileContent = {readonly path: string; readonly mode: number; readonly data: Buffer};

const dataLink = '..data';

/** Brings a folder to just these files; writes nothing when it has them. Files belong to the owner, if one is given. Rejects with errno exceptions. */
export async function putFiles(folder: string, files: readonly FileContent[], owner: FileOwner | undefined): Promise<void> {
	const current = await linkOf(path.join(folder, dataLink));
	const isThere = current !== undefined && (await holds(path.join(folder, current), files));
	const latest = isThere ? current : await putFresh(folder, `..${Number(current?.slice(2) ?? 0) + 1}`, files, owner);
	// Also of what is there: an agent may have died just before.
	await link(folder, new Set(files.map(file => topOf(file.path))));
	for (const name of await readdir(folder)) {
		if (/^\.\.\d+$/.test(name) && name !== latest) await rm(path.join(folder, name), {recursive: true, force: true});
	}
}

async function putFresh(folder: string, fresh: string, files: readonly FileContent[], owner: FileOwner | undefined): Promise<string> {
	await rm(path.join(folder, fresh), {recursive: true, force: true}); // Left by an agent that died meanwhile.
	await makeFolder(path.join(folder, fresh), owner);
	for (const file of files) await putFile(path.join(folder, fresh), file, owner);
	await replaceLink(folder, dataLink, fresh);
	return fresh;
}

const topOf = (file: string): string => file.split('/').find(name => name !== '' && name !== '.') ?? '';

async function linkOf(file: string): Promise<string | undefined> {
	const target = await readlink(file).catch(orFor('', 'ENOENT'));
	return /^\.\.\d+$/.test(target) ? target : undefined;
}

async function makeFolder(folder: string, owner: FileOwner | undefined): Promise<void> {
	await mkdir(folder);
	if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
	await chmod(folder, 0o755);
}

async function putFile(folder: string, {path: name, mode, data}: FileContent, owner: FileOwner | undefined): Promise<void> {
	const names = name.split('/');
	for (let depth = 1; depth < names.length; depth++) {
		const above = path.join(folder, ...names.slice(0, depth));
		if ((await stat(above).catch(() => undefined)) === undefined) await makeFolder(above, owner);
	}
	const file = path.join(folder, name);
	await writeFile(file, data, {mode: 0o600});
	if (owner !== undefined) await chown(file, owner.uid, owner.gid);
	await chmod(file, mode);
}

async function replaceLink(folder: string, name: string, target: string): Promise<void> {
	const next = path.join(folder, `${dataLink}_new`);
	await rm(next, {force: true});
	await symlink(target, next);
	await rename(next, path.join(folder, name));
}

/** Links of files that are no more go last. */
async function link(folder: string, wanted: ReadonlySet<string>): Promise<void> {
	const there = (await readdir(folder, {withFileTypes: true})).filter(entry => entry.isSymbolicLink()).map(({name}) => name);
	const links = new Set(there);
	for (const name of wanted) if (!links.has(name)) await symlink(`${dataLink}/${name}`, path.join(folder, name));
	for (const name of there) if (!name.startsWith('..') && !wanted.has(name)) await rm(path.join(folder, name), {force: true});
}

async function holds(folder: string, files: readonly FileContent[]): Promise<boolean> {
	try {
		const entries = await readdir(folder, {recursive: true, withFileTypes: true});
		if (entries.filter(entry => !entry.isDirectory()).length !== files.length) return false;
		for (const {path: name, mode, data} of files) {
			const file = path.join(folder, name);
			// The owner may have taken a lease on it (fcntl(2)), for which others wait: it is then as if it were another file.
			const flag = constants.O_RDONLY | constants.O_NONBLOCK;
			if (((await stat(file)).mode & 0o7777) !== mode || !data.equals(await readFile(file, {flag}))) return false;
		}
		return true;
	} catch (error) {
		if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EAGAIN')) return false;
		throw error;
	}
}
