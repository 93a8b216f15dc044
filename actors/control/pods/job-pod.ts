// What a pod says to the Job that owns it: the terms by which the Job counts its pods without walking them, and the finalizer that keeps one
// until it is counted.

import {completionIndexKey, jobLabels, jobTrackingFinalizer} from '../../../api/job-labels.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {timestampOf, type OwnerReference} from '../../../api/object.js';
import type {Filing} from '../../../system/index/object-index.js';
import type {Handled} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';
import {controllerOf} from '../objects/owners.js';
import {graceOf} from './pod-grace.js';
import {isActive, isReady, isTerminal} from './pod-lifecycle.js';

export const jobTerm = {
	/** Neither over nor being deleted. */
	active: (uid: string): string => `job-active=${uid}`,
	ready: (uid: string): string => `job-ready=${uid}`,
	/** Being deleted and not over. */
	terminating: (uid: string): string => `job-terminating=${uid}`,
	/** Over or being deleted, and held until the job has counted it. */
	ended: (uid: string): string => `job-ended=${uid}`,
	/** Active pods of one completion index. */
	index: (uid: string, index: number): string => `job-index=${uid}/${index}`,
	/** Restarts of containers of pods that are not over: an amount. */
	restarts: (uid: string): string => `job-restarts=${uid}`,
	/** Without the label that the cluster gives to pods of this job. */
	unlabelled: (uid: string): string => `job-unlabelled=${uid}`,
} as const;

/** The Job that controls the pod. */
export function jobOf(pod: Pod): OwnerReference | undefined {
	const owner = controllerOf(pod);
	return owner?.kind === 'Job' && owner.apiVersion === 'batch/v1' ? owner : undefined;
}

/** Whether the pod is held until its Job has counted it. */
export const isTracked = ({metadata}: Pod): boolean => metadata.finalizers?.includes(jobTrackingFinalizer) === true;

/** Nothing of it runs any more: it ended, or its node has nothing of it, or will never say so. */
export const isOver = (pod: Pod): boolean => isTerminal(pod) || (isDeleting(pod) && pod.metadata.deletionGracePeriodSeconds === 0);

/** Its completion index; undefined where it has none that can be read. */
export function completionIndexOf({metadata}: Pod): number | undefined {
	const text = metadata.annotations?.[completionIndexKey];
	return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Restarts that a Job counts as failures: those of pods whose containers start again by themselves. */
export function restartsOf(pod: Pod): number {
	if (pod.spec?.restartPolicy !== 'OnFailure' || isTerminal(pod) || jobOf(pod) === undefined) return 0;
	const {containerStatuses = [], initContainerStatuses = []} = pod.status ?? {};
	return [...containerStatuses, ...initContainerStatuses].reduce((sum, {restartCount}) => sum + restartCount, 0);
}

export function jobTerms(pod: Pod): readonly Filing[] {
	const uid = jobOf(pod)?.uid;
	if (uid === undefined) return [];
	const filings: Filing[] = [];
	if (isActive(pod)) {
		filings.push(jobTerm.active(uid));
		if (isReady(pod)) filings.push(jobTerm.ready(uid));
		const index = completionIndexOf(pod);
		if (index !== undefined) filings.push(jobTerm.index(uid, index));
	} else {
		if (isTracked(pod)) filings.push(jobTerm.ended(uid));
		if (!isOver(pod)) filings.push(jobTerm.terminating(uid));
	}
	const amount = restartsOf(pod);
	if (amount > 0) filings.push({term: jobTerm.restarts(uid), amount});
	if (pod.metadata.labels?.[jobLabels.uid] !== uid) filings.push(jobTerm.unlabelled(uid));
	return filings;
}

/** What its Job says of it. */
export type JobNews =
	/** It is counted: nothing holds it any more. */
	| {readonly type: 'counted'}
	/** There are too many, or the job waits: it goes and is not counted, unless it has ended by now. */
	| {readonly type: 'dismiss'};

const released = (pod: Pod): Pod =>
	isTracked(pod)
		? {...pod, metadata: {...pod.metadata, finalizers: (pod.metadata.finalizers ?? []).filter(each => each !== jobTrackingFinalizer)}}
		: pod;

export const counted = (pod: Pod): Handled<Pod> => ({ok: true, object: released(pod)});

/** Let go and deleted in one commit: a pod is counted or dismissed, never both. */
export function dismissed(pod: Pod, nowMs: number): Handled<Pod> {
	if (!isActive(pod)) return {ok: true, object: pod};
	const {metadata, ...rest} = released(pod);
	const seconds = graceOf(pod);
	const deletion = {deletionTimestamp: timestampOf(nowMs + seconds * 1000), deletionGracePeriodSeconds: seconds};
	return {ok: true, object: {...rest, metadata: {...metadata, ...deletion}}};
}
