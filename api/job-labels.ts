// The labels by which a Job finds its pods, those that Kubernetes had before included, and what else it writes on them.

import type {Labels} from './object.js';

export const jobLabels = {
	uid: 'batch.kubernetes.io/controller-uid',
	name: 'batch.kubernetes.io/job-name',
	formerUid: 'controller-uid',
	formerName: 'job-name',
} as const;

export const labelsOfJob = ({uid, name}: {readonly uid: string; readonly name: string}): Labels => ({
	[jobLabels.uid]: uid,
	[jobLabels.name]: name,
	[jobLabels.formerUid]: uid,
	[jobLabels.formerName]: name,
});

/** Which completion of an Indexed Job a pod is: an annotation and a label. */
export const completionIndexKey = 'batch.kubernetes.io/job-completion-index';

/** How often its index failed before, counted and not: annotations of pods of a Job with backoffLimitPerIndex. */
export const indexFailureKey = 'batch.kubernetes.io/job-index-failure-count';
export const indexIgnoredKey = 'batch.kubernetes.io/job-index-ignored-failure-count';

/** Holds a pod until its Job has counted how it ended. */
export const jobTrackingFinalizer = 'batch.kubernetes.io/job-tracking';
