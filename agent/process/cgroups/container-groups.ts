// One control group per attempt of a container: it holds the limits, knows of kills for want of memory, and finds every process of
// the container, those too that have left its process group and its session.
//
// To join a group costs some milliseconds, and yet a program joins before it begins, by itself: one that begins processes without end would be
// ahead of what puts it into a group later. Put into its groups while it runs is only what an agent of a version before has begun, and what has
// no limit on a host that counts no processes.
//
// The names follow from container and attempt, so that a later agent finds the groups of an earlier one without any record of them.

import {createHash} from 'node:crypto';
import {existsSync, statSync} from 'node:fs';
import path from 'node:path';
import {limits as bounds} from '../../../api/limits.js';
import type {ContainerId} from '../../../actors/node/runtime/runtime-port.js';
import type {Clock} from '../../../system/time/clock.js';
import {explained} from '../os/explained.js';
import type {ProcessStat} from '../os/identity.js';
import {
	foldersOf,
	gather,
	isEmpty,
	killGroup,
	makeGroup,
	oomKills,
	openHierarchies,
	removeGroup,
	removeGroupLater,
	viewOfThisProcess,
} from './cgroups.js';
import type {Controller, Hierarchy, Limits, View} from './cgroups.js';

export type ContainerGroups = {
	/** Whether limits of it hold. */
	readonly enforces: (controller: Controller) => boolean;
	/** Where a process writes "0" to join before it begins, in this order, once the groups are made. None where it joins while it runs. */
	readonly doors: (id: ContainerId, attempt: number, limits: Limits) => readonly string[];
	/** Of the groups that are there. */
	readonly doorsOfRunning: (id: ContainerId, attempt: number) => readonly string[];
	/** The groups of these doors. Throws errno exceptions. */
	readonly make: (id: ContainerId, attempt: number, limits: Limits) => void;
	/** The program runs: it is put into a group in a later turn, unless it joins by itself. */
	readonly collect: (id: ContainerId, attempt: number, program: ProcessStat) => void;
	readonly wasOomKilled: (id: ContainerId, attempt: number) => boolean;
	/**
	 * Kills what is in it. Calls back when nothing is left, in the same turn where nothing was; at the latest after `groupEndMs`. The group of a
	 * program that has run is removed after that.
	 */
	readonly end: (id: ContainerId, attempt: number, done: () => void) => void;
	/** The same for all groups of which nobody wants to keep anything. */
	readonly sweep: (isKept: (id: ContainerId, attempt: number) => boolean) => void;
	/** Resolves when nothing is changed any more. */
	readonly close: () => Promise<void>;
};

/** Groups of a host where there are none. */
export const noGroups: ContainerGroups = {
	enforces: () => false,
	doors: () => [],
	doorsOfRunning: () => [],
	make: () => undefined,
	collect: () => undefined,
	wasOomKilled: () => false,
	end: (_id, _attempt, done) => done(),
	sweep: () => undefined,
	close: () => Promise.resolve(),
};

const noLimits: Limits = {memoryLimitBytes: undefined, cpuLimitMillis: undefined, cpuRequestMillis: undefined};

const nameOf = ({uid, container}: ContainerId, attempt: number): string => `${uid}@${container}@${attempt}`;

/** No two directories have the same groups, nor have two hosts that share a kernel and know their directories by the same path. */
export function groupsName(directory: string): string {
	const {dev, ino} = statSync(directory);
	return createHash('sha256').update(`${directory}\0${dev}\0${ino}`).digest('hex').slice(0, 12);
}

/** The groups of one agent's directory, which must be there. `noGroups` where nothing works. */
export function openContainerGroups(
	directory: string,
	clock: Clock,
	onWarning: (message: string) => void,
	view: () => View = viewOfThisProcess,
	processes: number = bounds.containerProcesses,
): ContainerGroups {
	let hierarchies: readonly Hierarchy[];
	try {
		hierarchies = openHierarchies(groupsName(directory), view(), clock.nowMs());
	} catch {
		return noGroups; // No /proc of a kernel with control groups.
	}
	return hierarchies.length === 0 ? noGroups : groupsIn(hierarchies, processes, clock, onWarning);
}

/** Each container is in the tree that finds it and in those that limit it. */
function groupsIn(
	hierarchies: readonly Hierarchy[],
	processes: number,
	clock: Clock,
	onWarning: (message: string) => void,
): ContainerGroups {
	const finder = finderOf(hierarchies);
	/** What finds and what counts processes, and what shares the processors among containers and not among their processes. */
	const gathering = [finder, ...hierarchies.filter(tree => tree !== finder && /pids|cpu/.test(tree.controllers.join()))];
	let closed = false;
	/** Of programs that will join by themselves and have not begun. Another attempt may take the same name. */
	const made = new Set<string>();
	const collecting = new Set<string>();
	const removing = new Set<string>();
	let chores: Promise<void> = Promise.resolve();
	let hasWarned = false;

	/** One after the other: threads of Node would only wait for each other in the kernel. */
	function later(work: () => Promise<void>): void {
		chores = chores.then(() => (closed ? undefined : work()));
	}

	const with_ = (controller: Controller): Hierarchy | undefined => hierarchies.find(({controllers}) => controllers.includes(controller));

	/** Those that a program joins by itself. */
	function treesFor({memoryLimitBytes, cpuLimitMillis}: Limits): readonly Hierarchy[] {
		const memory = memoryLimitBytes === undefined ? undefined : with_('memory');
		const cpu = cpuLimitMillis === undefined ? undefined : with_('cpu');
		if (memory === undefined && cpu === undefined && with_('pids') === undefined) return [];
		return hierarchies.filter(tree => tree === memory || tree === cpu || gathering.includes(tree));
	}

	function remove(name: string): void {
		for (const {base} of hierarchies) removeGroup(path.join(base, name));
	}

	function removeLater(name: string): void {
		removing.add(name);
		later(async () => {
			if (!removing.delete(name)) return; // A new attempt has taken the name.
			// What was just being collected when its program ended.
			if (!isEmpty(finder, name)) return end(name, () => undefined);
			for (const {base} of hierarchies) await removeGroupLater(path.join(base, name));
		});
	}

	async function collectNow(name: string, program: ProcessStat): Promise<void> {
		if (!collecting.has(name)) return; // It has ended.
		try {
			await gather(gathering, name, program, {...noLimits, processes});
		} catch (error) {
			if (!hasWarned) onWarning(`what leaves its session may outlive its container: ${explained(error)}`);
			hasWarned = true;
		}
		collecting.delete(name);
	}

	function end(name: string, done: () => void, leftMs: number = bounds.groupEndMs): void {
		collecting.delete(name);
		if (!isEmpty(finder, name)) {
			killGroup(finder, name);
			if (leftMs > 0) {
				clock.after(bounds.groupLookMs, () => void (closed || end(name, done, leftMs - bounds.groupLookMs)));
				return;
			}
			onWarning(`processes of "${name}" do not end, though they were killed`);
		} else if (made.delete(name)) remove(name);
		else removeLater(name);
		done();
	}

	return {
		enforces: controller => with_(controller) !== undefined,
		doors: (id, attempt, limits) => treesFor(limits).map(({base}) => path.join(base, nameOf(id, attempt), 'cgroup.procs')),
		doorsOfRunning: (id, attempt) =>
			hierarchies.map(({base}) => path.join(base, nameOf(id, attempt), 'cgroup.procs')).filter(door => existsSync(door)),
		make(id, attempt, limits) {
			const trees = treesFor(limits);
			if (trees.length === 0) return;
			made.add(nameOf(id, attempt));
			removing.delete(nameOf(id, attempt));
			// A share of its own, without a limit beside it, would be less than what containers have that ask for nothing.
			const cpuRequestMillis = limits.cpuLimitMillis === undefined ? undefined : limits.cpuRequestMillis;
			for (const tree of trees) makeGroup(tree, nameOf(id, attempt), {...limits, cpuRequestMillis, processes});
		},
		collect(id, attempt, program) {
			const name = nameOf(id, attempt);
			if (made.delete(name)) return;
			collecting.add(name);
			later(() => collectNow(name, program));
		},
		wasOomKilled(id, attempt) {
			const tree = with_('memory');
			return tree !== undefined && oomKills(tree, nameOf(id, attempt)) > 0;
		},
		end: (id, attempt, done) => end(nameOf(id, attempt), done),
		sweep(isKept) {
			for (const name of new Set(hierarchies.flatMap(({base}) => foldersOf(base)))) {
				const [uid = '', container = '', attempt = ''] = name.split('@');
				if (isKept({uid, container}, Number(attempt))) continue;
				made.add(name); // Its name may be wanted soon.
				end(name, () => undefined);
			}
		},
		async close() {
			closed = true;
			await chores;
			for (const name of removing) remove(name);
			for (const {base} of hierarchies) removeGroup(base);
		},
	};
}

/** Version 2 kills a whole group at once; of the others the one that can stop new processes, then the cheapest. */
function finderOf(hierarchies: readonly Hierarchy[]): Hierarchy {
	const [first] = hierarchies;
	if (first === undefined) throw new Error('there is no tree of groups');
	const best = hierarchies.find(({version}) => version === 2) ?? hierarchies.find(({controllers}) => controllers.includes('pids'));
	return best ?? hierarchies.find(({controllers}) => !controllers.includes('memory')) ?? first;
}
