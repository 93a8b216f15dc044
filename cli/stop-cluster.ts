// Stopping what a home runs: the cluster's process, and the programs of its pods.

import {existsSync} from 'node:fs';
import {limits} from '../api/limits.js';
import {systemClock} from '../system/clock.js';
import {homeOf} from './home.js';
import {gone, runningCluster} from './processes.js';
import {failedError} from './usage.js';

/** Stops the cluster of this home in good order; the pid it had, undefined when none ran. Throws when it does not end in time. */
export async function stopCluster(home: string): Promise<number | undefined> {
	const running = runningCluster(home);
	if (running === undefined) return undefined;
	const {pid} = running;
	try {
		process.kill(pid, 'SIGTERM');
	} catch (error) {
		const {code, message} = error as NodeJS.ErrnoException;
		if (code === 'ESRCH') return pid;
		throw failedError(`the cluster (process ${pid}) cannot be stopped: ${code === 'EPERM' ? 'it belongs to another user' : message}`);
	}
	if (await gone(pid, limits.stopDeadlineMs)) return pid;
	throw failedError(`the cluster (process ${pid}) did not stop within ${limits.stopDeadlineMs / 1_000} s; its log is ${homeOf(home).log}`);
}

/** Stops the programs of all pods that the home's data directory knows, each within its own grace; how many there were. No cluster may run. */
export async function stopPods(home: string): Promise<number> {
	const {data, runtime} = homeOf(home);
	if (!existsSync(runtime)) return 0;
	const [{stopEverything}, {podGraces}] = await Promise.all([import('../agent/process/stop-everything.js'), import('./pod-graces.js')]);
	return stopEverything(runtime, {
		clock: systemClock,
		graceMs: limits.terminationGraceSeconds * 1_000,
		graceMsOf: await podGraces(data),
	});
}
