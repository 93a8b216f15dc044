// Jobs as a person sees them, with programs that really run: how often they succeed and fail is counted, each once.

import test from 'ava';
import {phaseOf} from '../../../bench/rigs/cluster/pods.js';
import {followObjects, until} from '../../../bench/rigs/cluster/waiting.js';
import type {Job, JobSpec} from '../../../api/kinds/job.js';
import {isConditionTrue} from '../../../api/conditions.js';
import type {ApiObject} from '../../../api/object.js';
import {openFileHome} from '../_rig.js';

const {cluster, client} = openFileHome(test);

const jobOf = (name: string, program: string, spec: Partial<Omit<JobSpec, 'template'>> = {}) => ({
	apiVersion: 'batch/v1',
	kind: 'Job',
	metadata: {name},
	spec: {
		...spec,
		template: {spec: {restartPolicy: 'Never', containers: [{name: 'main', image: 'program', command: ['sh', '-c', program]}]}},
	},
});

const statusOf = (object: ApiObject | undefined) => (object as Job | undefined)?.status;
const isNow = (object: ApiObject | undefined, type: string): boolean => isConditionTrue(statusOf(object)?.conditions, type);

const finished = (name: string, type: 'Complete' | 'Failed') =>
	until(client(), 'jobs', `${name} is ${type}`, jobs => isNow(jobs.get(name), type) && jobs.get(name));

const suspend = (name: string, isSuspended: boolean): Promise<unknown> =>
	client().json({
		path: `/apis/batch/v1/namespaces/default/jobs/${name}`,
		method: 'PATCH',
		contentType: 'application/merge-patch+json',
		body: {spec: {suspend: isSuspended}},
	});

test('a job runs its pod to the end, and is complete', async t => {
	await cluster.apply(jobOf('pi', 'echo 3.14159'));
	t.is(await cluster.fine('wait', '--for=condition=Complete', 'job/pi', '--timeout=20s'), 'job.batch/pi condition met\n');
	const status = statusOf(await finished('pi', 'Complete'));
	t.is(status?.succeeded, 1);
	t.deepEqual(status?.uncountedTerminatedPods, {});
	t.is(await cluster.fine('logs', 'job/pi'), '3.14159\n');
	t.regex(await cluster.fine('get', 'jobs', 'pi'), /^pi +Complete +1\/1 +\d+s +\d+s$/m);
	await cluster.fine('delete', 'job', 'pi', '--wait');
	await until(client(), 'pods', 'its pod is gone', pods => pods.size === 0 || ![...pods.keys()].some(name => name.startsWith('pi-')));
});

test('each index of an Indexed job runs once, with its number, its name and its host name', async t => {
	const pods = await followObjects(client(), 'pods');
	t.teardown(pods.close);
	await cluster.apply(
		jobOf('parts', 'echo $JOB_COMPLETION_INDEX on $HOSTNAME', {completions: 5, parallelism: 2, completionMode: 'Indexed'}),
	);
	const status = statusOf(await finished('parts', 'Complete'));
	t.is(status?.completedIndexes, '0-4');
	t.is(status?.succeeded, 5);
	const names = [...pods.objects.keys()].filter(name => name.startsWith('parts-')).sort();
	t.deepEqual(
		names.map(name => name.split('-')[1]),
		['0', '1', '2', '3', '4'],
	);
	t.is(await cluster.fine('logs', names[3] ?? ''), '3 on parts-3\n');
});

test('a job fails when its pods failed too often, and the next one waits for a while', async t => {
	await cluster.apply(jobOf('broken', 'exit 3', {backoffLimit: 1}));
	const once = await until(
		client(),
		'jobs',
		'one failure is counted',
		jobs => statusOf(jobs.get('broken'))?.failed === 1 && jobs.get('broken'),
	);
	t.is(statusOf(once)?.failuresInARow, 1);
	t.is(statusOf(once)?.active, undefined);
	const failed = await finished('broken', 'Failed');
	t.is(statusOf(failed)?.failed, 2);
	t.like(
		statusOf(failed)?.conditions?.find(({type}) => type === 'Failed'),
		{
			reason: 'BackoffLimitExceeded',
			message: 'Job has reached the specified backoff limit',
		},
	);
});

test('pods of a suspended job go and do not count; it goes on when it may', async t => {
	await cluster.apply(jobOf('paused', 'sleep 1d', {backoffLimit: 0}));
	const one = await until(client(), 'pods', 'it runs', pods =>
		[...pods.values()].find(pod => pod.metadata.name.startsWith('paused-') && phaseOf(pod) === 'Running'),
	);
	await suspend('paused', true);
	await until(client(), 'pods', 'its pod is gone', pods => !pods.has(one.metadata.name));
	const job = await until(client(), 'jobs', 'it says so', jobs => isNow(jobs.get('paused'), 'Suspended') && jobs.get('paused'));
	t.is(statusOf(job)?.failed, undefined);
	await suspend('paused', false);
	await until(client(), 'jobs', 'it goes on', jobs => statusOf(jobs.get('paused'))?.active === 1);
	await cluster.fine('delete', 'job', 'paused');
	await until(client(), 'pods', 'all is gone', pods => ![...pods.keys()].some(name => name.startsWith('paused-')));
	t.is((await cluster.troupe('get', 'job', 'paused')).code, 3);
});

test('a pod that a user deletes just as it ended is counted all the same', async t => {
	await cluster.apply(jobOf('taken', 'sleep 1d', {backoffLimit: 3}));
	const one = await until(client(), 'pods', 'it runs', pods =>
		[...pods.values()].find(pod => pod.metadata.name.startsWith('taken-') && phaseOf(pod) === 'Running'),
	);
	await cluster.fine('delete', 'pod', one.metadata.name, '--force', '--grace-period=0');
	const job = await until(
		client(),
		'jobs',
		'it is counted',
		jobs => statusOf(jobs.get('taken'))?.failed !== undefined && jobs.get('taken'),
	);
	t.is(statusOf(job)?.failed, 1);
	await cluster.fine('delete', 'job', 'taken');
});

test('a job that is over goes when its time is over', async t => {
	await cluster.apply(jobOf('brief', 'true', {ttlSecondsAfterFinished: 1}));
	await finished('brief', 'Complete');
	await until(client(), 'jobs', 'it is gone', jobs => !jobs.has('brief'));
	t.is((await cluster.troupe('get', 'job', 'brief')).code, 3);
});
