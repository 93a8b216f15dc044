// Which of the nodes where a pod may run it likes better. One rule after the other decides, the next only among equals: taints that are
// better avoided, weights of preferences, pods to be spread over; then the cluster's strategy.

import {isTolerated} from './taints.js';
import type {Candidate} from './candidate.js';
import type {Look, NodeTaste} from './look.js';
import type {PodNeeds} from './needs.js';
import {matchesTerm} from './node-affinity.js';
import {neighbourPoints} from './pod-affinity.js';
import {spreadCrowd} from './spread.js';

/** What only the node's own record decides. */
export function tasteOfNode({spec}: PodNeeds, node: Candidate): NodeTaste {
	const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
	return {
		avoided: node.taints.filter(taint => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, spec.tolerations)).length,
		points: preferred.reduce((sum, {weight, preference}) => sum + (matchesTerm(preference, node) ? weight : 0), 0),
	};
}

/** How one node is liked: of two, the one with the smaller first difference is better. */
export type Taste = readonly [avoided: number, pointsMissed: number, crowd: number];

const indifferent: Taste = [0, 0, 0];

/** Whether pods of this sort like one node better than another. */
export const isChoosy = ({needs, tastes}: Look): boolean => needs.hasTastes || tastes !== undefined;

export function tasteOf(look: Look, node: Candidate): Taste {
	if (!isChoosy(look)) return indifferent;
	const {avoided, points} = look.tastes?.get(node) ?? {avoided: 0, points: 0};
	const near = look.neighbours === undefined ? 0 : neighbourPoints(look.neighbours, node);
	return [avoided, -(points + near), spreadCrowd(look.spreads, node)];
}

/** Less than 0 when the first is liked better. */
export function compareTastes(a: Taste, b: Taste): number {
	for (let i = 0; i < a.length; i++) {
		const [x = 0, y = 0] = [a[i], b[i]];
		if (x !== y) return x < y ? -1 : 1;
	}
	return 0;
}
