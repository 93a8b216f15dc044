// Stopping what a home runs: the process of a cluster, a server or an agent, and the programs of its pods.

import {accessSync, constants, existsSync, realpathSync} from 'node:fs';
import type {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {systemClock} from '../../system/time/clock.js';
import {hasCode} from '../../system/files/errno.js';
import {reasonOf} from '../files/bounded-file.js';
import {areEndpointsBroken, nounOf, type ServingCommand} from '../files/endpoints.js';
import {homeOf} from '../files/home.js';
import {gone, runningCluster} from '../files/processes.js';
import {failedError} from '../command.js';

/** What was stopped: `cluster`, `server` or `agent`. */
export type Stopped = {readonly pid: number; readonly noun: string; readonly command: ServingCommand};

/**
 * Stops what runs for this home in good order; undefined when nothing did. Throws when it does not end in time, and when the file that
 * says what runs cannot be read.
 */
export async function stopCluster(home: string): Promise<Stopped | undefined> {
	const running = runningCluster(home);
	if (running === undefined) {
		const doubt = await doubtOf(home);
		if (doubt !== undefined) throw doubt;
		return undefined;
	}
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

/** Why it cannot be said that nothing runs: it is for a person to look. Undefined: nothing does. */
async function doubtOf(home: string): Promise<AppError | undefined> {
	const {root, data, runtime, endpoints} = homeOf(home);
	const obstacle = obstacleTo(root);
	if (obstacle !== undefined) return failedError(`${root} ${obstacle}, so it is not known what runs: ask as the user whose home it is`);
	const isBroken = areEndpointsBroken(home);
	if (!isBroken && (existsSync(endpoints) || !existsSync(data))) return undefined;
	const {holderOfFolder} = await import('./process/port-holder.js');
	// The programs of pods hold files there, too: what serves holds others.
	const holder = holderOfFolder(resolved(data), resolved(runtime));
	if (!isBroken && holder === undefined) return undefined;
	const unknown = `${endpoints} is ${isBroken ? 'broken' : 'missing'}, so it is not known what runs`;
	if (holder === undefined) return failedError(`${unknown}; no process is seen to use ${data}: if nothing runs, remove ${endpoints}`);
	const then = isBroken ? `, then remove ${endpoints}` : '';
	return failedError(`${unknown}; process ${holder.pid} (${holder.name}) uses ${data}: stop it with kill ${holder.pid}${then}`);
}

/** Why it cannot be known what is in a folder that is there. */
function obstacleTo(folder: string): string | undefined {
	try {
		accessSync(folder, constants.R_OK | constants.X_OK);
		return undefined;
	} catch (error) {
		return hasCode(error, 'ENOENT') ? undefined : reasonOf(error);
	}
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
	const [{stopEverything}, {podGraces}] = await Promise.all([
		import('../../agent/process/containers/stop-everything.js'),
		import('./node/pod-graces.js'),
	]);
	return stopEverything(runtime, {
		clock: systemClock,
		graceMs: limits.terminationGraceSeconds * 1_000,
		graceMsOf: await podGraces(data),
	});
}
