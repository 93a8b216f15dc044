// Folders below a folder in which others write: reached step by step, by descriptor, so that no symbolic link that is put there
// meanwhile leads anywhere else.
//
// Node has no openat(2); a path through /proc/self/fd does the same. Source: proc(5), CVE-2021-25741 for what goes wrong without it.

import {chmodSync, chownSync, closeSync, constants, fstatSync, mkdirSync, openSync, realpathSync, statSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {limits} from '../../api/limits.js';

/** Only a place, for which no permission to read is needed: asm-generic/fcntl.h. */
const O_PATH = 0o10000000;
const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Makes the folders of a relative path that are missing, with the mode, owner and group of `root`. Throws errno exceptions: ELOOP or ENOTDIR
 * where something on the way is no folder.
 */
export const makeFoldersBeneath = (root: string, relative: string): void => atFolder(root, namesOf(relative), true, () => undefined);

/** Makes an empty file, where there is none; its folder has to be there. Throws errno exceptions. */
export function makeFileBeneath(root: string, relative: string, mode: number): void {
	const names = namesOf(relative);
	const name = names.pop() ?? '';
	atFolder(root, names, false, folder => {
		closeSync(openSync(`${folder}/${name}`, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, mode));
	});
}

function atFolder(root: string, names: readonly string[], makes: boolean, act: (folder: string) => void): void {
	let folder = openSync(root, flags);
	try {
		const like = fstatSync(folder);
		for (const name of names) {
			const here = `/proc/self/fd/${folder}/${name}`;
			const isNew = makes && madeFolder(here);
			const next = openSync(here, flags);
			closeSync(folder);
			folder = next;
			if (!isNew) continue;
			if (process.getuid?.() === 0) chownSync(`/proc/self/fd/${folder}`, like.uid, like.gid);
			chmodSync(`/proc/self/fd/${folder}`, like.mode & 0o7777);
		}
		act(`/proc/self/fd/${folder}`);
	} finally {
		closeSync(folder);
	}
}

function madeFolder(folder: string): boolean {
	try {
		mkdirSync(folder, {mode: 0o700});
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
		throw error;
	}
}

const namesOf = (relative: string): string[] => relative.split('/').filter(name => name !== '' && name !== '.');

/** Whether a path goes down only: no "..", no beginning at the root, no NUL. */
export const isRelativeDown = (relative: string): boolean =>
	!path.isAbsolute(relative) && !relative.includes('\0') && !relative.split('/').includes('..');

/** Both absolute and without links. */
export const isWithin = (folder: string, file: string): boolean =>
	file === folder || file.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

export type Resolved = {
	/** Without links; what is missing is in it as it was written. */
	readonly place: string;
	/** As far as it is there. */
	readonly real: string;
	readonly missing: readonly string[];
};

/**
 * Where an absolute path leads, by a number of looks that grows with the logarithm of its depth. Throws errno exceptions other than a missing
 * file, and an Error for what is too long or too deep.
 */
export function resolved(file: string): Resolved {
	if (file.length > limits.pathBytes) throw new Error(`a path of ${file.length} characters is too long: at most ${limits.pathBytes}`);
	const names = namesOf(path.resolve(file));
	if (names.length > limits.pathNames) throw new Error(`a path of ${names.length} names is too deep: at most ${limits.pathNames}`);
	const pathOf = (count: number): string => `/${names.slice(0, count).join('/')}`;
	let there = 0;
	for (let beyond = names.length + 1; there + 1 < beyond;) {
		const middle = (there + beyond) >> 1;
		if (statSync(pathOf(middle), {throwIfNoEntry: false}) === undefined) beyond = middle;
		else there = middle;
	}
	const missing = names.slice(there);
	if (missing.length > 0) whyMissing(pathOf(there + 1));
	const real = realpathSync.native(pathOf(there));
	return {place: path.join(real, ...missing), real, missing};
}

/** What is below a file is not missing. */
function whyMissing(file: string): void {
	try {
		statSync(file);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
	}
}
