// A disk that can be filled: a small tmpfs. Needs root.

import {execFileSync} from 'node:child_process';
import {closeSync, openSync, rmSync, writeSync} from 'node:fs';
import path from 'node:path';
import type {Owner} from '../owner.js';

export type SmallDisk = {readonly fillUp: () => void; readonly empty: () => void};

/** Mounted at that folder until the owner ends. */
export function smallDisk(owner: Owner, folder: string, megabytes: number): SmallDisk {
	execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'troupe-small-disk', folder]);
	owner.teardown(() => void execFileSync('umount', ['--lazy', folder]));
	const filler = path.join(folder, 'filler');
	return {fillUp: () => fillUp(filler), empty: () => rmSync(filler)};
}

/** Takes all the space there is, to the last byte. */
function fillUp(file: string): void {
	const handle = openSync(file, 'w');
	for (let bytes = 65_536; bytes >= 1; bytes = Math.floor(bytes / 2)) {
		try {
			while (writeSync(handle, Buffer.alloc(bytes)) > 0);
		} catch (error) {
			if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
		}
	}
	closeSync(handle);
}
