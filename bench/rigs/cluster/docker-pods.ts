// What a home has in a Docker Engine, taken away when its test is over: its agent may have been killed.

import {groupFolders, removeGroups} from '../../../agent/docker/cgroups/pod-cgroup.js';
import {parseEngineUrl} from '../../../agent/docker/engine/engine-url.js';
import {readOwner} from '../../../agent/docker/owner.js';
import {removeEverything} from '../../../agent/docker/remove-everything.js';
import {readMountinfo} from '../../../agent/os/mountinfo.js';
import type {Home} from '../../../cli/files/home.js';
import {engineOf} from '../../../cli/serving/node/engine-place.js';
import {systemClock} from '../../../system/time/clock.js';

/** Containers as far as the Engine answers, and control groups in which nothing is. */
export async function removeDockerPods(home: Home): Promise<void> {
	const address = parseEngineUrl(engineOf(home) ?? '');
	const owner = readOwner(home.docker);
	if (address === undefined || owner === undefined) return;
	await removeEverything(home.docker, {address, clock: systemClock, graceMs: 0});
	await removeGroups(groupFolders(`/troupe-${owner}`, readMountinfo()));
}
