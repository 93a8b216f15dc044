// Whether root may run a file: what others may change is theirs.

import {existsSync, lstatSync, readlinkSync, realpathSync} from 'node:fs';
import path from 'node:path';
import {isOpen} from '../mounts/mount-plan.js';

/** As many links as the kernel follows. */
const mostLinks = 40;

/** Whether others than root may put something else there: at the end, at any link on the way, or where there is nothing yet. */
export function isChangeable(file: string, links = 0): boolean {
	if (!path.isAbsolute(file) || links > mostLinks) return true;
	const above = path.dirname(file);
	const stats = lstatSync(file, {throwIfNoEntry: false});
	if (stats === undefined) return above === file || isChangeable(above, links);
	if (existsSync(above) && isOpen(realpathSync(above))) return true;
	return stats.isSymbolicLink() ? isChangeable(path.resolve(above, readlinkSync(file)), links + 1) : isOpen(file);
}
