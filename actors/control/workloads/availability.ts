// Whether a pod can be relied on: it is ready, and has been for as long as its owner asks for.

import type {Pod} from '../../../api/kinds/pod.js';
import {isActive, readySinceMs} from '../pods/pod-lifecycle.js';

/** As `censusOf` counts: a time that a clock which was set lets lie further ahead than `minReadyMs` does not keep the pod waiting. */
export function isAvailable(pod: Pod, minReadySeconds: number | undefined, nowMs: number): boolean {
	const sinceMs = readySinceMs(pod);
	if (sinceMs === undefined || !isActive(pod)) return false;
	const minReadyMs = (minReadySeconds ?? 0) * 1000;
	const dueMs = sinceMs + minReadyMs;
	return minReadyMs === 0 || dueMs <= nowMs || dueMs > nowMs + minReadyMs;
}
