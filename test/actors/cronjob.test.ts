// A job for each time of the schedule, none twice, whatever was missed or crashed.

import test from 'ava';
import type {CronJob, CronJobSpec, CronJobStatus} from '../../api/kinds/cronjob.js';
import type {Job} from '../../api/kinds/job.js';
import {timestampOf, type ObjectMeta} from '../../api/object.js';
import {isNoted} from '../../actors/control/workloads/cron-times.js';
import type {Context, Effect} from '../../system/kernel/behavior.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {aJob, createsOf} from './_jobs.js';
import {contextWith, indexOf, keyOf, openWrites, ownedBy, put} from './_objects.js';
import {commit, tellRecord} from './_records.js';

const minuteMs = 60_000;
/** A full hour. */
const hourMs = Date.parse('2026-03-02T10:00:00Z');

const aCronJob = (spec: Partial<CronJobSpec> = {}, status: CronJobStatus = {}): CronJob & {readonly spec: CronJobSpec} => ({
	apiVersion: 'batch/v1',
	kind: 'CronJob',
	metadata: {
		name: 'tick',
		namespace: 'default',
		uid: 'uid-of-tick',
		resourceVersion: '1',
		generation: 1,
		creationTimestamp: timestampOf(hourMs),
	},
	spec: {
		schedule: '*/5 * * * *',
		concurrencyPolicy: 'Allow',
		suspend: false,
		successfulJobsHistoryLimit: 3,
		failedJobsHistoryLimit: 1,
		jobTemplate: {metadata: {labels: {app: 'tick'}, annotations: {note: 'x'}}, spec: aJob().spec},
		...spec,
	},
	status,
});

const timeKey = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** The job that the schedule made for a time. */
function itsJob(cron: CronJob, atMs: number, status: Partial<Job['status']> = {}, metadata: Partial<ObjectMeta> = {}): Job {
	const name = `${cron.metadata.name}-${atMs / minuteMs}`;
	return aJob({name, status, metadata: {annotations: {[timeKey]: timestampOf(atMs)}, ownerReferences: [ownedBy(cron)], ...metadata}});
}

const done = (type: 'Complete' | 'Failed', atMs: number): Job['status'] => ({
	conditions: [{type, status: 'True', lastTransitionTime: timestampOf(atMs)}],
	...(type === 'Complete' ? {completionTime: timestampOf(atMs)} : {}),
});

type Look = {readonly status: CronJobStatus; readonly effects: readonly Effect[]};

function look(index: ObjectIndex, cron: CronJob, nowMs: number, overrides: Partial<Context> = {}): Look {
	const present = index.get(keyOf(cron)) as CronJob;
	const played = tellRecord(present, [{type: 'wake'}], contextWith(index, {nowMs, ...overrides}));
	const after = played.object as CronJob;
	if (after !== present) put(index, after);
	return {status: after.status ?? {}, effects: played.effects};
}

const namesOf = (effects: readonly Effect[]): readonly string[] => createsOf(effects).map(({object}) => object.metadata.name ?? '');
const reasonsOf = (effects: readonly Effect[]): readonly string[] => effects.flatMap(each => (each.type === 'event' ? [each.reason] : []));
const deletedOf = (effects: readonly Effect[]): readonly string[] => effects.flatMap(each => (each.type === 'delete' ? [each.key] : []));
const wakeOf = (effects: readonly Effect[]): number | undefined => effects.find(each => each.type === 'wakeAt')?.atMs;

const nameAt = (atMs: number): string => `tick-${atMs / minuteMs}`;

test('before its time nothing is made, and it looks again just then', t => {
	const cron = aCronJob();
	const {effects} = look(indexOf(cron), cron, hourMs + 1_000);
	t.deepEqual(namesOf(effects), []);
	t.is(wakeOf(effects), hourMs + 5 * minuteMs);
});

test('at its time it makes a job that is named after the time', t => {
	const cron = aCronJob();
	const atMs = hourMs + 5 * minuteMs;
	const index = indexOf(cron);
	const {effects} = look(index, cron, atMs);
	const [create] = createsOf(effects);
	t.like(create?.object, {
		kind: 'Job',
		metadata: {
			name: nameAt(atMs),
			labels: {app: 'tick'},
			annotations: {note: 'x', [timeKey]: '2026-03-02T10:05:00Z'},
			ownerReferences: [ownedBy(cron)],
		},
		spec: cron.spec.jobTemplate.spec,
	});
	t.deepEqual(namesOf(look(index, cron, atMs + 10, {pending: openWrites(effects)}).effects), []);
	// Nor is the next time run while it is not known whether this one is.
	const nextMs = atMs + 5 * minuteMs;
	t.deepEqual(namesOf(look(index, cron, nextMs, {pending: openWrites(effects)}).effects), []);
	t.deepEqual(namesOf(look(index, cron, nextMs).effects), [nameAt(nextMs)]);
	t.deepEqual(namesOf(look(index, cron, atMs + 20).effects), [nameAt(atMs)], 'after a crash the same one is asked for again');
});

test('what is there is noted: the time, the job, and that it was made', t => {
	const cron = aCronJob();
	const atMs = hourMs + 5 * minuteMs;
	const job = itsJob(cron, atMs);
	const index = indexOf(cron, job);
	const {status, effects} = look(index, cron, atMs + 100);
	t.deepEqual(namesOf(effects), []);
	t.deepEqual(reasonsOf(effects), ['SuccessfulCreate']);
	t.is(status.lastScheduleTime, timestampOf(atMs));
	t.like(status.active?.[0], {kind: 'Job', name: nameAt(atMs), uid: job.metadata.uid});
	t.is(wakeOf(effects), atMs + 5 * minuteMs);
	put(index, itsJob(cron, atMs, done('Complete', atMs + 30_000)));
	const over = look(index, cron, atMs + 30_000);
	t.deepEqual(reasonsOf(over.effects), ['SawCompletedJob']);
	t.is(over.status.active, undefined);
	t.is(over.status.lastSuccessfulTime, timestampOf(atMs + 30_000));
});

test('a job that is deleted stays until its time is noted, so that the time is not run twice', t => {
	const cron = aCronJob();
	const atMs = hourMs + 5 * minuteMs;
	const job = itsJob(cron, atMs);
	const index = indexOf(cron, job);
	const leaving = commit(index, job, {type: 'delete'}, {nowMs: atMs}) as Job;
	t.true(leaving.metadata.deletionTimestamp !== undefined);
	t.is(look(index, cron, atMs + 10).status.lastScheduleTime, timestampOf(atMs));
	t.is(commit(index, leaving, {type: 'wake'}, {nowMs: atMs + 20}), undefined);
	t.deepEqual(namesOf(look(index, cron, atMs + 30).effects), []);
});

test('a job that its schedule did not make, or whose CronJob is gone, is held by nothing', t => {
	const cron = aCronJob();
	const atMs = hourMs + 5 * minuteMs;
	const manual = aJob({name: 'by-hand', metadata: {annotations: {[timeKey]: '2999-01-01T00:00:00Z'}, ownerReferences: [ownedBy(cron)]}});
	t.true(isNoted(manual, indexOf(cron)));
	t.true(isNoted(itsJob(cron, atMs), indexOf()));
	t.false(isNoted(itsJob(cron, atMs), indexOf(cron)));
	t.is(look(indexOf(cron, manual), cron, atMs).status.lastScheduleTime, undefined);
});

test('of the times that were missed only the newest is run, and many are told of', t => {
	const cron = aCronJob();
	const some = look(indexOf(cron), cron, hourMs + 32 * minuteMs);
	t.deepEqual(namesOf(some.effects), [nameAt(hourMs + 30 * minuteMs)]);
	t.deepEqual(reasonsOf(some.effects), []);
	const laterMs = hourMs + 60 * 24 * 60 * minuteMs + 7 * minuteMs;
	const many = look(indexOf(cron), cron, laterMs);
	t.deepEqual(namesOf(many.effects), [nameAt(hourMs + 60 * 24 * 60 * minuteMs + 5 * minuteMs)]);
	t.deepEqual(reasonsOf(many.effects), ['TooManyMissedTimes']);
});

test('what was missed for too long is not made good, and is told of once', t => {
	const cron = aCronJob({schedule: '0 * * * *', startingDeadlineSeconds: 60});
	const index = indexOf(cron);
	t.deepEqual(namesOf(look(index, cron, hourMs + 60 * minuteMs + 60_000).effects), [nameAt(hourMs + 60 * minuteMs)]);
	const late = look(index, cron, hourMs + 60 * minuteMs + 60_002);
	t.deepEqual(namesOf(late.effects), []);
	t.deepEqual(reasonsOf(late.effects), ['MissSchedule']);
	t.deepEqual(reasonsOf(look(index, cron, hourMs + 62 * minuteMs).effects), []);
	t.is(wakeOf(late.effects), hourMs + 120 * minuteMs);
});

test('where no two may run, a time waits for the job before, and no longer than it may', t => {
	const cron = aCronJob(
		{schedule: '0 * * * *', concurrencyPolicy: 'Forbid', startingDeadlineSeconds: 600},
		{lastScheduleTime: timestampOf(hourMs)},
	);
	const before = itsJob(cron, hourMs);
	const index = indexOf(cron, before);
	const atMs = hourMs + 60 * minuteMs;
	const waiting = look(index, cron, atMs);
	t.deepEqual(namesOf(waiting.effects), []);
	t.true(reasonsOf(waiting.effects).includes('JobAlreadyActive'));
	t.is(wakeOf(waiting.effects), atMs + 600_001);
	put(index, {...before, status: done('Failed', atMs + 60_000) ?? {}});
	t.deepEqual(namesOf(look(index, cron, atMs + 60_000).effects), [nameAt(atMs)]);
});

test('where the newest counts, the job before is deleted first', t => {
	const cron = aCronJob({concurrencyPolicy: 'Replace'}, {lastScheduleTime: timestampOf(hourMs)});
	const before = itsJob(cron, hourMs);
	const index = indexOf(cron, before);
	const atMs = hourMs + 5 * minuteMs;
	const first = look(index, cron, atMs);
	t.deepEqual(deletedOf(first.effects), [keyOf(before)]);
	t.deepEqual(namesOf(first.effects), []);
	put(index, {...before, metadata: {...before.metadata, deletionTimestamp: timestampOf(atMs)}});
	t.deepEqual(namesOf(look(index, cron, atMs + 10).effects), [nameAt(atMs)]);
});

test('only so many jobs that are over are kept, the newest of each sort', t => {
	const cron = aCronJob({successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0}, {lastScheduleTime: timestampOf(hourMs)});
	const at = (minutes: number): number => hourMs - minutes * minuteMs;
	const jobs = [
		itsJob(cron, at(20), {...done('Complete', at(19)), startTime: timestampOf(at(20))}),
		itsJob(cron, at(10), {...done('Complete', at(9)), startTime: timestampOf(at(10))}),
		itsJob(cron, at(5), {...done('Failed', at(4)), startTime: timestampOf(at(5))}),
	];
	const {effects} = look(indexOf(cron, ...jobs), cron, hourMs + 1);
	t.deepEqual(deletedOf(effects), [keyOf(jobs[0] as Job), keyOf(jobs[2] as Job)]);
});

test('a suspended one makes nothing, and what it missed meanwhile is made good once', t => {
	const cron = aCronJob({suspend: true});
	const index = indexOf(cron);
	const quiet = look(index, cron, hourMs + 32 * minuteMs);
	t.deepEqual(quiet.effects, []);
	put(index, {...cron, spec: {...cron.spec, suspend: false}});
	t.deepEqual(namesOf(look(index, cron, hourMs + 33 * minuteMs).effects), [nameAt(hourMs + 30 * minuteMs)]);
});

test('a clock that was set back runs nothing again', t => {
	const cron = aCronJob({}, {lastScheduleTime: timestampOf(hourMs + 30 * minuteMs)});
	const {effects} = look(indexOf(cron), cron, hourMs + 7 * minuteMs);
	t.deepEqual(namesOf(effects), []);
	t.is(wakeOf(effects), hourMs + 35 * minuteMs);
});

test('a job of that name that is not its own stands in for the time, and it is told of', t => {
	const cron = aCronJob();
	const atMs = hourMs + 5 * minuteMs;
	const index = indexOf(cron, aJob({name: nameAt(atMs)}));
	const {effects, status} = look(index, cron, atMs);
	t.deepEqual(namesOf(effects), []);
	t.deepEqual(reasonsOf(effects), ['FailedCreate']);
	t.is(status.lastScheduleTime, timestampOf(atMs));
});

test('a job that goes missing is told of', t => {
	const gone = {apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name: 'tick-1', uid: 'u'};
	const cron = aCronJob({}, {active: [gone], lastScheduleTime: timestampOf(hourMs)});
	t.deepEqual(reasonsOf(look(indexOf(cron), cron, hourMs + 1).effects), ['MissingJob']);
});
