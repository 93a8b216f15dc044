// Another size for a Deployment, also in the middle of an update: each of its sets gets its share, as in Kubernetes.

import {desiredOf, mostOf, revisionOf} from './revisions.js';
import type {RolloutBounds} from './rollout-bounds.js';
import {availableOf, mostPodsOf, stayingOf, sumOf, wantedOf, type Scaling, type SizedSet} from './sized-set.js';

/** Whether the Deployment has another size than when its sets were last scaled. After isScalingEvent of Kubernetes. */
export const isScaled = (sets: readonly SizedSet[], {replicas}: RolloutBounds): boolean =>
	sets.some(({set, wanted}) => wanted > 0 && (desiredOf(set) ?? replicas) !== replicas);

/**
 * The size of each set, also of those that keep theirs; undefined: for now none may change. `old`: oldest first. After `scale` of Kubernetes'
 * Deployment controller, within both bounds.
 */
export function scaledSizes(
	newest: SizedSet | undefined,
	old: readonly SizedSet[],
	bounds: RolloutBounds,
	isRolling: boolean,
): readonly Scaling[] | undefined {
	const {replicas} = bounds;
	const sets = newest === undefined ? old : [...old, newest];
	const active = sets.filter(({wanted}) => wanted > 0);
	if (active.length <= 1) return only(active[0] ?? newest ?? latest(old), sets, replicas);
	if (newest !== undefined && isSaturated(newest, replicas))
		return active.map(sized => ({sized, replicas: sized === newest ? sized.wanted : 0}));
	if (!isRolling) return active.map(sized => ({sized, replicas: sized.wanted}));
	const target = replicas === 0 ? 0 : bounds.mostPods;
	const more = target - sumOf(active, wantedOf);
	if (more > 0 && areLeaving(sets)) return undefined;
	const sizes = shares(active, more, bounds);
	return more < 0 ? sparingAvailable(sizes, bounds, target) : sizes;
}

function only(sized: SizedSet | undefined, sets: readonly SizedSet[], replicas: number): readonly Scaling[] | undefined {
	if (sized === undefined) return [];
	return replicas > sized.wanted && areLeaving(sets) ? undefined : [{sized, replicas}];
}

/** Whether pods are still to be deleted: until then their places are not given away. */
const areLeaving = (sets: readonly SizedSet[]): boolean => sumOf(sets, mostPodsOf) > sumOf(sets, wantedOf);

const latest = (old: readonly SizedSet[]): SizedSet | undefined => [...old].sort((a, b) => revisionOf(b.set) - revisionOf(a.set))[0];

const isSaturated = (newest: SizedSet, replicas: number): boolean =>
	newest.wanted === replicas && desiredOf(newest.set) === replicas && availableOf(newest) === replicas;

/** Largest first, of equals the newer one when more are wanted and the older one when fewer; what rounding leaves is the first one's. */
function shares(active: readonly SizedSet[], more: number, bounds: RolloutBounds): readonly Scaling[] {
	const sign = more >= 0 ? 1 : -1;
	const sorted = active.map((sized, age) => ({sized, age})).sort((a, b) => b.sized.wanted - a.sized.wanted || sign * (b.age - a.age));
	let left = more;
	const sizes = sorted.map(({sized}): Scaling => {
		const share = shareOf(sized, bounds);
		const part = more === 0 ? 0 : more > 0 ? Math.min(share, left) : Math.max(share, left);
		left -= part;
		return {sized, replicas: sized.wanted + part};
	});
	return sizes.map(({sized, replicas}, index) => ({sized, replicas: index === 0 ? Math.max(0, replicas + left) : replicas}));
}

/** By how many the set grows when it keeps its part of the whole. */
function shareOf({set, wanted}: SizedSet, {replicas, mostPods}: RolloutBounds): number {
	if (replicas === 0) return -wanted;
	const before = mostOf(set) ?? mostPods;
	return before === 0 ? 0 : Math.round((wanted * mostPods) / before) - wanted;
}

/** The same number of pods goes, but of those that are needed only as many as may be missing; the others are ones that serve nobody. */
function sparingAvailable(sizes: readonly Scaling[], {leastAvailable}: RolloutBounds, target: number): readonly Scaling[] {
	let spare = Math.max(
		0,
		sumOf(
			sizes.map(({sized}) => sized),
			stayingOf,
		) - leastAvailable,
	);
	const kept = sizes.map(({sized, replicas}): Scaling => {
		const staying = stayingOf(sized);
		const lost = Math.min(spare, Math.max(0, staying - replicas));
		spare -= lost;
		return {sized, replicas: Math.max(replicas, staying - lost)};
	});
	let tooMany = kept.reduce((sum, {replicas}) => sum + replicas, 0) - target;
	return kept.map(({sized, replicas}): Scaling => {
		const gone = Math.min(Math.max(0, tooMany), Math.max(0, replicas - stayingOf(sized)));
		tooMany -= gone;
		return {sized, replicas: replicas - gone};
	});
}
