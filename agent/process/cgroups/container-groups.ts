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
import {explained} from '../../os/explained.js';
import type {ProcessStat} from '../../os/identity.js';
import {figuresOf, type Figures} from '../../usage/group-files.js';
import {disksOfProcesses, figuresOfProcesses} from '../../usage/process-figures.js';
import {readSmall} from '../../usage/small-file.js';
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
	readonly procsFiles: (id: ContainerId, attempt: number, limits: Limits) => readonly string[];
	/** Of the groups that are there. */
	readonly procsFilesOfRunning: (id: ContainerId, attempt: number) => readonly string[];
	/** The groups of these files. Throws errno exceptions. */
	readonly make: (id: ContainerId, attempt: number, limits: Limits) => void;
	/** The program runs: it is put into a group in a later turn, unless it joins by itself. */
	readonly collect: (id: ContainerId, attempt: number, program: ProcessStat) => void;
	readonly wasOomKilled: (id: ContainerId, attempt: number) => boolean;
	/** What is used in it: of processes one by one, where none of its groups counts it. */
	readonly figures: (id: ContainerId, attempt: number) => Figures;
	/**
	 * Kills what is in it. Calls back when nothing is left, in the same turn where nothing was; at the latest after `groupEndMs`. The group of a
	 * program that has run is removed after that.
	 */
	readonly end: (id: ContainerId, attempt: number, done: () => void) => void;
	/** The same for all groups of which nothing is to be kept. */
	readonly sweep: (isKept: (id: ContainerId, attempt: number) => boolean) => void;
	/** Resolves when nothing is changed any more. */
	readonly close: () => Promise<void>;
};

/** Groups of a host where there are none. */
export const noGroups: ContainerGroups = {
	enforces: () => false,
	procsFiles: () => [],
	procsFilesOfRunning: () => [],
	make: () => undefined,
	collect: () => undefined,
	wasOomKilled: () => false,
	figures: () => ({cpuNanos: undefined, memoryBytes: undefined}),
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

type State = {
	readonly hierarchies: readonly Hierarchy[];
	readonly processes: number;
	readonly clock: Clock;
	readonly onWarning: (message: string) => void;
	readonly finder: Hierarchy;
	/** What finds and what counts processes, and what shares the processors among containers and not among their processes. */
	readonly gathering: readonly Hierarchy[];
	closed: boolean;
	/** Of programs that will join by themselves and have not begun. Another attempt may take the same name. */
	readonly made: Set<string>;
	readonly collecting: Set<string>;
	readonly removing: Set<string>;
	chores: Promise<void>;
	hasWarned: boolean;
};

/** Each container is in the tree that finds it and in those that limit it. */
function groupsIn(
	hierarchies: readonly Hierarchy[],
	processes: number,
	clock: Clock,
	onWarning: (message: string) => void,
): ContainerGroups {
	const finder = finderOf(hierarchies);
	const state: State = {
		hierarchies,
		processes,
		clock,
		onWarning,
		finder,
		gathering: [finder, ...hierarchies.filter(tree => tree !== finder && /pids|cpu/.test(tree.controllers.join()))],
		closed: false,
		made: new Set(),
		collecting: new Set(),
		removing: new Set(),
		chores: Promise.resolve(),
		hasWarned: false,
	};
	return {
		enforces: controller => treeWith(state, controller) !== undefined,
		procsFiles: (id, attempt, limits) => treesFor(state, limits).map(({base}) => path.join(base, nameOf(id, attempt), 'cgroup.procs')),
		procsFilesOfRunning: (id, attempt) =>
			state.hierarchies.map(({base}) => path.join(base, nameOf(id, attempt), 'cgroup.procs')).filter(file => existsSync(file)),
		make: (id, attempt, limits) => make(state, nameOf(id, attempt), limits),
		collect(id, attempt, program) {
			const name = nameOf(id, attempt);
			if (state.made.delete(name)) return;
			state.collecting.add(name);
			later(state, () => collectNow(state, name, program));
		},
		wasOomKilled(id, attempt) {
			const tree = treeWith(state, 'memory');
			return tree !== undefined && oomKills(tree, nameOf(id, attempt)) > 0;
		},
		figures: (id, attempt) => figuresIn(state, nameOf(id, attempt)),
		end: (id, attempt, done) => end(state, nameOf(id, attempt), done),
		sweep(isKept) {
			for (const name of new Set(state.hierarchies.flatMap(({base}) => foldersOf(base)))) {
				const [uid = '', container = '', attempt = ''] = name.split('@');
				if (isKept({uid, container}, Number(attempt))) continue;
				state.made.add(name); // Its name may be wanted soon.
				end(state, name, () => undefined);
			}
		},
		async close() {
			state.closed = true;
			await state.chores;
			for (const name of state.removing) remove(state, name);
			for (const {base} of state.hierarchies) removeGroup(base);
		},
	};
}

function make(state: State, name: string, limits: Limits): void {
	const trees = treesFor(state, limits);
	if (trees.length === 0) return;
	state.made.add(name);
	state.removing.delete(name);
	// A share of its own, without a limit beside it, would be less than what containers have that ask for nothing.
	const cpuRequestMillis = limits.cpuLimitMillis === undefined ? undefined : limits.cpuRequestMillis;
	for (const tree of trees) makeGroup(tree, name, {...limits, cpuRequestMillis, processes: state.processes});
}

/** One after the other: threads of Node would only wait for each other in the kernel. */
function later(state: State, work: () => Promise<void>): void {
	state.chores = state.chores.then(() => (state.closed ? undefined : work()));
}

const treeWith = ({hierarchies}: State, controller: Controller): Hierarchy | undefined =>
	hierarchies.find(({controllers}) => controllers.includes(controller));

/** Those that a program joins by itself. */
function treesFor(state: State, {memoryLimitBytes, cpuLimitMillis}: Limits): readonly Hierarchy[] {
	const memory = memoryLimitBytes === undefined ? undefined : treeWith(state, 'memory');
	const cpu = cpuLimitMillis === undefined ? undefined : treeWith(state, 'cpu');
	if (memory === undefined && cpu === undefined && treeWith(state, 'pids') === undefined) return [];
	return state.hierarchies.filter(tree => tree === memory || tree === cpu || state.gathering.includes(tree));
}

/** Time of processors is counted in every group of version 2, and in one of version 1 where the two controllers share a tree; disks in none of ours. */
function figuresIn({hierarchies, finder}: State, name: string): Figures {
	const groups = hierarchies.map(({version, base, controllers}) => ({version, folder: path.join(base, name), controllers}));
	const counted = groups.map(group => ({
		cpu: group.version === 2 || group.controllers.includes('cpu') ? group : undefined,
		memory: group.controllers.includes('memory') ? group : undefined,
	}));
	const told = counted.map(figuresOf);
	const cpuNanos = told.find(each => each.cpuNanos !== undefined)?.cpuNanos;
	const memoryBytes = told.find(each => each.memoryBytes !== undefined)?.memoryBytes;
	const pids = (readSmall(path.join(finder.base, name, 'cgroup.procs')) ?? '').split('\n').map(Number);
	const processes = pids.filter(pid => pid > 1);
	const disks = disksOfProcesses(processes);
	if (cpuNanos !== undefined && memoryBytes !== undefined) return {cpuNanos, memoryBytes, ...disks};
	const single = figuresOfProcesses(processes);
	return {...disks, cpuNanos: cpuNanos ?? single.cpuNanos, memoryBytes: memoryBytes ?? single.memoryBytes};
}

function remove({hierarchies}: State, name: string): void {
	for (const {base} of hierarchies) removeGroup(path.join(base, name));
}

function removeLater(state: State, name: string): void {
	state.removing.add(name);
	later(state, async () => {
		if (!state.removing.delete(name)) return; // A new attempt has taken the name.
		// What was just being collected when its program ended.
		if (!isEmpty(state.finder, name)) return end(state, name, () => undefined);
		for (const {base} of state.hierarchies) await removeGroupLater(path.join(base, name));
	});
}

async function collectNow(state: State, name: string, program: ProcessStat): Promise<void> {
	if (!state.collecting.has(name)) return; // It has ended.
	try {
		await gather(state.gathering, name, program, {...noLimits, processes: state.processes});
	} catch (error) {
		if (!state.hasWarned) state.onWarning(`what leaves its session may outlive its container: ${explained(error)}`);
		state.hasWarned = true;
	}
	state.collecting.delete(name);
}

function end(state: State, name: string, done: () => void, leftMs: number = bounds.groupEndMs): void {
	state.collecting.delete(name);
	if (!isEmpty(state.finder, name)) {
		killGroup(state.finder, name);
		if (leftMs > 0) {
			state.clock.after(bounds.groupLookMs, () => void (state.closed || end(state, name, done, leftMs - bounds.groupLookMs)));
			return;
		}
		state.onWarning(`processes of "${name}" do not end, though they were killed`);
	} else if (state.made.delete(name)) remove(state, name);
	else removeLater(state, name);
	done();
}

/** Version 2 kills a whole group at once; of the others the one that can stop new processes, then the cheapest. */
function finderOf(hierarchies: readonly Hierarchy[]): Hierarchy {
	const [first] = hierarchies;
	if (first === undefined) throw new Error('there is no tree of groups');
	const best = hierarchies.find(({version}) => version === 2) ?? hierarchies.find(({controllers}) => controllers.includes('pids'));
	return best ?? hierarchies.find(({controllers}) => !controllers.includes('memory')) ?? first;
}
