// Jobs and their pods as the index would hold them.

import {completionIndexKey, jobTrackingFinalizer, labelsOfJob} from '../../api/job-labels.js';
import type {Job, JobSpec, JobStatus} from '../../api/kinds/job.js';
import type {ContainerStatus, Pod, PodStatus} from '../../api/kinds/pod.js';
import type {Labels, ObjectMeta} from '../../api/object.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {aContainer, aReadyPod, before, ownedBy, scheduled} from './_objects.js';

type Parts = {
	readonly name?: string;
	readonly metadata?: Partial<ObjectMeta>;
	readonly spec?: Partial<JobSpec>;
	readonly status?: Partial<JobStatus>;
};

/** With its defaults, and with what follows from its uid. */
export function aJob({name = 'work', metadata, spec, status}: Parts = {}): Job & {readonly spec: JobSpec} {
	const uid = `uid-of-job-${name}`;
	const labels = labelsOfJob({uid, name});
	return {
		apiVersion: 'batch/v1',
		kind: 'Job',
		metadata: {name, namespace: 'default', uid, resourceVersion: '1', generation: 1, creationTimestamp: before, ...metadata},
		spec: {
			parallelism: 1,
			completions: 1,
			completionMode: 'NonIndexed',
			backoffLimit: 6,
			podReplacementPolicy: spec?.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
			suspend: false,
			selector: {matchLabels: {'batch.kubernetes.io/controller-uid': uid}},
			template: {metadata: {labels}, spec: {containers: [aContainer()], restartPolicy: 'Never', terminationGracePeriodSeconds: 30}},
			...spec,
		},
		status: {...status},
	};
}

type PodParts = {
	readonly metadata?: Partial<ObjectMeta>;
	readonly status?: Partial<PodStatus>;
	readonly index?: number;
	readonly annotations?: Labels;
};

/** A pod that the job made, as it runs. */
export function itsPod(job: Job, name: string, {metadata, status, index, annotations}: PodParts = {}): Pod {
	const numbered = index === undefined ? {} : {[completionIndexKey]: String(index)};
	const pod = aReadyPod({
		name,
		metadata: {
			labels: {...job.spec?.template.metadata?.labels, ...numbered},
			annotations: {...numbered, ...annotations},
			ownerReferences: [ownedBy(job)],
			finalizers: [jobTrackingFinalizer],
			...metadata,
		},
		...(status === undefined ? {} : {status}),
	});
	return {...pod, spec: {containers: [aContainer()], ...pod.spec, restartPolicy: job.spec?.template.spec.restartPolicy ?? 'Never'}};
}

const ended = (exitCode: number): ContainerStatus => ({
	name: 'main',
	image: 'program',
	imageID: '',
	ready: false,
	restartCount: 0,
	state: {terminated: {exitCode, reason: exitCode === 0 ? 'Completed' : 'Error'}},
});

export const succeeded: Partial<PodStatus> = {phase: 'Succeeded', conditions: [scheduled], containerStatuses: [ended(0)]};
export const failedWith = (exitCode: number): Partial<PodStatus> => ({
	phase: 'Failed',
	conditions: [scheduled],
	containerStatuses: [ended(exitCode)],
});

export type Create = Extract<Effect, {type: 'create'}>;

export const createsOf = (effects: readonly Effect[]): readonly Create[] => effects.filter(effect => effect.type === 'create');

/** What is said to pods and asked of them: `counted uid-of-a`. */
export const saidOf = (effects: readonly Effect[]): readonly string[] =>
	effects.flatMap(effect =>
		effect.type === 'update' || effect.type === 'delete' ? [effect.id.replace('/', ' ').replace('uid-of-', '')] : [],
	);
