// The kind Job: pods that run to their end.

import {ageColumn, column, nameColumn, none, templateColumns} from '../columns/common.js';
import {isConditionTrue} from '../conditions.js';
import {withTemplateDefaults} from '../defaults/pod.js';
import {ageOf} from '../duration.js';
import {jobLabels, labelsOfJob} from '../job-labels.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {checkJobChange, checkJobSelector, checkJobSpec} from '../rules/job.js';
import {checkDnsLabel} from '../rules/names.js';
import {membersOf, textOf, type Found} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/job.js';

export type JobSpec = ShapeOf<typeof spec>;
export type JobStatus = ShapeOf<typeof status>;
export type Job = ApiObject<JobSpec, JobStatus>;

const asJob = (object: ApiObject): Job => object as Job;

/** As in Kubernetes. */
const defaultBackoffLimit = 6;
const withoutLimit = 2_147_483_647;

export const job: KindDefinition = {
	kind: 'Job',
	group: 'batch',
	version: 'v1',
	plural: 'jobs',
	singular: 'job',
	shortNames: [],
	categories: ['all'],
	namespaced: true,
	defaults: (draft, old) => ({...draft, spec: withDefaults(withLabelsOf(draft.spec as JobSpec, old as Job | undefined))}),
	validate,
	initialStatus: (): JobStatus => ({}),
	made: object => withSelector(asJob(object)),
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

function wantedOf({spec}: Job): string {
	if (spec?.completions !== undefined) return String(spec.completions);
	const parallelism = spec?.parallelism ?? 1;
	return parallelism > 1 ? `1 of ${parallelism}` : '1';
}

function statusText({spec, status, metadata}: Job): string {
	if (isConditionTrue(status?.conditions, 'Complete')) return 'Complete';
	if (isConditionTrue(status?.conditions, 'Failed')) return 'Failed';
	if (metadata.deletionTimestamp !== undefined) return 'Terminating';
	if (spec?.suspend === true) return 'Suspended';
	for (const type of ['FailureTarget', 'SuccessCriteriaMet']) if (isConditionTrue(status?.conditions, type)) return type;
	return 'Running';
}

function durationText({status}: Job, nowMs: number): string {
	if (status?.startTime === undefined) return none;
	const endMs = status.completionTime === undefined ? nowMs : Date.parse(status.completionTime);
	return ageOf(endMs - Date.parse(status.startTime));
}

/** What the cluster would fill in; a CronJob keeps a spec of this kind as a template. */
export const withDefaults = (spec: JobSpec): JobSpec => ({
	...spec,
	parallelism: spec.parallelism ?? 1,
	// One alone when neither is said; with parallelism alone the pods decide together when they are done.
	...(spec.completions === undefined && spec.parallelism !== undefined ? {} : {completions: spec.completions ?? 1}),
	completionMode: spec.completionMode ?? 'NonIndexed',
	backoffLimit: spec.backoffLimit ?? (spec.backoffLimitPerIndex === undefined ? defaultBackoffLimit : withoutLimit),
	podReplacementPolicy: spec.podReplacementPolicy ?? (spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed'),
	suspend: spec.suspend ?? false,
	template: {...spec.template, spec: withTemplateDefaults(spec.template.spec)},
});

/** A manifest that is applied again names neither the selector nor the labels that the cluster made. */
function withLabelsOf(spec: JobSpec, old: Job | undefined): JobSpec {
	const before = old?.spec;
	if (before === undefined || before.manualSelector === true || spec.manualSelector === true) return spec;
	const labels = before.template.metadata?.labels ?? {};
	const ours = Object.fromEntries(Object.values(jobLabels).flatMap(label => (labels[label] === undefined ? [] : [[label, labels[label]]])));
	const {metadata} = spec.template;
	return {
		...spec,
		...(before.selector === undefined ? {} : {selector: spec.selector ?? before.selector}),
		template: {...spec.template, metadata: {...metadata, labels: {...ours, ...metadata?.labels}}},
	};
}

/** Its pods are found by its uid. */
function withSelector(made: Job): Job {
	const {metadata, spec} = made;
	if (spec === undefined || spec.manualSelector === true) return made;
	const labels = {...spec.template.metadata?.labels, ...labelsOfJob(metadata)};
	return {
		...made,
		spec: {
			...spec,
			selector: {matchLabels: {[jobLabels.uid]: metadata.uid}},
			template: {...spec.template, metadata: {...spec.template.metadata, labels}},
		},
	};
}

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const spec = membersOf(draft.spec);
	// Its name is a label of its pods, and the beginning of their names.
	const name = textOf(draft.metadata.name);
	if (old === undefined && name !== undefined && name !== '') {
		const last =
			spec['completionMode'] === 'Indexed' && typeof spec['completions'] === 'number' ? `-${Math.max(0, spec['completions'] - 1)}` : '';
		checkDnsLabel(found, 'metadata.name', `${name}${last}`);
	}
	checkJobSpec(found, 'spec', spec);
	checkJobSelector(found, 'spec', spec, old === undefined);
	if (old !== undefined) checkJobChange(found, 'spec', spec, membersOf(old.spec));
}
