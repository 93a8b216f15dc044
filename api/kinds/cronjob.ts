// The kind CronJob: jobs that are made by a schedule.

import {ageColumn, column, nameColumn, none, numberColumn, templateColumns} from '../columns/common.js';
import {isTimeZone, readSchedule} from '../cron-schedule.js';
import {ageSince} from '../duration.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {checkJobSpec} from '../rules/job.js';
import {checkAnnotations, checkLabels} from '../rules/metadata.js';
import {checkDnsLabel} from '../rules/names.js';
import {forbid, isEmpty, membersOf, refuse, textOf, type Found} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/cronjob.js';
import {shown} from '../shown.js';
import {withDefaults as withJobDefaults} from './job.js';

export type CronJobSpec = ShapeOf<typeof spec>;
export type CronJobStatus = ShapeOf<typeof status>;
export type CronJob = ApiObject<CronJobSpec, CronJobStatus>;

const asCronJob = (object: ApiObject): CronJob => object as CronJob;

/** As in Kubernetes: what is put behind it has eleven characters. */
const longestName = 52;

export const cronJob: KindDefinition = {
	kind: 'CronJob',
	group: 'batch',
	version: 'v1',
	plural: 'cronjobs',
	singular: 'cronjob',
	shortNames: ['cj'],
	categories: ['all'],
	namespaced: true,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec as CronJobSpec)}),
	validate,
	initialStatus: (): CronJobStatus => ({}),
	columns: [
		nameColumn,
		column('Schedule', 'When jobs are made.', object => asCronJob(object).spec?.schedule ?? none),
		column('Timezone', 'Where that is meant.', object => asCronJob(object).spec?.timeZone ?? none),
		column('Suspend', 'Whether no jobs are made.', object => (asCronJob(object).spec?.suspend === true ? 'True' : 'False')),
		numberColumn('Active', 'How many jobs are not over.', object => asCronJob(object).status?.active?.length ?? 0),
		column('Last Schedule', 'How long ago a job was due last.', (object, nowMs) => {
			const last = asCronJob(object).status?.lastScheduleTime;
			return last === undefined ? none : ageSince(last, nowMs);
		}),
		ageColumn,
		...templateColumns(object => {
			const {spec} = asCronJob(object);
			return spec === undefined ? undefined : {spec: spec.jobTemplate.spec.template.spec, selector: spec.jobTemplate.spec.selector ?? {}};
		}),
	],
};

const withDefaults = (spec: CronJobSpec): CronJobSpec => ({
	...spec,
	concurrencyPolicy: spec.concurrencyPolicy ?? 'Allow',
	suspend: spec.suspend ?? false,
	successfulJobsHistoryLimit: spec.successfulJobsHistoryLimit ?? 3,
	failedJobsHistoryLimit: spec.failedJobsHistoryLimit ?? 1,
	jobTemplate: {...spec.jobTemplate, spec: withJobDefaults(spec.jobTemplate.spec)},
});

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const spec = membersOf(draft.spec);
	const name = textOf(draft.metadata.name);
	if (old === undefined && name !== undefined && name.length > longestName)
		refuse(found, 'metadata.name', `must be at most ${longestName} characters, so that its jobs can be named after it, got ${name.length}`);
	else if (old === undefined && name !== undefined && name !== '') checkDnsLabel(found, 'metadata.name', name);
	const zone = textOf(spec['timeZone']);
	const isZone = zone === undefined || isTimeZone(zone);
	if (!isZone) refuse(found, 'spec.timeZone', `must be a time zone such as "Europe/Berlin" or "UTC", got ${shown(zone)}`);
	const schedule = textOf(spec['schedule']);
	if (schedule !== undefined) {
		const read = readSchedule(schedule, isZone ? zone : undefined);
		if (!read.ok) refuse(found, 'spec.schedule', read.message);
	}
	const template = membersOf(spec['jobTemplate']);
	const metadata = membersOf(template['metadata']);
	checkLabels(found, 'spec.jobTemplate.metadata.labels', metadata['labels']);
	checkAnnotations(found, 'spec.jobTemplate.metadata.annotations', metadata['annotations']);
	const jobSpec = membersOf(template['spec']);
	checkJobSpec(found, 'spec.jobTemplate.spec', jobSpec);
	for (const field of ['selector', 'manualSelector'])
		if (!isEmpty(jobSpec[field])) forbid(found, `spec.jobTemplate.spec.${field}`, 'is made by the cluster for each job; leave it out');
}
