// The static shape of a batch/v1 Job.

import type {ApiObject, Condition} from '../object.js';
import type {LabelSelector} from '../selector.js';
import type {PodTemplate} from './pod.js';

export type JobSpec = {
	readonly template: PodTemplate;
	readonly parallelism?: number;
	readonly completions?: number;
	readonly completionMode?: 'NonIndexed' | 'Indexed';
	readonly backoffLimit?: number;
	readonly activeDeadlineSeconds?: number;
	readonly ttlSecondsAfterFinished?: number;
	readonly suspend?: boolean;
	readonly selector?: LabelSelector;
	readonly manualSelector?: boolean;
};

export type JobStatus = {
	readonly active?: number;
	readonly ready?: number;
	readonly succeeded?: number;
	readonly failed?: number;
	readonly startTime?: string;
	readonly completionTime?: string;
	readonly conditions?: readonly Condition[];
};

export type Job = ApiObject<JobSpec, JobStatus>;
