// `create job|cronjob NAME`, in the words of kubectl. Pure.

import {apiVersionOf} from '../../api/catalogue.js';
import {cronJob, type CronJob} from '../../api/kinds/cronjob.js';
import {job} from '../../api/kinds/job.js';
import type {JsonObject} from '../../api/object.js';
import {type Flags, usageError} from '../command.js';
import {readTarget, resourceOf, type Resource} from '../cluster/resources.js';

/** Throws ERR_USAGE. */
export const jobSpecOf = (name: string, flags: Flags, program: readonly string[]): JsonObject =>
	jobSpec(name, flags, program, 'Never', `troupe create job ${name} --image busybox -- echo hello`);

/** Throws ERR_USAGE. */
export function cronJobSpecOf(name: string, flags: Flags, program: readonly string[]): JsonObject {
	const example = `troupe create cronjob ${name} --image node --schedule '*/5 * * * *' -- date`;
	const schedule = flags.text('schedule');
	if (schedule === undefined) throw usageError(`a cronjob needs --schedule, as in: ${example}`);
	const spec = jobSpec(name, flags, program, flags.text('restart') ?? 'OnFailure', example);
	return {schedule, jobTemplate: {metadata: {name}, spec}};
}

function jobSpec(name: string, flags: Flags, program: readonly string[], restartPolicy: string, example: string): JsonObject {
	const image = flags.text('image');
	if (image === undefined) throw usageError(`--image says what the container is made from, as in: ${example}`);
	const container = {name, image, ...(program.length === 0 ? {} : {command: program})};
	return {template: {spec: {containers: [container], restartPolicy}}};
}

export type Instance = {
	readonly resource: Resource;
	readonly name: string;
	readonly from: {readonly resource: Resource; readonly name: string};
};

/** `job NAME --from cronjob/NAME`. Throws ERR_USAGE. */
export function instanceOf(words: readonly string[], program: readonly string[], flags: Flags): Instance {
	const [word = '', ...rest] = words.flatMap(each => each.split('/'));
	const resource = resourceOf(word);
	const [name] = rest;
	const example = 'troupe create job tick-now --from cronjob/tick';
	if (resource.kind !== job.kind || name === undefined || rest.length > 1) throw usageError(`--from is of one job, as in: ${example}`);
	if (
		program.length > 0 ||
		flags.text('image') !== undefined ||
		flags.text('schedule') !== undefined ||
		flags.text('restart') !== undefined
	)
		throw usageError('with --from the cronjob says what runs; leave out the rest');
	const from = readTarget(flags.text('from') ?? '');
	const [fromName, ...more] = from.names;
	if (from.resource.kind !== cronJob.kind || fromName === undefined || more.length > 0)
		throw usageError(`--from names a cronjob, as in: ${example}`);
	return {resource, name, from: {resource: from.resource, name: fromName}};
}

/** A job that the CronJob owns, and that is for no time of its schedule. */
export function jobOfCronJob(name: string, {metadata, spec}: CronJob): JsonObject {
	const {labels, annotations} = spec?.jobTemplate.metadata ?? {};
	return {
		apiVersion: apiVersionOf(job),
		kind: job.kind,
		metadata: {
			name,
			...(labels === undefined ? {} : {labels}),
			annotations: {...annotations, 'cronjob.kubernetes.io/instantiate': 'manual'},
			ownerReferences: [{apiVersion: apiVersionOf(cronJob), kind: cronJob.kind, name: metadata.name, uid: metadata.uid, controller: true}],
		},
		spec: spec?.jobTemplate.spec,
	};
}
