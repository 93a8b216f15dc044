// Which control groups this host lets an agent use: of version 2 what is delegated to it, of version 1 each controller's own tree.
//
// Source: cgroups(7), the kernel's admin-guide/cgroup-v1 and admin-guide/cgroup-v2.

import {appendFileSync, mkdirSync, readFileSync, readdirSync, rmdirSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {mkdir, rmdir, writeFile} from 'node:fs/promises';
import {limits as bounds} from '../../../api/limits.js';
import {valueOr} from '../../../api/value-or.js';
import {hasCode, orFor} from '../../../system/files/errno.js';
import {statOf, type ProcessStat} from '../../os/identity.js';
import {mountsIn, readMountinfo} from '../../os/mountinfo.js';
import {childrenOf} from '../../os/process-tree.js';
import {turn} from '../../os/turn.js';

export type Controller = 'cpu' | 'memory' | 'pids';

/** A tree of groups, and the folder in it under which an agent makes its own. */
export type Hierarchy = {readonly version: 1 | 2; readonly base: string; readonly controllers: readonly Controller[]};

export type Limits = {
	readonly memoryLimitBytes: number | undefined;
	readonly cpuLimitMillis: number | undefined;
	readonly cpuRequestMillis: number | undefined;
	/** The most processes and threads. */
	readonly processes?: number | undefined;
};

/** The files that say what is mounted and where this process stands. */
export type View = {readonly mountinfo: string; readonly cgroup: string; readonly isRoot: boolean};

export const viewOfThisProcess = (): View => ({
	mountinfo: readMountinfo(),
	cgroup: readFileSync('/proc/self/cgroup', 'utf8'),
	isRoot: process.getuid?.() === 0,
});

const controllers: readonly Controller[] = ['memory', 'cpu', 'pids'];

const isController = (word: string): word is Controller => (controllers as readonly string[]).includes(word);

/** A place where groups might be made; only trying shows whether they can. */
export type Candidate = {readonly version: 1 | 2; readonly folder: string; readonly controllers: readonly Controller[]};

/**
 * Where to try, best first. Root begins at the top of each tree, so that containers outlive the session or the service that the agent
 * was started in; others have only what was delegated to them, in version 2 the group they stand in.
 */
export function candidates({mountinfo, cgroup, isRoot}: View): readonly Candidate[] {
	return mountsIn(mountinfo).flatMap(({root, point, type, options}): Candidate[] => {
		if (type === 'cgroup') return [{version: 1, folder: point, controllers: options.split(',').filter(isController)}];
		if (type !== 'cgroup2') return [];
		const own = /^0::(.*)$/m.exec(cgroup)?.[1] ?? '/';
		const inside = path.join(point, path.relative(root, own));
		return (isRoot ? [point, inside] : [inside]).map(place => ({version: 2, folder: place, controllers: []}));
	});
}

/** The trees that work, each with a folder of that name in it; one controller is in one tree only. Sweeps away what agents left behind empty. */
export function openHierarchies(name: string, view: View, nowMs: number): readonly Hierarchy[] {
	const found: Hierarchy[] = [];
	for (const candidate of candidates(view)) {
		if (candidate.version === 2 && found.some(({version}) => version === 2)) continue;
		if (candidate.version === 1 && candidate.controllers.length === 0) continue;
		sweepBases(candidate.folder, nowMs);
		const hierarchy = openHierarchy(candidate, name);
		if (hierarchy !== undefined) found.push(hierarchy);
	}
	return found;
}

const basePrefix = 'troupe-';

/** Undefined: no group can be made there. */
function openHierarchy({version, folder, controllers: own}: Candidate, name: string): Hierarchy | undefined {
	const base = path.join(folder, basePrefix + name);
	try {
		if (version === 1) mkdirSync(base, {recursive: true});
		const has = version === 1 ? own : openBase(folder, base);
		boundAll(base, has);
		return {version, base, controllers: has};
	} catch {
		return undefined;
	}
}

/** All containers together leave room for what else runs on the host. */
function boundAll(base: string, has: readonly Controller[]): void {
	if (!has.includes('pids')) return;
	const most = Math.min(...['pid_max', 'threads-max'].map(name => Number(readFileSync(`/proc/sys/kernel/${name}`, 'utf8'))));
	writeFileSync(path.join(base, 'pids.max'), String(Math.floor((most * bounds.processesSharePercent) / 100)));
}

/** Makes the folder of a version 2 tree and hands on the controllers there are. Throws errno exceptions when it cannot be made. */
function openBase(folder: string, base: string): readonly Controller[] {
	const available = wordsOf(path.join(folder, 'cgroup.controllers')).filter(isController);
	handOn(folder, available);
	mkdirSync(base, {recursive: true});
	handOn(base, available);
	return wordsOf(path.join(base, 'cgroup.subtree_control')).filter(isController);
}

/** A group below the top hands nothing on while processes stand in it: an agent that is alone there makes room. */
function handOn(group: string, wanted: readonly Controller[]): void {
	const there = wordsOf(path.join(group, 'cgroup.subtree_control'));
	const missing = wanted.filter(controller => !there.includes(controller));
	if (missing.length === 0) return;
	const write = (): void => writeFileSync(path.join(group, 'cgroup.subtree_control'), missing.map(word => `+${word}`).join(' '));
	try {
		write();
	} catch {
		try {
			if (wordsOf(path.join(group, 'cgroup.procs')).join() !== String(process.pid)) return;
			const room = path.join(group, 'agent');
			mkdirSync(room, {recursive: true});
			writeFileSync(path.join(room, 'cgroup.procs'), String(process.pid));
			write();
		} catch {
			// Not ours to change: the controllers are then not in the answer.
		}
	}
}

function wordsOf(file: string): string[] {
	const text = readFileSync(file, 'utf8').trim();
	return text === '' ? [] : text.split(/\s+/);
}

/**
 * An agent that was killed cannot remove its folder, and one whose home is gone never comes back for its groups. Only what is old goes: what
 * another agent has just made is empty until a program has joined. What is not empty stays: the system refuses.
 */
function sweepBases(folder: string, nowMs: number): void {
	const isOld = (file: string): boolean => (statSync(file, {throwIfNoEntry: false})?.ctimeMs ?? nowMs) < nowMs - bounds.groupKeptMs;
	for (const name of foldersOf(folder).filter(each => each.startsWith(basePrefix))) {
		const base = path.join(folder, name);
		const wasOld = isOld(base);
		for (const group of foldersOf(base).map(each => path.join(base, each))) if (isOld(group)) removeGroup(group);
		if (wasOld) removeGroup(base);
	}
}

/** Folders in a folder; none where it cannot be seen. */
export function foldersOf(folder: string): string[] {
	const entries = valueOr([], () => readdirSync(folder, {withFileTypes: true}));
	return entries.filter(entry => entry.isDirectory()).map(({name}) => name);
}

/** Makes a group and its limits. Its folder may have been swept by another agent meanwhile. Throws errno exceptions. */
export function makeGroup(hierarchy: Hierarchy, name: string, limits: Limits): void {
	const group = path.join(hierarchy.base, name);
	try {
		mkdirSync(group);
	} catch (error) {
		if (hasCode(error, 'ENOENT')) {
			openBaseAgain(hierarchy);
			mkdirSync(group, {recursive: true});
		} else if (!hasCode(error, 'EEXIST')) throw error;
	}
	applySettings(group, settings(hierarchy, limits));
}

function applySettings(group: string, wanted: readonly Setting[]): void {
	for (const {file, text, isOptional} of wanted) {
		try {
			writeFileSync(path.join(group, file), text);
		} catch (error) {
			if (!isOptional) throw error;
		}
	}
}

function openBaseAgain({version, base, controllers: has}: Hierarchy): void {
	if (version === 2) openBase(path.dirname(base), base);
	else mkdirSync(base, {recursive: true});
	boundAll(base, has);
}

/**
 * Puts a program that runs, and what it has begun, into groups that are made for it, one in each of these trees. Not in the turn of the call: to
 * write to a group takes the kernel some milliseconds when none was written to lately. A group with something in it is left as it is. Rejects
 * with errno exceptions.
 */
export async function gather(trees: readonly Hierarchy[], name: string, program: ProcessStat, limits: Limits): Promise<void> {
	const groups: string[] = [];
	for (const tree of trees) if (await makeEmptyGroup(tree, name, limits)) groups.push(path.join(tree.base, name));
	if (groups.length === 0) return;
	await gatherBelow(groups, name, program);
}

/** False: it is there and has something in it. */
async function makeEmptyGroup(hierarchy: Hierarchy, name: string, limits: Limits): Promise<boolean> {
	const group = path.join(hierarchy.base, name);
	try {
		await mkdir(group);
	} catch (error) {
		if (hasCode(error, 'EEXIST') && !isEmpty(hierarchy, name)) return false;
		if (!hasCode(error, 'EEXIST', 'ENOENT')) throw error;
		if (hasCode(error, 'ENOENT')) {
			openBaseAgain(hierarchy);
			await mkdir(group);
		}
	}
	applySettings(group, settings(hierarchy, limits));
	return true;
}

async function gatherBelow(groups: readonly string[], name: string, program: ProcessStat): Promise<void> {
	let left = [program];
	for (let one = left.pop(); one !== undefined; one = left.pop()) {
		if (statOf(one.pid)?.startTime !== one.startTime || isIn(groups.length, name, one.pid)) continue;
		// Those before it joins, for it may end meanwhile; those after, for only what it begins from then on is in the groups by itself.
		const before = await familyOf(one.pid);
		for (const group of groups) await join(group, one.pid);
		left = [...left, ...before, ...(await familyOf(one.pid))];
	}
}

/** A program may have begun any number of processes: each is looked at in a turn of its own. */
async function familyOf(pid: number): Promise<readonly ProcessStat[]> {
	const family: ProcessStat[] = [];
	for (const child of await childrenOf(pid)) {
		const stat = statOf(child);
		if (stat !== undefined) family.push(stat);
		await turn();
	}
	return family;
}

/** By what the process says, which is short: a group may have any number of members. */
function isIn(groups: number, name: string, pid: number): boolean {
	const lines = valueOr('', () => readFileSync(`/proc/${pid}/cgroup`, 'utf8')).split('\n');
	return lines.filter(line => line.endsWith(`/${name}`)).length >= groups;
}

/** One that has ended need not. */
const join = (group: string, pid: number): Promise<void> =>
	writeFile(path.join(group, 'cgroup.procs'), String(pid)).catch(orFor(undefined, 'ESRCH'));

const membersOf = (group: string): readonly number[] => wordsOf(path.join(group, 'cgroup.procs')).map(Number);

/** As `removeGroup`, but not in the turn of the call: it may have to wait for another who changes groups. */
export const removeGroupLater = (group: string): Promise<void> => rmdir(group).catch(() => undefined);

/** False: it is there and something is in it. */
export function removeGroup(group: string): boolean {
	try {
		rmdirSync(group);
		return true;
	} catch (error) {
		return hasCode(error, 'ENOENT');
	}
}

export type Setting = {
	readonly file: string;
	readonly text: string;
	/** Not every kernel has it. */
	readonly isOptional?: true;
};

/** Of the scheduler, in microseconds: as Kubernetes and Docker have it. */
const periodMicros = 100_000;
/** The kernel takes no less. */
const leastQuotaMicros = 1_000;

/** What is written into a new group. A limit of memory is one of memory and swap together: swapping would only hide it. */
export function settings({version, controllers: has}: Pick<Hierarchy, 'version' | 'controllers'>, limits: Limits): readonly Setting[] {
	const {memoryLimitBytes, cpuLimitMillis, cpuRequestMillis, processes} = limits;
	const quota = cpuLimitMillis === undefined ? undefined : Math.max(leastQuotaMicros, (cpuLimitMillis * periodMicros) / 1_000);
	const shares = cpuRequestMillis === undefined ? undefined : sharesOf(cpuRequestMillis);
	const when = (controller: Controller, value: number | undefined, made: (text: string) => readonly Setting[]): readonly Setting[] =>
		value === undefined || !has.includes(controller) ? [] : made(String(Math.round(value)));
	const ofProcesses = when('pids', processes, text => [{file: 'pids.max', text}]);
	if (version === 1) {
		return [
			...when('memory', memoryLimitBytes, text => [
				{file: 'memory.limit_in_bytes', text},
				{file: 'memory.memsw.limit_in_bytes', text, isOptional: true},
			]),
			...when('cpu', quota, text => [
				{file: 'cpu.cfs_period_us', text: String(periodMicros)},
				{file: 'cpu.cfs_quota_us', text},
			]),
			...when('cpu', shares, text => [{file: 'cpu.shares', text}]),
			...ofProcesses,
		];
	}
	return [
		...when('memory', memoryLimitBytes, text => [
			{file: 'memory.max', text},
			{file: 'memory.swap.max', text: '0', isOptional: true},
			// All of the container ends, not the one process that happened to be largest.
			{file: 'memory.oom.group', text: '1', isOptional: true},
		]),
		...when('cpu', quota, text => [{file: 'cpu.max', text: `${text} ${periodMicros}`}]),
		...when('cpu', shares, text => [{file: 'cpu.weight', text: String(weightOf(Number(text)))}]),
		...ofProcesses,
	];
}

/** 1024 for a whole processor; the kernel's bounds. */
const sharesOf = (millis: number): number => Math.min(262_144, Math.max(2, Math.round((millis * 1_024) / 1_000)));

/** Shares of version 1 as a weight of version 2. Source: KEP-2254, cgroup v2. */
const weightOf = (shares: number): number => 1 + Math.floor(((shares - 2) * 9_999) / 262_142);

/** How often the kernel has killed something in it for want of memory; 0 where that cannot be told. */
export function oomKills({version, base}: Hierarchy, name: string): number {
	const file = path.join(base, name, version === 1 ? 'memory.oom_control' : 'memory.events');
	return Number(/^oom_kill (\d+)$/m.exec(valueOr('', () => readFileSync(file, 'utf8')))?.[1] ?? 0);
}

/** Also where there is no such group. */
export function isEmpty({version, base}: Hierarchy, name: string): boolean {
	const text = valueOr(undefined, () => readFileSync(path.join(base, name, version === 2 ? 'cgroup.events' : 'cgroup.procs'), 'utf8'));
	return text === undefined || (version === 2 ? /^populated 0$/m.test(text) : text === '');
}

/** SIGKILL to all that is in it. Where the kernel does not do it at once, nothing new begins meanwhile if that can be had. */
export function killGroup({version, base, controllers: has}: Hierarchy, name: string): void {
	const group = path.join(base, name);
	try {
		// Without O_CREAT: on a kernel without the file this is an error and no new file.
		if (version === 2) return appendFileSync(path.join(group, 'cgroup.kill'), '1', {flag: 'r+'});
	} catch {
		// Before Linux 5.14.
	}
	try {
		if (has.includes('pids')) writeFileSync(path.join(group, 'pids.max'), '0');
		for (const pid of membersOf(group)) kill(pid);
	} catch {
		// There is no such group.
	}
}

function kill(pid: number): void {
	try {
		// 0 is one of another namespace of processes, and as a target of a signal it means ourselves.
		if (pid > 1) process.kill(pid, 'SIGKILL');
	} catch {
		// It has ended.
	}
}
