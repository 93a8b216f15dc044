// A step of a rolling update: how many pods each set shall have next.
//
// Up and down are decided from the same moment and neither counts on the other, so both bounds hold in whichever order the two are
// carried out: no more pods than `mostPods`, and no available pod is deleted unless `leastAvailable` others stay.

import type {RolloutBounds} from './rollout-bounds.js';
import {changed, mostPodsOf, stayingOf, sumOf, type Scaling, type SizedSet} from './sized-set.js';

/** `old`: oldest first. After reconcileNewReplicaSet and reconcileOldReplicaSets of Kubernetes. */
export const rollingStep = (newest: SizedSet, old: readonly SizedSet[], bounds: RolloutBounds): readonly Scaling[] =>
	changed([{sized: newest, replicas: sizeOfNewest(newest, old, bounds)}, ...scaledDown(newest, old, bounds)]);

/** How many pods a set may have that is not there yet. */
export const firstSize = (old: readonly SizedSet[], {replicas, mostPods}: RolloutBounds): number =>
	Math.max(0, Math.min(replicas, mostPods - sumOf(old, mostPodsOf)));

function sizeOfNewest(newest: SizedSet, old: readonly SizedSet[], {replicas, mostPods}: RolloutBounds): number {
	if (newest.wanted >= replicas) return replicas;
	const places = mostPods - sumOf(old, mostPodsOf);
	return Math.max(newest.wanted, Math.min(replicas, places));
}

function scaledDown(newest: SizedSet, old: readonly SizedSet[], {leastAvailable}: RolloutBounds): readonly Scaling[] {
	let spare = sumOf([newest, ...old], stayingOf) - leastAvailable;
	// What cannot be relied on goes first: it would hold up the update. But while too few can be, so many wait for whether they come to it.
	let unhealthy = spare + sumOf(old, unhealthyOf);
	return old.map((sized): Scaling => {
		const cleaned = Math.max(0, Math.min(unhealthyOf(sized), unhealthy));
		unhealthy -= cleaned;
		const replaced = Math.max(0, Math.min(stayingOf(sized), spare));
		spare -= replaced;
		return {sized, replicas: sized.wanted - cleaned - replaced};
	});
}

const unhealthyOf = (sized: SizedSet): number => sized.wanted - stayingOf(sized);
