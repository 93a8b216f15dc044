// The schema of a CronJob.

import {spec as jobSpec} from './job.js';
import {objectWith, templateMetadata} from './metadata.js';
import {about, count, flag, list, oneOf, optional, record, seconds, text} from './parts.js';

const jobTemplate = () =>
	record({
		metadata: optional(about('Labels and annotations that each job gets.', templateMetadata())),
		spec: about('What each job is made of.', jobSpec()),
	});

export const spec = () =>
	record({
		schedule: about('When jobs are made: minute, hour, day of the month, month, day of the week; or @daily and the like.', text()),
		timeZone: optional(about('The time zone of the schedule, such as Europe/Berlin; UTC when left out.', text())),
		startingDeadlineSeconds: optional(about('A time that was missed for longer is not made good.', seconds())),
		concurrencyPolicy: optional(
			about('Whether a job may run beside another, has to wait for it, or takes its place.', oneOf(['Allow', 'Forbid', 'Replace'])),
		),
		suspend: optional(about('Whether no jobs are made.', flag())),
		jobTemplate: about('What its jobs are made from.', jobTemplate()),
		successfulJobsHistoryLimit: optional(about('How many complete jobs are kept; 3 when left out.', count())),
		failedJobsHistoryLimit: optional(about('How many failed jobs are kept; 1 when left out.', count())),
	});

const reference = () =>
	record({
		apiVersion: about('Of the job.', text()),
		kind: about('Job.', text()),
		namespace: about('Of the job.', text()),
		name: about('Of the job.', text()),
		uid: about('Of the job.', text()),
	});

export const status = () =>
	record({
		active: optional(about('Jobs that are not over.', list(reference()))),
		lastScheduleTime: optional(about('The newest time of the schedule for which a job was made.', text())),
		lastMissedTime: optional(about('The newest time that was missed for too long.', text())),
		lastSuccessfulTime: optional(about('When a job was complete last.', text())),
	});

export const schema = () => objectWith(about('When which jobs are made.', spec()));
