// What one round of the scheduler knows of one sort of pods: those that may run at the same places. Thousands of pods of one ReplicaSet
// share one look.

import type {Pod} from '../../../api/kinds/pod.js';
import type {Candidate} from './candidate.js';
import type {PodNeeds} from './needs.js';
import {addNeighbour, neighbourMisfit, type Neighbours} from './pod-affinity.js';
import {roomMisfit, type Freed, type PortCheck} from './room.js';
import {addSpread, spreadMisfit, type Spread} from './spread.js';

export type Look = {
	readonly needs: PodNeeds;
	/** Nodes against which nothing of their own speaks; by name. */
	readonly open: readonly Candidate[];
	/** How the pods like a node for what it is, where that makes a difference. */
	readonly tastes: ReadonlyMap<Candidate, NodeTaste> | undefined;
	readonly neighbours: Neighbours | undefined;
	readonly spreads: readonly Spread[];
	/** What is said of one that fits nowhere, and how many binds were decided by then. */
	nowhere: {readonly binds: number; readonly why: () => string} | undefined;
	/** Nobody's place can be taken for one of these. */
	isHopeless: boolean;
	/** Nor on those nodes alone that have changed. */
	isHopelessAmongNews: boolean;
};

/** Taints that are better avoided, and weights of preferred node affinity. */
export type NodeTaste = {readonly avoided: number; readonly points: number};

/** Takes a pod of any sort in that was just placed. */
export function lookAgain(look: Look, pod: Pod, candidate: Candidate): void {
	if (look.neighbours !== undefined) addNeighbour(look.neighbours, pod, candidate);
	addSpread(look.spreads, pod, candidate);
}

/** Why one of the pods cannot run on an open node, some pods there thought away, with what they free where that is known; undefined when it can. */
export function openMisfit(
	{needs, neighbours, spreads}: Look,
	uid: string,
	node: Candidate,
	holdsPort: PortCheck,
	without: readonly Pod[] = [],
	freed?: Freed,
): string | undefined {
	return (
		roomMisfit({uid, needs}, node, holdsPort, without, freed) ??
		(neighbours === undefined ? undefined : neighbourMisfit(neighbours, node, without)) ??
		(spreads.length === 0 ? undefined : spreadMisfit(spreads, node, without))
	);
}
