// What was killed beside the programs of containers and has not ended: where a program has something that never answers in the way of
// the one that joins it, not even SIGKILL ends that one.

import {limits} from '../../../api/limits.js';
import {statOf, type ProcessStat} from '../../os/identity.js';
import {childrenNow} from '../../os/process-tree.js';

export type Killed = {
	/** Why no further program begins beside this container's; undefined: it may. */
	readonly refusal: (container: object) => string | undefined;
	/** Just before the program with this leader is killed. */
	readonly note: (container: object, leader: number) => void;
};

export function createKilled(): Killed {
	const byContainer = new WeakMap<object, Map<number, readonly ProcessStat[]>>();

	/** Those that are there still, by their leaders. */
	function left(container: object): Map<number, readonly ProcessStat[]> {
		const all = new Map([...(byContainer.get(container) ?? [])].filter(([, processes]) => processes.some(isThere)));
		byContainer.set(container, all);
		return all;
	}

	return {
		refusal(container) {
			const count = left(container).size;
			if (count < limits.killedPrograms) return undefined;
			return `${count} programs that were begun beside the container's own have been killed and do not end: it keeps whoever joins it waiting`;
		},
		note: (container, leader) => void left(container).set(leader, withDescendants(leader)),
	};
}

const isThere = ({pid, startTime}: ProcessStat): boolean => {
	const now = statOf(pid);
	return now?.startTime === startTime && !/[ZX]/.test(now.state);
};

/** Who hangs may be another than the leader, which ends then. What a program has begun by the hundreds is counted by the container's own bounds. */
function withDescendants(leader: number): readonly ProcessStat[] {
	const pids = [leader];
	for (const pid of pids) pids.push(...childrenNow(pid).slice(0, limits.killedProcesses - pids.length));
	return pids.flatMap(pid => statOf(pid) ?? []);
}
