// Whether a Job is to end, and why, in Kubernetes' words.

import {conditionOf} from '../../../api/conditions.js';
import {parseIntervals, sizeOf, sizeOfBoth, type Intervals} from '../../../api/intervals.js';
import type {Job, JobSpec} from '../../../api/kinds/job.js';
import type {Condition} from '../../../api/object.js';
import {isIndexed, type Ends} from './job-ends.js';

export type Verdict = {
	/** A job that is to end has this condition until all its pods are over. */
	readonly type: 'FailureTarget' | 'SuccessCriteriaMet';
	readonly reason: string;
	readonly message: string;
};

/** The condition that a job ends with. */
export const endOf = ({type}: Verdict): 'Failed' | 'Complete' => (type === 'FailureTarget' ? 'Failed' : 'Complete');

const finished: ReadonlySet<string> = new Set(['Complete', 'Failed']);

export const finishOf = ({status}: Job): Condition | undefined =>
	status?.conditions?.find(({type, status: is}) => finished.has(type) && is === 'True');

/** What was decided before. */
export function standingVerdict({status}: Job): Verdict | undefined {
	for (const type of ['FailureTarget', 'SuccessCriteriaMet'] as const) {
		const condition = conditionOf(status?.conditions, type);
		if (condition?.status === 'True') return {type, reason: condition.reason ?? '', message: condition.message ?? ''};
	}
	return undefined;
}

export type Circumstances = {
	/** Active pods, and creates under way. */
	readonly active: number;
	readonly restarts: number;
	/** When the job has been active for too long; undefined: no deadline runs. */
	readonly deadlineMs: number | undefined;
	readonly nowMs: number;
};

export function verdictOf(spec: JobSpec, ends: Ends, circumstances: Circumstances): Verdict | undefined {
	return failureOf(spec, ends, circumstances) ?? successOf(spec, ends, circumstances);
}

const failure = (reason: string, message: string): Verdict => ({type: 'FailureTarget', reason, message});
const success = (reason: string, message: string): Verdict => ({type: 'SuccessCriteriaMet', reason, message});

function failureOf(spec: JobSpec, ends: Ends, {restarts, deadlineMs, nowMs}: Circumstances): Verdict | undefined {
	if (ends.failJob !== undefined) return failure('PodFailurePolicy', ends.failJob);
	if (hasFailedTooOften(spec, ends, restarts)) return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
	if (deadlineMs !== undefined && nowMs >= deadlineMs) return failure('DeadlineExceeded', 'Job was active longer than specified deadline');
	const failed = sizeOf(ends.failedIndexes);
	if (failed === 0) return undefined;
	if (spec.maxFailedIndexes !== undefined && failed > spec.maxFailedIndexes)
		return failure('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes');
	return failed + sizeOf(ends.completed) >= (spec.completions ?? 0) ? failure('FailedIndexes', 'Job has failed indexes') : undefined;
}

/** Pods that failed count, and restarts of containers in those that are not over; a limit of 0 takes none. */
function hasFailedTooOften({backoffLimit = 0}: JobSpec, {failed, uncounted, heldFailures}: Ends, restarts: number): boolean {
	if (failed + uncounted.failed.length + heldFailures > backoffLimit) return true;
	return restarts > 0 && restarts >= backoffLimit;
}

function successOf(spec: JobSpec, {succeeded, uncounted, completed}: Ends, {active}: Circumstances): Verdict | undefined {
	const reached = success('CompletionsReached', 'Reached expected number of succeeded pods');
	const total = succeeded + uncounted.succeeded.length;
	if (spec.completions === undefined) return total > 0 && active === 0 ? reached : undefined;
	if (total >= spec.completions) return reached;
	return isIndexed(spec) ? bySuccessPolicy(spec, completed) : undefined;
}

function bySuccessPolicy({successPolicy}: JobSpec, completed: Intervals): Verdict | undefined {
	for (const [index, {succeededIndexes, succeededCount}] of (successPolicy?.rules ?? []).entries()) {
		const wanted = succeededIndexes === undefined ? undefined : parseIntervals(succeededIndexes);
		const there = wanted === undefined ? sizeOf(completed) : sizeOfBoth(completed, wanted);
		const needed = succeededCount ?? (wanted === undefined ? Number.POSITIVE_INFINITY : sizeOf(wanted));
		if (there >= needed) return success('SuccessPolicy', `Matched rules at index ${index}`);
	}
	return undefined;
}
