// Stops and removes all that a directory has in its Engine, when no agent runs: `troupe down --pods` without a cluster.

import path from 'node:path';
import type {ContainerId, Runtime, RuntimeCommand, RuntimeResults} from '../../actors/node/runtime/runtime-port.js';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {createDockerRuntime} from '../docker-runtime.js';
import {foldersIn} from '../os/folders.js';
import {createLanes} from '../os/turns.js';
import type {StopOptions} from '../process/containers/stop-everything.js';
import {releaseMemory} from '../volumes/memory.js';
import {sweepHolds} from './containers/binds.js';
import {endGroups} from './cgroups/pod-cgroup.js';
import {groupsOfOwner} from './cgroups/pod-groups.js';
import {listOurs, removeAll} from './engine/calls.js';
import type {EngineAddress} from './engine/engine-url.js';
import {EngineError, openEngine} from './engine/engine.js';
import {labels} from './engine/names.js';
import {readOwner} from './owner.js';

export type RemoveOptions = StopOptions & {readonly address: EngineAddress};

/** What a person needs who looks for them by hand. */
export type NotRemoved = {readonly label: string; readonly problem: string};

/**
 * SIGTERM to every container that runs, SIGKILL after the grace; how each ended is written down, as by an agent. Then the containers go, those
 * of sandboxes too, with what they had in memory, what was held for starts and their control groups. How many ran; or why it was not done. Rejects
 * with errno exceptions when the directory cannot be read, and with Errors when something cannot be unmounted.
 */
export async function removeEverything(directory: string, options: RemoveOptions): Promise<number | NotRemoved> {
	const owner = readOwner(directory);
	if (owner === undefined) return 0;
	const removed = await removeContainers(directory, owner, options);
	// Nothing is taken from under what may still run.
	if (typeof removed !== 'number') return removed;
	await releaseMemory(directory);
	await sweepHolds(directory);
	await endGroups(groupsOfOwner(owner), options.clock);
	return removed;
}

async function removeContainers(
	directory: string,
	owner: string,
	{address, clock, graceMs, graceMsOf, onWarning}: RemoveOptions,
): Promise<number | NotRemoved> {
	const engine = openEngine(address, clock);
	const runtime = createDockerRuntime({directory, address, clock, onWarning});
	try {
		await listOurs(engine, owner);
		const stops = foldersIn(directory).flatMap(uid =>
			foldersIn(path.join(directory, uid)).map(container => stop(runtime, {uid, container}, graceMsOf?.get(uid) ?? graceMs)),
		);
		const ran = (await Promise.all(stops)).filter(each => each).length;
		await removeAll(engine, await listOurs(engine, owner), createLanes(limits.engineStarts));
		return ran;
	} catch (error) {
		if (!(error instanceof EngineError || error instanceof AppError)) throw error;
		return {label: `${labels.owner}=${owner}`, problem: error.message};
	} finally {
		await runtime.close();
	}
}

/** Whether it ran. Rejects with AppErrors. */
async function stop(runtime: Runtime, id: ContainerId, graceMs: number): Promise<boolean> {
	const {running} = await asked<'container.inspect'>(runtime, {type: 'container.inspect', id});
	if (running !== undefined) await asked<'container.stop'>(runtime, {type: 'container.stop', id, graceMs});
	return running !== undefined;
}

const asked = <Type extends RuntimeCommand['type']>(runtime: Runtime, command: Extract<RuntimeCommand, {type: Type}>) =>
	new Promise<RuntimeResults[Type]>((resolve, reject) =>
		runtime.run<Type>(command, outcome => {
			if (outcome.ok) resolve(outcome.value);
			else reject(AppError.of(outcome.error));
		}),
	);
