// Why a Job is not complete, and why a CronJob makes none.

import {conditionOf, isConditionTrue} from '../../api/conditions.js';
import {readSchedule} from '../../api/cron-schedule.js';
import {parseIntervals, sizeOf} from '../../api/intervals.js';
import type {CronJob} from '../../api/kinds/cronjob.js';
import type {Job} from '../../api/kinds/job.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ApiObject} from '../../api/object.js';
import {limits} from '../../api/limits.js';
import {finishOf} from '../../actors/control/workloads/job-verdict.js';
import {afterFailuresMs} from '../../actors/control/workloads/job-pods.js';
import {generalFinding} from './common.js';
import {counted, finding, fine, keyOf, newestEvent, ownedBy, timeOf, type Evidence, type Finding, type NextAction} from './finding.js';
import {becauseOfPod, podFinding} from './pod.js';
import {isPassing, podsBecause, podsBelow, podsFinding} from './pods.js';
import {afterRefusal, refusalBelow, refusalText} from './quota.js';

export function jobFinding(object: ApiObject, evidence: Evidence): Finding {
	const job = object as Job;
	const finish = finishOf(job);
	const general = generalFinding(job);
	if (general !== undefined) return general;
	if (finish?.type === 'Complete') return over(job);
	if (finish !== undefined) return failed(job, finish.reason ?? '', finish.message ?? '', evidence, false);
	const target = conditionOf(job.status?.conditions, 'FailureTarget');
	if (target?.status === 'True') return failed(job, target.reason ?? '', target.message ?? '', evidence, true);
	if (job.spec?.suspend === true || isConditionTrue(job.status?.conditions, 'Suspended'))
		return finding(job, {
			state: 'waits',
			is: 'is suspended',
			because: '',
			next: {says: `it goes on when spec.suspend is false: troupe patch job ${job.metadata.name} -p '{"spec":{"suspend":false}}'`},
		});
	return running(job, evidence);
}

/** `2 of 5 completions`. */
function doneText({spec, status}: Job): string {
	const {succeeded = 0} = status ?? {};
	return spec?.completions === undefined
		? `${counted(succeeded, 'pod')} succeeded`
		: `${succeeded} of ${counted(spec.completions, 'completion')}`;
}

function over(job: Job): Finding {
	const endMs = timeOf(job.status?.completionTime);
	return finding(job, {state: 'over', is: 'is complete', because: doneText(job), atMs: endMs, next: removal(job)});
}

/** When it is taken away. */
function removal(job: Job): NextAction | undefined {
	const seconds = job.spec?.ttlSecondsAfterFinished;
	const atMs = timeOf(finishOf(job)?.lastTransitionTime);
	return seconds === undefined || atMs === undefined
		? undefined
		: {says: 'it is deleted (ttlSecondsAfterFinished)', atMs: atMs + seconds * 1_000};
}

function reasonText({spec, status}: Job, reason: string, message: string): string {
	switch (reason) {
		case 'BackoffLimitExceeded':
			return spec?.template.spec.restartPolicy === 'OnFailure'
				? `its containers were restarted too often for its backoffLimit of ${spec.backoffLimit ?? 0}`
				: `${counted(status?.failed ?? 0, 'pod')} failed, and its backoffLimit is ${spec?.backoffLimit ?? 0}`;
		case 'DeadlineExceeded':
			return `it was active for longer than ${spec?.activeDeadlineSeconds ?? 0} s (activeDeadlineSeconds)`;
		case 'FailedIndexes':
			return `${sizeOf(parseIntervals(status?.failedIndexes))} of its indexes failed: ${status?.failedIndexes ?? ''}`;
		case 'MaxFailedIndexesExceeded':
			return `more than ${spec?.maxFailedIndexes ?? 0} of its indexes failed: ${status?.failedIndexes ?? ''}`;
		case 'PodFailurePolicy':
			return `a rule of its podFailurePolicy ended it: ${message}`;
	}
	return message === '' ? reason : message;
}

function failed(job: Job, reason: string, message: string, evidence: Evidence, isEnding: boolean): Finding {
	const pod = failedPod(job, evidence);
	const found = pod === undefined ? undefined : podFinding(pod, evidence, true);
	const why = pod === undefined || found === undefined ? '' : becauseOfPod(pod, found);
	return finding(job, {
		state: 'wrong',
		is: isEnding ? 'is failing' : 'failed',
		because: `${reasonText(job, reason, message)}${why === '' ? '' : `; ${why}`}`,
		says: `${isEnding ? 'is failing' : 'failed'} (${reason}): ${reasonText(job, reason, message)}`,
		atMs: timeOf(conditionOf(job.status?.conditions, isEnding ? 'FailureTarget' : 'Failed')?.lastTransitionTime),
		below: found?.chain ?? [],
		next: isEnding
			? {says: 'it has failed once its last pods are over'}
			: (removal(job) ?? {says: 'nothing: a Job that has failed is not started again; delete it and make it anew'}),
	});
}

/** The newest of its pods that failed, among those that are looked at; where none is there any more, among those that are gone. */
const failedPod = (job: Job, evidence: Evidence): Pod | undefined =>
	failedAmong(ownedBy(job, evidence)) ?? failedAmong(evidence.goneOwnedBy(job.metadata.uid));

function failedAmong(owned: Iterable<ApiObject>): Pod | undefined {
	let found: Pod | undefined;
	let left: number = limits.whyPods;
	for (const object of owned) {
		if (left-- <= 0) break;
		const pod = object as Pod;
		const isWorse = pod.kind === 'Pod' && (pod.status?.phase === 'Failed' || (found === undefined && pod.status?.phase !== 'Succeeded'));
		if (isWorse && (found?.status?.phase !== 'Failed' || found.metadata.creationTimestamp <= pod.metadata.creationTimestamp)) found = pod;
	}
	return found;
}

function running(job: Job, evidence: Evidence): Finding {
	const {status, spec} = job;
	const {failed: failures = 0, active = 0} = status ?? {};
	const pods = podsFinding(job, evidence, pod => pod.status?.phase !== 'Failed');
	const because = podsBecause(pods, Math.max(active, 1));
	const before = failures === 0 ? '' : `; ${counted(failures, 'pod')} failed before`;
	if (because !== '' && !isPassing(pods))
		return finding(job, {
			state: 'wrong',
			is: 'does not progress',
			because: `${because}${before}`,
			says: `${doneText(job)}${before}`,
			below: podsBelow(pods),
			next: pods.worst?.finding.next,
		});
	const retryMs = nextTryMs(job, evidence.nowMs);
	const last = failures === 0 ? undefined : failedPod(job, evidence);
	const found = last?.status?.phase === 'Failed' ? podFinding(last, evidence, true) : undefined;
	const limit = spec?.backoffLimit === undefined || spec.backoffLimit > 1_000_000 ? '' : ` of the ${spec.backoffLimit + 1} that end it`;
	if (active === 0 && retryMs !== undefined)
		return finding(job, {
			state: 'wrong',
			is: 'waits after a failure',
			because: `${counted(failures, 'pod')}${limit} failed${found === undefined ? '' : `; ${found.because}`}`,
			below: found?.chain ?? [],
			next: {says: 'the next pod is made', atMs: retryMs},
		});
	const refusal = newestEvent(evidence.eventsOf(keyOf(job)), ['FailedCreate'])?.message;
	if (active === 0 && refusal !== undefined && !evidence.isGone)
		return finding(job, {
			state: 'wrong',
			is: 'has no pods',
			because: `they are refused: ${refusalText(refusal)}`,
			below: refusalBelow(refusal, job.metadata.namespace ?? '', evidence),
			next: afterRefusal(refusal),
		});
	const state = failures > 0 ? 'wrong' : 'waits';
	const what = because === '' ? `${counted(active, 'pod')} ${active === 1 ? 'runs' : 'run'}` : because;
	return finding(job, {
		state,
		is: 'is not complete yet',
		because: `${doneText(job)}; ${what}${found === undefined ? before : `${before}: ${found.because}`}`,
		below: found?.chain ?? podsBelow(pods),
		next: deadlineOf(job),
	});
}

/** A pod that failed keeps the next one back for a while. */
function nextTryMs({status}: Job, nowMs: number): number | undefined {
	const lastMs = timeOf(status?.lastFailureTime);
	if (lastMs === undefined || status?.failuresInARow === undefined) return undefined;
	const atMs = afterFailuresMs(status.failuresInARow, lastMs, nowMs);
	return atMs > nowMs ? atMs : undefined;
}

function deadlineOf({spec, status}: Job): NextAction | undefined {
	const fromMs = timeOf(status?.startTime);
	return spec?.activeDeadlineSeconds === undefined || fromMs === undefined
		? undefined
		: {says: 'its activeDeadlineSeconds are over', atMs: fromMs + spec.activeDeadlineSeconds * 1_000};
}

// ---- CronJob ---------------------------------------------------------------------------------------------------------------

export function cronJobFinding(object: ApiObject, evidence: Evidence): Finding {
	const general = generalFinding(object);
	if (general !== undefined) return general;
	const cron = object as CronJob;
	const {spec, status} = cron;
	const schedule = readSchedule(spec?.schedule ?? '', spec?.timeZone);
	if (!schedule.ok)
		return finding(cron, {
			state: 'wrong',
			is: 'makes no jobs',
			because: `its schedule ${spec?.schedule ?? ''} cannot be read: ${schedule.message}`,
			next: {says: 'it goes on when its schedule or time zone is another one'},
		});
	if (spec?.suspend === true)
		return finding(cron, {
			state: 'waits',
			is: 'is suspended',
			because: 'it makes no jobs',
			next: {says: 'it goes on when spec.suspend is false'},
		});
	const nextMs = schedule.value.nextMs(evidence.nowMs);
	const next: NextAction | undefined = nextMs === undefined ? undefined : {says: 'the next job is due', atMs: nextMs};
	const jobs = ([...ownedBy(cron, evidence)] as Job[]).filter(({kind}) => kind === 'Job');
	const active = jobs.filter(job => finishOf(job) === undefined);
	const events = evidence.eventsOf(keyOf(cron));
	const refusal = newestEvent(events, ['FailedCreate', 'TooManyMissedTimes']);
	const held = newestEvent(events, ['JobAlreadyActive']);
	const heldBy = active[0];
	if (spec?.concurrencyPolicy === 'Forbid' && held !== undefined && heldBy !== undefined) {
		const found = jobFinding(heldBy, evidence);
		return finding(cron, {
			state: 'wrong',
			is: 'makes no job now',
			because: `job ${heldBy.metadata.name} is not over, and its concurrencyPolicy is Forbid; that job ${found.is}: ${found.because}`,
			below: found.chain,
			next: {says: `the job that is due is made when ${heldBy.metadata.name} is over`},
		});
	}
	if (refusal !== undefined && isNewer(refusal.lastAtMs, newestEvent(events, ['SuccessfulCreate'])?.lastAtMs))
		return finding(cron, {
			state: 'wrong',
			is: 'makes no job',
			because: refusalText(refusal.message),
			atMs: refusal.lastAtMs,
			below: refusalBelow(refusal.message, cron.metadata.namespace ?? '', evidence),
			next,
		});
	const last = [...jobs].sort((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1)).at(-1);
	const missedMs = timeOf(status?.lastMissedTime);
	if (missedMs !== undefined && isNewer(missedMs, timeOf(status?.lastScheduleTime)))
		return finding(cron, {
			state: 'wrong',
			is: 'missed a start',
			because: `it was too late for ${new Date(missedMs).toISOString().replace('.000', '')}: its startingDeadlineSeconds are ${spec?.startingDeadlineSeconds ?? 0}`,
			atMs: missedMs,
			next,
		});
	const found = last === undefined ? undefined : jobFinding(last, evidence);
	if (last !== undefined && found?.state === 'wrong')
		return finding(cron, {
			state: 'wrong',
			is: 'makes jobs that do not go well',
			because: `its last one, ${last.metadata.name}, ${found.is}: ${found.because}`,
			below: found.chain,
			next,
		});
	const text = last === undefined ? 'no job was due yet' : `its last job, ${last.metadata.name}, ${found?.is ?? ''}`;
	return fine(cron, text, next === undefined ? {} : {next});
}

const isNewer = (atMs: number, thanMs: number | undefined): boolean => thanMs === undefined || atMs > thanMs;
