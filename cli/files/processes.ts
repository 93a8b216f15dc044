// Other processes, by their pid: whether one is the process that wrote `endpoints.json`, and when it is gone.
//
// A pid alone says nothing: it may be another program's by now. What started after the file was written did not write it.

import {readFileSync, statSync} from 'node:fs';
import {limits} from '../../api/limits.js';
import {systemClock} from '../../system/time/clock.js';
import {nounOf, readEndpoints, type Endpoints} from './endpoints.js';
import {homeOf} from './home.js';
import {homeFlag} from './home-flag.js';
import {processTitle} from './process-title.js';
import {failedError} from '../command.js';

/** USER_HZ: the unit of times in /proc, 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;
/** btime in /proc/stat has whole seconds, and the wall clock may have been set a little since. */
const slackMs = 2_000;

/** What runs for this home now, a cluster, a server or an agent; undefined when nothing does. */
export function runningCluster(home: string): Endpoints | undefined {
	const endpoints = readEndpoints(home);
	if (endpoints === undefined || !isOurs(endpoints)) return undefined;
	const startedAtMs = startTimeMs(endpoints.pid);
	return startedAtMs !== undefined && startedAtMs <= statSync(homeOf(home).endpoints).mtimeMs + slackMs ? endpoints : undefined;
}

/** Two in one home would work on the same files. */
export function refuseIfRunning(home: string): void {
	const running = runningCluster(home);
	if (running === undefined) return;
	const noun = nounOf(running.command);
	throw failedError(
		`${noun === 'agent' ? 'an' : 'a'} ${noun} runs in ${home} already (process ${running.pid}); troupe down${homeFlag(home)} stops it`,
	);
}

/** Whether the program of that pid is the command, by the title it gave itself. */
const isOurs = ({command, pid}: Endpoints): boolean =>
	(textOf(`/proc/${pid}/cmdline`) ?? '').split('\0')[0]?.trim() === processTitle(command);

/**
 * The fields of /proc/PID/stat from the third on (proc_pid_stat(5)); the second, a name, may hold anything. Unlike the agent's, whose
 * processes lead groups of their own, this one knows processes of any group: as a container's first program `up` may be in group 1.
 */
function statOf(pid: number): readonly string[] | undefined {
	const text = textOf(`/proc/${pid}/stat`);
	return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Dead and not yet collected by its parent counts as gone. */
export function isAlive(pid: number): boolean {
	const state = statOf(pid)?.[0];
	return state !== undefined && state !== 'Z' && state !== 'X';
}

function startTimeMs(pid: number): number | undefined {
	const ticks = Number(statOf(pid)?.[19]);
	const bootSeconds = Number(/^btime (\d+)$/m.exec(textOf('/proc/stat') ?? '')?.[1]);
	return Number.isFinite(ticks + bootSeconds) ? bootSeconds * 1_000 + (ticks * 1_000) / ticksPerSecond : undefined;
}

function textOf(file: string): string | undefined {
	try {
		return readFileSync(file, 'utf8');
	} catch {
		return undefined; // It ended while we looked, which is what is asked here.
	}
}

/** Whether the process was gone before the deadline. It is no child of ours, so nothing tells: we look. */
export function gone(pid: number, deadlineMs: number): Promise<boolean> {
	const untilMs = systemClock.monotonicMs() + deadlineMs;
	return new Promise(resolve => {
		const look = () => {
			if (!isAlive(pid)) resolve(true);
			else if (systemClock.monotonicMs() >= untilMs) resolve(false);
			else systemClock.after(limits.exitPollMs, look);
		};
		look();
	});
}
