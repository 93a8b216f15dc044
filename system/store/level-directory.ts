// Which directory holds a store of ours, and of which format. A store appears whole, by one rename, or not at all; what is
// not ours, or newer than we are, is refused and left as it is.

import {mkdtemp, readFile, readdir, rename, rm} from 'node:fs/promises';
import path from 'node:path';
import {AppError} from '../../api/errors.js';
import {syncDirectory, writeFileAtomic, writeSynced} from '../files/atomic-file.js';
import {orFor} from '../files/errno.js';
import {writeWitness, type Witnessed} from './level-witness.js';
import {makeDirectory} from '../files/make-directory.js';

/**
 * Of the layout: the database's directory, its keys and record headers. Raised when an older Troupe could not read them.
 * 2: records may have checksums, and a file says what was acknowledged.
 */
const formatVersion = 2;
const formatFile = 'FORMAT';
const formatText = `troupe-level ${formatVersion}\n`;
const creationPrefix = 'new-';

export type Database = {readonly location: string; readonly isOfOlderFormat: boolean};

/**
 * The database inside a data directory, made by `create` when the directory is empty or absent.
 *
 * @throws AppError when the directory holds something else, or a newer format.
 */
export async function databaseIn(directory: string, create: (location: string) => Promise<void>): Promise<Database> {
	const location = path.join(directory, 'level');
	makeDirectory(directory);
	const names = await readdir(directory);
	if (!names.includes('level')) {
		const strange = names.filter(name => !name.startsWith(creationPrefix));
		if (strange.length > 0) throw notOurs(directory, `it holds "${strange[0]}" and no store`);
		await createIn(directory, location, create);
	}
	return {location, isOfOlderFormat: (await formatOf(directory, location)) < formatVersion};
}

/** Before anything of today's format is written; to be called by the one who holds the database's lock. */
export async function raiseFormat(location: string, meta: Witnessed): Promise<void> {
	await writeWitness(location, meta);
	await writeFileAtomic(path.join(location, formatFile), formatText, 0o600);
}

/** Removes what an interrupted creation left; to be called by the one who holds the database's lock. */
export async function removeLeftovers(directory: string): Promise<void> {
	const names = await readdir(directory);
	for (const name of names.filter(name => name.startsWith(creationPrefix))) await removeLeftover(path.join(directory, name));
}

/** Another process that comes too late may still write into it, or remove it as well; then it is for the next start. */
async function removeLeftover(folder: string): Promise<void> {
	await rm(folder, {recursive: true, force: true}).catch(() => undefined);
}

async function createIn(directory: string, location: string, create: (location: string) => Promise<void>): Promise<void> {
	const fresh = await mkdtemp(path.join(directory, creationPrefix));
	try {
		await create(fresh);
		await writeWitness(fresh, {version: 0, epoch: 0});
		await writeSynced(path.join(fresh, formatFile), formatText, 0o600);
		await syncDirectory(fresh);
		await rename(fresh, location);
	} catch (error) {
		await removeLeftover(fresh);
		// Another process was first, and may have taken ours for a leftover; the lock will tell the two apart.
		if (!(await readdir(directory)).includes(path.basename(location))) throw error;
	}
	await syncDirectory(directory);
}

async function formatOf(directory: string, location: string): Promise<number> {
	const text = await readFile(path.join(location, formatFile), 'utf8').catch(orFor('', 'ENOENT', 'ENOTDIR'));
	const version = /^troupe-level (\d{1,9})\n$/.exec(text)?.[1];
	if (version === undefined) {
		throw new AppError('ERR_DAMAGED', {
			message: `the store in "${directory}" is damaged: "level/${formatFile}" does not say "troupe-level ${formatVersion}"; nothing in it was changed`,
		});
	}
	if (Number(version) > formatVersion) {
		throw notOurs(directory, `it was written by a newer version (format ${version}, this one reads up to ${formatVersion})`);
	}
	return Number(version);
}

const notOurs = (directory: string, found: string): AppError =>
	new AppError('ERR_INTERNAL', {message: `the data directory "${directory}" cannot be used: ${found}; nothing in it was changed`});
