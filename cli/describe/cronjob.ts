// `describe cronjob`: when jobs are made, what of, and which run. Pure.

import type {CronJob} from '../../api/kinds/cronjob.js';
import {drawFields, labelLines, metadataFields, whenText} from './lines.js';
import {drawTemplate} from './pod-template.js';

/** Everything but the events. */
export function describeCronJob(object: CronJob, nowMs: number): string {
	const {spec, status} = object;
	const template = spec?.jobTemplate;
	const fields = drawFields([
		...metadataFields(object, nowMs),
		['Schedule', spec?.schedule],
		['Time Zone', spec?.timeZone ?? 'UTC'],
		['Concurrency Policy', spec?.concurrencyPolicy],
		['Suspend', spec?.suspend === true ? 'True' : 'False'],
		['Successful Job History Limit', String(spec?.successfulJobsHistoryLimit ?? 0)],
		['Failed Job History Limit', String(spec?.failedJobsHistoryLimit ?? 0)],
		['Starting Deadline Seconds', spec?.startingDeadlineSeconds === undefined ? '<unset>' : `${spec.startingDeadlineSeconds}s`],
		['Parallelism', String(template?.spec.parallelism ?? 1)],
		['Completions', template?.spec.completions === undefined ? '<unset>' : String(template.spec.completions)],
		['Job Labels', labelLines(template?.metadata?.labels)],
	]);
	const times = drawFields([
		['Last Schedule Time', status?.lastScheduleTime === undefined ? '<unset>' : whenText(status.lastScheduleTime, nowMs)],
		['Last Successful Time', status?.lastSuccessfulTime === undefined ? '<unset>' : whenText(status.lastSuccessfulTime, nowMs)],
		['Active Jobs', (status?.active ?? []).map(({name}) => name)],
	]);
	return fields + drawTemplate(template?.spec.template ?? {}) + times;
}
