// The control group below which an Engine makes those of a pod's containers, as the host has it: in each tree of version 1, and in that of version 2.
//
// What stands below it can be found and killed without the Engine. Infra containers are elsewhere: what is killed here are the pod's programs, and
// its namespaces stay.
//
// Source: cgroups(7), systemd.slice(5); how runc reads a parent with each driver, from its libcontainer/cgroups.

import {existsSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {rmdir} from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import {limits} from '../../../api/limits.js';
import {valueOr} from '../../../api/value-or.js';
import type {Clock} from '../../../system/time/clock.js';
import {mountsIn} from '../../os/mountinfo.js';

/** Who makes groups for the Engine: itself, or systemd, which knows them as slices. */
export const cgroupDrivers = ['cgroupfs', 'systemd'] as const;

export type CgroupDriver = (typeof cgroupDrivers)[number];

/**
 * What HostConfig.CgroupParent says: `/troupe-<owner>/<name>`, or `troupe-<owner>-<name>.slice`, in which a dash is a level. Both are letters, digits,
 * ".", "_" and "-".
 */
export function cgroupParentOf(driver: CgroupDriver, owner: string, name: string): string {
	if (driver === 'cgroupfs') return `/troupe-${owner}/${name}`;
	return `troupe-${[owner, name].map(part => part.replaceAll('-', '_')).join('-')}.slice`;
}

/** Its folders on this host, one a tree, whether they are there or not. None where the trees are not seen from their tops. */
export function groupFolders(parent: string, mountinfo: string): readonly string[] {
	const trees = mountsIn(mountinfo).filter(({type, root}) => (type === 'cgroup' || type === 'cgroup2') && root === '/');
	const points = new Map(trees.map(({device, point}) => [device, point]));
	return [...points.values()].map(point => path.join(point, parent.endsWith('.slice') ? slicePath(parent) : parent));
}

/** `a-b.slice` is `a.slice/a-b.slice`. */
function slicePath(slice: string): string {
	const parts = slice.slice(0, -'.slice'.length).split('-');
	return parts.map((_, at) => `${parts.slice(0, at + 1).join('-')}.slice`).join('/');
}

/** All groups below each folder, itself included, the deepest first. */
function groupsIn(folder: string): readonly string[] {
	const found = [folder];
	for (const group of found) {
		const entries = valueOr([], () => readdirSync(group, {withFileTypes: true}));
		found.push(...entries.filter(entry => entry.isDirectory()).map(({name}) => path.join(group, name)));
	}
	return found.reverse();
}

/** The processes below these folders, those of other namespaces aside. */
export function processesBelow(folders: readonly string[]): readonly number[] {
	const texts = folders.flatMap(groupsIn).map(group => valueOr('', () => readFileSync(path.join(group, 'cgroup.procs'), 'utf8')));
	const pids = texts.flatMap(text => text.split('\n').map(Number));
	return [...new Set(pids)].filter(pid => pid > 1);
}

/** SIGKILL to all there is below. Nothing new begins there until `reopen`. True: nothing was there. */
export function killBelow(folders: readonly string[]): boolean {
	// What forks without end is not ahead for ever.
	for (const folder of folders) setIfThere(path.join(folder, 'pids.max'), '0');
	const pids = processesBelow(folders);
	// Of version 2, since Linux 5.14: all at once.
	for (const folder of folders) setIfThere(path.join(folder, 'cgroup.kill'), '1');
	for (const pid of pids) valueOr(false, () => process.kill(pid, 'SIGKILL'));
	return pids.length === 0;
}

/** Processes may begin below again. */
export function reopen(folders: readonly string[]): void {
	for (const folder of folders) setIfThere(path.join(folder, 'pids.max'), 'max');
}

/** Without O_CREAT: what the kernel does not have is an error and no new file. */
function setIfThere(file: string, text: string): void {
	try {
		writeFileSync(file, text, {flag: 'r+'});
	} catch {
		// Of another tree, of a kernel without it, or no container has begun.
	}
}

/** Removes what is empty of them, and what is empty below. A container must not be starting below them. True: none is left. */
export async function removeGroups(folders: readonly string[]): Promise<boolean> {
	for (const group of folders.flatMap(groupsIn)) await rmdir(group).catch(() => undefined);
	return !folders.some(folder => existsSync(folder));
}

/** The same where no container is below any more: what is left ends. Programs of Podman's own stay there for minutes after an exec. */
export async function endGroups(folders: readonly string[], clock: Clock): Promise<void> {
	const untilMs = clock.monotonicMs() + limits.groupEndMs;
	while (!(await removeGroups(folders)) && clock.monotonicMs() < untilMs) {
		for (const pid of processesBelow(folders)) valueOr(false, () => process.kill(pid, 'SIGKILL'));
		await new Promise<void>(resolve => void clock.after(limits.groupLookMs, resolve));
	}
}

/**
 * The same as `killBelow` and `reopen` for a shell that outlives the agent: defines `strike`, which gets the folders. It starts no process before
 * it has tried for two seconds; then it looks once a second, for what the kernel has not ended yet.
 */
export const strikeText = `walk() {
for below in "$1"/*/; do [ -d "$below" ] && walk "\${below%/}"; done
[ -r "$1/cgroup.procs" ] && while read -r pid; do [ "$pid" -gt 1 ] && { found=yes; kill -s KILL "$pid"; }; done <"$1/cgroup.procs"
}
strike() {
uptime
patience=$((now + 200))
while :; do
found=
for group in "$@"; do
[ -f "$group/pids.max" ] && echo 0 >"$group/pids.max"
[ -f "$group/cgroup.kill" ] && echo 1 >"$group/cgroup.kill"
walk "$group"
done
[ -n "$found" ] || break
uptime
[ "$now" -lt "$patience" ] || sleep 1
done
for group in "$@"; do [ -f "$group/pids.max" ] && echo max >"$group/pids.max"; done
}`;
