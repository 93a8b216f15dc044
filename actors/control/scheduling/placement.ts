// Where a pod goes: the node that is reserved for it, of those where it fits the one with the best score and of equals the one that the strategy
// prefers, or nowhere, with the reason.

import type {Pod} from '../../../api/kinds/pod.js';
import type {Cycle} from './cycle.js';
import {candidateMisfit, hasScores, scoreOf, unschedulableText, type EquivalenceClass} from './equivalence-class.js';
import type {NodeInfo} from './node-info.js';
import {compareInOrder, strategyScore, type Score} from './score.js';

export type Placement = {readonly node: NodeInfo} | {readonly node: undefined; readonly why: () => string};

/** `only`: nothing has changed for the pod but on these nodes. Then it may still fit nowhere for the reason that was told before. */
export function place(pod: Pod, podClass: EquivalenceClass, cycle: Cycle, only?: ReadonlySet<string>): Placement {
	const {uid} = pod.metadata;
	const reserved = reservedNode(uid, podClass, cycle);
	if (reserved !== undefined) return {node: reserved};
	const {unschedulable} = podClass;
	const isNominated = cycle.nominations.get(uid) !== undefined;
	// What a cycle decides only takes resources away; but another pod may be one that this one has to be near to.
	const isDecided =
		!isNominated && unschedulable !== undefined && (!podClass.requirements.gainsByBinds || unschedulable.binds === cycle.binds);
	if (isDecided) return {node: undefined, why: unschedulable.why};
	const node = selectNode(podClass, uid, cycle, podClass.affinity === undefined && podClass.spreads.length === 0 ? only : undefined);
	if (node !== undefined) return {node};
	let text: string | undefined;
	const why = (): string => (text ??= unschedulableText(podClass, uid, cycle));
	if (!isNominated) podClass.unschedulable = {binds: cycle.binds, why};
	return {node: undefined, why};
}

/** The node that the pod is nominated for, as soon as it fits there. */
function reservedNode(uid: string, podClass: EquivalenceClass, {nodeByName, nominations, holdsPort}: Cycle): NodeInfo | undefined {
	const node = nodeByName.get(nominations.get(uid) ?? '');
	return node !== undefined && podClass.candidates.includes(node) && candidateMisfit(podClass, uid, node, holdsPort) === undefined
		? node
		: undefined;
}

/** The best node where the pod fits; undefined where it fits on none. `only`: no other ones are filtered. */
function selectNode(podClass: EquivalenceClass, uid: string, cycle: Cycle, only?: ReadonlySet<string>): NodeInfo | undefined {
	const nodes = only === undefined ? podClass.candidates : podClass.candidates.filter(({name}) => only.has(name));
	cycle.comparisons += nodes.length;
	switch (cycle.strategy) {
		case 'random':
			return anyOfBest(nodes, podClass, uid, cycle);
		case 'round-robin':
			return firstOfBest(fromTurn(nodes, cycle.turn), podClass, uid, cycle);
		case 'least-pods':
		case 'most-pods':
		case 'least-cpu':
		case 'least-memory':
			return best(nodes, podClass, uid, cycle);
	}
}

/** Filters cost more than scores: only a node that would be better is filtered. */
function best(nodes: readonly NodeInfo[], podClass: EquivalenceClass, uid: string, cycle: Cycle): NodeInfo | undefined {
	const isScored = hasScores(podClass);
	let found: NodeInfo | undefined;
	let foundByStrategy = 0;
	let foundPreferred: Score | undefined;
	for (const node of nodes) {
		const byStrategy = strategyScore(cycle.strategy, node, podClass.requirements);
		const preferred = isScored ? scoreOf(podClass, node) : undefined;
		if (found !== undefined) {
			const compared = preferred === undefined || foundPreferred === undefined ? 0 : compareInOrder(preferred, foundPreferred);
			const difference = compared !== 0 ? compared : byStrategy !== foundByStrategy ? byStrategy - foundByStrategy : node.pods - found.pods;
			if (difference >= 0) continue;
		}
		if (candidateMisfit(podClass, uid, node, cycle.holdsPort) !== undefined) continue;
		found = node;
		foundByStrategy = byStrategy;
		foundPreferred = preferred;
	}
	return found;
}

/** The list from the round-robin's place on, and around. */
function fromTurn(nodes: readonly NodeInfo[], turn: number): readonly NodeInfo[] {
	const start = nodes.findIndex(({index}) => index >= turn);
	return start <= 0 ? nodes : [...nodes.slice(start), ...nodes.slice(0, start)];
}

function firstOfBest(nodes: readonly NodeInfo[], podClass: EquivalenceClass, uid: string, cycle: Cycle): NodeInfo | undefined {
	if (!hasScores(podClass)) return nodes.find(node => candidateMisfit(podClass, uid, node, cycle.holdsPort) === undefined);
	return allOfBest(nodes, podClass, uid, cycle)[0];
}

function anyOfBest(nodes: readonly NodeInfo[], podClass: EquivalenceClass, uid: string, cycle: Cycle): NodeInfo | undefined {
	const feasible = hasScores(podClass)
		? allOfBest(nodes, podClass, uid, cycle)
		: nodes.filter(node => candidateMisfit(podClass, uid, node, cycle.holdsPort) === undefined);
	return feasible[Math.floor(cycle.random() * feasible.length)];
}

/** All feasible nodes of the best score. */
function allOfBest(nodes: readonly NodeInfo[], podClass: EquivalenceClass, uid: string, cycle: Cycle): readonly NodeInfo[] {
	let found: NodeInfo[] = [];
	let foundScore: Score | undefined;
	for (const node of nodes) {
		const score = scoreOf(podClass, node);
		const difference = foundScore === undefined ? -1 : compareInOrder(score, foundScore);
		if (difference > 0 || candidateMisfit(podClass, uid, node, cycle.holdsPort) !== undefined) continue;
		if (difference < 0) found = [];
		foundScore = score;
		found.push(node);
	}
	return found;
}
