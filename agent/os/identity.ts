// A process is known by its pid, its start time and the boot of its host. What does not match all three is another program's,
// and is never signalled.

import {readFileSync} from 'node:fs';
import {valueOr} from '../../api/value-or.js';

/** A line of /proc/<pid>/stat, the fields that are used here. Source: proc(5). */
export type ProcessStat = {
	readonly pid: number;
	readonly state: string;
	readonly group: number;
	/** Clock ticks between the boot and the start of the process: field 22. */
	readonly startTime: number;
};

/** Random for each boot of the kernel. */
export const readBootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** Undefined: the line is not one of /proc/<pid>/stat. The name, in parentheses, may hold blanks and parentheses itself. */
export function parseProcessStat(line: string): ProcessStat | undefined {
	const nameEnd = line.lastIndexOf(')');
	const pid = Number.parseInt(line, 10);
	const fields = line.slice(nameEnd + 2).split(' ');
	const group = Number(fields[2]);
	const startTime = Number(fields[19]);
	if (nameEnd < 0 || !isPid(pid) || !isPid(group) || !Number.isSafeInteger(startTime)) return undefined;
	return {pid, state: fields[0] ?? '', group, startTime};
}

/** 0 and 1 are no container's processes, and as targets of a signal 0, -1 and below mean whole groups. */
const isPid = (value: number): boolean => Number.isSafeInteger(value) && value > 1;

/** The process as it is now; undefined when there is none. */
export const statOf = (pid: number): ProcessStat | undefined =>
	valueOr(undefined, () => parseProcessStat(readFileSync(`/proc/${pid}/stat`, 'latin1')));

/** Signals this very process. False: it is gone, or the pid is another's by now. */
export function signalProcess(target: ProcessStat, signal: NodeJS.Signals): boolean {
	return statOf(target.pid)?.startTime === target.startTime && send(target.pid, signal);
}

/**
 * Signals what is left of the group a container's process was started in. The leader of that group is the shim, older than
 * the process: one that is younger has got its pid later, and the group is another's.
 */
export function signalGroup(member: ProcessStat, signal: NodeJS.Signals): boolean {
	const leader = statOf(member.group);
	if (leader !== undefined && leader.startTime > member.startTime) return false;
	return send(-member.group, signal);
}

/** False for ESRCH: it ended in between. For EPERM: not ours. */
const send = (target: number, signal: NodeJS.Signals): boolean => valueOr(false, () => process.kill(target, signal));
