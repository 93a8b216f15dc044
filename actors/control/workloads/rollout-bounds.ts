// How far an update may go meanwhile: how many pods more than wanted, and how many fewer that can be relied on.

import {countOf} from '../../../api/count-or-percent.js';
import type {DeploymentSpec} from '../../../api/kinds/deployment.js';

export type RolloutBounds = {
	readonly replicas: number;
	/** There may be so many pods, those that are over or being deleted aside. */
	readonly mostPods: number;
	/** So many available pods are left when one is deleted that need not be. */
	readonly leastAvailable: number;
};

/** Both 0 by rounding would let no pod be replaced: then one may be missing. After ResolveFenceposts of Kubernetes. */
export function boundsOf({replicas = 1, strategy}: DeploymentSpec): RolloutBounds {
	if (strategy?.type === 'Recreate') return {replicas, mostPods: replicas, leastAvailable: replicas};
	const {maxSurge, maxUnavailable} = strategy?.rollingUpdate ?? {};
	const surge = countOf(maxSurge, replicas, 'up');
	const missing = countOf(maxUnavailable, replicas, 'down');
	const unavailable = surge === 0 && missing === 0 ? 1 : missing;
	return {replicas, mostPods: replicas + surge, leastAvailable: Math.max(0, replicas - unavailable)};
}
