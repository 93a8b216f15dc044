// The pods of a Job: which are made next, how they are named, and what is said to them.
//
// A name follows from the job and a number that none of its pods has, so that a job which crashed with creates under way asks for the same pods
// again, and never for two where one is wanted.

import {indexesOutside, union} from '../../../api/intervals.js';
import {completionIndexKey, indexFailureKey, indexIgnoredKey, jobTrackingFinalizer} from '../../../api/job-labels.js';
import type {Job, JobSpec} from '../../../api/kinds/job.js';
import {objectKey} from '../../../api/keys.js';
import type {Container, Pod, PodSpec} from '../../../api/kinds/pod.js';
import {conditionOf} from '../../../api/conditions.js';
import {limits} from '../../../api/limits.js';
import {seededName} from '../../../api/names.js';
import type {Draft, Labels} from '../../../api/object.js';
import type {Context, Effect, Pending} from '../../../system/kernel/behavior.js';
import {exponentialBackoffMs} from '../../../system/kernel/restart-policy.js';
import {completionIndexOf, jobTerm, type JobNews} from '../pods/job-pod.js';
import {ownedTerm} from '../pods/pod-terms.js';
import {failuresBefore, isIndexed, type Ends} from './job-ends.js';
import {meaningOf} from './job-failure-policy.js';
import {creation, creationId, podOf} from './pod-creation.js';
import {leastFirst} from './surplus.js';

// ---- creating ------------------------------------------------------------------------------------------------------------

export type Creations = {
	readonly effects: readonly Effect[];
	/** When an index that waits may be tried again. */
	readonly nextMs: number | undefined;
};

/** So many pods, or fewer where indexes have to wait. */
export function creationsOf(job: Job, spec: JobSpec, ends: Ends, count: number, context: Context): Creations {
	if (count <= 0) return {effects: [], nextMs: undefined};
	return isIndexed(spec) ? indexedPods(job, spec, ends, count, context) : plainPods(job, spec, count, context);
}

function plainPods(job: Job, spec: JobSpec, count: number, context: Context): Creations {
	const {metadata} = job;
	const {known, pending} = context;
	const effects: Effect[] = [];
	const given = new Set<string>();
	// Numbers are given out from below: as many as there are pods are taken, but for those of creates that were under way.
	const first = Math.max(0, known.countByTerm('pods', ownedTerm(metadata.uid)) - limits.pendingWrites);
	for (let number = first; effects.length < count; number++) {
		const name = seededName(metadata.name, '-', `${metadata.uid}/${number}`);
		const isTaken =
			given.has(name) || pending.has(creationId(name)) || known.get(objectKey('pods', metadata.namespace, name)) !== undefined;
		if (isTaken) continue;
		given.add(name);
		effects.push(creation(podWith(job, spec, name, spec.template.spec, {})));
	}
	return {effects, nextMs: undefined};
}

function indexedPods(job: Job, spec: JobSpec, ends: Ends, count: number, context: Context): Creations {
	const {uid} = job.metadata;
	const {known, pending, nowMs} = context;
	const effects: Effect[] = [];
	let nextMs: number | undefined;
	for (const index of indexesOutside(union(ends.completed, ends.failedIndexes), spec.completions ?? 0)) {
		if (effects.length >= count) break;
		if (known.countByTerm('pods', jobTerm.index(uid, index)) > 0 || ends.ending.has(index)) continue;
		const name = indexedName(job, index, context);
		if (pending.has(creationId(name))) continue;
		const former = ends.held.get(index);
		const dueMs = former === undefined ? nowMs : triedAgainMs(former, nowMs);
		if (dueMs > nowMs) nextMs = Math.min(nextMs ?? dueMs, dueMs);
		else effects.push(creation(indexedPod(job, spec, name, index, former)));
	}
	return {effects, nextMs};
}

function indexedName({metadata}: Job, index: number, {known}: Context): string {
	for (let attempt = 0; ; attempt++) {
		const name = seededName(metadata.name, `-${index}-`, `${metadata.uid}/${index}/${attempt}`);
		if (known.get(objectKey('pods', metadata.namespace, name)) === undefined) return name;
	}
}

function indexedPod(job: Job, spec: JobSpec, name: string, index: number, former: Pod | undefined): Draft {
	const text = String(index);
	const podSpec: PodSpec = {
		...spec.template.spec,
		hostname: spec.template.spec.hostname ?? `${job.metadata.name}-${text}`,
		containers: spec.template.spec.containers.map(withIndex),
		...(spec.template.spec.initContainers === undefined ? {} : {initContainers: spec.template.spec.initContainers.map(withIndex)}),
	};
	const tries = spec.backoffLimitPerIndex === undefined ? {} : triesAfter(former, spec);
	const draft = podWith(job, spec, name, podSpec, {[completionIndexKey]: text, ...tries});
	return {...draft, metadata: {...draft.metadata, labels: {...draft.metadata.labels, [completionIndexKey]: text}}};
}

const indexVariable = 'JOB_COMPLETION_INDEX';

/** What the template says of the variable stays. */
const withIndex = (container: Container): Container =>
	container.env?.some(({name}) => name === indexVariable) === true
		? container
		: {
				...container,
				env: [
					...(container.env ?? []),
					{name: indexVariable, valueFrom: {fieldRef: {apiVersion: 'v1', fieldPath: `metadata.labels['${completionIndexKey}']`}}},
				],
			};

/** How often the index failed, for the next pod of it to know. */
function triesAfter(former: Pod | undefined, spec: JobSpec): Labels {
	if (former === undefined) return {[indexFailureKey]: '0'};
	const {counted, ignored} = failuresBefore(former);
	const isIgnored = meaningOf(spec, former)?.action === 'Ignore';
	const nowIgnored = isIgnored ? ignored + 1 : ignored;
	return {
		[indexFailureKey]: String(isIgnored ? counted : counted + 1),
		...(nowIgnored === 0 ? {} : {[indexIgnoredKey]: String(nowIgnored)}),
	};
}

function podWith(job: Job, {selector = {}, template}: JobSpec, name: string, podSpec: PodSpec, annotations: Labels): Draft {
	const draft = podOf({...job, spec: {selector, template: {...template, spec: podSpec}}}, name);
	return {
		...draft,
		metadata: {
			...draft.metadata,
			annotations: {...draft.metadata.annotations, ...annotations},
			finalizers: [jobTrackingFinalizer],
		},
	};
}

// ---- back-off ------------------------------------------------------------------------------------------------------------

/** When the next pod may be made after so many failures in a row. After a clock was set back, a time to come is no time at all. */
export const afterFailuresMs = (failures: number, lastMs: number, nowMs: number): number =>
	failures === 0 || lastMs > nowMs ? nowMs : lastMs + exponentialBackoffMs(failures, limits.jobBackoffFirstMs, limits.jobBackoffMaxMs);

function triedAgainMs(former: Pod, nowMs: number): number {
	const {counted, ignored} = failuresBefore(former);
	return afterFailuresMs(counted + ignored + 1, endedAtMs(former), nowMs);
}

/** By the leader's clock, which knows of the end by the readiness that ended with it. */
function endedAtMs({metadata, status}: Pod): number {
	const readiness = conditionOf(status?.conditions, 'Ready')?.lastTransitionTime;
	return Date.parse(metadata.deletionTimestamp ?? readiness ?? metadata.creationTimestamp);
}

// ---- letting go ----------------------------------------------------------------------------------------------------------

/** Says something of its own to a pod, once. */
export const say = ({metadata}: Pod, type: JobNews['type']): Pending => ({
	type: 'update',
	key: objectKey('pods', metadata.namespace, metadata.name),
	message: {type, ...{uid: metadata.uid}} as const,
	id: `${type}/${metadata.uid}`,
});

/** Pods that are too many: those whose index is none any more or is another's too, then those that serve least. */
export function dismissals(pods: readonly Pod[], spec: JobSpec, count: number): Pending[] {
	const seen = new Set<number>();
	const isSurplus = (pod: Pod): boolean => {
		const index = completionIndexOf(pod);
		if (!isIndexed(spec)) return false;
		if (index === undefined || index >= (spec.completions ?? 0) || seen.has(index)) return true;
		seen.add(index);
		return false;
	};
	const first = pods.filter(isSurplus);
	const others = leastFirst(pods.filter(pod => !first.includes(pod)));
	return [...first, ...others].slice(0, Math.max(0, count)).map(pod => say(pod, 'dismiss'));
}
