// A CronJob with programs that really run: when a time is due, and out of its turn.

import test from 'ava';
import {until} from '../../../bench/rigs/cluster/waiting.js';
import type {CronJob} from '../../../api/kinds/cronjob.js';
import type {Job} from '../../../api/kinds/job.js';
import {timestampOf, type ApiObject, type Json} from '../../../api/object.js';
import {systemClock} from '../../../system/time/clock.js';
import {openFileHome} from '../_rig.js';

const {cluster, client} = openFileHome(test);

const patch = (subresource: string, body: Json): Promise<unknown> =>
	client().json({
		path: `/apis/batch/v1/namespaces/default/cronjobs/tick${subresource}`,
		method: 'PATCH',
		contentType: 'application/merge-patch+json',
		body,
	});

const cronOf = (object: ApiObject | undefined) => (object as CronJob | undefined)?.status;

test('of the times that were missed the newest is made good, once; and a job runs out of its turn', async t => {
	await cluster.apply({
		apiVersion: 'batch/v1',
		kind: 'CronJob',
		metadata: {name: 'tick'},
		spec: {
			schedule: '* * * * *',
			suspend: true,
			concurrencyPolicy: 'Forbid',
			jobTemplate: {
				spec: {
					template: {spec: {restartPolicy: 'Never', containers: [{name: 'main', image: 'program', command: ['sh', '-c', 'echo tick']}]}},
				},
			},
		},
	});
	// As if it had been suspended for five minutes.
	const longAgo = timestampOf(systemClock.nowMs() - 300_000);
	await patch('/status', {status: {lastScheduleTime: longAgo}});
	await patch('', {spec: {suspend: false}});
	const at = await until(client(), 'cronjobs', 'a time is run', all => {
		const last = cronOf(all.get('tick'))?.lastScheduleTime;
		return last !== longAgo && last;
	});
	const name = `tick-${Date.parse(at) / 60_000}`;
	t.is(Date.parse(at) % 60_000, 0);
	t.true(systemClock.nowMs() - Date.parse(at) < 60_000);
	const jobs = await until(client(), 'jobs', 'its job', found => found.has(name) && [...found.keys()]);
	t.true(jobs.length <= 2, 'only the newest, and the next where a minute ended just now');
	await until(client(), 'jobs', 'its end', jobs => (jobs.get(name) as Job | undefined)?.status?.succeeded === 1);
	t.is(await cluster.fine('logs', `job/${name}`), 'tick\n');
	await until(client(), 'cronjobs', 'the end is noted', all => cronOf(all.get('tick'))?.lastSuccessfulTime);
	t.regex(await cluster.fine('get', 'cronjobs'), /^tick +\* \* \* \* \* +<none> +False +\d+ +\d+s +/m);
	t.regex(await cluster.fine('describe', 'cronjob', 'tick'), /SuccessfulCreate +Created job tick-\d+\n/);
	await cluster.fine('create', 'job', 'now', '--from=cronjob/tick');
	await until(
		client(),
		'jobs',
		'the end of the one out of its turn',
		jobs => (jobs.get('now') as Job | undefined)?.status?.succeeded === 1,
	);
	await cluster.fine('delete', 'cronjob', 'tick');
	await until(client(), 'pods', 'all is gone with it', pods => pods.size === 0);
	t.is(await cluster.fine('get', 'jobs,cronjobs', '-o', 'name'), '');
});
