// The static shape of an apps/v1 ReplicaSet.

import type {ApiObject, Condition} from '../object.js';
import type {LabelSelector} from '../selector.js';
import type {PodTemplate} from './pod.js';

export type ReplicaSetSpec = {
	/** 1 when it is not given; set by the defaults. */
	readonly replicas?: number;
	readonly minReadySeconds?: number;
	readonly selector: LabelSelector;
	readonly template: PodTemplate;
};

export type ReplicaSetStatus = {
	readonly replicas: number;
	readonly fullyLabeledReplicas?: number;
	readonly readyReplicas?: number;
	readonly availableReplicas?: number;
	readonly observedGeneration?: number;
	readonly conditions?: readonly Condition[];
};

export type ReplicaSet = ApiObject<ReplicaSetSpec, ReplicaSetStatus>;
