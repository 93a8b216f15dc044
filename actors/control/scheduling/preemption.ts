// Whose place a pod may take when it fits nowhere. After Kubernetes' DefaultPreemption: of the nodes where it would fit without the pods that
// count less, the one where the least is lost.

import type {Pod} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import {isDeleting} from '../objects/garbage.js';
import {podsThere, type Candidate} from './candidate.js';
import {openMisfit, type Look} from './look.js';
import {exceeds, freedBy, freedWith, type Freed} from './room.js';
import type {Round} from './round.js';

export type Preemption = {readonly node: Candidate; readonly victims: readonly Pod[]};

const priorityOf = ({spec}: Pod): number => spec?.priority ?? 0;

/** Whether others may have to go for pods of this sort. */
export const mayPreempt = ({needs}: Look, {hasLower}: Round): boolean =>
	needs.spec.preemptionPolicy !== 'Never' && (needs.priority > 0 || hasLower);

/** Whether pods that count less are still on their way out of the node where room is kept for this one: then it waits for them. */
export function isMakingRoom(pod: Pod, look: Look, round: Round): boolean {
	const node = round.nominations.get(pod.metadata.uid);
	if (node === undefined || !look.open.some(({name}) => name === node)) return false;
	// One that is over and only held by a finalizer gives nothing back any more.
	for (const other of podsThere(round.known, node)) {
		if (priorityOf(other) < look.needs.priority && (isDeleting(other) || round.leaving.has(other.metadata.uid))) return true;
	}
	return false;
}

/**
 * The node and the pods that have to go from there; undefined where nothing helps. A bounded number of nodes is looked at, any of them, or
 * any of `only`.
 */
export function preemptionFor(pod: Pod, look: Look, round: Round, only?: ReadonlySet<string>): Preemption | undefined {
	const open = only === undefined ? look.open : look.open.filter(({name}) => only.has(name));
	const start = Math.floor(round.random() * open.length);
	let best: (Preemption & {readonly cost: Cost}) | undefined;
	let looked = 0;
	let podsLooked = 0;
	for (let offset = 0; offset < open.length && looked < limits.preemptionNodes && podsLooked < limits.preemptionPods; offset++) {
		const node = open[(start + offset) % open.length];
		if (node === undefined || exceeds(look.needs, node) !== undefined) continue;
		if ((round.lowest.get(node) ?? Number.NEGATIVE_INFINITY) >= look.needs.priority) continue;
		const there = [...podsThere(round.known, node.name)];
		podsLooked += there.length;
		round.lowest.set(
			node,
			there.reduce((lowest, other) => Math.min(lowest, priorityOf(other)), Number.POSITIVE_INFINITY),
		);
		const lower = there.filter(
			other => priorityOf(other) < look.needs.priority && !isDeleting(other) && !round.leaving.has(other.metadata.uid),
		);
		if (lower.length === 0) continue;
		looked++;
		const victims = victimsOn(node, lower, pod, look, round);
		if (victims === undefined || victims.length === 0 || victims.length > limits.preemptionVictims) continue;
		const cost = costOf(victims);
		if (best === undefined || compareCosts(cost, best.cost) < 0) best = {node, victims, cost};
	}
	round.work += podsLooked;
	return best === undefined ? undefined : {node: best.node, victims: best.victims};
}

/** As few as will do: those that count most, and of equals those that run for longest, may stay first. */
function victimsOn(node: Candidate, lower: readonly Pod[], {metadata: {uid}}: Pod, look: Look, round: Round): readonly Pod[] | undefined {
	const fitsWithout = (gone: readonly Pod[], freed: Freed): boolean =>
		openMisfit(look, uid, node, round.holdsPort, gone, freed) === undefined;
	let freed = freedBy(lower);
	if (!fitsWithout(lower, freed)) return undefined;
	let victims = [...lower].sort((a, b) => priorityOf(b) - priorityOf(a) || (startOf(a) < startOf(b) ? -1 : 1));
	for (const spared of [...victims]) {
		const others = victims.filter(victim => victim !== spared);
		const less = freedWith(freed, spared, -1);
		round.work += others.length;
		if (!fitsWithout(others, less)) continue;
		victims = others;
		freed = less;
	}
	return victims;
}

const startOf = ({status, metadata}: Pod): string => status?.startTime ?? metadata.creationTimestamp;

/** What is lost: the first figure that differs decides. */
type Cost = {
	readonly highest: number;
	readonly sum: number;
	readonly count: number;
	/** When the first of the highest victims began: later is better. */
	readonly since: string;
};

/** Priorities go below 0, and one victim more must never make a sum smaller. */
const lowestPriority = 2 ** 31;

function costOf(victims: readonly Pod[]): Cost {
	const highest = Math.max(...victims.map(priorityOf));
	const starts = victims.filter(victim => priorityOf(victim) === highest).map(startOf);
	return {
		highest,
		sum: victims.reduce((sum, victim) => sum + priorityOf(victim) + lowestPriority, 0),
		count: victims.length,
		since: starts.sort()[0] ?? '',
	};
}

function compareCosts(a: Cost, b: Cost): number {
	if (a.highest !== b.highest) return a.highest - b.highest;
	if (a.sum !== b.sum) return a.sum - b.sum;
	if (a.count !== b.count) return a.count - b.count;
	return a.since === b.since ? 0 : a.since > b.since ? -1 : 1;
}

/** What a pod that goes gives back counts for nobody else in this round. */
export function leave(round: Round, victims: readonly Pod[]): void {
	for (const {metadata} of victims) round.leaving.add(metadata.uid);
}
