// A Job runs pods until enough of them have succeeded.
//
// How pods ended is counted in job-ends.ts, whether that is the end of the job is decided in job-verdict.ts, and which pods come next in
// job-pods.ts. A job that is to end says so first (FailureTarget, SuccessCriteriaMet); it is Failed or Complete when none of its pods runs any
// more and each is counted.

import {formatIntervals, sizeOf} from '../../../api/intervals.js';
import {jobTrackingFinalizer} from '../../../api/job-labels.js';
import type {Job, JobSpec, JobStatus} from '../../../api/kinds/job.js';
import {objectKey} from '../../../api/keys.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import {isConditionTrue} from '../../../api/conditions.js';
import {timestampOf, type ApiObject, type Condition} from '../../../api/object.js';
import {matches} from '../../../api/selector.js';
import type {Context, Effect, Pending} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {withCondition} from '../objects/conditions.js';
import {controller, type Failures, type Reconciliation, type Watched} from '../objects/controller.js';
import {normal, warning} from '../objects/event.js';
import {isDeleting} from '../objects/garbage.js';
import {isAdoption} from '../objects/owners.js';
import {awaitingQuota, shortOf} from '../objects/quota-wait.js';
import {ownerships, selecting, selectionTerms} from '../objects/selection.js';
import {jobTerm} from '../pods/job-pod.js';
import {isActive} from '../pods/pod-lifecycle.js';
import {ownedTerm} from '../pods/pod-terms.js';
import {isNoted} from './cron-times.js';
import {endsOf, isIndexed, type Ends} from './job-ends.js';
import {afterFailuresMs, creationsOf, dismissals, say} from './job-pods.js';
import {endOf, finishOf, standingVerdict, verdictOf, type Verdict} from './job-verdict.js';
import {slowStart} from './pod-creation.js';
import {podNews} from './pod-news.js';
import {deletion} from './surplus.js';

export const jobController = controller<Job>({
	plural: 'jobs',
	terms: job => [
		...selectionTerms(job),
		...shortOf(job, finishOf(job) === undefined && (job.status?.active ?? 0) < (job.spec?.parallelism ?? 1)),
	],
	watches: {
		pods: (change, known) => selecting('jobs', change, known),
		cronjobs: leaving,
		resourcequotas: (change, known) => awaitingQuota('jobs', change, known),
	},
	written: podNews(),
	reconcile,
	goesOnWithoutCreates: true,
	isRemovable: isNoted,
});

/** Jobs that wait for their CronJob to note their time. */
function* leaving({after}: Watched, known: Known): Iterable<ApiObject> {
	if (after === undefined) return;
	for (const job of known.byOwner(after.metadata.uid)) if (isDeleting(job)) yield job;
}

function reconcile(job: Job, context: Context, failures: Failures): Reconciliation<JobStatus> {
	const {spec} = job;
	if (spec === undefined || isDeleting(job)) return {effects: []};
	const finish = finishOf(job);
	return finish === undefined ? proceed(job, spec, context, failures) : afterEnd(job, spec, finish, context);
}

function proceed(job: Job, spec: JobSpec, context: Context, failures: Failures): Reconciliation<JobStatus> {
	const {known, nowMs} = context;
	const {uid} = job.metadata;
	const before = standingVerdict(job);
	const ends = endsOf(job, spec, before !== undefined, known);
	const effects = unasked(
		ends.releases.map(pod => say(pod, 'counted')),
		context,
	);
	effects.push(...ownershipsOf(job, spec, effects.length, context));
	const clocks = clocksOf(job, spec, ends, nowMs);
	const active = known.countByTerm('pods', jobTerm.active(uid));
	const coming = [...context.pending.values(), ...effects].filter(write => write.type === 'create' || isAdoption(write)).length;
	const restarts = known.sumByTerm('pods', jobTerm.restarts(uid));
	const verdict = before ?? verdictOf(spec, ends, {active: active + coming, restarts, deadlineMs: clocks.deadlineMs, nowMs});
	const staffing =
		verdict === undefined
			? staff(job, spec, ends, {active, coming, retryMs: clocks.retryMs, room: effects.length, failures}, context)
			: {effects: clear(job, verdict, effects.length, context), nextMs: undefined};
	effects.push(...staffing.effects);
	const isOver = active + coming === 0 && staffing.effects.length === 0 && isCounted(uid, ends, known);
	const status = statusOf(job, spec, ends, clocks, {active, verdict, isOver}, context);
	// What a decision means for its pods, and the end for the job itself, is seen once it is written; nothing else may come that wakes it.
	const isDecided = verdict !== undefined && (before === undefined || isOver);
	const wakeAtMs = earliest(staffing.nextMs, verdict === undefined ? clocks.deadlineMs : undefined, isDecided ? nowMs : undefined);
	return {status, effects: [...effects, ...eventsOf(job, status)], ...(wakeAtMs === undefined ? {} : {wakeAtMs})};
}

/** Those that are not asked for yet, as far as there is room for writes beside `beside` others. */
const unasked = (writes: readonly Pending[], {pending}: Context, beside = 0): Effect[] =>
	writes.filter(({id}) => !pending.has(id)).slice(0, Math.max(0, limits.pendingWrites - pending.size - beside));

/** The cluster's own label is on each of its pods; where the selector is the user's, all are looked at. */
function ownershipsOf(job: Job, spec: JobSpec, beside: number, context: Context): Effect[] {
	const {known} = context;
	const {uid} = job.metadata;
	const {selector} = spec;
	if (selector === undefined) return [];
	const strangers = ([...known.byTerm('pods', jobTerm.unlabelled(uid))] as Pod[]).filter(
		({metadata}) => !matches(selector, metadata.labels),
	);
	const candidates = {
		plural: 'pods',
		selector,
		owned: known.countByTerm('pods', ownedTerm(uid)),
		strangers,
		isWanted: (pod: ApiObject) => isActive(pod as Pod),
		finalizer: jobTrackingFinalizer,
	};
	return ownerships(job, candidates, context).slice(0, Math.max(0, limits.pendingWrites - context.pending.size - beside));
}

// ---- pods ----------------------------------------------------------------------------------------------------------------

type Staffing = {readonly effects: readonly Effect[]; readonly nextMs: number | undefined};

type Present = {
	readonly active: number;
	readonly coming: number;
	/** No pod is made before this, since others failed. */
	readonly retryMs: number;
	/** Writes that are asked for in this step already. */
	readonly room: number;
	readonly failures: Failures;
};

/** As many pods as the job wants now: none while it is suspended. */
function staff(job: Job, spec: JobSpec, ends: Ends, present: Present, context: Context): Staffing {
	const {active, coming, retryMs, room, failures} = present;
	const {known, nowMs, pending} = context;
	const wanted = spec.suspend === true ? 0 : wantedOf(spec, ends, active);
	if (active > wanted) return {effects: dismissed(job, spec, wanted, room, context), nextMs: undefined};
	const awaited = spec.podReplacementPolicy === 'Failed' ? known.countByTerm('pods', jobTerm.terminating(job.metadata.uid)) : 0;
	const missing = Math.min(limits.pendingWrites - pending.size - room, wanted - active - coming - awaited);
	// What ended and is in no list yet may be what is missing.
	if (missing <= 0 || ends.isPartial) return {effects: [], nextMs: undefined};
	if (retryMs > nowMs) return {effects: [], nextMs: retryMs};
	return creationsOf(job, spec, ends, slowStart(missing, active, coming, failures), context);
}

/** How many pods there should be now. Without a number of completions the first success stands for all: no more are made. */
function wantedOf(spec: JobSpec, ends: Ends, active: number): number {
	const {parallelism = 1, completions} = spec;
	const succeeded = ends.succeeded + ends.uncounted.succeeded.length;
	if (completions === undefined) return succeeded > 0 ? Math.min(active, parallelism) : parallelism;
	return Math.max(0, Math.min(parallelism, completions - succeeded - sizeOf(ends.failedIndexes)));
}

function dismissed(job: Job, spec: JobSpec, wanted: number, beside: number, context: Context): Effect[] {
	const {pending} = context;
	const staying = activePods(job, context.known).filter(({metadata}) => !pending.has(`dismiss/${metadata.uid}`));
	return unasked(dismissals(staying, spec, staying.length - wanted), context, beside);
}

const activePods = ({metadata}: Job, known: Known): readonly Pod[] => [...known.byTerm('pods', jobTerm.active(metadata.uid))] as Pod[];

/** Pods of a job that has failed are deleted and count as failed; those of one that succeeded are needed no more. */
function clear(job: Job, {type}: Verdict, beside: number, context: Context): Effect[] {
	const pods = activePods(job, context.known);
	return unasked(
		pods.map(pod => (type === 'FailureTarget' ? deletion(pod) : say(pod, 'dismiss'))),
		context,
		beside,
	);
}

/** Nothing of its pods runs any more, and each is in a number. */
const isCounted = (uid: string, {uncounted}: Ends, known: Known): boolean =>
	uncounted.succeeded.length + uncounted.failed.length === 0 &&
	known.countByTerm('pods', jobTerm.ended(uid)) === 0 &&
	known.countByTerm('pods', jobTerm.terminating(uid)) === 0;

// ---- the end -------------------------------------------------------------------------------------------------------------

/** Of a job that is over nothing changes any more: what came late goes, and it goes itself when its time is over. */
function afterEnd(job: Job, spec: JobSpec, finish: Condition, context: Context): Reconciliation<JobStatus> {
	const {known, nowMs} = context;
	const {uid, namespace, name} = job.metadata;
	const ended = [...known.byTerm('pods', jobTerm.ended(uid))] as Pod[];
	const late = [...ended.map(pod => say(pod, 'counted')), ...activePods(job, known).map(pod => say(pod, 'dismiss'))];
	const effects = unasked(late, context);
	if (spec.ttlSecondsAfterFinished === undefined) return {effects};
	const dueMs = Date.parse(finish.lastTransitionTime ?? '') + spec.ttlSecondsAfterFinished * 1000;
	if (dueMs > nowMs) return {effects, wakeAtMs: dueMs};
	return {
		effects: [...effects, ...unasked([{type: 'delete', key: objectKey('jobs', namespace, name), uid, id: `delete/${uid}`}], context)],
	};
}

// ---- status --------------------------------------------------------------------------------------------------------------

type Clocks = {
	readonly startTime: string | undefined;
	readonly deadlineMs: number | undefined;
	readonly failuresInARow: number;
	readonly lastFailureTime: string | undefined;
	readonly retryMs: number;
};

/** A job that goes on after it was suspended begins anew with its deadline. */
function clocksOf({status}: Job, spec: JobSpec, ends: Ends, nowMs: number): Clocks {
	const isSuspended = spec.suspend === true;
	const isResumed = !isSuspended && isConditionTrue(status?.conditions, 'Suspended');
	const now = timestampOf(nowMs);
	const startTime = isResumed ? now : (status?.startTime ?? (isSuspended ? undefined : now));
	const runsSinceMs = isSuspended || startTime === undefined ? undefined : Date.parse(startTime);
	const deadlineMs =
		runsSinceMs === undefined || spec.activeDeadlineSeconds === undefined ? undefined : runsSinceMs + spec.activeDeadlineSeconds * 1000;
	const failuresInARow = (ends.newSuccesses > 0 ? 0 : (status?.failuresInARow ?? 0)) + ends.newFailures;
	const lastFailureTime = ends.newFailures > 0 ? now : failuresInARow > 0 ? status?.lastFailureTime : undefined;
	// Indexes that have a limit each wait each for itself.
	const isWaiting = spec.backoffLimitPerIndex === undefined && lastFailureTime !== undefined;
	const retryMs = isWaiting ? afterFailuresMs(failuresInARow, Date.parse(lastFailureTime), nowMs) : nowMs;
	return {startTime, deadlineMs, failuresInARow, lastFailureTime, retryMs};
}

type Standing = {readonly active: number; readonly verdict: Verdict | undefined; readonly isOver: boolean};

function statusOf(job: Job, spec: JobSpec, ends: Ends, clocks: Clocks, standing: Standing, {known, nowMs}: Context): JobStatus {
	const {uid} = job.metadata;
	const {uncounted} = ends;
	const conditions = conditionsOf(job, spec, standing, nowMs);
	const isComplete = isConditionTrue(conditions, 'Complete');
	return {
		...some('active', standing.active),
		ready: known.countByTerm('pods', jobTerm.ready(uid)),
		terminating: known.countByTerm('pods', jobTerm.terminating(uid)),
		...some('succeeded', ends.succeeded),
		...some('failed', ends.failed),
		...(isIndexed(spec) ? {completedIndexes: formatIntervals(ends.completed)} : {}),
		...(spec.backoffLimitPerIndex === undefined ? {} : {failedIndexes: formatIntervals(ends.failedIndexes)}),
		uncountedTerminatedPods: {
			...(uncounted.succeeded.length === 0 ? {} : {succeeded: uncounted.succeeded}),
			...(uncounted.failed.length === 0 ? {} : {failed: uncounted.failed}),
		},
		...some('failuresInARow', clocks.failuresInARow),
		...(clocks.lastFailureTime === undefined ? {} : {lastFailureTime: clocks.lastFailureTime}),
		...(clocks.startTime === undefined ? {} : {startTime: clocks.startTime}),
		...(isComplete ? {completionTime: timestampOf(nowMs)} : {}),
		...(conditions === undefined || conditions.length === 0 ? {} : {conditions}),
	};
}

/** A number that is left out when it is none, as Kubernetes does. */
const some = <Field extends string>(field: Field, count: number): {readonly [Key in Field]?: number} =>
	count === 0 ? {} : ({[field]: count} as {readonly [Key in Field]: number});

function conditionsOf({status}: Job, spec: JobSpec, {verdict, isOver}: Standing, nowMs: number): readonly Condition[] | undefined {
	const present = status?.conditions;
	if (verdict === undefined) return withSuspension(present, spec.suspend === true, nowMs);
	const {type, reason, message} = verdict;
	const decided = withCondition(present, {type, status: 'True', reason, message}, nowMs);
	return isOver ? withCondition(decided, {type: endOf(verdict), status: 'True', reason, message}, nowMs) : decided;
}

function withSuspension(present: readonly Condition[] | undefined, isSuspended: boolean, nowMs: number): readonly Condition[] | undefined {
	if (isSuspended)
		return withCondition(present, {type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended'}, nowMs);
	if (!isConditionTrue(present, 'Suspended')) return present;
	return withCondition(present, {type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed'}, nowMs);
}

function eventsOf(job: Job, status: JobStatus): readonly Effect[] {
	const finish = finishOf({...job, status});
	if (finish !== undefined)
		return [finish.type === 'Complete' ? normal('Completed', 'Job completed') : warning(finish.reason ?? 'Failed', finish.message ?? '')];
	const was = isConditionTrue(job.status?.conditions, 'Suspended');
	const is = isConditionTrue(status.conditions, 'Suspended');
	if (was === is) return [];
	return [is ? normal('Suspended', 'Job suspended') : normal('Resumed', 'Job resumed')];
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
	const known = times.filter(time => time !== undefined);
	return known.length === 0 ? undefined : Math.min(...known);
}
