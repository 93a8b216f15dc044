// The network namespace of a process, told from others by its inode: that stays, and a pid may be another process' later.

import {statSync} from 'node:fs';
import {valueOrFor} from '../../system/files/errno.js';

/** `inode`: of the namespace in which the process was seen; undefined: in whichever it is. */
export type NetworkOfProcess = {readonly pid: number; readonly inode?: number | undefined};

/** Undefined: there is no such process. Throws errno exceptions. */
export const networkInode = (pid: number): number | undefined => networkInodeOf(`/proc/${pid}/ns/net`);

/** The same of a file that stands for one. */
export const networkInodeOf = (file: string): number | undefined => valueOrFor(undefined, ['ENOENT', 'ESRCH'], () => statSync(file).ino);
