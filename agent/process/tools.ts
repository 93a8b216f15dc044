// Programs of the base system that stand between an agent and a container, where this host has them.

import {existsSync} from 'node:fs';

const folders = ['/usr/bin', '/usr/sbin', '/bin', '/sbin'];

/** Absolute; undefined where this host has none. */
export const findTool = (name: string): string | undefined => folders.map(folder => `${folder}/${name}`).find(file => existsSync(file));
