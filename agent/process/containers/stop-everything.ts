// Stops all containers that a directory knows of, when no agent runs: `troupe down --pods` without a cluster.

import {existsSync} from 'node:fs';
import path from 'node:path';
import type {Clock} from '../../../system/time/clock.js';
import {noGroups, openContainerGroups} from '../cgroups/container-groups.js';
import {noLogWatch} from '../../logs/log-watch.js';
import {readBootId} from '../../os/identity.js';
import {defaultSubnet} from '../sandboxes/addresses.js';
import {foldersIn} from '../../os/folders.js';
import {openSandboxes} from '../sandboxes/sandboxes.js';
import {createContainers} from './containers.js';

export type StopOptions = {
	readonly clock: Clock;
	readonly graceMs: number;
	/** Of single pods, by uid. */
	readonly graceMsOf?: ReadonlyMap<string, number>;
	readonly onWarning?: ((message: string) => void) | undefined;
};

/**
 * SIGTERM to every container that runs, SIGKILL after the grace; resolves with their number when the last has ended.
 * Rejects with errno exceptions when the directory cannot be read.
 */
export async function stopEverything(
	directory: string,
	{clock, graceMs, graceMsOf, onWarning = () => undefined}: StopOptions,
): Promise<number> {
	const stock = {put: () => undefined, take: () => '', close: () => Promise.resolve()}; // Nothing is started here.
	const sandboxes = openSandboxes(directory, defaultSubnet, stock, onWarning);
	const tell = (): void => undefined;
	const groups = existsSync(directory) ? openContainerGroups(path.resolve(directory), clock, onWarning) : noGroups;
	const containers = createContainers({sandboxes, stock, groups, logs: noLogWatch, bootId: readBootId(), clock, tell, onWarning});
	for (const uid of sandboxes.list()) for (const container of foldersIn(sandboxes.folderOf(uid))) containers.find({uid, container});
	const running = [...containers.running()];
	await Promise.all(running.map(({id}) => new Promise(resolve => containers.stop(id, graceMsOf?.get(id.uid) ?? graceMs, resolve))));
	containers.close();
	await groups.close();
	return running.length;
}
