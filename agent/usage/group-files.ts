// Which files tell what is used in the control groups that a process is in, and what they tell. Where a group is not to be seen from here there is
// no figure; that of another is never taken.
//
// Source: cgroups(7).

import path from 'node:path';
import type {MountEntry} from '../os/mountinfo.js';
import {cpuNanosInV1, cpuNanosInV2, diskBytesInV1, diskBytesInV2, workingSetBytes} from './cgroup-figures.js';
import {readSmall} from './small-file.js';
import type {DiskFigures} from './traffic-figures.js';

export type Figures = {readonly cpuNanos: number | undefined; readonly memoryBytes: number | undefined} & Partial<DiskFigures>;

/** A group of one tree, as a folder. */
export type Group = {readonly version: 1 | 2; readonly folder: string};

/** Undefined: nothing tells it. */
export type UsageGroups = {readonly cpu: Group | undefined; readonly memory: Group | undefined; readonly disk?: Group | undefined};

/** The groups of a process by its /proc/<pid>/cgroup, where the path of each has this mark in it. */
export function groupsOf(cgroup: string, mounts: readonly MountEntry[], mark: string): UsageGroups {
	const lines = cgroup.split('\n').map(line => /^\d+:([^:]*):(\/.*)$/.exec(line));
	const groupOf = (controller: string): Group | undefined => {
		const [, , inV1] = lines.find(line => line?.[1]?.split(',').includes(controller) === true) ?? [];
		const [, , inV2] = lines.find(line => line?.[1] === '') ?? [];
		const group = inV1 ?? inV2;
		if (group === undefined || !group.includes(mark)) return undefined;
		const version = inV1 === undefined ? 2 : 1;
		const mount = mounts.find(({type, options}) =>
			version === 2 ? type === 'cgroup2' : type === 'cgroup' && options.split(',').includes(controller),
		);
		const folder = mount === undefined ? undefined : folderIn(mount, group);
		return folder === undefined ? undefined : {version, folder};
	};
	return {cpu: groupOf('cpuacct'), memory: groupOf('memory'), disk: groupOf('blkio')};
}

/** A group outside of what is mounted, or of the namespace that this process is in, has no folder here. */
function folderIn({root, point}: MountEntry, group: string): string | undefined {
	const inside = path.posix.relative(root, group);
	return group.split('/').includes('..') || inside.split('/')[0] === '..' ? undefined : path.join(point, inside);
}

/** What was used there so far, and is in use now. */
export const figuresOf = ({cpu, memory, disk}: UsageGroups): Figures => ({
	cpuNanos: cpu === undefined ? undefined : cpuNanosOf(cpu),
	memoryBytes: memory === undefined ? undefined : memoryBytesOf(memory),
	...(disk === undefined ? {} : diskBytesOf(disk)),
});

function diskBytesOf({version, folder}: Group): Partial<DiskFigures> {
	const text = readSmall(path.join(folder, version === 1 ? 'blkio.throttle.io_service_bytes_recursive' : 'io.stat'));
	if (text === undefined) return {};
	return version === 1 ? diskBytesInV1(text) : diskBytesInV2(text);
}

function cpuNanosOf({version, folder}: Group): number | undefined {
	const text = readSmall(path.join(folder, version === 1 ? 'cpuacct.usage' : 'cpu.stat'));
	if (text === undefined) return undefined;
	return version === 1 ? cpuNanosInV1(text) : cpuNanosInV2(text);
}

function memoryBytesOf({version, folder}: Group): number | undefined {
	const usage = readSmall(path.join(folder, version === 1 ? 'memory.usage_in_bytes' : 'memory.current'));
	const stat = readSmall(path.join(folder, 'memory.stat'));
	return usage === undefined || stat === undefined ? undefined : workingSetBytes(usage, stat, version);
}
