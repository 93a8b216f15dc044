// What a StatefulSet does next: pods that are missing, then those that are too many, then new ones for old. After updateStatefulSet of Kubernetes.
//
// OrderedReady does one thing at a time: it goes on only while all pods of lower numbers can be relied on, makes pods from the first on and takes
// away from the last. Parallel waits for none when it makes pods and takes them away; updates go from the last to the first in both.

import {countOf} from '../../../api/count-or-percent.js';
import type {StatefulSetSpec} from '../../../api/kinds/statefulset.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {isTerminal} from '../pods/pod-lifecycle.js';

/** A number that a pod of the set has or shall have. */
export type Slot = {
	readonly ordinal: number;
	readonly pod: Pod | undefined;
	/** Its pod is asked for, or another object has its name: nothing can be made there now. */
	readonly isTaken: boolean;
	/** Being deleted, or asked to be. */
	readonly isLeaving: boolean;
	/** It can be relied on. */
	readonly isGood: boolean;
	readonly isNew: boolean;
};

export type Slots = {
	/** Numbers that the set shall have, rising. */
	readonly wanted: readonly Slot[];
	/** Pods of other numbers, falling. */
	readonly condemned: readonly Slot[];
};

export type Step = {
	/** Ordinals. */
	readonly created: readonly number[];
	readonly deleted: readonly Pod[];
};

const nothing: Step = {created: [], deleted: []};
const deletes = ({pod}: Slot): Step => (pod === undefined ? nothing : {created: [], deleted: [pod]});

export const stepOf = (spec: StatefulSetSpec, slots: Slots): Step =>
	spec.podManagementPolicy === 'Parallel' ? parallelStep(spec, slots) : orderedStep(spec, slots);

const isMissing = ({pod, isTaken}: Slot): boolean => pod === undefined && !isTaken;
const isOver = ({pod, isLeaving}: Slot): boolean => pod !== undefined && !isLeaving && isTerminal(pod);

function orderedStep(spec: StatefulSetSpec, {wanted, condemned}: Slots): Step {
	const first = wanted.find(({isGood}) => !isGood);
	if (first !== undefined) {
		if (isMissing(first)) return {created: [first.ordinal], deleted: []};
		// An update that stands still because a pod does not become ready is not mended by itself: as in Kubernetes, somebody has to delete it.
		return isOver(first) ? deletes(first) : nothing;
	}
	const [last] = condemned;
	if (last === undefined) return updateStep(spec, wanted);
	const firstOfNoUse = condemned.findLast(({isGood}) => !isGood);
	const isNext = !last.isLeaving && (last.isGood || last === firstOfNoUse);
	return isNext ? deletes(last) : nothing;
}

function parallelStep(spec: StatefulSetSpec, {wanted, condemned}: Slots): Step {
	const created = wanted.filter(isMissing).map(({ordinal}) => ordinal);
	const gone = [...wanted.filter(isOver), ...condemned.filter(({isLeaving}) => !isLeaving)].flatMap(({pod}) => pod ?? []);
	const update = updateStep(
		spec,
		wanted.filter(slot => !isOver(slot)),
	);
	return {created, deleted: [...gone, ...update.deleted]};
}

/** From the last to the partition: old pods of no use, and others as long as no more are missing than may be. */
function updateStep({updateStrategy, replicas = 1}: StatefulSetSpec, wanted: readonly Slot[]): Step {
	if (updateStrategy?.type === 'OnDelete') return nothing;
	const {partition = 0, maxUnavailable = 1} = updateStrategy?.rollingUpdate ?? {};
	const most = Math.max(1, countOf(maxUnavailable, replicas, 'down'));
	let missing = wanted.filter(({isGood}) => !isGood).length;
	const deleted: Pod[] = [];
	for (const {pod, isLeaving, isGood, isNew} of wanted.slice(partition).reverse()) {
		if (pod === undefined || isLeaving || isNew) continue;
		if (isGood && missing >= most) break;
		if (isGood) missing++;
		deleted.push(pod);
	}
	return {created: [], deleted};
}
