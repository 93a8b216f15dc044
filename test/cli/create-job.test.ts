// `create job` and `create cronjob`, in kubectl's words.

import test, {type ExecutionContext} from 'ava';
import {line, type Around} from '../../bench/rigs/command-line.js';
import {openCluster} from './_rig.js';

async function open(t: ExecutionContext) {
	const opened = await openCluster(t);
	const troupe = (args: readonly string[], around: Partial<Around> = {}) => line(args, {home: opened.home, ...around});
	return {...opened, troupe};
}

test('a job and a cronjob are made of an image and what comes after --', async t => {
	const {cluster, troupe} = await open(t);
	const words = ['--image', 'node', '--', 'node', '-e', '--x'];
	t.deepEqual(await troupe(['create', 'job', 'once', ...words]), {code: 0, out: 'job.batch/once created\n', err: ''});
	t.like(cluster.control.index.get('jobs/default/once'), {
		spec: {template: {spec: {restartPolicy: 'Never', containers: [{name: 'once', image: 'node', command: ['node', '-e', '--x']}]}}},
	});
	const cron = await troupe(['create', 'cj', 'tick', '--schedule', '0 0 1 1 *', ...words]);
	t.deepEqual(cron, {code: 0, out: 'cronjob.batch/tick created\n', err: ''});
	t.like(cluster.control.index.get('cronjobs/default/tick'), {
		spec: {
			schedule: '0 0 1 1 *',
			jobTemplate: {spec: {template: {spec: {restartPolicy: 'OnFailure', containers: [{command: ['node', '-e', '--x']}]}}}},
		},
	});
	const dry = await troupe([
		'create',
		'cronjob',
		'x',
		'--schedule=@daily',
		'--image=a',
		'--restart=Never',
		'--dry-run=client',
		'-o',
		'json',
		'--',
		'b',
	]);
	t.like(JSON.parse(dry.out), {kind: 'CronJob', spec: {jobTemplate: {spec: {template: {spec: {restartPolicy: 'Never'}}}}}});
});

test('a job is made of a cronjob out of its turn, and belongs to it', async t => {
	const {cluster, troupe} = await open(t);
	await troupe(['create', 'cronjob', 'tick', '--schedule=0 0 1 1 *', '--image=node', '--', 'date']);
	t.is((await troupe(['create', 'job', 'now', '--from=cronjob/tick'])).out, 'job.batch/now created\n');
	t.like(cluster.control.index.get('jobs/default/now'), {
		metadata: {
			annotations: {'cronjob.kubernetes.io/instantiate': 'manual'},
			ownerReferences: [{kind: 'CronJob', name: 'tick', uid: cluster.control.index.get('cronjobs/default/tick')?.metadata.uid}],
		},
		spec: {template: {spec: {containers: [{command: ['date']}]}}},
	});
	const missing = await troupe(['create', 'job', 'x', '--from', 'cronjob/tock']);
	t.deepEqual([missing.code, missing.out], [3, '']);
});

test('it says what is wrong with the words', async t => {
	const {troupe} = await open(t);
	const wrong: readonly (readonly [readonly string[], number, RegExp])[] = [
		[['job', 'a'], 2, /--image says what the container is made from/],
		[['cronjob', 'a', '--image', 'x', '--', 'y'], 2, /a cronjob needs --schedule, as in: troupe create cronjob a/],
		[['cronjob', 'a', '--image', 'x', '--schedule', '* * *', '--', 'y'], 1, /spec\.schedule: must have five fields/],
		[
			['cronjob', 'a', '--image', 'x', '--schedule', '@daily', '--restart', 'Always', '--', 'y'],
			2,
			/--restart must be OnFailure, Never, got "Always"/,
		],
		[['job', 'a', '--image', 'x', '--schedule', '@daily', '--', 'y'], 2, /--schedule is of cronjobs/],
		[['namespace', 'a', '--image', 'x'], 2, /--image is of jobs and cronjobs/],
		[['namespace', 'a', '--', 'x'], 2, /a namespace runs nothing/],
		[['job', 'a', '--image', 'x', '--from-literal', 'a=b'], 2, /a job has no values; leave out --from-literal/],
		[['job', 'a', '--from', 'pod/x'], 2, /--from names a cronjob/],
		[['job', 'a', '--from', 'cronjob/x', '--', 'y'], 2, /with --from the cronjob says what runs/],
		[['configmap', 'a', '--from', 'cronjob/x'], 2, /--from is of one job/],
	];
	for (const [words, code, expected] of wrong) {
		const ran = await troupe(['create', ...words]);
		t.deepEqual([ran.code, ran.out], [code, ''], `${words.join(' ')}: ${ran.err}`);
		t.regex(ran.err, expected);
	}
});
