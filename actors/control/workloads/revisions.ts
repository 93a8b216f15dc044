// The versions of a Deployment: each ReplicaSet is one, and says which in its annotations, as in Kubernetes.

import type {Deployment} from '../../../api/kinds/deployment.js';
import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import type {ApiObject, Labels} from '../../../api/object.js';
import {
	desiredReplicasAnnotation,
	maxReplicasAnnotation,
	ownAnnotations,
	revisionAnnotation,
	revisionHistoryAnnotation,
} from '../../../api/rollouts.js';
import {isDeleting} from '../objects/garbage.js';
import type {SizedSet} from './sized-set.js';

/** Characters of the list of earlier revisions; the oldest go first. */
const historyCharacters = 2_000;

const numberIn = ({metadata}: ApiObject, annotation: string): number | undefined => {
	const value = Number(metadata.annotations?.[annotation] ?? 'none');
	return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
};

/** 0: it says none, or none that can be read. */
export const revisionOf = (object: ApiObject): number => numberIn(object, revisionAnnotation) ?? 0;

/** The size of the Deployment when the set was last scaled for it. */
export const desiredOf = (set: ReplicaSet): number | undefined => numberIn(set, desiredReplicasAnnotation);

/** How many pods there might be then. */
export const mostOf = (set: ReplicaSet): number | undefined => numberIn(set, maxReplicasAnnotation);

/** The number of a version that is newer than these; the last one there is comes after itself. */
const numberAfter = (sets: readonly SizedSet[]): number =>
	Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, ...sets.map(({set}) => revisionOf(set))) + 1);

/** What the Deployment says is said of its newest version too: `kubernetes.io/change-cause` among it. */
const copied = ({metadata}: Deployment): Labels =>
	Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([name]) => !ownAnnotations.has(name)));

/** Of a set that is made as the newest version. */
export const firstAnnotations = (deployment: Deployment, old: readonly SizedSet[]): Labels => ({
	...copied(deployment),
	[revisionAnnotation]: String(numberAfter(old)),
});

/** What the newest version's set does not say yet. One that was an older version becomes the newest. */
export function missingAnnotations(deployment: Deployment, set: ReplicaSet, old: readonly SizedSet[]): Labels {
	const present = set.metadata.annotations ?? {};
	const wanted: Record<string, string> = {...copied(deployment)};
	const revision = revisionOf(set);
	const newest = numberAfter(old);
	if (revision < newest) {
		wanted[revisionAnnotation] = String(newest);
		if (revision > 0) wanted[revisionHistoryAnnotation] = historyWith(present[revisionHistoryAnnotation], revision);
	}
	return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => present[name] !== value));
}

function historyWith(history: string | undefined, revision: number): string {
	const revisions = [...(history ?? '').split(',').filter(each => each !== ''), String(revision)];
	while (revisions.join(',').length > historyCharacters) revisions.shift();
	return revisions.join(',');
}

/** Versions beyond those that are kept: the oldest of the sets that have and want no pods. */
export function forgotten(old: readonly SizedSet[], kept: number): readonly ReplicaSet[] {
	const sets = old.filter(({set, wanted, census}) => wanted === 0 && census.owned === 0 && !isDeleting(set)).map(({set}) => set);
	const tooMany = Math.max(0, sets.length - kept);
	return [...sets].sort((a, b) => revisionOf(a) - revisionOf(b)).slice(0, tooMany);
}
