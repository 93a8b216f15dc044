// The schema of a Job.

import {objectWith} from './metadata.js';
import {about, conditions, count, flag, oneOf, optional, record, seconds, selector, text} from './parts.js';
import {podTemplate} from './template.js';

export const spec = () =>
	record(
		{
			template: about('What its pods are made from.', podTemplate()),
			parallelism: optional(about('How many pods run at a time; 1 when left out.', count())),
			completions: optional(about('How many pods have to succeed; 1 when left out.', count())),
			completionMode: optional(about('Whether each pod has a number of its own (Indexed).', oneOf(['NonIndexed', 'Indexed']))),
			backoffLimit: optional(about('After so many failures the job has failed; 6 when left out.', count())),
			activeDeadlineSeconds: optional(about('The job is ended after so long.', seconds(1))),
			ttlSecondsAfterFinished: optional(about('It is deleted so long after its end.', seconds())),
			suspend: optional(about('Whether it waits.', flag())),
			selector: optional(about('Which pods belong to it; made by the cluster.', selector())),
			manualSelector: optional(about('Whether the selector is yours.', flag())),
		},
		{
			'x-not-yet': ['backoffLimitPerIndex', 'managedBy', 'maxFailedIndexes', 'podFailurePolicy', 'podReplacementPolicy', 'successPolicy'],
		},
	);

export const status = () =>
	record({
		active: optional(count()),
		ready: optional(count()),
		succeeded: optional(count()),
		failed: optional(count()),
		startTime: optional(text()),
		completionTime: optional(text()),
		conditions: optional(conditions()),
	});

export const schema = () => objectWith(about('Pods that run to their end, and how often.', spec()));
