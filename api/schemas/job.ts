// The schema of a Job.

import {limits} from '../limits.js';
import {objectWith} from './metadata.js';
import {about, conditions, count, flag, list, oneOf, optional, record, seconds, selector, someOf, text, whole} from './parts.js';
import {podTemplate} from './template.js';

const onExitCodes = () =>
	record({
		containerName: optional(about('The container that is meant; any of them when left out.', text())),
		operator: about('Whether the code has to be one of the values (In) or none of them (NotIn).', oneOf(['In', 'NotIn'])),
		values: about('Exit codes, rising. Containers that succeeded are no matter.', list(whole(0, 255))),
	});

const onPodCondition = () =>
	record({
		type: about('The condition, such as DisruptionTarget.', text()),
		status: optional(about('What it has to be; True when left out.', oneOf(['True', 'False', 'Unknown']))),
	});

const podFailurePolicy = () =>
	record({
		rules: about(
			'Rules, of which the first that matches a failed pod is taken.',
			list(
				record({
					action: about(
						'What the failure is: the end of the job or of the index, nothing (Ignore), or one more (Count).',
						oneOf(['FailJob', 'FailIndex', 'Ignore', 'Count']),
					),
					onExitCodes: optional(about('How a container ended.', onExitCodes())),
					onPodConditions: optional(about('What holds of the pod; one is enough.', someOf(onPodCondition()))),
				}),
			),
		),
	});

const successPolicy = () =>
	record({
		rules: about(
			'Rules, of which one is enough.',
			someOf(
				record({
					succeededIndexes: optional(about('Indexes that have to succeed, such as 0,3-5; all when left out.', text())),
					succeededCount: optional(about('How many of them; all when left out.', whole(1, limits.jobIndexes))),
				}),
			),
		),
	});

export const spec = () =>
	record(
		{
			template: about('What its pods are made from.', podTemplate()),
			parallelism: optional(about('How many pods run at a time; 1 when left out.', whole(0, limits.replicas))),
			completions: optional(
				about('How many pods have to succeed; 1 when left out. With parallelism alone, the success of one pod is that of all.', count()),
			),
			completionMode: optional(
				about(
					'Whether each completion has an index of its own (Indexed), which its pod finds in JOB_COMPLETION_INDEX.',
					oneOf(['NonIndexed', 'Indexed']),
				),
			),
			backoffLimit: optional(
				about('More failures than that end the job; 6 when left out, without end when backoffLimitPerIndex is set.', count()),
			),
			backoffLimitPerIndex: optional(about('More failures of one index than that end the index. Of Indexed jobs.', count())),
			maxFailedIndexes: optional(about('More failed indexes than that end the job. With backoffLimitPerIndex.', count())),
			podFailurePolicy: optional(about('What failures of pods mean, by how they failed. Needs restartPolicy Never.', podFailurePolicy())),
			successPolicy: optional(about('When an Indexed job has succeeded though not all indexes have.', successPolicy())),
			podReplacementPolicy: optional(
				about(
					'Whether a pod that is being deleted is replaced at once (TerminatingOrFailed) or when it is over (Failed).',
					oneOf(['TerminatingOrFailed', 'Failed']),
				),
			),
			activeDeadlineSeconds: optional(about('The job is ended after so long.', seconds(1))),
			ttlSecondsAfterFinished: optional(about('It is deleted so long after its end.', seconds())),
			suspend: optional(about('Whether it waits. Its pods are deleted while it does.', flag())),
			selector: optional(about('Which pods belong to it; made by the cluster.', selector())),
			manualSelector: optional(about('Whether the selector is yours.', flag())),
		},
		{'x-not-yet': ['managedBy']},
	);

export const status = () =>
	record({
		active: optional(about('Pods that are neither over nor being deleted.', count())),
		ready: optional(about('How many of them are ready.', count())),
		terminating: optional(about('Pods that are being deleted and not over.', count())),
		succeeded: optional(about('Pods that succeeded, each counted once; of an Indexed job, completed indexes.', count())),
		failed: optional(about('Pods that failed, each counted once.', count())),
		completedIndexes: optional(about('Indexes that completed, such as 0,3-5.', text())),
		failedIndexes: optional(about('Indexes that failed for good.', text())),
		uncountedTerminatedPods: optional(
			about(
				'Pods that are over, not let go and in no count yet.',
				record({
					succeeded: optional(about('Their uids.', list(text()))),
					failed: optional(about('Their uids.', list(text()))),
				}),
			),
		),
		failuresInARow: optional(about('Pods that failed since one succeeded: the wait before the next one grows with it.', count())),
		lastFailureTime: optional(about('When the last of them was counted.', text())),
		startTime: optional(about('When it began, or went on after it was suspended.', text())),
		completionTime: optional(about('When it was complete.', text())),
		conditions: optional(about('What holds of it.', conditions())),
	});

export const schema = () => objectWith(about('Pods that run to their end, and how often.', spec()));
