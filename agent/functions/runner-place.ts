// Where an instance of a function has what it needs: its code, its runner and the runner's socket are in the folder of its pod for its user; what
// its agent knows of that stands beside the folder, where no program of the pod writes.

import {lstatSync, unlinkSync} from 'node:fs';
import path from 'node:path';
import {removeTree} from '../os/trees.js';

/** The folder with the socket, and whose that has to be; undefined: nobody but the pod gets to the folder. */
export type RunnerPlace = {readonly home: string; readonly owner: number | undefined};

/** One whose socket is known to be that user's. */
export type OwnedPlace = RunnerPlace & {readonly owner: number};

export const codeOf = (home: string): string => path.join(home, 'function');
export const runnerOf = (home: string): string => path.join(home, '.runner');

/** Relative to the folder: a longer path would be none for a socket. */
export const socketName = '.runner.socket';
export const socketOf = (home: string): string => path.join(home, socketName);

/** What the code was made of; there once all of it is. */
export const recordOf = (home: string): string => `${home}.function`;
/** The same of the copy of its runner. */
export const runnerRecordOf = (home: string): string => `${home}.runner`;
/** Where it is put together. */
export const unfinishedOf = (home: string): string => `${home}.function.new`;

/** Removes whatever a program may have put there, and nothing that a link leads to. Rejects with Errors that say what the system said. */
export async function clear(file: string): Promise<void> {
	const stats = lstatSync(file, {throwIfNoEntry: false});
	if (stats === undefined) return;
	if (stats.isDirectory()) await removeTree(file);
	else unlinkSync(file);
}
