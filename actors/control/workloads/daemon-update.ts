// What a DaemonSet does next on its nodes: pods where none is, none where none belongs, and new ones for old as far as the update may go. After
// manage and rollingUpdate of Kubernetes.

import type {DaemonSetSpec} from '../../../api/kinds/daemonset.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {conditionOf} from '../../../api/conditions.js';
import {countOf} from '../../../api/count-or-percent.js';
import {limits} from '../../../api/limits.js';
import {isReady} from '../pods/pod-lifecycle.js';
import {isAvailable} from './availability.js';
import type {Place} from './daemon-places.js';

export type Step = {
	readonly deleted: readonly Pod[];
	/** Nodes that get a pod. */
	readonly created: readonly string[];
	/** When a pod that is over is replaced. */
	readonly wakeAtMs: number | undefined;
};

type Bounds = {readonly surge: number; readonly unavailable: number};

/** Parts are rounded up; both 0 would let no pod be replaced. */
function boundsOf({updateStrategy}: DaemonSetSpec, total: number): Bounds {
	const {maxSurge, maxUnavailable} = updateStrategy?.rollingUpdate ?? {};
	const surge = countOf(maxSurge, total, 'up');
	const unavailable = countOf(maxUnavailable, total, 'up');
	return {surge, unavailable: surge === 0 ? Math.max(1, unavailable) : unavailable};
}

export function stepOf(spec: DaemonSetSpec, places: readonly Place[], nowMs: number): Step {
	const wanted = places.filter(({fit}) => fit === 'runs');
	const bounds = boundsOf(spec, wanted.length);
	const isRolling = spec.updateStrategy?.type !== 'OnDelete';
	const isSurging = isRolling && bounds.surge > 0;
	const isGood = (pod: Pod): boolean => isAvailable(pod, spec.minReadySeconds, nowMs);
	const deleted = [
		...places.flatMap(place => misplaced(place, isSurging, isGood)),
		...wanted.flatMap(({over}) => over.filter(pod => overdue(pod, nowMs))),
	];
	const created = wanted.filter(({pods, isComing}) => pods.length === 0 && !isComing).map(({node}) => node);
	const ends = wanted.flatMap(({over}) => over.map(replacedAtMs).filter(atMs => atMs > nowMs));
	const wakeAtMs = ends.length === 0 ? undefined : Math.min(...ends);
	if (!isRolling) return {deleted, created, wakeAtMs};
	if (isSurging) return {deleted, created: [...created, ...surging(wanted, bounds, isGood)], wakeAtMs};
	return {deleted: [...deleted, ...replaced(wanted, bounds, isGood)], created, wakeAtMs};
}

/** Pods where none belongs; those over where none is made any more; and all but one of a node, with a surge all but an old one and a new one. */
function misplaced({fit, staying, over, isNew}: Place, isSurging: boolean, isGood: (pod: Pod) => boolean): readonly Pod[] {
	if (fit === 'leaves') return [...staying, ...over];
	const gone = fit === 'stays' ? over : [];
	if (staying.length < 2) return gone;
	if (!isSurging) return [...gone, ...staying.slice(1)];
	const old = staying.find(pod => !isNew(pod));
	const fresh = staying.find(isNew);
	const isNeeded = (pod: Pod): boolean => pod === fresh || (pod === old && (fresh === undefined || (isReady(pod) && !isGood(fresh))));
	return [...gone, ...staying.filter(pod => !isNeeded(pod))];
}

// ---- pods that are over ------------------------------------------------------------------------------------------------------

/** A pod without an end has come to one: its node may do the same to the next, so that one waits. */
const replacedAtMs = (pod: Pod): number => endedAtMs(pod) + limits.failedDaemonPodMs;

const overdue = (pod: Pod, nowMs: number): boolean => {
	const atMs = replacedAtMs(pod);
	// A clock that was set does not keep it waiting.
	return atMs <= nowMs || atMs > nowMs + limits.failedDaemonPodMs;
};

const endedAtMs = ({metadata, status}: Pod): number =>
	Date.parse(conditionOf(status?.conditions, 'Ready')?.lastTransitionTime ?? metadata.creationTimestamp) || 0;

// ---- new ones for old --------------------------------------------------------------------------------------------------------

/** Old pods that may go now; the set makes new ones where they are gone. One that is of no use is missed by nobody. */
function replaced(wanted: readonly Place[], {unavailable}: Bounds, isGood: (pod: Pod) => boolean): readonly Pod[] {
	const old = wanted.flatMap(({staying, isNew}) => (staying.length === 1 ? staying.filter(pod => !isNew(pod)) : []));
	const missing = wanted.filter(({staying}) => !staying.some(isGood)).length;
	const useless = old.filter(pod => !isGood(pod));
	return [...useless, ...old.filter(isGood).slice(0, Math.max(0, unavailable - missing))];
}

/** Nodes where a new pod starts beside the old one. */
function surging(wanted: readonly Place[], {surge}: Bounds, isGood: (pod: Pod) => boolean): readonly string[] {
	const candidates = wanted.filter(
		({pods, staying, isComing, isNew}) => pods.length === 1 && staying.length === 1 && !isComing && !staying.some(isNew),
	);
	const surged = wanted.filter(({pods, isComing}) => pods.length > 1 || (pods.length === 1 && isComing)).length;
	const useless = candidates.filter(({staying}) => !staying.some(isGood));
	const good = candidates.filter(({staying}) => staying.some(isGood));
	return [...useless, ...good.slice(0, Math.max(0, surge - surged))].map(({node}) => node);
}
