// The kind Job: pods that run to their end.

import {ageColumn, column, nameColumn, none, templateColumns} from '../columns/common.js';
import {isConditionTrue} from '../conditions.js';
import {withPodDefaults} from '../defaults/pod.js';
import {ageOf} from '../duration.js';
import {deepEqual} from '../equal.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {forbid, isEmpty, membersOf, refuse, type Found} from '../rules/report.js';
import {checkSelector, checkSelects} from '../rules/selector.js';
import {checkTemplate, templateLabels} from '../rules/template.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/job.js';

export type JobSpec = ShapeOf<typeof spec>;
export type JobStatus = ShapeOf<typeof status>;
export type Job = ApiObject<JobSpec, JobStatus>;

const asJob = (object: ApiObject): Job => object as Job;

/** As in Kubernetes. */
const defaultBackoffLimit = 6;

export const job: KindDefinition = {
	kind: 'Job',
	group: 'batch',
	version: 'v1',
	plural: 'jobs',
	singular: 'job',
	shortNames: [],
	categories: ['all'],
	namespaced: true,
	scalable: false,
	isInert: true,
	schemaVersion: 1,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec as JobSpec)}),
	validate,
	initialStatus: (): JobStatus => ({}),
	columns: [
		nameColumn,
		column('Status', 'How it is.', object => statusText(asJob(object))),
		column(
			'Completions',
			'How many pods succeeded, of how many.',
			object => `${asJob(object).status?.succeeded ?? 0}/${wantedOf(asJob(object))}`,
		),
		column('Duration', 'How long it ran.', (object, nowMs) => durationText(asJob(object), nowMs)),
		ageColumn,
		...templateColumns(object => {
			const {spec} = asJob(object);
			return spec === undefined ? undefined : {spec: spec.template.spec, selector: spec.selector ?? {}};
		}),
	],
	selectableFields: {'status.successful': object => String(asJob(object).status?.succeeded ?? 0)},
};

const wantedOf = ({spec}: Job): string => (spec?.completions === undefined ? '1' : String(spec.completions));

function statusText({spec, status}: Job): string {
	if (isConditionTrue(status?.conditions, 'Complete')) return 'Complete';
	if (isConditionTrue(status?.conditions, 'Failed')) return 'Failed';
	if (spec?.suspend === true) return 'Suspended';
	return status?.startTime === undefined ? 'Pending' : 'Running';
}

function durationText({status}: Job, nowMs: number): string {
	if (status?.startTime === undefined) return none;
	const endMs = status.completionTime === undefined ? nowMs : Date.parse(status.completionTime);
	return ageOf(endMs - Date.parse(status.startTime));
}

const withDefaults = (spec: JobSpec): JobSpec => ({
	...spec,
	parallelism: spec.parallelism ?? 1,
	// One alone when neither is said; with parallelism alone the pods decide together when they are done.
	...(spec.completions === undefined && spec.parallelism !== undefined ? {} : {completions: spec.completions ?? 1}),
	completionMode: spec.completionMode ?? 'NonIndexed',
	backoffLimit: spec.backoffLimit ?? defaultBackoffLimit,
	suspend: spec.suspend ?? false,
	template: {...spec.template, spec: withPodDefaults(spec.template.spec)},
});

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const spec = membersOf(draft.spec);
	const template = membersOf(spec['template']);
	checkTemplate(found, 'spec.template', template, {kind: 'Job', policies: ['OnFailure', 'Never']});
	if (spec['manualSelector'] === true) {
		checkSelector(found, 'spec.selector', membersOf(spec['selector']));
		checkSelects(found, 'spec.template.metadata.labels', membersOf(spec['selector']), templateLabels(template));
	} else if (!isEmpty(spec['selector']) && old === undefined) {
		forbid(found, 'spec.selector', 'is made by the cluster; leave it out, or set manualSelector');
	}
	if (spec['completionMode'] === 'Indexed' && spec['completions'] === undefined)
		refuse(found, 'spec.completions', 'is required when completionMode is Indexed', 'FieldValueRequired');
	const before = membersOf(old?.spec);
	for (const field of ['completions', 'completionMode', 'selector', 'template'])
		if (old !== undefined && !deepEqual(spec[field], before[field]))
			forbid(found, `spec.${field}`, 'cannot be changed; delete the job and create it again');
}
