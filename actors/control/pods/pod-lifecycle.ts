// Where a pod is in its life, as its metadata and status say it.

import {isConditionTrue} from '../../../api/conditions.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {isDeleting} from '../objects/garbage.js';

/** The reason of PodScheduled while no node fits. */
export const unschedulableReason = 'Unschedulable';

const terminal: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);

export const isTerminal = (pod: Pod): boolean => terminal.has(pod.status?.phase ?? '');

export const isReady = (pod: Pod): boolean => isConditionTrue(pod.status?.conditions, 'Ready');

/** Neither over nor being deleted. */
export const isActive = (pod: Pod): boolean => !isDeleting(pod) && !isTerminal(pod);
