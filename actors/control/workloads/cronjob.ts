// A CronJob makes a Job for each time of its schedule.
//
// The job of a time is named after that time, and stays until its CronJob has noted the time (job.ts, `isRemovable`); so no time has two jobs,
// whatever crashes between the create and the note.

import {isConditionTrue} from '../../../api/conditions.js';
import {dueOf, readSchedule, type CronSchedule, type Due} from '../../../api/cron-schedule.js';
import type {CronJob, CronJobSpec, CronJobStatus} from '../../../api/kinds/cronjob.js';
import type {Job} from '../../../api/kinds/job.js';
import {objectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {timestampOf, type Draft} from '../../../api/object.js';
import type {Context, Effect} from '../../../system/kernel/behavior.js';
import {controller, type Reconciliation} from '../objects/controller.js';
import {normal, warning} from '../objects/event.js';
import {isDeleting} from '../objects/garbage.js';
import {controllerOf, ownerReferenceTo} from '../objects/owners.js';
import {jobName, scheduledMs, scheduledTimeKey} from './cron-times.js';
import {finishOf} from './job-verdict.js';
import {creationId} from './pod-creation.js';

export const cronJobController = controller<CronJob>({plural: 'cronjobs', reconcile});

function reconcile(cron: CronJob, context: Context): Reconciliation<CronJobStatus> {
	const {spec, metadata} = cron;
	if (spec === undefined || isDeleting(cron)) return {effects: []};
	const jobs = ([...context.known.byOwner(metadata.uid)] as Job[]).filter(
		job => job.kind === 'Job' && controllerOf(job)?.uid === metadata.uid,
	);
	const noted = notedStatus(cron, jobs);
	const effects: Effect[] = [...newsOf(cron, jobs), ...outdated(spec, jobs, context)];
	const schedule = readSchedule(spec.schedule, spec.timeZone);
	// What was admitted can be read; another Node may know fewer time zones.
	if (!schedule.ok)
		return {status: noted, effects: [...effects, warning('InvalidSchedule', `invalid schedule: ${spec.schedule} : ${schedule.message}`)]};
	if (spec.suspend === true) return {status: noted, effects};
	const turn = turnOf(cron, spec, schedule.value, {jobs, noted}, context);
	const nextMs = schedule.value.nextMs(Math.max(context.nowMs, Date.parse(turn.status.lastScheduleTime ?? '') || 0));
	const wakeAtMs = Math.min(nextMs ?? Infinity, turn.lookMs ?? Infinity);
	return {status: turn.status, effects: [...effects, ...turn.effects], ...(wakeAtMs === Infinity ? {} : {wakeAtMs})};
}

// ---- what its jobs say -----------------------------------------------------------------------------------------------------

const isOver = (job: Job): boolean => finishOf(job) !== undefined;
const isComplete = ({status}: Job): boolean => isConditionTrue(status?.conditions, 'Complete');

function notedStatus({status}: CronJob, jobs: readonly Job[]): CronJobStatus {
	const active = jobs.filter(job => !isOver(job)).slice(-limits.activeJobs);
	const lastScheduleTime = newest([status?.lastScheduleTime, ...jobs.map(job => timeText(scheduledMs(job)))]);
	const lastSuccessfulTime = newest([status?.lastSuccessfulTime, ...jobs.filter(isComplete).map(job => job.status?.completionTime)]);
	return {
		...(active.length === 0
			? {}
			: {
					active: active.map(({apiVersion, kind, metadata: {namespace = '', name, uid}}) => ({apiVersion, kind, namespace, name, uid})),
				}),
		...(lastScheduleTime === undefined ? {} : {lastScheduleTime}),
		...(lastSuccessfulTime === undefined ? {} : {lastSuccessfulTime}),
		...(status?.lastMissedTime === undefined ? {} : {lastMissedTime: status.lastMissedTime}),
	};
}

const timeText = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : timestampOf(ms));

/** Timestamps of one form are in the order of their texts. */
const newest = (times: readonly (string | undefined)[]): string | undefined =>
	times
		.filter(time => time !== undefined)
		.sort()
		.at(-1);

/** Jobs that are there, over or gone since the status was written. */
function* newsOf({status}: CronJob, jobs: readonly Job[]): Iterable<Effect> {
	const before = new Set(status?.active?.map(({uid}) => uid));
	const present = new Map(jobs.map(job => [job.metadata.uid, job]));
	for (const job of jobs)
		if (!isOver(job) && !before.has(job.metadata.uid)) yield normal('SuccessfulCreate', `Created job ${job.metadata.name}`);
	for (const {uid, name} of status?.active ?? []) {
		const job = present.get(uid);
		const finish = job === undefined ? undefined : finishOf(job);
		if (job === undefined) yield normal('MissingJob', `Active job went missing: ${name}`);
		else if (finish !== undefined) yield normal('SawCompletedJob', `Saw completed job: ${name}, condition: ${finish.type}`);
	}
}

// ---- history ---------------------------------------------------------------------------------------------------------------

/** Deletes the oldest of the jobs that are over, beyond how many are kept. */
function outdated(spec: CronJobSpec, jobs: readonly Job[], context: Context): Effect[] {
	const over = jobs.filter(job => isOver(job) && !isDeleting(job)).sort(byStart);
	const beyond = (those: readonly Job[], kept: number): readonly Job[] => those.slice(0, Math.max(0, those.length - kept));
	const gone = [
		...beyond(over.filter(isComplete), spec.successfulJobsHistoryLimit ?? 3),
		...beyond(
			over.filter(job => !isComplete(job)),
			spec.failedJobsHistoryLimit ?? 1,
		),
	];
	return deletions(gone, context);
}

const startOf = ({metadata, status}: Job): string => status?.startTime ?? metadata.creationTimestamp;

function byStart(a: Job, b: Job): number {
	if (startOf(a) !== startOf(b)) return startOf(a) < startOf(b) ? -1 : 1;
	return a.metadata.name < b.metadata.name ? -1 : 1;
}

const deletions = (jobs: readonly Job[], {pending}: Context): Effect[] =>
	jobs
		.filter(({metadata}) => !pending.has(`delete/${metadata.uid}`))
		.slice(0, Math.max(0, limits.pendingWrites - pending.size))
		.flatMap(({metadata}): Effect[] => [
			{
				type: 'delete',
				key: objectKey('jobs', metadata.namespace, metadata.name),
				uid: metadata.uid,
				id: `delete/${metadata.uid}`,
			},
			normal('SuccessfulDelete', `Deleted job ${metadata.name}`),
		]);

// ---- the turn --------------------------------------------------------------------------------------------------------------

type Turn = {
	readonly status: CronJobStatus;
	readonly effects: readonly Effect[];
	/** When what waits has waited for too long. */
	readonly lookMs?: number;
};

type Present = {readonly jobs: readonly Job[]; readonly noted: CronJobStatus};

/** The job of the newest time that is due, if one is and the others let it. */
function turnOf(cron: CronJob, spec: CronJobSpec, schedule: CronSchedule, {jobs, noted}: Present, context: Context): Turn {
	const {nowMs} = context;
	const deadlineMs = spec.startingDeadlineSeconds === undefined ? undefined : spec.startingDeadlineSeconds * 1000;
	const sinceMs = Date.parse(noted.lastScheduleTime ?? cron.metadata.creationTimestamp);
	const due = dueOf(schedule, deadlineMs === undefined ? sinceMs : Math.max(sinceMs, nowMs - deadlineMs - 1), nowMs);
	if (due === undefined) return withMissed(schedule, sinceMs, noted, nowMs);
	const active = jobs.filter(job => !isOver(job));
	const name = jobName(cron.metadata.name, due.atMs);
	// The job of another time, too, may be there in a moment, and be in the way.
	if ([...context.pending.values()].some(({type}) => type === 'create')) return {status: noted, effects: []};
	if (spec.concurrencyPolicy === 'Forbid' && active.length > 0) {
		const tooLateMs = deadlineMs === undefined ? undefined : due.atMs + deadlineMs + 1;
		return {status: noted, effects: [alreadyActive], ...(tooLateMs === undefined ? {} : {lookMs: tooLateMs})};
	}
	if (spec.concurrencyPolicy === 'Replace') {
		const inTheWay = active.filter(job => !isDeleting(job));
		if (inTheWay.length > 0) return {status: noted, effects: deletions(inTheWay, context)};
	}
	const other = context.known.get(objectKey('jobs', cron.metadata.namespace, name));
	if (other !== undefined) return {status: {...noted, lastScheduleTime: timestampOf(due.atMs)}, effects: [taken(name)]};
	return {status: noted, effects: [...tooMany(due), {type: 'create', object: jobOf(cron, spec, name, due.atMs), id: creationId(name)}]};
}

const alreadyActive = normal('JobAlreadyActive', 'Not starting job because prior execution is running and concurrency policy is Forbid');

const taken = (name: string): Effect => warning('FailedCreate', `Error creating job: a job "${name}" that is not its own is there already`);

const tooMany = ({missed}: Due): readonly Effect[] =>
	missed === 'many'
		? [
				warning(
					'TooManyMissedTimes',
					`too many missed start times: more than ${limits.missedTimes}. Set or decrease .spec.startingDeadlineSeconds or check clock skew`,
				),
			]
		: [];

/** The newest time that it is too late for, told of once. */
function withMissed(schedule: CronSchedule, sinceMs: number, noted: CronJobStatus, nowMs: number): Turn {
	const late = dueOf(schedule, sinceMs, nowMs);
	if (late === undefined || late.atMs <= (Date.parse(noted.lastMissedTime ?? '') || 0)) return {status: noted, effects: []};
	return {
		status: {...noted, lastMissedTime: timestampOf(late.atMs)},
		effects: [warning('MissSchedule', `Missed scheduled time to start a job: ${new Date(late.atMs).toUTCString()}`)],
	};
}

function jobOf(cron: CronJob, spec: CronJobSpec, name: string, atMs: number): Draft {
	const {labels, annotations} = spec.jobTemplate.metadata ?? {};
	const {namespace} = cron.metadata;
	return {
		apiVersion: 'batch/v1',
		kind: 'Job',
		metadata: {
			name,
			...(namespace === undefined ? {} : {namespace}),
			...(labels === undefined ? {} : {labels}),
			annotations: {...annotations, [scheduledTimeKey]: timestampOf(atMs)},
			ownerReferences: [ownerReferenceTo(cron)],
		},
		spec: spec.jobTemplate.spec,
	};
}
