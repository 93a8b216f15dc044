// Finds the program of a container before anything is spawned, so that a word that cannot run is an answer, not an exit.

import {accessSync, constants, statSync, type Stats} from 'node:fs';
import path from 'node:path';
import {limits} from '../../../api/limits.js';
import {hiddenNoun, type Seen} from '../mounts/mount-plan.js';
import {reach} from '../../os/beneath.js';
import type {User} from '../../os/user.js';

export type ProgramSearch = {readonly ok: true; readonly file: string} | {readonly ok: false; readonly reason: string};

/** How the agent itself may look at files: as its own user the kernel is asked, for another one the mode bits are read. */
export type Looker = {
	readonly user: User;
	readonly isAgent: boolean;
	/** Beside the user's own. */
	readonly groups?: readonly number[];
	/** Where a path of the program is on the node; undefined: there. */
	readonly seen?: (file: string) => Seen | 'new' | 'hidden';
};

/** Where an execvp of `word` ends up: in `searchPath` when the word has no slash, else from `directory`. */
export function findProgram(word: string, searchPath: string, directory: string, looker: Looker): ProgramSearch {
	if (word === '') return {ok: false, reason: 'the program has no name: the first word of command is empty'};
	if (word.includes('/')) {
		const file = path.resolve(directory, word);
		const obstacle = obstacleTo(file, looker);
		return obstacle === undefined ? {ok: true, file} : {ok: false, reason: `program "${word}" ${obstacle}`};
	}
	let closest: string | undefined;
	const folders = searchPath.split(':', limits.searchFolders + 1);
	if (folders.length > limits.searchFolders) return {ok: false, reason: `its PATH has more than ${limits.searchFolders} folders`};
	for (const folder of folders) {
		const file = path.resolve(directory, folder, word);
		const obstacle = obstacleTo(file, looker);
		if (obstacle === undefined) return {ok: true, file};
		if (obstacle !== notFound) closest ??= `"${file}" ${obstacle}`;
	}
	return {ok: false, reason: `program "${word}" was not found in PATH "${searchPath}"${closest === undefined ? '' : ` (${closest})`}`};
}

/** Undefined: the user may work in it. */
export function obstacleToDirectory(directory: string, looker: Looker): string | undefined {
	const name = `working directory "${directory}"`;
	if (!path.isAbsolute(directory)) return `${name} must be an absolute path`;
	const stats = look(directory, looker);
	if (stats === notFound && isInVolume(directory, looker)) return undefined;
	if (typeof stats === 'string') return `${name} ${stats}`;
	if (!stats.isDirectory()) return `${name} is not a directory`;
	const closed = closedFolder(directory, stats, looker);
	return closed === undefined ? undefined : `${name} cannot be entered by user ${looker.user.uid}${closed}`;
}

const notFound = 'does not exist';

function obstacleTo(file: string, looker: Looker): string | undefined {
	const stats = look(file, looker);
	if (typeof stats === 'string') return stats;
	if (stats.isDirectory()) return 'is a directory';
	if (!stats.isFile()) return 'is not a file';
	const closed = closedFolder(file, stats, looker);
	return closed === undefined ? undefined : `cannot be run by user ${looker.user.uid}${closed}`;
}

/** Links in a volume may lead to what only the program sees: whether that is there shows at the start. */
const isInVolume = (file: string, {seen}: Looker): boolean => {
	const place = seen?.(file);
	return place !== undefined && typeof place !== 'string' && place.isInVolume;
};

function look(file: string, {seen}: Looker): Stats | string {
	try {
		const place = seen?.(file) ?? {file};
		if (place === 'hidden') return `is in ${hiddenNoun}, which its programs do not see`;
		// A folder that only the program has is as open as the root.
		return reach(place === 'new' ? '/' : place.file, (at, {missing}) => (missing.length > 0 ? notFound : statSync(at)));
	} catch (error) {
		const {code, message} = error as NodeJS.ErrnoException;
		return code === 'ENOTDIR' ? notFound : `cannot be looked at: ${code ?? message}`;
	}
}

/** Undefined: every folder on the way, and the target itself, can be executed by the user; else what to add to the message. */
function closedFolder(target: string, stats: Stats, looker: Looker): string | undefined {
	if (looker.isAgent) {
		const place = looker.seen?.(target) ?? {file: target};
		try {
			reach(typeof place === 'string' ? '/' : place.file, at => accessSync(at, constants.X_OK));
			return undefined;
		} catch {
			return stats.isDirectory() ? '' : ': it is not executable';
		}
	}
	if (!mayExecute(stats, looker)) return stats.isDirectory() ? '' : ': it is not executable for that user';
	for (let folder = path.dirname(target); ; folder = path.dirname(folder)) {
		const above = look(folder, looker);
		if (typeof above === 'string') return `: "${folder}" ${above}`;
		if (!mayExecute(above, looker)) return `: "${folder}" is closed to that user`;
		if (folder === path.dirname(folder)) return undefined;
	}
}

/** By the mode bits, as path_resolution(7) has it; root needs one of the three for a file and none for a directory. */
function mayExecute(stats: Stats, {user, groups = []}: Looker): boolean {
	if (user.uid === 0) return stats.isDirectory() || (stats.mode & 0o111) !== 0;
	if (stats.uid === user.uid) return (stats.mode & 0o100) !== 0;
	if (stats.gid === user.gid || groups.includes(stats.gid)) return (stats.mode & 0o010) !== 0;
	return (stats.mode & 0o001) !== 0;
}
