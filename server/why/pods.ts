// The pods of a workload, counted by what is the matter with them, and the one that tells most.

import type {Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {ownedPods, type Workload} from '../../actors/control/workloads/census.js';
import {censusTerm, ownedTerm} from '../../actors/control/pods/pod-terms.js';
import {ownedBy, type Evidence, type Finding, type Link} from './finding.js';
import {becauseOfPod, podFinding} from './pod.js';
import {passing, troubleOf, troubles, troubleText, type Trouble} from './trouble.js';

export type PodsFinding = {
	/** What is wrong of all, or on its way where nothing is wrong; undefined: all are as they should be. */
	readonly worst: {readonly finding: Finding; readonly pod: Pod; readonly trouble: Trouble} | undefined;
	readonly counts: ReadonlyMap<Trouble, number>;
	/** Pods that were looked at, those in trouble among them. */
	readonly total: number;
	/** There are more pods than are looked at one by one. */
	readonly isPartial: boolean;
};

/** Looks at no more than `limits.whyPods`, those that are not ready first. */
export function podsFinding(owner: ApiObject, evidence: Evidence, isMeant: (pod: Pod) => boolean = () => true): PodsFinding {
	const counts = new Map<Trouble, number>();
	const examples = new Map<Trouble, Pod>();
	let total = 0;
	for (const pod of podsOf(owner, evidence)) {
		if (!isMeant(pod)) continue;
		if (total++ >= limits.whyPods) break;
		const trouble = troubleOf(pod, evidence.nowMs)?.trouble;
		if (trouble === undefined) continue;
		counts.set(trouble, (counts.get(trouble) ?? 0) + 1);
		if (!examples.has(trouble)) examples.set(trouble, pod);
	}
	const worst = worstOf(examples, evidence);
	return {worst, counts, total: Math.min(total, limits.whyPods), isPartial: total > limits.whyPods};
}

/** What tells most; pods that only start or leave are told of where no other is in trouble. */
function worstOf(examples: ReadonlyMap<Trouble, Pod>, evidence: Evidence): PodsFinding['worst'] {
	const found = troubles.filter(trouble => examples.has(trouble));
	const trouble = found.find(each => !passing.has(each)) ?? found[0];
	const pod = trouble === undefined ? undefined : examples.get(trouble);
	return trouble === undefined || pod === undefined ? undefined : {finding: podFinding(pod, evidence, true), pod, trouble};
}

function* podsOf(owner: ApiObject, evidence: Evidence): Iterable<Pod> {
	const {known, isGone} = evidence;
	if (isGone) {
		for (const object of ownedBy(owner, evidence)) if (object.kind === 'Pod') yield object as Pod;
		return;
	}
	if (known.countByTerm('pods', ownedTerm(owner.metadata.uid)) <= limits.whyPods) {
		yield* ownedPods(owner, known);
		return;
	}
	// Of many, those that just carry the labels of the template are counted by how they are.
	const labels = (owner as Workload).spec?.template.metadata?.labels;
	for (const standing of ['unready', 'over', 'ready'] as const)
		yield* known.byTerm('pods', censusTerm(owner.metadata.uid, labels, standing)) as Iterable<Pod>;
}

/** `2 of its 3 pods crash, 1 has no node`. */
function countsText({counts, isPartial}: PodsFinding, total: number, noun: string): string {
	const told = troubles.filter(trouble => (counts.get(trouble) ?? 0) > 0);
	const firstTold = told.filter(trouble => !passing.has(trouble));
	return (firstTold.length > 0 ? firstTold : told)
		.map((trouble, at) => {
			const count = counts.get(trouble) ?? 0;
			const [one, several] = troubleText[trouble];
			const of = at > 0 ? String(count) : `${isPartial ? 'at least ' : ''}${ofText(count, total, noun)}`;
			return `${of} ${count === 1 ? one : several}`;
		})
		.join(', ');
}

function ofText(count: number, total: number, noun: string): string {
	if (total <= 1) return `its ${noun}`;
	return count >= total ? `all ${total} of its ${noun}s` : `${count} of its ${total} ${noun}s`;
}

/** The counts, and of the pod that tells most why. `noun`: which pods these are, where there are others. */
export function podsBecause(found: PodsFinding, total: number, noun = 'pod'): string {
	const {worst} = found;
	if (worst === undefined) return '';
	const why = becauseOfPod(worst.pod, worst.finding);
	return `${podsCounts(found, total, noun)}${why === '' ? '' : `; ${why}`}`;
}

/** The counts alone. */
export const podsCounts = (found: PodsFinding, total: number, noun = 'pod'): string =>
	countsText(found, Math.max(total, count(found)), noun);

const count = ({counts}: PodsFinding): number => [...counts.values()].reduce((sum, each) => sum + each, 0);

/** The way on from the owner, by its worst pod. */
export const podsBelow = ({worst}: PodsFinding): readonly Link[] => worst?.finding.chain ?? [];

/** Whether nobody has to do anything: all that is the matter passes by itself. */
export const isPassing = ({worst}: PodsFinding): boolean => worst === undefined || worst.finding.state === 'waits';
