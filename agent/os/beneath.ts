// Files in folders in which others write: reached step by step, by descriptor, so that no symbolic link that is put there meanwhile leads
// anywhere else.
//
// Node has no openat(2); a path through /proc/self/fd does the same. Source: proc(5), CVE-2021-25741 for what goes wrong without it.

import {
	chmodSync,
	chownSync,
	closeSync,
	constants,
	fstatSync,
	mkdirSync,
	openSync,
	readlinkSync,
	statSync,
	statfsSync,
	type Stats,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {limits} from '../../api/limits.js';
import {hasCode, valueOrFor} from '../../system/files/errno.js';

/** Only a place, for which no permission to read is needed: asm-generic/fcntl.h. */
export const O_PATH = 0o10000000;
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
	} catch (error) {
		throw withPath(error, path.join(root, ...names));
	} finally {
		closeSync(folder);
	}
}

/** The path by which a descriptor is reached tells people nothing: it becomes the one that was asked for. */
function withPath(error: unknown, file: string): unknown {
	if (!(error instanceof Error) || !('path' in error) || typeof error.path !== 'string' || !error.path.startsWith('/proc/self/fd/'))
		return error;
	return Object.assign(error, {message: error.message.replaceAll(error.path, file), path: file});
}

/** False: something is there already. */
const madeFolder = (folder: string): boolean =>
	valueOrFor(false, ['EEXIST'], () => {
		mkdirSync(folder, {mode: 0o700});
		return true;
	});

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

/** Where an absolute path leads. Throws as `reach` does. */
export const resolved = (file: string): Resolved => reach(file, (_at, place) => place);

/** Throws as `reach` does, and for what is missing. */
export const statsOf = (file: string): Stats =>
	reach(file, (at, {missing}) => {
		if (missing.length > 0) throw new Error(`"${file}" does not exist`);
		return statSync(at);
	});

/** As many as the kernel follows. */
const mostLinks = 40;

/**
 * Goes to an absolute path and calls `act` with a path to what it has reached, which may be used until it returns: the file itself, or the last
 * folder that is there. Programs may exchange what is on the way at any time, and no link of /proc is followed, for it may lead into what a
 * program has mounted: an agent that looks there waits as long as that program likes. Throws errno exceptions other than a missing file, and an Error for what is
 * too long or too deep or leads through /proc.
 */
export function reach<Value>(file: string, act: (at: string, resolved: Resolved) => Value): Value {
	if (file.length > limits.pathBytes) throw new Error(`a path of ${file.length} characters is too long: at most ${limits.pathBytes}`);
	const names = namesOf(path.resolve(file)).reverse();
	const done: string[] = [];
	let links = 0;
	let here = openSync('/', flags);
	const enter = (descriptor: number): void => {
		closeSync(here);
		here = descriptor;
	};
	try {
		for (let name = names.pop(); name !== undefined; name = names.pop()) {
			const depth = done.length + names.length + 1;
			if (depth > limits.pathNames) throw new Error(`a path of ${depth} names is too deep: at most ${limits.pathNames}`);
			const there = stepTo(here, name);
			if (there === undefined) {
				names.push(name);
				break;
			}
			if (typeof there === 'number') {
				enter(there);
				if (name === '..') done.pop();
				else done.push(name);
				continue;
			}
			if (++links > mostLinks) throw new Error('too many symbolic links');
			if (path.isAbsolute(there.link)) {
				enter(openSync('/', flags));
				done.length = 0;
			}
			names.push(...namesOf(there.link).reverse());
		}
		const real = `/${done.join('/')}`;
		const missing = names.reverse();
		if (missing.includes('..')) throw new Error('a link leads through what is not there');
		return act(`/proc/self/fd/${here}`, {place: path.join(real, ...missing), real, missing});
	} catch (error) {
		throw withPath(error, file);
	} finally {
		closeSync(here);
	}
}

/** PROC_SUPER_MAGIC of linux/magic.h. */
const procType = 0x9fa0;

/** A descriptor of what has the name in a folder, or where it leads if that is a link; undefined: there is none. */
function stepTo(folder: number, name: string): number | {readonly link: string} | undefined {
	const at = `/proc/self/fd/${folder}`;
	try {
		return openSync(`${at}/${name}`, flags);
	} catch (error) {
		if (hasCode(error, 'ENOENT')) return undefined;
		if (!hasCode(error, 'ENOTDIR') || !fstatSync(folder).isDirectory()) throw error;
	}
	const file = openSync(`${at}/${name}`, O_PATH | constants.O_NOFOLLOW);
	if (!fstatSync(file).isSymbolicLink()) return file;
	closeSync(file);
	if (statfsSync(at).type === procType) throw new Error('it leads through a link of /proc');
	return {link: readlinkSync(`${at}/${name}`)};
}
