// CronJobs: which schedules are read, when they are due, shape, defaults and rules.

import test from 'ava';
import {admitCreate} from '../../api/admission.js';
import {dueOf, isTimeZone, readSchedule} from '../../api/cron-schedule.js';
import {cronJob} from '../../api/kinds/cronjob.js';
import {limits} from '../../api/limits.js';
import {mergePatch} from '../../api/merge-patch.js';
import type {Json, JsonObject} from '../../api/object.js';
import {tableOf} from '../../api/table.js';
import {aContainer, committed, problemsOf} from './_objects.js';

function times(schedule: string, from: string, count: number, zone?: string): readonly string[] {
	const read = readSchedule(schedule, zone);
	if (!read.ok) throw new Error(read.message);
	const found: string[] = [];
	let atMs: number | undefined = Date.parse(from);
	while (found.length < count) {
		atMs = read.value.nextMs(atMs);
		if (atMs === undefined) break;
		found.push(new Date(atMs).toISOString().replace(':00.000Z', 'Z'));
	}
	return found;
}

test('schedules are due when Kubernetes has them due', t => {
	t.deepEqual(times('*/20 9-10 * * MON-FRI', '2026-03-06T10:30:00Z', 3), ['2026-03-06T10:40Z', '2026-03-09T09:00Z', '2026-03-09T09:20Z']);
	t.deepEqual(times('5/20 * * * ?', '2026-03-06T10:30:00Z', 2), ['2026-03-06T10:45Z', '2026-03-06T11:05Z']);
	t.deepEqual(times('0 0 13 * 5', '2026-03-01T00:00:00Z', 3), ['2026-03-06T00:00Z', '2026-03-13T00:00Z', '2026-03-20T00:00Z']);
	t.deepEqual(times('0 12 1 jan,Jul *', '2026-03-01T00:00:00Z', 2), ['2026-07-01T12:00Z', '2027-01-01T12:00Z']);
	t.deepEqual(times('@weekly', '2026-03-04T00:00:00Z', 1), ['2026-03-08T00:00Z']);
	t.deepEqual(times('0 0 29 2 *', '2026-03-04T00:00:00Z', 2), ['2028-02-29T00:00Z', '2032-02-29T00:00Z']);
	t.deepEqual(times('0 0 31 2 *', '2026-03-04T00:00:00Z', 1), []);
	t.deepEqual(times('* * * * *', '2026-03-04T00:00:59.999Z', 1), ['2026-03-04T00:01Z']);
});

test('without a time zone a schedule is in UTC, with one it follows its clocks', t => {
	t.deepEqual(times('0 6 * * *', '2026-06-01T00:00:00Z', 1), ['2026-06-01T06:00Z']);
	t.deepEqual(times('0 6 * * *', '2026-06-01T00:00:00Z', 1, 'Europe/Berlin'), ['2026-06-01T04:00Z']);
	t.deepEqual(times('0 0 * * *', '2026-06-01T00:00:00Z', 1, 'Asia/Kathmandu'), ['2026-06-01T18:15Z']);
});

test('when clocks go forward a time that there is not is due right after, and when they go back one time is due once', t => {
	const zone = 'America/New_York';
	t.deepEqual(times('30 2 * * *', '2024-03-09T12:00:00Z', 2, zone), ['2024-03-10T07:00Z', '2024-03-11T06:30Z']);
	t.deepEqual(times('30 1 * * *', '2024-11-02T12:00:00Z', 2, zone), ['2024-11-03T05:30Z', '2024-11-04T06:30Z']);
	t.deepEqual(times('0 * * * *', '2024-03-10T05:30:00Z', 3, zone), ['2024-03-10T06:00Z', '2024-03-10T07:00Z', '2024-03-10T08:00Z']);
	t.deepEqual(times('*/30 * * * *', '2024-11-03T04:59:00Z', 4, zone), [
		'2024-11-03T05:00Z',
		'2024-11-03T05:30Z',
		'2024-11-03T06:00Z',
		'2024-11-03T06:30Z',
	]);
});

test('the newest time that is due is found, however many were missed', t => {
	const read = readSchedule('* * * 1 *');
	if (!read.ok) return t.fail(read.message);
	const sinceMs = Date.parse('2020-01-01T00:00:00Z');
	const nowMs = Date.parse('2026-06-01T00:00:00Z');
	t.deepEqual(dueOf(read.value, sinceMs, nowMs), {atMs: Date.parse('2026-01-31T23:59:00Z'), missed: 'many'});
	t.deepEqual(dueOf(read.value, sinceMs, sinceMs + limits.missedTimes * 60_000 + 61_000), {
		atMs: sinceMs + (limits.missedTimes + 1) * 60_000,
		missed: limits.missedTimes,
	});
	t.is(dueOf(read.value, nowMs, nowMs + 60_000), undefined);
	t.deepEqual(dueOf(read.value, sinceMs, sinceMs + 60_000), {atMs: sinceMs + 60_000, missed: 0});
});

const manifest = {
	apiVersion: 'batch/v1',
	kind: 'CronJob',
	metadata: {name: 'tick'},
	spec: {schedule: '*/5 * * * *', jobTemplate: {spec: {template: {spec: {containers: [aContainer()], restartPolicy: 'Never'}}}}},
};
const patched = (patch: JsonObject): Json => mergePatch(manifest, patch);

test('Kubernetes’ defaults are filled in, down to the pods', t => {
	const admitted = admitCreate(manifest);
	t.like(admitted.ok ? admitted.value.spec : {}, {
		concurrencyPolicy: 'Allow',
		suspend: false,
		successfulJobsHistoryLimit: 3,
		failedJobsHistoryLimit: 1,
		jobTemplate: {spec: {completions: 1, backoffLimit: 6, template: {spec: {terminationGracePeriodSeconds: 30}}}},
	});
});

const refusals: readonly [title: string, patch: JsonObject, problem: RegExp][] = [
	['a time zone in the schedule', {spec: {schedule: 'TZ=UTC 0 0 * * *'}}, /^spec\.schedule: must not say TZ or CRON_TZ; use timeZone$/],
	['the same in other words', {spec: {schedule: 'CRON_TZ=UTC 0 0 * * *'}}, /^spec\.schedule: must not say TZ/],
	['six fields', {spec: {schedule: '0 0 * * * *'}}, /^spec\.schedule: must have five fields .*, got "0 0 \* \* \* \*"$/],
	['none', {spec: {schedule: ''}}, /^spec\.schedule: must have five fields/],
	['minute 60', {spec: {schedule: '60 * * * *'}}, /^spec\.schedule: the minute must be .* 0 to 59.*, got "60"$/],
	['a day of the week 7', {spec: {schedule: '0 0 * * 7'}}, /^spec\.schedule: the day of the week must be .* 0 to 6 or sun to sat/],
	['a range that falls', {spec: {schedule: '0 5-3 * * *'}}, /^spec\.schedule: the hour must be/],
	['steps of 0', {spec: {schedule: '*/0 * * * *'}}, /^spec\.schedule: the minute must be/],
	['the last day', {spec: {schedule: '0 0 L * *'}}, /^spec\.schedule: the day of the month must be/],
	['another word', {spec: {schedule: '@every 5m'}}, /^spec\.schedule: must be five fields or one of @yearly, .*, got "@every 5m"$/],
	[
		'a schedule without end',
		{spec: {schedule: `${'0,'.repeat(999)}0 * * * *`}},
		/^spec\.schedule: must have at most 512 characters, got 2007$/,
	],
	[
		'an unknown time zone',
		{spec: {timeZone: 'Mars/Olympus'}},
		/^spec\.timeZone: must be a time zone such as "Europe\/Berlin" or "UTC", got "Mars/,
	],
	['the time zone of the host', {spec: {timeZone: 'Local'}}, /^spec\.timeZone: must be/],
	['an empty time zone', {spec: {timeZone: ''}}, /^spec\.timeZone: must be/],
	['a name that jobs cannot have', {metadata: {name: 'a'.repeat(53)}}, /^metadata\.name: must be at most 52 characters/],
	[
		'a template that never ends',
		{spec: {jobTemplate: {spec: {template: {spec: {restartPolicy: 'Always'}}}}}},
		/^spec\.jobTemplate\.spec\.template\.spec\.restartPolicy: must be OnFailure or Never/,
	],
	[
		'a selector',
		{spec: {jobTemplate: {spec: {selector: {matchLabels: {a: 'b'}}}}}},
		/^spec\.jobTemplate\.spec\.selector: is made by the cluster/,
	],
];

for (const [title, patch, problem] of refusals)
	test(`a CronJob refuses ${title}`, t => {
		const problems = problemsOf(patched(patch));
		t.is(problems.length, 1, problems.join('\n'));
		t.regex(problems[0] ?? '', problem);
	});

test('no text makes a schedule throw', t => {
	for (const text of [
		'* * * * *'.repeat(9),
		'\0',
		'@',
		'- - - - -',
		'1- * * * *',
		'1,, * * * *',
		'*/ * * * *',
		'1-2-3 * * * *',
		'😀 * * * *',
	])
		t.false(readSchedule(text).ok, text);
	for (const zone of ['../../etc', '', ' ', 'UTC\n', '+25:00', 'x'.repeat(9_999)]) t.false(isTimeZone(zone), zone);
	t.true(isTimeZone('America/Argentina/Buenos_Aires'));
});

test('its row says when, and what runs', t => {
	const object = committed(patched({spec: {timeZone: 'Europe/Berlin'}}), {lastScheduleTime: '2026-01-01T00:00:00Z', active: [{}, {}]});
	t.deepEqual(tableOf(cronJob, [object], Date.parse('2026-01-01T00:03:20Z')).rows[0]?.cells, [
		'tick',
		'*/5 * * * *',
		'Europe/Berlin',
		'False',
		2,
		'3m20s',
		'3m20s',
		'main',
		'node:20',
		'<none>',
	]);
});
