// Which time of a schedule a Job is for, and whether its CronJob has noted that.

import type {CronJob} from '../../../api/kinds/cronjob.js';
import type {Job} from '../../../api/kinds/job.js';
import type {Known} from '../../../system/index/object-index.js';
import {isDeleting} from '../objects/garbage.js';
import {controllerOf} from '../objects/owners.js';

/** An annotation of jobs that CronJobs make, as in Kubernetes. */
export const scheduledTimeKey = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** The name that the job of a time has, as in Kubernetes. */
export const jobName = (cron: string, atMs: number): string => `${cron}-${Math.floor(atMs / 60_000)}`;

/** Undefined of a job that its CronJob's schedule did not make. */
export function scheduledMs(job: Job): number | undefined {
	const {annotations, name} = job.metadata;
	const ms = Date.parse(annotations?.[scheduledTimeKey] ?? '');
	const owner = controllerOf(job);
	return owner?.kind === 'CronJob' && name === jobName(owner.name, ms) ? ms : undefined;
}

/** Whether the job may go: a time whose job is gone before its CronJob noted it would be due again. */
export function isNoted(job: Job, known: Known): boolean {
	const atMs = scheduledMs(job);
	const owner = controllerOf(job);
	const cron = owner?.kind === 'CronJob' ? (known.byUid(owner.uid) as CronJob | undefined) : undefined;
	if (atMs === undefined || cron === undefined || isDeleting(cron)) return true;
	return atMs <= Date.parse(cron.status?.lastScheduleTime ?? cron.metadata.creationTimestamp);
}
