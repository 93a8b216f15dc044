// How much of what programs need a host has left: memory, the disk of the agent's folder, process ids.
//
// Source: proc_meminfo(5), proc_loadavg(5), proc_sys_kernel(5), statfs(2).

import {statfs} from 'node:fs/promises';
import type {HostRoom} from '../../actors/node/runtime/runtime-port.js';
import {memoryLeft, processesLeft} from './proc-figures.js';
import {readSmall} from './small-file.js';

/**
 * Reads it, each time anew. What cannot be told is left out. A disk is told of as it was when it answered last: one that does not answer is waited for
 * by nobody, and asked no second time.
 */
export function openHostRoom(folder: string): () => HostRoom {
	let ofDisk: HostRoom = {};
	let isAsked = false;
	const askDisk = (): void => {
		if (isAsked) return;
		isAsked = true;
		statfs(folder)
			.then(
				({bsize, blocks, bavail, files, ffree}) => {
					ofDisk = {
						// Some that are programs do not count at all.
						...(blocks > 0 ? {'nodefs.available': {free: bsize * bavail, all: bsize * blocks}} : {}),
						// Some file systems make them as they need them, and say 0.
						...(files > 0 ? {'nodefs.inodesFree': {free: ffree, all: files}} : {}),
					};
				},
				() => {
					ofDisk = {};
				},
			)
			.finally(() => {
				isAsked = false;
			});
	};
	return () => {
		askDisk();
		const memory = memoryLeft(readSmall('/proc/meminfo') ?? '');
		const pids = processesLeft(readSmall('/proc/loadavg') ?? '', [mostIn('pid_max'), mostIn('threads-max')]);
		return {
			...(memory === undefined ? {} : {'memory.available': memory}),
			...(pids === undefined ? {} : {'pid.available': pids}),
			...ofDisk,
		};
	};
}

const mostIn = (name: string): number => Number(readSmall(`/proc/sys/kernel/${name}`) ?? Number.NaN);
