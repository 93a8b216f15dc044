// The words that make a program run where another one runs: with its view of the node's files, as a user, with groups.

import {readlinkSync} from 'node:fs';
import {rightsInView, rightsOf, type Host} from './plan.js';
import type {User} from './privileges.js';

/** Whether a process has the agent's own view of the node's files. Throws errno exceptions where it is gone. */
const isShared = (pid: number): boolean => readlinkSync(`/proc/${pid}/ns/mnt`) === readlinkSync('/proc/self/ns/mnt');

/** Where to start from: in the folder of the running program, unless the agent does not see that as the program does. Throws as above. */
export const enteringFolder = (pid: number): string => (isShared(pid) ? `/proc/${pid}/cwd` : '/');

/**
 * Before a program; in another view they also enter the folder of the running one. Throws an Error where that user cannot be had, and errno
 * exceptions where the process is gone.
 */
export function enteringWords(host: Host, pid: number, user: User, groups: readonly number[]): readonly string[] {
	if (host.mountTools === undefined || isShared(pid)) {
		const rights = rightsOf(host, user, groups);
		if (!rights.ok) throw new Error(rights.reason);
		return rights.drop ?? [];
	}
	const {nsenter} = host.mountTools;
	return [nsenter, `--target=${pid}`, '--mount', '--wd', '--', ...(rightsInView(host.mountTools, user, groups) ?? [])];
}
