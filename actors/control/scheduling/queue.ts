// Pods that wait for a node, in the order in which they are placed: those of a higher priority first, of equals the oldest.

import type {Pod} from '../../../api/kinds/pod.js';
import type {Context} from '../../../system/kernel/behavior.js';
import {unbound} from '../pods/pod-terms.js';

export const bindId = ({metadata}: Pod): string => `bind/${metadata.uid}`;

/** Those whose bind is asked for aside. */
export function waitingPods({known, pending}: Pick<Context, 'known' | 'pending'>): readonly Pod[] {
	const pods: Pod[] = [];
	for (const object of known.byTerm('pods', unbound)) {
		const pod = object as Pod;
		if (!pending.has(bindId(pod))) pods.push(pod);
	}
	return pods.sort(compare);
}

function compare(a: Pod, b: Pod): number {
	const difference = (b.spec?.priority ?? 0) - (a.spec?.priority ?? 0);
	if (difference !== 0) return difference;
	const [since, after] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
	return since === after ? 0 : since < after ? -1 : 1;
}
