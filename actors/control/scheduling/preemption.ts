// Which pods have to go for a pod that fits nowhere. After Kubernetes' DefaultPreemption: of the nodes where it would fit without the pods of a
// lower priority, the one where the least is lost. Disruption budgets are kept where that is possible, and broken where nothing else helps.

import type {Pod} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import {budgetsOf} from '../pods/disruption-budget.js';
import {isDeleting} from '../objects/garbage.js';
import type {Cycle} from './cycle.js';
import {candidateMisfit, type EquivalenceClass} from './equivalence-class.js';
import {exceeds, freedBy, freedWith, type Freed} from './filters.js';
import {podsOn, type NodeInfo} from './node-info.js';
import {compareInOrder} from './score.js';

export type Preemption = {readonly node: NodeInfo; readonly victims: readonly Pod[]};

const priorityOf = ({spec}: Pod): number => spec?.priority ?? 0;

/** Whether there may be victims for pods of this class. */
export const mayPreempt = ({requirements}: EquivalenceClass, {hasBelowDefault}: Cycle): boolean =>
	requirements.spec.preemptionPolicy !== 'Never' && (requirements.priority > 0 || hasBelowDefault);

/** Whether victims are still on their way out of the node that the pod is nominated for: then it waits for them. */
export function areVictimsLeaving(pod: Pod, podClass: EquivalenceClass, cycle: Cycle): boolean {
	const node = cycle.nominations.get(pod.metadata.uid);
	if (node === undefined || !podClass.candidates.some(({name}) => name === node)) return false;
	// One that is over and only held by a finalizer gives nothing back any more.
	for (const other of podsOn(cycle.known, node)) {
		if (priorityOf(other) < podClass.requirements.priority && (isDeleting(other) || cycle.leaving.has(other.metadata.uid))) return true;
	}
	return false;
}

/**
 * The node and its victims; undefined where nothing helps. A bounded number of nodes is searched, any of the candidates, or any of
 * `only`.
 */
export function preemptionFor(pod: Pod, podClass: EquivalenceClass, cycle: Cycle, only?: ReadonlySet<string>): Preemption | undefined {
	const {requirements} = podClass;
	const nodes = only === undefined ? podClass.candidates : podClass.candidates.filter(({name}) => only.has(name));
	const start = Math.floor(cycle.random() * nodes.length);
	const hasBudgets = cycle.known.list('poddisruptionbudgets')[Symbol.iterator]().next().done !== true;
	let best: (Preemption & {readonly cost: Cost}) | undefined;
	let nodesSeen = 0;
	let podsSeen = 0;
	for (let offset = 0; offset < nodes.length && nodesSeen < limits.preemptionNodes && podsSeen < limits.preemptionPods; offset++) {
		const node = nodes[(start + offset) % nodes.length];
		if (node === undefined || exceeds(requirements, node) !== undefined) continue;
		if ((cycle.lowestPriority.get(node) ?? Number.NEGATIVE_INFINITY) >= requirements.priority) continue;
		const there = [...podsOn(cycle.known, node.name)];
		podsSeen += there.length;
		cycle.lowestPriority.set(
			node,
			there.reduce((lowest, other) => Math.min(lowest, priorityOf(other)), Number.POSITIVE_INFINITY),
		);
		const lower = there.filter(
			other => priorityOf(other) < requirements.priority && !isDeleting(other) && !cycle.leaving.has(other.metadata.uid),
		);
		if (lower.length === 0) continue;
		nodesSeen++;
		const order = [...lower].sort(byImportance);
		const held = hasBudgets ? heldByBudgets(order, cycle) : none;
		const spareFirst = held.size === 0 ? order : [...order.filter(each => held.has(each)), ...order.filter(each => !held.has(each))];
		const victims = victimsOn(node, spareFirst, pod, podClass, cycle);
		if (victims === undefined || victims.length === 0 || victims.length > limits.preemptionVictims) continue;
		const cost = costOf(victims, held);
		if (best === undefined || compareInOrder(cost, best.cost) < 0) best = {node, victims, cost};
	}
	cycle.comparisons += podsSeen;
	return best === undefined ? undefined : {node: best.node, victims: best.victims};
}

/** Those of the highest priority, and of equals those that run for longest, come first. */
const byImportance = (a: Pod, b: Pod): number => priorityOf(b) - priorityOf(a) || startMs(a) - startMs(b);

const none: ReadonlySet<Pod> = new Set();

/** Those that are more than their budgets allow to go, as the budgets' statuses have it. */
function heldByBudgets(pods: readonly Pod[], cycle: Cycle): ReadonlySet<Pod> {
	const allowed = new Map<string, number>();
	const held = new Set<Pod>();
	for (const pod of pods) {
		for (const {metadata, status} of budgetsOf(pod, cycle.known)) {
			if (Object.hasOwn(status?.disruptedPods ?? {}, pod.metadata.name)) continue;
			const left = (allowed.get(metadata.uid) ?? status?.disruptionsAllowed ?? 0) - 1;
			allowed.set(metadata.uid, left);
			if (left < 0) held.add(pod);
		}
	}
	cycle.comparisons += pods.length;
	return held;
}

/** As few as will do: those that come first are spared first. */
function victimsOn(
	node: NodeInfo,
	lower: readonly Pod[],
	{metadata: {uid}}: Pod,
	podClass: EquivalenceClass,
	cycle: Cycle,
): readonly Pod[] | undefined {
	const fitsWithout = (gone: readonly Pod[], freed: Freed): boolean =>
		candidateMisfit(podClass, uid, node, cycle.holdsPort, gone, freed) === undefined;
	let freed = freedBy(lower);
	if (!fitsWithout(lower, freed)) return undefined;
	let victims = lower;
	for (const spared of lower) {
		const others = victims.filter(victim => victim !== spared);
		const less = freedWith(freed, spared, -1);
		cycle.comparisons += others.length;
		if (!fitsWithout(others, less)) continue;
		victims = others;
		freed = less;
	}
	return victims;
}

/** A status may say anything: what is no time is the beginning of time, so that the order stays total. */
function startMs({status, metadata}: Pod): number {
	const ms = Date.parse(status?.startTime ?? metadata.creationTimestamp);
	return Number.isNaN(ms) ? 0 : ms;
}

/** What is lost; of the highest victims the time counts when the first began: later is better. */
type Cost = readonly [held: number, highest: number, sum: number, count: number, sinceMs: number];

/** Priorities go below 0, and one victim more must never make a sum smaller. */
const lowestPriority = 2 ** 31;

function costOf(victims: readonly Pod[], held: ReadonlySet<Pod>): Cost {
	const highest = Math.max(...victims.map(priorityOf));
	const starts = victims.filter(victim => priorityOf(victim) === highest).map(startMs);
	const sum = victims.reduce((total, victim) => total + priorityOf(victim) + lowestPriority, 0);
	return [victims.filter(victim => held.has(victim)).length, highest, sum, victims.length, -Math.min(...starts)];
}
