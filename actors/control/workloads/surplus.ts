// Which pods go when there are too many.

import type {Pod} from '../../../api/kinds/pod.js';
import {objectKey} from '../../../api/keys.js';
import type {Effect} from '../../../system/kernel/behavior.js';
import {isReady, readySinceMs} from '../pods/pod-lifecycle.js';

/** Deletes so many of them: those that serve least. Takes one walk; no more than twice as many as are to go are sorted at a time. */
export function surplus(pods: Iterable<Pod>, count: number): Effect[] {
	if (count <= 0) return [];
	let least: Ranked[] = [];
	let last: Ranked | undefined;
	for (const pod of pods) {
		const ranked = rankOf(pod);
		if (last !== undefined && byWorth(ranked, last) > 0) continue;
		least.push(ranked);
		if (least.length < 2 * count) continue;
		least = least.sort(byWorth).slice(0, count);
		last = least.at(-1);
	}
	return least
		.sort(byWorth)
		.slice(0, count)
		.map(({pod}) => deletion(pod));
}

export const leastFirst = (pods: readonly Pod[]): readonly Pod[] =>
	pods
		.map(rankOf)
		.sort(byWorth)
		.map(({pod}) => pod);

export const deletion = ({metadata}: Pod): Extract<Effect, {type: 'delete'}> => ({
	type: 'delete',
	key: objectKey('pods', metadata.namespace, metadata.name),
	uid: metadata.uid,
	id: `delete/${metadata.uid}`,
});

/** What a pod is compared by, read once: a comparison is made a dozen times for each. */
type Ranked = {readonly pod: Pod; readonly worth: number; readonly readySinceMs: number};

const rankOf = (pod: Pod): Ranked => ({
	pod,
	worth: (pod.spec?.nodeName === undefined ? 0 : 4) + (pod.status?.phase === 'Running' ? 2 : 0) + (isReady(pod) ? 1 : 0),
	readySinceMs: readySinceMs(pod) ?? 0,
});

/** Without a node, not running, not ready, ready for a shorter time, youngest. After Kubernetes' ActivePods order. */
function byWorth(a: Ranked, b: Ranked): number {
	const difference = a.worth - b.worth || b.readySinceMs - a.readySinceMs;
	if (difference !== 0) return difference;
	const [was, is] = [a.pod.metadata, b.pod.metadata];
	if (was.creationTimestamp !== is.creationTimestamp) return was.creationTimestamp > is.creationTimestamp ? -1 : 1;
	return was.uid < is.uid ? -1 : 1;
}
