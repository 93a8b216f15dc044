// The nodes of a DaemonSet with the pods that it has there, as one look finds them.

import type {DaemonSet} from '../../../api/kinds/daemonset.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {Context} from '../../../system/kernel/behavior.js';
import {isActive, isTerminal} from '../pods/pod-lifecycle.js';
import {revisionLabel, targetNode} from '../pods/pod-terms.js';
import {isMine, ownedPods} from './census.js';
import {fitOf, type Fit} from './daemon-nodes.js';
import {targetOfCreate} from './daemon-pods.js';

export type Place = {
	readonly node: string;
	readonly fit: Fit;
	/** All that the set has there, also those that are over or being deleted; the oldest first. */
	readonly pods: readonly Pod[];
	/** Neither over nor being deleted, nor is their deletion asked for. */
	readonly staying: readonly Pod[];
	/** Over, and not being deleted. */
	readonly over: readonly Pod[];
	/** Whether a pod is asked for there and not committed yet. */
	readonly isComing: boolean;
	/** Of the newest revision. */
	readonly isNew: (pod: Pod) => boolean;
};

/** Every node, and what pods name beside them: a node that is not there any more. */
export function placesOf(set: DaemonSet, revision: string, {known, pending}: Context): readonly Place[] {
	const podsByNode = new Map<string, Pod[]>();
	for (const pod of ownedPods(set, known)) {
		// One that is for no certain node is for none of ours.
		const node = targetNode(pod) ?? '';
		if (!isMine(set, pod)) continue;
		const there = podsByNode.get(node);
		if (there === undefined) podsByNode.set(node, [pod]);
		else there.push(pod);
	}
	const writes = [...pending.values()];
	const leaving = new Set(writes.flatMap(write => (write.type === 'delete' ? [write.uid] : [])));
	const coming = new Set(writes.map(targetOfCreate));
	const isNew = (pod: Pod): boolean => pod.metadata.labels?.[revisionLabel] === revision;
	const placeOf = (node: string, fit: Fit): Place => {
		const pods = (podsByNode.get(node) ?? []).sort(byAge);
		podsByNode.delete(node);
		const here = pods.filter(({metadata}) => !leaving.has(metadata.uid));
		return {
			node,
			fit,
			pods,
			staying: here.filter(isActive),
			over: here.filter(pod => isTerminal(pod) && pod.metadata.deletionTimestamp === undefined),
			isComing: coming.has(node),
			isNew,
		};
	};
	const places = ([...known.list('nodes')] as NodeObject[]).map(node => placeOf(node.metadata.name, fitOf(set, node)));
	return [...places, ...[...podsByNode.keys()].map(node => placeOf(node, 'leaves'))];
}

function byAge(a: Pod, b: Pod): number {
	if (a.metadata.creationTimestamp !== b.metadata.creationTimestamp)
		return a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1;
	return a.metadata.name < b.metadata.name ? -1 : 1;
}
