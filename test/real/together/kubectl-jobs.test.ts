// Jobs and CronJobs as the real kubectl sees them, with programs that really run.

import test from 'ava';
import {programsOf} from '../../../bench/rigs/cluster/processes.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {openFileHome} from '../../e2e/_rig.js';
import {kubectlFor, manifest, realInTurn} from '../_kubectl.js';

const {cluster} = openFileHome(test);
const {startWith, start, kubectl, fine} = kubectlFor(cluster);
const file = (object: object): string => manifest(cluster, object);

const jobSpec = (command: readonly string[], more: object = {}): object => ({
	...more,
	template: {
		spec: {restartPolicy: 'Never', terminationGracePeriodSeconds: 1, containers: [{name: 'main', image: 'any', command}]},
	},
});

const jobOf = (name: string, command: readonly string[], more: object = {}): object => ({
	apiVersion: 'batch/v1',
	kind: 'Job',
	metadata: {name},
	spec: jobSpec(command, more),
});

const forEver = ['sleep', '100000'];

const runs = (count: number): Promise<void> =>
	eventually(
		`${count} programs run`,
		() => programsOf(cluster.home).length === count,
		() => JSON.stringify(programsOf(cluster.home)),
	);

realInTurn('a Job is applied, waited for, shown, described, read and deleted', async t => {
	const greet = file(jobOf('greet', ['sh', '-c', 'echo hello'], {completions: 2}));
	t.is(await fine('apply', '-f', greet), 'job.batch/greet created\n');
	t.is(await fine('apply', '-f', greet), 'job.batch/greet unchanged\n');
	t.is(await fine('wait', '--for=condition=complete', 'job/greet', '--timeout=20s'), 'job.batch/greet condition met\n');
	t.regex(await fine('get', 'jobs'), /^NAME +STATUS +COMPLETIONS +DURATION +AGE\ngreet +Complete +2\/2 +\d+s +\d+s\n$/);
	t.regex(await fine('get', 'jobs', '-o', 'wide'), /\ngreet .* main +any +batch\.kubernetes\.io\/controller-uid=[\w-]+\n$/);
	t.regex(
		await fine('describe', 'job', 'greet'),
		/\nCompletions: +2\n[^]*\nPods Statuses: +0 Active \(0 Ready\) \/ 2 Succeeded \/ 0 Failed\nPod Template:\n[^]* echo hello\n[^]*Normal +Completed .* Job completed\n/,
	);
	t.regex(await fine('logs', 'job/greet'), /^hello\n$/);
	t.regex(await fine('get', 'pods', '-l', 'job-name=greet', '-o', 'jsonpath={.items[*].status.phase}'), /^Succeeded Succeeded$/);
	t.is(await fine('delete', 'job', 'greet'), 'job.batch "greet" deleted\n');
	await fine('wait', '--for=delete', 'pod', '-l', 'job-name=greet', '--timeout=20s');
});

realInTurn('a Job that fails says so to those who wait for that, and why', async t => {
	await fine('apply', '-f', file(jobOf('hopeless', ['sh', '-c', 'echo no >&2; exit 3'], {backoffLimit: 0})));
	t.is(await fine('wait', '--for=condition=failed', 'job/hopeless', '--timeout=20s'), 'job.batch/hopeless condition met\n');
	t.regex(await fine('get', 'job', 'hopeless'), /\nhopeless +Failed +0\/1 /);
	t.regex(await fine('describe', 'job', 'hopeless'), /Warning +BackoffLimitExceeded .* Job has reached the specified backoff limit\n/);
	t.is(await fine('logs', 'job/hopeless'), 'no\n');
	await fine('delete', 'job', 'hopeless');
});

realInTurn('a Job is suspended, and goes on', async t => {
	await fine('apply', '-f', file(jobOf('long', forEver, {parallelism: 2, completions: 2})));
	await runs(2);
	t.is(await fine('patch', 'job', 'long', '-p', '{"spec":{"suspend":true}}'), 'job.batch/long patched\n');
	await fine('wait', '--for=condition=suspended', 'job/long', '--timeout=20s');
	await fine('wait', '--for=delete', 'pod', '-l', 'job-name=long', '--timeout=20s');
	t.regex(await fine('get', 'job', 'long'), /\nlong +Suspended +0\/2 /);
	await runs(0);
	await fine('patch', 'job', 'long', '--type=json', '-p', '[{"op":"replace","path":"/spec/suspend","value":false}]');
	await runs(2);
	t.is(await fine('get', 'job', 'long', '-o', 'jsonpath={.status.active}'), '2');
	t.regex(await fine('describe', 'job', 'long'), /Normal +Suspended .* Job suspended\n[^]*Normal +Resumed .* Job resumed\n/);
});

realInTurn('a Job is deleted before its pods, after them, or without them', async t => {
	// The Job of the test before.
	t.is(await fine('delete', 'job', 'long', '--cascade=foreground'), 'job.batch "long" deleted\n');
	t.is(await fine('get', 'pods', '-o', 'name'), '', 'a foreground deletion ends after the pods');
	await runs(0);
	await fine('apply', '-f', file(jobOf('behind', forEver)));
	await runs(1);
	t.is(await fine('delete', 'job', 'behind', '--cascade=background', '--wait=false'), 'job.batch "behind" deleted\n');
	t.regex((await kubectl('get', 'job', 'behind')).err, /jobs\.batch "behind" not found/);
	await fine('wait', '--for=delete', 'pod', '-l', 'job-name=behind', '--timeout=20s');
	await fine('apply', '-f', file(jobOf('parent', forEver)));
	await runs(1);
	await fine('delete', 'job', 'parent', '--cascade=orphan');
	const orphan = await fine(
		'get',
		'pods',
		'-l',
		'job-name=parent',
		'-o',
		'jsonpath={.items[*].metadata.ownerReferences} {.items[*].status.phase}',
	);
	t.is(orphan, ' Running');
	await fine('delete', 'pods', '-l', 'job-name=parent');
	await runs(0);
});

realInTurn('a CronJob is applied, shown, described and held back, makes a Job when its time is due, and takes it along', async t => {
	const tick = {
		apiVersion: 'batch/v1',
		kind: 'CronJob',
		metadata: {name: 'tick'},
		// No test runs at the turn of a year.
		spec: {
			schedule: '@yearly',
			timeZone: 'Europe/Berlin',
			concurrencyPolicy: 'Forbid',
			suspend: true,
			jobTemplate: {spec: jobSpec(forEver)},
		},
	};
	t.is(await fine('apply', '-f', file(tick)), 'cronjob.batch/tick created\n');
	t.regex(await fine('get', 'cronjobs'), /\ntick +@yearly +Europe\/Berlin +True +0 +<none> /);
	await fine(
		'patch',
		'cronjob',
		'tick',
		'--subresource=status',
		'--type=merge',
		'-p',
		'{"status":{"lastScheduleTime":"2020-06-01T00:00:00Z"}}',
	);
	const jobs = start('get', 'jobs', '-w', '--no-headers');
	t.is(await fine('patch', 'cj', 'tick', '-p', '{"spec":{"suspend":false}}'), 'cronjob.batch/tick patched\n');
	await jobs.says(/^tick-\d+ +Running +0\/1 /m);
	await fine('wait', '--for=jsonpath={.status.active[0].kind}=Job', 'cronjob/tick', '--timeout=20s');
	t.regex(
		await fine('describe', 'cronjob', 'tick'),
		/\nConcurrency Policy: +Forbid\nSuspend: +False\n[^]*\nActive Jobs: +tick-\d+\nEvents:\n[^]*Normal +SuccessfulCreate .* Created job tick-\d+\n/,
	);
	await runs(1);
	await fine('patch', 'cj', 'tick', '-p', '{"spec":{"suspend":true}}');
	await runs(1);
	t.is(await fine('delete', 'cronjob', 'tick', '--cascade=foreground'), 'cronjob.batch "tick" deleted\n');
	t.is(await fine('get', 'all', '-o', 'name'), '');
	await runs(0);
	jobs.kill('SIGTERM');
	await jobs.ended;
});

realInTurn('kubectl create job sends protobuf, which is refused with the forms that are taken; it goes through a file', async t => {
	const words = ['create', 'job', 'made', '--image=any'];
	const refused = await kubectl(...words, '--', 'true');
	t.is(refused.code, 1);
	t.regex(
		refused.err,
		/^error: failed to create job: the body of the request was in an unknown format - accepted media types include: application\/json, /,
	);
	const yaml = await fine(...words, '--dry-run=client', '-o', 'yaml', '--', 'true');
	t.deepEqual(await startWith(yaml, 'create', '-f', '-').ended, {code: 0, out: 'job.batch/made created\n', err: ''});
	await fine('wait', '--for=condition=complete', 'job/made', '--timeout=20s');
	await fine('delete', 'job', 'made');
});
