// Mounts that servers leave when they are killed: unmounted before their folder goes, so that nothing behind them does.

import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {mountsIn, readMountinfo} from '../../../agent/os/mountinfo.js';

/** What is mounted below a folder, the deepest first. */
export const mountsBelow = (folder: string): readonly string[] =>
	mountsIn(readMountinfo())
		.map(({point}) => point)
		.filter(point => point.startsWith(`${folder}/`))
		.sort((a, b) => b.length - a.length);

/** Rejects when something cannot be unmounted. */
export async function unmountBelow(folder: string): Promise<void> {
	for (const point of mountsBelow(folder)) await promisify(execFile)('umount', ['-l', point]);
}
