// Which processor a process runs on: what serves has the first one for itself, what loads it has the others, so that neither takes the other's
// time and both sides of a comparison have the same.

import {execFileSync} from 'node:child_process';
import {availableParallelism} from 'node:os';
import {cpuSeconds} from './process-figures.js';

const isShared = availableParallelism() < 2;

/** From now on, with all its threads, on the first processor. On a machine that has only one nothing changes. */
export function serveAlone(pid: number): void {
	if (!isShared) execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', '0', String(pid)], {stdio: 'ignore'});
}

/** The words before a command that loads what is served there. */
export const onOthers: readonly string[] = isShared ? [] : ['taskset', '--cpu-list', `1-${availableParallelism() - 1}`];

/** Of processes while something runs: the processor time that they took, in seconds, and how much of the time they had a processor. */
export type Busy = {readonly cpuSeconds: number; readonly share: number};

export async function busyWhile<Value>(pids: readonly number[], run: () => Promise<Value>): Promise<Busy & {readonly value: Value}> {
	const taken = (): number => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
	const [before, startedAt] = [taken(), performance.now()];
	const value = await run();
	const seconds = taken() - before;
	return {value, cpuSeconds: seconds, share: seconds / ((performance.now() - startedAt) / 1_000)};
}
