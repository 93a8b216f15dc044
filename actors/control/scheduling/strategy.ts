// The cluster's strategy among nodes that are equally liked.

import type {SchedulerStrategy} from '../../../api/scheduler-strategies.js';
import type {Candidate} from './candidate.js';
import type {PodNeeds} from './needs.js';

/** Of two nodes the one with the smaller number is better; equals are told apart by their number of pods. */
export function strategyScore(strategy: SchedulerStrategy, node: Candidate, needs: PodNeeds): number {
	switch (strategy) {
		case 'round-robin':
		case 'random':
			return 0;
		case 'least-pods':
			return node.pods;
		case 'most-pods':
			return -node.pods;
		case 'least-cpu':
			return share(node.usedCpu + needs.cpuMillis, node.cpuMillis);
		case 'least-memory':
			return share(node.usedMemory + needs.memoryBytes, node.memoryBytes);
	}
}

/** Of what the node has; 0 where that has no bound. */
const share = (used: number, all: number): number => (used === 0 ? 0 : used / all);
