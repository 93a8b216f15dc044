// The control groups of all pods of a node on Docker, and what is killed through them: exclusive pods at the end of their lease.

import path from 'node:path';
import type {Clock} from '../../../system/time/clock.js';
import {limits} from '../../../api/limits.js';
import {createLeases, type Leases} from '../../leases/leases.js';
import {readMountinfo} from '../../os/mountinfo.js';
import {
	cgroupDrivers,
	cgroupParentOf,
	endGroups,
	groupFolders,
	killBelow,
	processesBelow,
	removeGroups,
	reopen,
	strikeText,
	type CgroupDriver,
} from './pod-cgroup.js';

export type PodGroups = {
	readonly leases: Leases;
	/** For HostConfig.CgroupParent; undefined: where the Engine puts all, for this agent may not touch them. */
	readonly parentOf: (uid: string) => string | undefined;
	/** The same for infra containers: what is killed with a pod are its programs. */
	readonly infraParent: () => string | undefined;
	/** What the Engine has answered when it was asked how it is: who makes its groups. */
	readonly learn: (info: unknown) => void;
	/** Whether that process is killed with the pod. */
	readonly has: (uid: string, pid: number) => boolean;
	/** Programs may begin: what a blow has left shut is opened. */
	readonly open: (uid: string) => void;
	/** Of a pod of which no container is left. */
	readonly remove: (uid: string) => Promise<void>;
	/** What is empty goes; nothing is being started any more. */
	readonly close: () => Promise<void>;
};

/** No pod's uid. */
const infraGroup = 'infra';

/** What those of all pods are in, the infra containers' too. */
export const groupsOfOwner = (owner: string): readonly string[] => [
	...new Set(foldersOfPod(owner, infraGroup).map(folder => path.dirname(folder))),
];

/** Of either driver: a lease is looked after also while the Engine does not say which one it has. */
const foldersOfPod = (owner: string, uid: string): readonly string[] =>
	cgroupDrivers.flatMap(each => groupFolders(cgroupParentOf(each, owner, uid), readMountinfo()));

export type PodGroupsOptions = {
	readonly owner: string;
	readonly isRoot: boolean;
	readonly folderOf: (uid: string) => string;
	readonly bootId: string;
	readonly clock: Clock;
	readonly onWarning: (message: string) => void;
};

export function createPodGroups(options: PodGroupsOptions): PodGroups {
	const {owner, isRoot, folderOf, bootId, clock, onWarning} = options;
	let driver: CgroupDriver | undefined;
	let closed = false;
	const foldersOf = (uid: string): readonly string[] => foldersOfPod(owner, uid);

	const parentOf = (uid: string): string | undefined => (isRoot && driver !== undefined ? cgroupParentOf(driver, owner, uid) : undefined);

	/** Until nothing is left, or it may run again. */
	function strike(uid: string, sinceMs: number = clock.monotonicMs()): void {
		const folders = foldersOf(uid);
		if (killBelow(folders) || leases.deadlineOf(uid) !== undefined) return reopen(folders);
		const lastsMs = clock.monotonicMs() - sinceMs;
		clock.after(lastsMs < limits.groupEndMs ? limits.groupLookMs : limits.watchdogAgainMs, () => void (closed || strike(uid, sinceMs)));
	}

	const strikeOf = (uid: string) => ({text: strikeText, words: foldersOf(uid)});
	const leases = createLeases({folderOf, kill: uid => strike(uid), strikeOf, bootId, clock, onWarning});
	return {
		leases,
		parentOf,
		infraParent: () => parentOf(infraGroup),
		learn(info) {
			driver = cgroupDrivers.find(each => each === (Object(info) as {CgroupDriver?: unknown}).CgroupDriver);
		},
		has: (uid, pid) => processesBelow(foldersOf(uid)).includes(pid),
		open: uid => reopen(foldersOf(uid)),
		async remove(uid) {
			leases.end(uid);
			if (isRoot) await endGroups(foldersOf(uid), clock);
		},
		async close() {
			closed = true;
			leases.close();
			if (isRoot) await removeGroups(groupsOfOwner(owner));
		},
	};
}
