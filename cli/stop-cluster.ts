// Stopping what a home runs: the process of a cluster, a server or an agent, and the programs of its pods.

import {existsSync, realpathSync} from 'node:fs';
import type {AppError} from '../api/errors.js';
import {limits} from '../api/limits.js';
import {systemClock} from '../system/clock.js';
import {areEndpointsBroken, nounOf, type ServingCommand} from './endpoints.js';
import {homeOf} from './home.js';
import {gone, runningCluster} from './processes.js';
import {failedError} from './usage.js';

/** What was stopped: `cluster`, `server` or `agent`. */
export type Stopped = {readonly pid: number; readonly noun: string; readonly command: ServingCommand};

/**
 * Stops what runs for this home in good order; undefined when nothing did. Throws when it does not end in time, and when the file that
 * says what runs cannot be read.
 */
export async function stopCluster(home: string): Promise<Stopped | undefined> {
	const running = runningCluster(home);
	if (running === undefined && areEndpointsBroken(home)) throw await brokenEndpoints(home);
	if (running === undefined) return undefined;
	const {pid, command} = running;
	const noun = nounOf(command);
	const stopped: Stopped = {pid, noun, command};
	try {
		process.kill(pid, 'SIGTERM');
	} catch (error) {
		const {code, message} = error as NodeJS.ErrnoException;
		if (code === 'ESRCH') return stopped;
		throw failedError(`the ${noun} (process ${pid}) cannot be stopped: ${code === 'EPERM' ? 'it belongs to another user' : message}`);
	}
	if (await gone(pid, limits.stopDeadlineMs)) return stopped;
	throw failedError(`the ${noun} (process ${pid}) did not stop within ${limits.stopDeadlineMs / 1_000} s; its log is ${homeOf(home).log}`);
}

/** Nobody can say for sure what runs: it is for a person to stop it. */
async function brokenEndpoints(home: string): Promise<AppError> {
	const {data, runtime, endpoints} = homeOf(home);
	const {holderOfFolder} = await import('./port-holder.js');
	// The programs of pods hold files there, too: what serves holds others.
	const holder = holderOfFolder(resolved(data), resolved(runtime));
	return failedError(
		holder === undefined
			? `${endpoints} is broken, so it is not known what runs; no process is seen to use ${data}: if nothing runs, remove ${endpoints}`
			: `${endpoints} is broken, so it is not known what runs; process ${holder.pid} (${holder.name}) uses ${data}: stop it with kill ${holder.pid}, then remove ${endpoints}`,
	);
}

/** As the kernel names open files. */
function resolved(folder: string): string {
	try {
		return realpathSync(folder);
	} catch {
		return folder;
	}
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
