// The processes of a host, as one pass over /proc finds them: what tells which of them are a container's where no control group does.
//
// Source: proc_pid_stat(5).

import {readdir} from 'node:fs/promises';
import {limits} from '../../api/limits.js';
import type {Clock} from '../../system/time/clock.js';
import {parseProcessStat, type ProcessStat} from '../os/identity.js';
import {turn} from '../os/turn.js';
import {readSmall} from './small-file.js';

export type ProcessTable = {
	/** By process group. */
	readonly groups: ReadonlyMap<number, readonly number[]>;
	/** By parent. */
	readonly children: ReadonlyMap<number, readonly number[]>;
};

/** Of a host with more than `usageHostProcesses` nothing is known. Rejects with errno exceptions. */
export async function readProcessTable(clock: Clock): Promise<ProcessTable> {
	const groups = new Map<number, number[]>();
	const children = new Map<number, number[]>();
	const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
	let begunMs = clock.monotonicMs();
	for (const pid of pids.length > limits.usageHostProcesses ? [] : pids) {
		if (clock.monotonicMs() - begunMs >= limits.usageTurnMs) {
			await turn();
			begunMs = clock.monotonicMs();
		}
		const line = readSmall(`/proc/${pid}/stat`) ?? '';
		const process = parseProcessStat(line);
		if (process === undefined) continue;
		add(groups, process.group, process.pid);
		add(children, parentIn(line), process.pid);
	}
	return {groups, children};
}

function add(lists: Map<number, number[]>, key: number, pid: number): void {
	const list = lists.get(key);
	if (list === undefined) lists.set(key, [pid]);
	else list.push(pid);
}

/** Field 4. */
const parentIn = (stat: string): number => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);

/**
 * What the program of a container has begun, and itself: all in the process group that its shim leads, without the shim, and all below these. What has
 * left both is not found. One more than `usageProcesses` at most.
 */
export function processesOf(program: ProcessStat, {groups, children}: ProcessTable): readonly number[] {
	const found = new Set([program.pid, ...(groups.get(program.group) ?? []).filter(pid => pid !== program.group)]);
	for (const pid of found) {
		if (found.size > limits.usageProcesses) break;
		for (const child of children.get(pid) ?? []) found.add(child);
	}
	return [...found].slice(0, limits.usageProcesses + 1);
}
