// How long the programs of a pod get to end: what a client or the pod asks for, and never none where a lease is on.

import {isExclusive} from '../../../api/exclusive.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';

/** The grace of a pod, in seconds. Zero would give it up while it runs; an exclusive one is waited for, or its lease's end is. */
export function graceOf({spec, metadata}: Pod, requested?: number): number {
	if (spec?.nodeName === undefined) return 0;
	const seconds = requested ?? spec.terminationGracePeriodSeconds ?? limits.terminationGraceSeconds;
	return isExclusive(metadata) ? Math.max(1, seconds) : seconds;
}
