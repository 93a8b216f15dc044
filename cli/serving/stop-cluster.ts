// Stopping what a home runs: the process of a cluster, a server or an agent, and the programs of its pods.

import {accessSync, constants, existsSync, realpathSync} from 'node:fs';
import type {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {systemClock} from '../../system/time/clock.js';
import {parseEngineUrl} from '../../agent/docker/engine/engine-url.js';
import {dataPlanesOf, endDataPlanes} from '../../agent/network/feed/data-plane-process.js';
import {removePodNetwork} from '../../agent/pod-network/remove-everything.js';
import type {StopOptions} from '../../agent/process/containers/stop-everything.js';
import {hasCode} from '../../system/files/errno.js';
import {reasonOf} from '../files/bounded-file.js';
import {areEndpointsBroken, nounOf, type ServingCommand} from '../files/endpoints.js';
import {homeOf} from '../files/home.js';
import {gone, runningCluster} from '../files/processes.js';
import {failedError} from '../command.js';
import {engineOf} from './node/engine-place.js';
import {namesOfHome} from './node/pod-network.js';

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
	const {root, data, runtime, docker, network, endpoints} = homeOf(home);
	const obstacle = obstacleTo(root);
	if (obstacle !== undefined) return failedError(`${root} ${obstacle}, so it is not known what runs: ask as the user whose home it is`);
	const isBroken = areEndpointsBroken(home);
	if (!isBroken && (existsSync(endpoints) || !existsSync(data))) return undefined;
	const {holderOfFolder} = await import('./process/port-holder.js');
	// The programs of pods hold files there, too, and so does what serves their traffic and goes on as they do: what serves the cluster holds others.
	const holder = holderOfFolder(resolved(data), {
		folders: [resolved(runtime), resolved(docker)],
		pids: dataPlanesOf(network).map(({pid}) => pid),
	});
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

export type StoppedPods = {
	/** How many programs and containers ran. */
	readonly count: number;
	/** Why those of Docker were not looked for; undefined: they were. */
	readonly problem: AppError | undefined;
};

/** Stops what runs of all pods that the home's data directory knows, each within its own grace. No cluster may run. */
export async function stopPods(home: string): Promise<StoppedPods> {
	const {data, network} = homeOf(home);
	if (!existsSync(data)) return {count: 0, problem: undefined};
	if (existsSync(network)) await endDataPlanes(network, systemClock);
	const {podGraces} = await import('./node/pod-graces.js');
	const graces = {clock: systemClock, graceMs: limits.terminationGraceSeconds * 1_000, graceMsOf: await podGraces(data)};
	const [processes, containers] = await Promise.all([stopProcesses(home, graces), stopContainers(home, graces)]);
	if (existsSync(network) && typeof containers === 'number') await removePodNetwork(network, namesOfHome(network));
	return typeof containers === 'number' ? {count: processes + containers, problem: undefined} : {count: processes, problem: containers};
}

async function stopProcesses(home: string, graces: StopOptions): Promise<number> {
	const {runtime} = homeOf(home);
	if (!existsSync(runtime)) return 0;
	const {stopEverything} = await import('../../agent/process/containers/stop-everything.js');
	return stopEverything(runtime, graces);
}

/** Removes all that is ours in the Engine; or why it could not. */
async function stopContainers(home: string, graces: StopOptions): Promise<number | AppError> {
	const {docker} = homeOf(home);
	const url = engineOf(homeOf(home));
	const address = url === undefined ? undefined : parseEngineUrl(url);
	if (url === undefined || address === undefined || !existsSync(docker)) return 0;
	const {removeEverything} = await import('../../agent/docker/remove-everything.js');
	const done = await removeEverything(docker, {...graces, address});
	if (typeof done === 'number') return done;
	return failedError(
		`the Docker Engine at ${url} does not answer, so containers of pods may still run: start it, then run this again; or find them by hand with docker ps --all --filter label=${done.label} (${done.problem})`,
	);
}
