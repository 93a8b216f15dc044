// The processes of a pod, by the control groups of its containers; where there are none, those that its programs have begun.

import {readFile} from 'node:fs/promises';
import {limits} from '../../../api/limits.js';
import {childrenOf} from '../../os/process-tree.js';
import type {ContainerGroups} from '../cgroups/container-groups.js';
import type {Containers} from './containers.js';

/** As many as one container may have, at most. */
export async function processesOfPod(
	{containers, groups}: {readonly containers: Pick<Containers, 'running'>; readonly groups: ContainerGroups},
	uid: string,
): Promise<readonly number[]> {
	const found = new Set<number>();
	for (const {id, live} of containers.running()) {
		if (id.uid !== uid || live?.started === undefined) continue;
		// Its program first: most often that is the one that is meant.
		found.add(live.started.process.pid);
		const [file] = groups.procsFilesOfRunning(id, live.attempt);
		if (file === undefined) await addChildren(found, live.started.process.pid);
		else for (const pid of await pidsIn(file)) found.add(pid);
	}
	return [...found].slice(0, limits.containerProcesses);
}

const pidsIn = async (file: string): Promise<readonly number[]> =>
	(await readFile(file, 'latin1').catch(() => '')).split('\n').filter(Boolean).map(Number);

async function addChildren(found: Set<number>, program: number): Promise<void> {
	const left = [program];
	for (let pid = left.pop(); pid !== undefined && found.size < limits.containerProcesses; pid = left.pop()) {
		for (const child of await childrenOf(pid)) {
			if (found.has(child)) continue;
			found.add(child);
			left.push(child);
		}
	}
}
