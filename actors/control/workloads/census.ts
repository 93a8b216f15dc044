// The pods of an owner, counted. A set of thousands is not walked at each change of one of them: the index counts pods that carry just the
// template's labels.

import type {Pod} from '../../../api/kinds/pod.js';
import type {ApiObject, Labels} from '../../../api/object.js';
import {matches, type LabelSelector} from '../../../api/selector.js';
import type {Known} from '../../../system/index/object-index.js';
import {isActive, isReady, readySinceMs} from '../pods/pod-lifecycle.js';
import {censusTerm, ownedTerm, readyInTerm, readySpanOf, type PodStanding} from '../pods/pod-terms.js';

/** What owns pods that it selects and makes from a template. */
export type Workload = ApiObject<{
	readonly selector: LabelSelector;
	readonly template: {readonly metadata?: {readonly labels?: Labels; readonly annotations?: Labels}; readonly spec: object};
	readonly minReadySeconds?: number;
}>;

export type Census = {
	readonly owned: number;
	/** Matching, neither over nor being deleted. */
	readonly active: number;
	readonly ready: number;
	/** Ready for at least `minReadySeconds`. */
	readonly available: number;
	/** When the next one that is ready becomes available, by the leader's clock. */
	readonly nextAvailableMs: number | undefined;
	/** Owned and not matching. */
	readonly strangers: readonly Pod[];
};

export function censusOf(workload: Workload, known: Known, nowMs: number): Census {
	const {uid} = workload.metadata;
	const labels = workload.spec?.template.metadata?.labels;
	const count = (standing: PodStanding): number => known.countByTerm('pods', censusTerm(uid, labels, standing));
	const owned = known.countByTerm('pods', ownedTerm(uid));
	const ready = count('ready');
	const active = ready + count('unready');
	if (active + count('over') !== owned || spansOf(workload, nowMs) > owned) return walked(workload, known, nowMs);
	return {owned, active, ready, ...availability(workload, ready, known, nowMs), strangers: []};
}

/** In how many spans pods became ready that may not be available yet: of a long time more than there are pods. */
const spansOf = ({spec}: Workload, nowMs: number): number => readySpanOf(nowMs) - readySpanOf(nowMs - (spec?.minReadySeconds ?? 0) * 1000);

type Availability = Pick<Census, 'available' | 'nextAvailableMs'>;

/** Only pods of the first span that is not over are looked at one by one. */
function availability({metadata, spec}: Workload, ready: number, known: Known, nowMs: number): Availability {
	const minReadyMs = (spec?.minReadySeconds ?? 0) * 1000;
	let available = ready;
	let nextAvailableMs: number | undefined;
	if (minReadyMs === 0 || ready === 0) return {available, nextAvailableMs};
	const labels = spec?.template.metadata?.labels;
	for (let span = readySpanOf(nowMs - minReadyMs); span <= readySpanOf(nowMs); span++) {
		const term = readyInTerm(metadata.uid, labels, span);
		if (nextAvailableMs !== undefined) {
			available -= known.countByTerm('pods', term);
			continue;
		}
		const due = dueTimes([...known.byTerm('pods', term)] as Pod[], minReadyMs, nowMs);
		available -= due.length;
		if (due.length > 0) nextAvailableMs = Math.min(...due);
	}
	return {available, nextAvailableMs};
}

/** When those pods become available that are not yet. */
const dueTimes = (pods: readonly Pod[], minReadyMs: number, nowMs: number): readonly number[] =>
	minReadyMs === 0
		? []
		: pods.map(pod => (readySinceMs(pod) ?? 0) + minReadyMs).filter(dueMs => dueMs > nowMs && dueMs <= nowMs + minReadyMs);

function walked(workload: Workload, known: Known, nowMs: number): Census {
	const owned = [...ownedPods(workload, known)];
	const active = owned.filter(pod => isMine(workload, pod) && isActive(pod));
	const ready = active.filter(isReady);
	const due = dueTimes(ready, (workload.spec?.minReadySeconds ?? 0) * 1000, nowMs);
	return {
		owned: owned.length,
		active: active.length,
		ready: ready.length,
		available: ready.length - due.length,
		nextAvailableMs: due.length === 0 ? undefined : Math.min(...due),
		strangers: owned.filter(pod => !isMine(workload, pod)),
	};
}

export const ownedPods = ({metadata}: ApiObject, known: Known): Iterable<Pod> =>
	known.byTerm('pods', ownedTerm(metadata.uid)) as Iterable<Pod>;

export const isMine = ({spec}: Workload, pod: Pod): boolean => spec !== undefined && matches(spec.selector, pod.metadata.labels);
