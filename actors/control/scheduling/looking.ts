// Finds the look of a pod's sort, or makes it.

import type {Pod} from '../../../api/kinds/pod.js';
import type {Candidate} from './candidate.js';
import type {Counter} from './counter.js';
import {openMisfit, type Look} from './look.js';
import {needsOf, type PodNeeds} from './needs.js';
import {nodeMisfit} from './node-filters.js';
import {neighboursOf} from './pod-affinity.js';
import {worded} from './reasons.js';
import type {Round} from './round.js';
import {spreadsOf} from './spread.js';
import {tasteOfNode} from './tastes.js';

/** The look of the pod's sort; undefined for a pod without a spec, which is none. */
export function lookOf(pod: Pod, round: Round): Look | undefined {
	if (pod.spec === undefined) return undefined;
	const needs = needsOf(pod.spec);
	const key = needs.looksAtPods || round.isRepelling ? `${needs.key} ${whoIs(pod)}` : needs.key;
	const found = round.looks.get(key);
	if (found !== undefined) return found;
	const made = newLook(pod, needs, round);
	round.looks.set(key, made);
	return made;
}

/** What the selectors of others, and its own, go by. */
const whoIs = ({metadata: {namespace, labels}}: Pod): string => JSON.stringify([namespace, labels]);

function newLook(pod: Pod, needs: PodNeeds, round: Round): Look {
	const {known, candidates, asked} = round;
	const candidateOf = (name: string): Candidate | undefined => round.byName.get(name);
	const open = candidates.filter(candidate => nodeMisfit(needs, candidate) === undefined);
	const neighbours = needs.looksAtPods || round.isRepelling ? neighboursOf(pod, known, asked, candidateOf) : undefined;
	const spreads = spreadsOf(pod, known, asked, candidates, candidateOf);
	const counters = [...spreads.map(({counter}) => counter), ...(neighbours === undefined ? [] : countersOf(neighbours))];
	round.work += candidates.length + counters.reduce((sum, {counts}) => sum + totalOf(counts), 0);
	return {
		needs,
		open,
		tastes: tastesOf(needs, open),
		neighbours,
		spreads,
		nowhere: undefined,
		isHopeless: false,
		isHopelessAmongNews: false,
	};
}

/** Mostly there is nothing to tell the nodes apart. */
function tastesOf(needs: PodNeeds, open: readonly Candidate[]): Look['tastes'] {
	const isPlain = !needs.hasTastes && open.every(({taints}) => taints.length === 0);
	return isPlain ? undefined : new Map(open.map(candidate => [candidate, tasteOfNode(needs, candidate)]));
}

const countersOf = ({wanted, shunned, liked, keepers}: NonNullable<Look['neighbours']>): readonly Counter[] => [
	...wanted,
	...shunned,
	...liked.map(({counter}) => counter),
	...keepers.values(),
];

function totalOf(counts: ReadonlyMap<string, number>): number {
	let total = 0;
	for (const count of counts.values()) total += count;
	return total;
}

/** Why a pod fits on none of the nodes, in one line. */
export function whyNowhere(look: Look, uid: string, round: Round): string {
	const {candidates, holdsPort} = round;
	round.work += candidates.length;
	return worded(
		candidates.map(node => [node.name, nodeMisfit(look.needs, node) ?? openMisfit(look, uid, node, holdsPort) ?? 'it fits'] as const),
	);
}
