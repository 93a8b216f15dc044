// Who runs for a home, as the kernel tells it: every process that has a file of the folder open. The cluster has its stores, a
// shim its state file, a program its log as stdout; what the product does not know of any more is found as well.

import {readdirSync, readFileSync, readlinkSync} from 'node:fs';
import path from 'node:path';
import {eventually} from './waiting.js';

export type Process = {
	readonly pid: number;
	/** Clock ticks since the boot: with the pid, this very process. */
	readonly startTime: string;
	/** `unshare`: what stands over the shim, outside of its namespaces. */
	readonly role: 'cluster' | 'unshare' | 'shim' | 'program';
	/** The uid of its pod, for all but the cluster. */
	readonly podUid: string | undefined;
	readonly words: readonly string[];
};

/** All of them now. Zombies hold nothing open and are not seen. */
export function processesOf(home: string): readonly Process[] {
	return entries('/proc')
		.filter(name => /^\d+$/.test(name))
		.flatMap(name => processOf(Number(name), `${home}/`) ?? []);
}

/** The programs of pods: without shims, and without what a program started itself. */
export const programsOf = (home: string): readonly Process[] => processesOf(home).filter(({role}) => role === 'program');

/** SIGKILL to all at once, again as long as one is left. */
export async function killAll(home: string): Promise<void> {
	await eventually(`nothing runs in ${home}`, () => {
		const left = processesOf(home);
		// First the cluster, so that it brings nothing back.
		for (const {pid} of left.toSorted((a, b) => (a.role === 'cluster' ? -1 : b.role === 'cluster' ? 1 : 0))) kill(pid);
		return left.length === 0;
	});
}

function processOf(pid: number, prefix: string): Process | undefined {
	const files = entries(`/proc/${pid}/fd`).flatMap(name => link(`/proc/${pid}/fd/${name}`) ?? []);
	const ours = files.filter(file => file.startsWith(prefix));
	if (ours.length === 0) return undefined;
	const words = text(`/proc/${pid}/cmdline`).split('\0').slice(0, -1);
	const stat = text(`/proc/${pid}/stat`);
	const pod = ours.map(file => /^data\/runtime\/(?:.*\/)?([0-9a-f]{8}-[0-9a-f-]{27})\//.exec(file.slice(prefix.length))?.[1]);
	const podUid = pod.find(uid => uid !== undefined);
	const role = words[0]?.startsWith('troupe ') === true || podUid === undefined ? 'cluster' : roleInPod(pid, words, ours);
	return {pid, startTime: startTimeIn(stat), role, podUid: role === 'cluster' ? undefined : podUid, words};
}

/** A program still has the shim's words in the moment between its being written down, which is told as its start, and its exec. */
function roleInPod(pid: number, words: readonly string[], files: readonly string[]): Process['role'] {
	if (!words.includes('troupe-shim')) return 'program';
	if (words[0]?.endsWith('unshare') === true) return 'unshare';
	const isWrittenDown = new RegExp(`^running \\d+ \\S+ ${pid}$`, 'm');
	return files.some(file => path.basename(file) === 'state' && isWrittenDown.test(text(file))) ? 'program' : 'shim';
}

const startTimeIn = (stat: string): string => stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';

/** Clock ticks since the boot; empty when it is gone. */
export const startTimeOf = (pid: number): string => startTimeIn(text(`/proc/${pid}/stat`));

/** It may end while we look, and files of others may not be read: then there is nothing to see. */
function attempt<Value>(read: () => Value): Value | undefined {
	try {
		return read();
	} catch {
		return undefined;
	}
}

const entries = (folder: string): readonly string[] => attempt(() => readdirSync(folder)) ?? [];
const link = (file: string): string | undefined => attempt(() => readlinkSync(file));
const text = (file: string): string => attempt(() => readFileSync(file, 'utf8')) ?? '';

/** SIGKILL; it may have ended already. */
export function kill(pid: number): void {
	attempt(() => process.kill(pid, 'SIGKILL'));
}

/** Signals one process, which must be there. */
export function signal(pid: number, name: NodeJS.Signals): void {
	if (!process.kill(pid, name)) throw new Error(`there is no process ${pid}`);
}

export const lives = (pid: number): boolean => {
	const stat = text(`/proc/${pid}/stat`);
	return stat !== '' && !/^\d+ \(.*\) [ZX] /s.test(stat);
};
