// Where a pod is in its life, as its metadata and status say it.

import {conditionOf, isConditionTrue} from '../../../api/conditions.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {isDeleting} from '../objects/garbage.js';

/** The reason of PodScheduled while no node fits. */
export const unschedulableReason = 'Unschedulable';

const terminal: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);

export const isTerminal = (pod: Pod): boolean => terminal.has(pod.status?.phase ?? '');

export const isReady = (pod: Pod): boolean => isConditionTrue(pod.status?.conditions, 'Ready');

/** Since when it is ready, in milliseconds of the leader's clock; undefined: it is not. A time that cannot be read counts as the first. */
export function readySinceMs(pod: Pod): number | undefined {
	const ready = conditionOf(pod.status?.conditions, 'Ready');
	return ready?.status === 'True' ? Date.parse(ready.lastTransitionTime ?? '') || 0 : undefined;
}

/** Neither over nor being deleted. */
export const isActive = (pod: Pod): boolean => !isDeleting(pod) && !isTerminal(pod);
