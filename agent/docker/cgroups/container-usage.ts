// What the containers of a node use, by their control groups, which are found by the process that the Engine names; the Engine is not asked.

import type {ContainerId, RunningContainer} from '../../../actors/node/runtime/runtime-port.js';
import {mountsIn, readMountinfo, type MountEntry} from '../../os/mountinfo.js';
import {valueOr} from '../../../api/value-or.js';
import {figuresOf, groupsOf, type UsageGroups} from '../../usage/group-files.js';
import type {Measured} from '../../usage/sample.js';
import {readSmall} from '../../usage/small-file.js';

export type RunningAttempt = {readonly id: ContainerId; readonly engineId: string; readonly started: RunningContainer};

/** What is to be read of containers that run. Each is looked for once, when it is read. */
export function openContainerUsage(): (running: readonly RunningAttempt[]) => readonly Measured[] {
	const found = new WeakMap<RunningContainer, UsageGroups>();
	return running => {
		let mounts: readonly MountEntry[] | undefined;
		const groupsFor = ({engineId, started}: RunningAttempt): UsageGroups => {
			const known = found.get(started);
			if (known !== undefined) return known;
			mounts ??= mountsIn(valueOr('', readMountinfo));
			// The kernel's path of the group has the Engine's id in it: a pid that is another's by now, or of another namespace, is not taken.
			const groups = groupsOf(readSmall(`/proc/${started.pid}/cgroup`) ?? '', mounts, engineId);
			found.set(started, groups);
			return groups;
		};
		return running.map(each => ({id: each.id, attempt: each.started.attempt, read: () => figuresOf(groupsFor(each))}));
	};
}
