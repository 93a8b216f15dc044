// Which of the nodes where a pod may run is the better one. One rule after the other decides, the next only among equals: PreferNoSchedule taints,
// weights of preferences, pods to be spread over; then the cluster's strategy.

import type {SchedulerStrategy} from '../../../api/scheduler-strategies.js';
import {matchesTerm} from '../pods/node-affinity.js';
import type {NodeInfo} from './node-info.js';
import {cpuLoad, memoryLoad} from './node-use.js';
import type {PodRequirements} from '../pods/pod-requirements.js';
import {isTolerated} from '../pods/toleration.js';

/** What only the node's own record decides: PreferNoSchedule taints that are not tolerated, and weights of preferred node affinity. */
export type NodeScore = {readonly taints: number; readonly weight: number};

export function nodeScoreOf({spec}: PodRequirements, node: NodeInfo): NodeScore {
	const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
	return {
		taints: node.taints.filter(taint => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, spec.tolerations)).length,
		weight: preferred.reduce((sum, {weight, preference}) => sum + (matchesTerm(preference, node) ? weight : 0), 0),
	};
}

/** How little a node is preferred. */
export type Score = readonly [taints: number, weightMissed: number, spread: number];

/** Of two scores or costs the one that is smaller where they first differ is better: less than 0 when that is `a`. */
export function compareInOrder(a: readonly number[], b: readonly number[]): number {
	for (let i = 0; i < a.length; i++) {
		const [x = 0, y = 0] = [a[i], b[i]];
		if (x !== y) return x < y ? -1 : 1;
	}
	return 0;
}

/** Of two nodes the one with the smaller number is better; equals are told apart by their number of pods. */
export function strategyScore(strategy: SchedulerStrategy, node: NodeInfo, requirements: PodRequirements): number {
	switch (strategy) {
		case 'round-robin':
		case 'random':
			return 0;
		case 'least-pods':
			return node.pods;
		case 'most-pods':
			return -node.pods;
		case 'least-cpu':
			return share(cpuLoad(node, node.use) + requirements.cpuMillis, node.cpuMillis);
		case 'least-memory':
			return share(memoryLoad(node, node.use) + requirements.memoryBytes, node.memoryBytes);
	}
}

/** Of what the node has; 0 where that has no bound. */
const share = (load: number, allocatable: number): number => (load === 0 ? 0 : load / allocatable);
