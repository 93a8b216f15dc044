// The static shape of an apps/v1 Deployment.

import type {ApiObject, Condition} from '../object.js';
import type {LabelSelector} from '../selector.js';
import type {PodTemplate} from './pod.js';

/** A number of pods, or a part of all of them: `25%`. */
export type CountOrPercent = number | string;

export type DeploymentStrategy = {
	readonly type?: 'RollingUpdate' | 'Recreate';
	readonly rollingUpdate?: {readonly maxSurge?: CountOrPercent; readonly maxUnavailable?: CountOrPercent};
};

export type DeploymentSpec = {
	readonly replicas?: number;
	readonly selector: LabelSelector;
	readonly template: PodTemplate;
	readonly strategy?: DeploymentStrategy;
	readonly minReadySeconds?: number;
	readonly revisionHistoryLimit?: number;
	readonly paused?: boolean;
	readonly progressDeadlineSeconds?: number;
};

export type DeploymentStatus = {
	readonly observedGeneration?: number;
	readonly replicas?: number;
	readonly updatedReplicas?: number;
	readonly readyReplicas?: number;
	readonly availableReplicas?: number;
	readonly unavailableReplicas?: number;
	readonly collisionCount?: number;
	readonly conditions?: readonly Condition[];
};

export type Deployment = ApiObject<DeploymentSpec, DeploymentStatus>;
