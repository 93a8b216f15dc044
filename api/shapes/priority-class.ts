// The static shape of a scheduling.k8s.io/v1 PriorityClass: field names are those of Kubernetes.

import type {ApiObject} from '../object.js';
import type {PodSpec} from './pod.js';

/** What a PriorityClass has beside its metadata. */
export type PriorityClassContent = {
	/** Pods of a higher value go first. */
	readonly value: number;
	/** Whether pods that name no class are of this one. */
	readonly globalDefault?: boolean;
	readonly preemptionPolicy?: NonNullable<PodSpec['preemptionPolicy']>;
	readonly description?: string;
};

export type PriorityClass = ApiObject & PriorityClassContent;
