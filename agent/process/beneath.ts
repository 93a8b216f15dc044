// Folders below a folder in which others write: reached step by step, by descriptor, so that no symbolic link that is put there
// meanwhile leads anywhere else.
//
// Node has no openat(2); a path through /proc/self/fd does the same. Source: proc(5), CVE-2021-25741 for what goes wrong without it.

import {chmodSync, chownSync, closeSync, constants, fstatSync, mkdirSync, openSync, realpathSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';

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

/** Where an absolute path leads. Throws errno exceptions other than a missing file. */
export function resolved(file: string): Resolved {
	const missing: string[] = [];
	for (let there = path.resolve(file); ; there = path.dirname(there)) {
		try {
			const real = realpathSync(there);
			return {place: path.join(real, ...missing), real, missing};
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || there === path.dirname(there)) throw error;
			missing.unshift(path.basename(there));
		}
	}
}
