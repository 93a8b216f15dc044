// What must hold of Jobs at every moment: looked at as they and their pods are committed, and as a Job asks for a pod. I14 says it in words.
//
// It counts the ends of pods itself, from the pods alone, and knows of the Job only what it has written.

import {isDeepStrictEqual} from 'node:util';
import {includes, parseIntervals, sizeOf, type Intervals} from '../../api/intervals.js';
import {completionIndexKey, jobTrackingFinalizer} from '../../api/job-labels.js';
import {objectKey} from '../../api/keys.js';
import type {Job} from '../../api/kinds/job.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ApiObject} from '../../api/object.js';
import type {Context} from '../../system/kernel/behavior.js';
import type {Spy} from './spies.js';

export type Truth = {
	readonly get: (key: string) => ApiObject | undefined;
	readonly broken: (what: string) => void;
};

/** How a pod of a Job ended that was held for it; one that succeeded while it was being deleted may count as either. */
type End = 'succeeded' | 'failed' | 'either';

type Known = {
	job: Job;
	readonly pods: Map<string, Pod>;
	/** Pods that were over, or being deleted, while the Job held them. */
	readonly ends: Map<string, End>;
	/** Completion indexes of pods that succeeded. */
	readonly succeededIndexes: Set<number>;
	/** Uids that were in a list and are a number now. */
	readonly counted: Set<string>;
	/** Pods of each index that counted as failed. */
	readonly failuresOf: Map<number, Set<string>>;
	mostParallel: number;
	/** Whether its size was ever changed, and some commits were not seen one by one. */
	isResized: boolean;
};

const terminal: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);
const isTerminal = ({status}: Pod): boolean => terminal.has(status?.phase ?? '');
const isDeleting = ({metadata}: ApiObject): boolean => metadata.deletionTimestamp !== undefined;
const isActive = (pod: Pod): boolean => !isTerminal(pod) && !isDeleting(pod);
const isHeld = ({metadata}: Pod): boolean => metadata.finalizers?.includes(jobTrackingFinalizer) === true;
const indexOf = ({metadata}: Pick<Pod, 'metadata'>): number => Number(metadata.annotations?.[completionIndexKey] ?? -1);
const isIndexed = ({spec}: Job): boolean => spec?.completionMode === 'Indexed';
const has = ({status}: Job, ...types: readonly string[]): boolean =>
	status?.conditions?.some(({type, status: is}) => types.includes(type) && is === 'True') === true;
const isOver = (job: Job): boolean => has(job, 'Complete', 'Failed');
const uncountedOf = ({status}: Job) => ({
	succeeded: status?.uncountedTerminatedPods?.succeeded ?? [],
	failed: status?.uncountedTerminatedPods?.failed ?? [],
});
const indexesOf = ({status}: Job): {readonly completed: Intervals; readonly failed: Intervals} => ({
	completed: parseIntervals(status?.completedIndexes),
	failed: parseIntervals(status?.failedIndexes),
});

export class JobJudge {
	readonly #truth: Truth;
	readonly #jobs = new Map<string, Known>();
	/** By address of a Job: the look in which it asked for pods last, and their names. */
	readonly #asked = new Map<string, {readonly context: Context; readonly names: Set<string>}>();
	/** What was asked for before a crash, and may be forgotten. */
	readonly #forgotten = new Set<string>();
	/** Pods that a Job asked to go uncounted, by uid. */
	readonly #dismissed = new Set<string>();
	/** What is learned now may be several commits at once. */
	isLoading = false;

	constructor(truth: Truth) {
		this.#truth = truth;
	}

	#broken(what: string): void {
		this.#truth.broken(`I14: ${what}`);
	}

	onChange(before: ApiObject | undefined, after: ApiObject | undefined): void {
		const object = after ?? before;
		if (object?.kind === 'Job') this.#onJob(object as Job, after === undefined);
		if (object?.kind === 'Pod') this.#onPod(object as Pod, after === undefined);
	}

	// ---- pods ----------------------------------------------------------------------------------------------------------

	#onPod(pod: Pod, isGone: boolean): void {
		const {uid, ownerReferences} = pod.metadata;
		const owner = ownerReferences?.find(({kind}) => kind === 'Job');
		const known = this.#jobs.get(owner?.uid ?? '');
		if (owner === undefined || known === undefined) return;
		const before = known.pods.get(uid);
		if (before !== undefined && isHeld(before) && (isGone || !isHeld(pod))) this.#onReleased(before, pod, isGone, known);
		if (isGone) return void known.pods.delete(uid);
		known.pods.set(uid, pod);
		if (isHeld(pod) && !isActive(pod)) this.#onEnd(pod, known);
		if (before === undefined && isActive(pod) && !this.isLoading) this.#onCreated(pod, known);
	}

	#onEnd(pod: Pod, {ends, succeededIndexes}: Known): void {
		const {uid} = pod.metadata;
		const hasSucceeded = pod.status?.phase === 'Succeeded';
		if (hasSucceeded) succeededIndexes.add(indexOf(pod));
		if (!ends.has(uid)) ends.set(uid, hasSucceeded ? 'succeeded' : 'failed');
		else if (hasSucceeded && ends.get(uid) === 'failed') ends.set(uid, 'either');
	}

	#onCreated(pod: Pod, {job, pods, mostParallel}: Known): void {
		const {name} = pod.metadata;
		const {name: of} = job.metadata;
		if (isOver(job) && !this.#forgotten.has(name)) this.#broken(`${name} is made, and ${of} is over`);
		const waits = job.spec?.podReplacementPolicy === 'Failed';
		const isThere = (other: Pod): boolean =>
			isActive(other) || (waits && !isTerminal(other) && other.metadata.deletionGracePeriodSeconds !== 0);
		const there = [...pods.values()].filter(isThere);
		if (there.length > mostParallel) this.#broken(`${name} is pod number ${there.length} of ${of}, and there may be ${mostParallel}`);
		if (isIndexed(job) && [...pods.values()].some(other => other !== pod && isActive(other) && indexOf(other) === indexOf(pod)))
			this.#broken(`${name} is the second pod of its index`);
	}

	/** Let go otherwise than by a dismissal, which deletes it in the same moment: it was counted. */
	#onReleased(before: Pod, pod: Pod, isGone: boolean, {job, failuresOf}: Known): void {
		const isDismissed = this.#dismissed.has(pod.metadata.uid) && (isGone || isDeleting(pod)) && !isDeleting(before);
		// The pod alone knew how often its index had failed.
		if (isDismissed) failuresOf.delete(indexOf(pod));
		if (this.isLoading || isDismissed || isDeleting(job) || isOver(job)) return;
		const {uid, name} = pod.metadata;
		const {succeeded, failed} = uncountedOf(job);
		const index = indexOf(pod);
		const {completed} = indexesOf(job);
		const isDone = isIndexed(job) && (includes(completed, index) || index >= (job.spec?.completions ?? 0));
		if (isActive(before)) this.#broken(`${name} is let go and has not ended`);
		const hasPolicy = job.spec?.podFailurePolicy !== undefined && pod.status?.phase !== 'Succeeded';
		if (!succeeded.includes(uid) && !failed.includes(uid) && !isDone && !hasPolicy)
			this.#broken(`${name} is let go, and ${job.metadata.name} has not noted its end`);
	}

	// ---- the record ----------------------------------------------------------------------------------------------------

	#onJob(job: Job, isGone: boolean): void {
		const {uid} = job.metadata;
		const known = this.#jobs.get(uid);
		if (isGone) return void this.#jobs.delete(uid);
		const parallelism = job.spec?.parallelism ?? 1;
		if (known === undefined) {
			this.#jobs.set(uid, {
				job,
				pods: new Map(),
				ends: new Map(),
				succeededIndexes: new Set(),
				counted: new Set(),
				failuresOf: new Map(),
				mostParallel: parallelism,
				isResized: false,
			});
			return;
		}
		const before = known.job;
		known.job = job;
		known.mostParallel = Math.max(known.mostParallel, parallelism);
		known.isResized ||= before.spec?.completions !== job.spec?.completions;
		// What was loaded is another object, and may be the same.
		if (isDeepStrictEqual(before.status, job.status)) return;
		this.#checkCounts(before, known);
		this.#checkIndexes(before, known);
		this.#checkEnd(before, known);
	}

	/** Each end is noted once, becomes one number once its pod is let go, and no number ever falls. */
	#checkCounts(before: Job, {job, pods, ends, counted, failuresOf, mostParallel, isResized}: Known): void {
		const {name} = job.metadata;
		const [was, is] = [uncountedOf(before), uncountedOf(job)];
		const noted = [...is.succeeded, ...is.failed];
		if (new Set(noted).size < noted.length) this.#broken(`${name} has noted an end twice`);
		for (const uid of noted) if (counted.has(uid)) this.#broken(`${name} notes an end again that it has counted`);
		for (const uid of [...was.succeeded, ...was.failed]) {
			if (noted.includes(uid)) continue;
			counted.add(uid);
			const pod = pods.get(uid);
			if (pod !== undefined && isHeld(pod)) this.#broken(`${name} has counted ${pod.metadata.name} and holds it`);
		}
		for (const type of ['succeeded', 'failed'] as const) {
			const [from, to] = [before.status?.[type] ?? 0, job.status?.[type] ?? 0];
			const isOfIndexes = type === 'succeeded' && isIndexed(job);
			if (to < from && !(isOfIndexes && isResized)) this.#broken(`${name} says ${to} ${type} after ${from}`);
			const left = was[type].filter(uid => !is[type].includes(uid)).length;
			if (!isOfIndexes && !this.isLoading && to - from !== left)
				this.#broken(`${name} says ${to} ${type} after ${from}, and ${left} were noted`);
			const most = [...ends.values()].filter(end => end === type || end === 'either').length;
			if (to + is[type].length > (isOfIndexes ? Number.POSITIVE_INFINITY : most))
				this.#broken(`${name} says ${to} ${type} and notes ${is[type].length}, of ${most} that were seen`);
		}
		const failed = (job.status?.failed ?? 0) + is.failed.length;
		const {backoffLimit = 6, backoffLimitPerIndex} = job.spec ?? {};
		if (failed > backoffLimit + mostParallel)
			this.#broken(`${name} has ${failed} failures, with a limit of ${backoffLimit} and ${mostParallel} at once`);
		if (backoffLimitPerIndex === undefined) return;
		for (const uid of is.failed) {
			const pod = pods.get(uid);
			if (pod === undefined) continue;
			const failures = failuresOf.get(indexOf(pod)) ?? new Set();
			failuresOf.set(indexOf(pod), failures.add(uid));
			if (failures.size > backoffLimitPerIndex + 1)
				this.#broken(`index ${indexOf(pod)} of ${name} has ${failures.size} failures, with a limit of ${backoffLimitPerIndex}`);
		}
	}

	/** An index completes or fails, once and for good. */
	#checkIndexes(before: Job, {job, succeededIndexes, isResized}: Known): void {
		if (!isIndexed(job)) return;
		const {name} = job.metadata;
		const completions = job.spec?.completions ?? 0;
		const [was, is] = [indexesOf(before), indexesOf(job)];
		const lost = (type: 'completed' | 'failed'): boolean => indexes(was[type]).some(index => !includes(is[type], index));
		if (!isResized && (lost('completed') || lost('failed')))
			this.#broken(`${name} takes an index again: ${JSON.stringify(was)}, then ${JSON.stringify(is)}`);
		if (indexes(is.completed).some(index => includes(is.failed, index))) this.#broken(`an index of ${name} has completed and failed`);
		if (job.status?.succeeded !== undefined && job.status.succeeded !== sizeOf(is.completed))
			this.#broken(`${name} says ${job.status.succeeded} succeeded, and has ${sizeOf(is.completed)} completed indexes`);
		const wrong = indexes(is.completed).filter(index => !succeededIndexes.has(index));
		if (wrong.length > 0) this.#broken(`${name} says that ${wrong.join()} completed, of which no pod succeeded`);
		if (!isResized && indexes(is.completed).some(index => index >= completions)) this.#broken(`${name} has an index that it should not`);
	}

	/** A Job that is over stays as it is, and has what it needed. */
	#checkEnd(before: Job, {job, ends, isResized}: Known): void {
		const {name} = job.metadata;
		const {spec, status} = job;
		if (isOver(before)) return this.#broken(`${name} is over, and its status is written`);
		for (const type of ['FailureTarget', 'SuccessCriteriaMet'])
			if (has(before, type) && !has(job, type)) this.#broken(`${name} was to end by ${type}, and is not any more`);
		if (!isOver(job)) return;
		if (has(job, 'Complete') && has(job, 'Failed')) this.#broken(`${name} is complete, and has failed`);
		const reason = status?.conditions?.find(({type}) => type === 'Complete' || type === 'Failed')?.reason;
		this.#checkReason(job, reason);
		const {succeeded = 0, failed = 0} = status ?? {};
		const all = [...ends.values()];
		const sure = all.filter(end => end !== 'either');
		if (spec?.podFailurePolicy !== undefined || isResized) return;
		const failures = sure.filter(end => end === 'failed').length;
		const either = all.length - sure.length;
		if (failed < failures || failed > failures + either)
			this.#broken(`${name} ends with ${failed} failed, of ${failures} that were seen and ${either} that may count`);
		if (!isIndexed(job) && succeeded + failed !== all.length)
			this.#broken(`${name} ends with ${succeeded} succeeded and ${failed} failed, of ${all.length} pods that ended`);
	}

	#checkReason({metadata: {name}, spec, status}: Job, reason: string | undefined): void {
		const {succeeded = 0, failed = 0, startTime} = status ?? {};
		const deadlineMs = Date.parse(startTime ?? '') + (spec?.activeDeadlineSeconds ?? 0) * 1000;
		const indexes = parseIntervals(status?.completedIndexes);
		const wanted = spec?.completions;
		const completed = spec?.completionMode === 'Indexed' ? sizeIn(indexes, wanted ?? 0) : succeeded;
		const isRight: {readonly [reason: string]: boolean} = {
			CompletionsReached: wanted === undefined ? succeeded > 0 : completed === wanted,
			BackoffLimitExceeded: failed > (spec?.backoffLimit ?? 6) || spec?.template.spec.restartPolicy === 'OnFailure',
			// By the clock of a leader that may be another one by now.
			DeadlineExceeded: spec?.activeDeadlineSeconds !== undefined && startTime !== undefined && Number.isFinite(deadlineMs),
			FailedIndexes: sizeOf(parseIntervals(status?.failedIndexes)) > 0,
			MaxFailedIndexesExceeded: sizeOf(parseIntervals(status?.failedIndexes)) > (spec?.maxFailedIndexes ?? 0),
			PodFailurePolicy: spec?.podFailurePolicy !== undefined,
			SuccessPolicy: spec?.successPolicy !== undefined,
		};
		if (isRight[reason ?? ''] !== true)
			this.#broken(`${name} ends for ${reason ?? 'nothing'}: ${JSON.stringify({succeeded, failed, completed, wanted})}`);
	}

	// ---- what a Job asks for -------------------------------------------------------------------------------------------

	readonly spy: Spy = {
		began: self => {
			for (const name of this.#asked.get(self)?.names ?? []) this.#forgotten.add(name);
		},
		asked: (self, effect, context) => {
			if (effect.type === 'update' && effect.id.startsWith('dismiss/')) this.#dismissed.add(effect.id.slice('dismiss/'.length));
			if (effect.type !== 'create' || effect.object.kind !== 'Pod') return;
			const job = this.#truth.get(objectKey('jobs', 'default', self.slice(self.lastIndexOf('.') + 1))) as Job | undefined;
			const known = this.#jobs.get(job?.metadata.uid ?? '');
			if (known === undefined) return;
			const before = this.#asked.get(self);
			const asked = before?.context === context ? before : {context, names: new Set(creationsIn(context))};
			this.#asked.set(self, asked);
			asked.names.add(effect.object.metadata.name ?? '');
			this.#onAsked(effect.object as Pick<Pod, 'metadata'>, known, [...asked.names].filter(name => !isThere(known, name)).length);
		},
	};

	#onAsked(pod: Pick<Pod, 'metadata'>, {job, pods}: Known, open: number): void {
		const {name} = pod.metadata;
		const {name: of} = job.metadata;
		const {spec, status} = job;
		if (spec?.suspend === true) this.#broken(`${of} asks for ${name}, and is suspended`);
		if (has(job, 'Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet')) this.#broken(`${of} asks for ${name}, and is to end`);
		const active = [...pods.values()].filter(isActive).length;
		if (active + open > (spec?.parallelism ?? 1))
			this.#broken(`${of} asks for ${name}, has ${active} active, and ${open} are to come, of ${spec?.parallelism}`);
		const failed = (status?.failed ?? 0) + uncountedOf(job).failed.length;
		if (failed > (spec?.backoffLimit ?? 6)) this.#broken(`${of} asks for ${name} after ${failed} failures`);
		const {completed, failed: failedIndexes} = indexesOf(job);
		if (isIndexed(job) && (includes(completed, indexOf(pod)) || includes(failedIndexes, indexOf(pod))))
			this.#broken(`${of} asks for ${name}, whose index is over`);
	}
}

/** Names of the pods that are asked for and not committed, as far as the Job knows. */
const creationsIn = ({pending}: Context): string[] =>
	[...pending].flatMap(([id, {type}]) => (type === 'create' ? [id.slice(id.indexOf('/') + 1)] : []));

const isThere = ({pods}: Known, name: string): boolean => [...pods.values()].some(({metadata}) => metadata.name === name);

const indexes = (intervals: Intervals): number[] =>
	intervals.flatMap(([first, last]) => Array.from({length: last - first + 1}, (_, at) => first + at));

const sizeIn = (intervals: Intervals, end: number): number => indexes(intervals).filter(index => index < end).length;
