// Which pods go when there are too many.

import type {Pod} from '../../../api/kinds/pod.js';
import {objectKey} from '../../../api/keys.js';
import type {Effect} from '../../../system/kernel/behavior.js';
import {isReady, readySinceMs} from '../pods/pod-lifecycle.js';

/** Deletes so many of them: those that serve least. */
export const surplus = (pods: readonly Pod[], count: number): Effect[] =>
	count <= 0 ? [] : leastFirst(pods).slice(0, count).map(deletion);

export const leastFirst = (pods: readonly Pod[]): readonly Pod[] => [...pods].sort(byWorth);

export const deletion = ({metadata}: Pod): Extract<Effect, {type: 'delete'}> => ({
	type: 'delete',
	key: objectKey('pods', metadata.namespace, metadata.name),
	uid: metadata.uid,
	id: `delete/${metadata.uid}`,
});

const worth = (pod: Pod): number =>
	(pod.spec?.nodeName === undefined ? 0 : 4) + (pod.status?.phase === 'Running' ? 2 : 0) + (isReady(pod) ? 1 : 0);

/** Without a node, not running, not ready, ready for a shorter time, youngest. After Kubernetes' ActivePods order. */
function byWorth(a: Pod, b: Pod): number {
	const difference = worth(a) - worth(b) || (readySinceMs(b) ?? 0) - (readySinceMs(a) ?? 0);
	if (difference !== 0) return difference;
	if (a.metadata.creationTimestamp !== b.metadata.creationTimestamp)
		return a.metadata.creationTimestamp > b.metadata.creationTimestamp ? -1 : 1;
	return a.metadata.uid < b.metadata.uid ? -1 : 1;
}
