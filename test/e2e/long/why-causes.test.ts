// `troupe why` of a real cluster: what is planted is what it answers.

import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {line} from '../../../bench/rigs/command-line.js';
import {podOf} from '../../../bench/rigs/cluster/manifests.js';
import {isReady, pidOf} from '../../../bench/rigs/cluster/pods.js';
import {eventually, until} from '../../../bench/rigs/cluster/waiting.js';
import {openFileHome} from '../_rig.js';

const examples = path.resolve(import.meta.dirname, '../../../../examples');
const {cluster, client} = openFileHome(test);

type Why = {
	readonly answer: string;
	readonly state: string;
	readonly next: {readonly says: string; readonly atMs?: number} | null;
	readonly chain: readonly {readonly about: string; readonly lines?: readonly string[]}[];
	readonly nowMs: number;
};

const whyOf = async (object: string, ...more: readonly string[]): Promise<Why> =>
	JSON.parse(await cluster.fine('why', object, '-o', 'json', ...more)) as Why;

type Wanted = {
	readonly answer: RegExp;
	/** What the links are about. */
	readonly chain: readonly RegExp[];
	readonly next?: RegExp;
};

/** Asks until the answer is the one that is wanted; things take a while to go wrong. */
async function answers(t: ExecutionContext, object: string, {answer, chain, next}: Wanted, ...more: readonly string[]): Promise<Why> {
	let why: Why | undefined;
	await eventually(
		`why ${object} answers ${String(answer)}`,
		async () => {
			why = await whyOf(object, ...more);
			const {chain: links} = why;
			const isNext = next === undefined || next.test(why.next?.says ?? '');
			return (
				answer.test(why.answer) && isNext && links.length === chain.length && chain.every((each, at) => each.test(links[at]?.about ?? ''))
			);
		},
		() => JSON.stringify(why, ['answer', 'next', 'says', 'chain', 'about']),
	);
	if (why === undefined) throw new Error('it was not asked');
	t.regex(why.answer, answer);
	return why;
}

const container = (command: readonly string[], more: object = {}) => ({name: 'app', image: 'any', command, ...more});

const workload = (kind: string, name: string, replicas: number, containers: readonly object[], more: object = {}) => ({
	apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
	kind,
	metadata: {name},
	spec: {
		...(kind === 'Job' ? {} : {replicas, selector: {matchLabels: {app: name}}}),
		template: {metadata: {labels: {app: name}}, spec: {terminationGracePeriodSeconds: 1, containers}},
		...more,
	},
});

const crashing = container(['sh', '-c', 'echo starting; echo "Error: no DATABASE_URL" >&2; exit 3']);
const sleeping = container(['sleep', '100000']);

test('a deployment whose pods crash: with the last words of one, also when it is gone', async t => {
	await cluster.apply(workload('Deployment', 'web', 2, [crashing]));
	const why = await answers(t, 'deploy/web', {
		answer:
			/^Deployment web does not progress: all 2 of its pods crash; container app of pod web-\w+-\w+ exited with 3 after \d+ m?s, (twice|\d+ times); its last words: `Error: no DATABASE_URL`\.$/,
		chain: [/^deployment\/web$/, /^replicaset\/web-/, /^pod\/web-/, /^container app$/],
		next: /^restart attempt \d+$/,
	});
	t.deepEqual(why.chain.at(-1)?.lines, ['starting', 'Error: no DATABASE_URL']);
	t.true((why.next?.atMs ?? 0) > why.nowMs - 60_000);
	const pod = why.chain[2]?.about ?? '';
	const page = await cluster.fine('why', pod);
	t.regex(page, /^Pod \S+ crashes: its container app exited with 3 [^]*\nWhat leads to it:\n[^]*\n +\| Error: no DATABASE_URL\n/);
	t.notRegex(page, /BECAUSE OF/);
	t.regex(await cluster.fine('why', pod, '--commits'), /BECAUSE OF\n[^]*http admin POST deployments\/default\/web\n/);
	await cluster.fine('delete', 'deploy/web');
	const before =
		/because of http admin DELETE deployments\/default\/web\. Before that: \S+ \S+ (crashes|does not progress|has 0 of 2 pods ready): .*exited with 3 .*; its last words: `Error: no DATABASE_URL`\.$/;
	await answers(t, 'deploy/web', {answer: before, chain: [/^deployment\/web$/, /^replicaset\/web-/, /^pod\/web-/, /^container app$/]});
	await answers(t, pod, {answer: before, chain: [/^pod\/web-/, /^container app$/]});
});

test('a quota that refuses pods, from the deployment and from the quota', async t => {
	t.timeout(30_000);
	await cluster.apply({apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'small'}});
	const inSmall = (object: {metadata: object}) => ({...object, metadata: {...object.metadata, namespace: 'small'}});
	const quota = {apiVersion: 'v1', kind: 'ResourceQuota', metadata: {name: 'team', namespace: 'small'}, spec: {hard: {pods: '1'}}};
	await cluster.apply(quota, inSmall(workload('Deployment', 'wide', 2, [sleeping])));
	const refused = /exceeded quota: team, requested: pods=1, used: pods=1, limited: pods=1\.$/;
	const next = /^it goes on as soon as the quota has room$/;
	await answers(t, 'deploy/wide', {answer: refused, chain: [/^deployment/, /^replicaset/, /^resourcequota\/team$/], next}, '-n', 'small');
	await answers(
		t,
		'quota/team',
		{
			answer: /^ResourceQuota team is used up: pods 1 of 1 used; replicaset\/wide-\w+ waits for room\.$/,
			chain: [/^resourcequota/, /^replicaset/],
		},
		'-n',
		'small',
	);
	await cluster.fine('delete', 'ns', 'small');
});

test('a deployment that is paused before a change', async t => {
	const deployment = (command: readonly string[], more: object = {}) => workload('Deployment', 'still', 1, [container(command)], more);
	await cluster.apply(deployment(['sleep', '100000']));
	await answers(t, 'deploy/still', {answer: /^Nothing is wrong with Deployment still: its pod is ready\.$/, chain: [/^deployment/]});
	await cluster.apply(deployment(['sleep', '100001'], {paused: true}));
	await answers(t, 'deploy/still', {
		answer: /^Deployment still is paused: its newest template waits\.$/,
		chain: [/^deployment/],
		next: /^troupe rollout resume /,
	});
	await cluster.fine('delete', 'deploy/still');
});

test('a readiness probe that fails, with what the program wrote', async t => {
	const probe = {exec: {command: ['sh', '-c', 'echo not yet; exit 1']}, periodSeconds: 1};
	const pod = podOf('unready', []);
	const containers = [container(['sh', '-c', 'echo waiting for the database; exec sleep 100000'], {readinessProbe: probe})];
	await cluster.apply({...pod, spec: {...pod.spec, terminationGracePeriodSeconds: 1, containers}});
	const why = await answers(t, 'pod/unready', {
		answer:
			/^Pod unready is not ready: its container app runs, and its readiness probe fails.*: .*not yet.*; its last words: `waiting for the database`\.$/,
		chain: [/^pod\/unready$/, /^container app$/],
		next: /^the readiness probe is tried every 1 s$/,
	});
	t.is(why.state, 'wrong');
});

test('a job that failed too often', async t => {
	const spec = {restartPolicy: 'Never', terminationGracePeriodSeconds: 1, containers: [container(['sh', '-c', 'echo disk full; exit 9'])]};
	await cluster.apply(workload('Job', 'sum', 1, [], {backoffLimit: 0, template: {spec}}));
	await answers(t, 'job/sum', {
		answer:
			/^Job sum failed: 1 pod failed, and its backoffLimit is 0; container app of pod sum-\w+ exited with 9 after \d+ m?s; its last words: `disk full`\.$/,
		chain: [/^job\/sum$/, /^pod\/sum-/, /^container app$/],
		next: /^nothing: a Job that has failed is not started again/,
	});
});

test('a stateful set that waits for its first pod', async t => {
	await cluster.apply(workload('StatefulSet', 'db', 3, [crashing], {serviceName: 'db'}));
	await answers(t, 'sts/db', {
		answer:
			/^StatefulSet db waits for pod db-0: it crashes; container app of pod db-0 exited with 3 .*; the 2 after it wait for it; its last words: `Error: no DATABASE_URL`\.$/,
		chain: [/^statefulset\/db$/, /^pod\/db-0$/, /^container app$/],
		next: /^restart attempt/,
	});
	await cluster.fine('delete', 'sts/db');
});

test('a daemon set that fits no node, a suspended cron job, and a claim that no volume fits', async t => {
	const set = workload('DaemonSet', 'log', 1, [sleeping]);
	const {replicas: _, template, ...spec} = set.spec as {replicas: number; template: {metadata: object; spec: object}};
	const cron = {
		apiVersion: 'batch/v1',
		kind: 'CronJob',
		metadata: {name: 'tick'},
		spec: {schedule: '0 0 1 1 *', suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: 'Never', containers: [sleeping]}}}}},
	};
	const claim = {
		apiVersion: 'v1',
		kind: 'PersistentVolumeClaim',
		metadata: {name: 'data'},
		spec: {accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: {requests: {storage: '1Gi'}}},
	};
	await cluster.apply(
		{...set, spec: {...spec, template: {...template, spec: {...template.spec, nodeSelector: {disk: 'ssd'}}}}},
		cron,
		claim,
	);
	await answers(t, 'ds/log', {answer: /^DaemonSet log has no pods: no node fits: vm: no label disk=ssd\.$/, chain: [/^daemonset/]});
	await answers(t, 'cj/tick', {answer: /^CronJob tick is suspended: it makes no jobs\.$/, chain: [/^cronjob/]});
	await answers(t, 'pvc/data', {
		answer: /^PersistentVolumeClaim data has no volume: there is no storage class fast, /,
		chain: [/^persistentvolumeclaim/],
	});
});

test('a finalizer that holds, a node that is cordoned, and what is well', async t => {
	const map = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'kept', finalizers: ['example.com/backup']}, data: {a: 'b'}};
	await cluster.apply(map, {...podOf('fine', ['sleep', '100000'])});
	await answers(t, 'pod/fine', {answer: /^Nothing is wrong with Pod fine: it has been ready for \d+ m?s on node vm\.$/, chain: [/^pod/]});
	await cluster.fine('delete', 'cm/kept', '--wait=false');
	await answers(t, 'cm/kept', {
		answer: /^ConfigMap kept is being deleted: its finalizer example\.com\/backup holds it\.$/,
		chain: [/^configmap/],
	});
	await cluster.fine('taint', 'node', 'vm', 'only=here:NoSchedule');
	await answers(t, 'node/vm', {
		answer: /^Nothing is wrong with Node vm: .*only pods that tolerate only=here:NoSchedule come to it\.$/,
		chain: [/^node/],
	});
	await cluster.fine('taint', 'node', 'vm', 'only-');
});

test('no value of a Secret is in it, whatever happens to the Secret and to what names it', async t => {
	const password = 'correct-horse-battery';
	await cluster.apply({apiVersion: 'v1', kind: 'Secret', metadata: {name: 'key'}, stringData: {password}});
	const from = {env: [{name: 'PASSWORD', valueFrom: {secretKeyRef: {name: 'key', key: 'wrong'}}}]};
	const pod = podOf('reader', []);
	await cluster.apply({...pod, spec: {...pod.spec, containers: [container(['sleep', '1'], from)]}});
	await answers(t, 'pod/reader', {
		answer: /^Pod reader waits for what it names: its container app waits: .*key/,
		chain: [/^pod\/reader$/, /^container app$/],
	});
	const seen = async (): Promise<string> =>
		(await cluster.fine('why', 'secret/key', '-o', 'json')) + (await cluster.fine('why', 'pod/reader', '-o', 'json', '--all'));
	const isClean = (text: string): boolean => ![password, Buffer.from(password).toString('base64')].some(each => text.includes(each));
	t.true(isClean(await seen()));
	await cluster.fine('delete', 'secret/key', 'pod/reader');
	t.true(isClean(await seen()));
});

/** Of each mistake of the first hour that the cluster takes: what is answered about which object. */
const mistakes: {readonly [file: string]: readonly [object: string, answer: RegExp]} = {
	'clerk-mended.yaml': ['pod/clerk', /^Nothing is wrong with Pod clerk: it has been ready for /],
	'clerk.yaml': [
		'pod/clerk',
		/^Pod clerk crashes: its container clerk exited with 3 .*; its last words: `PRICE must be a number, got ten`\.$/,
	],
	'no-command.yaml': ['pod/web', /^Pod web cannot start: its container web cannot start: names no command, .*: set command\.$/],
	'no-program.yaml': ['pod/tired', /^Pod tired cannot start: its container main cannot start: program "slep" was not found in PATH /],
	'no-settings.yaml': ['pod/waiter', /^Pod waiter waits for what it names: its container main waits: configmap "menu" not found\.$/],
	'nowhere.yaml': ['pod/picky', /^Pod picky has no node: 0\/1 nodes fit: vm: no label disk=ssd\.$/],
	'other-selector.yaml': ['rs/hello', /^Nothing is wrong with ReplicaSet hello: all 3 of its pods are ready\.$/],
	'shop.yaml': ['pod/shop', /^Nothing is wrong with Pod shop: it has been ready for /],
};

test('each mistake of the first hour is answered with what is wrong', async t => {
	t.timeout(50_000);
	await Promise.all(
		Object.entries(mistakes).map(async ([file, [object, answer]]) => {
			const namespace = file.replace('.yaml', '');
			await cluster.apply({apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace}});
			const applied = await line(['apply', '-n', namespace, '-f', path.join(examples, 'first-hour', file)], {home: cluster.home});
			t.is(applied.code, 0, applied.err);
			let why: Why | undefined;
			await eventually(
				`why ${object} of ${file}`,
				async () => answer.test((why = await whyOf(object, '-n', namespace)).answer),
				() => why?.answer ?? '',
			);
		}),
	);
});

test('a program that was killed by hand and runs again is told of, though nothing is wrong', async t => {
	await cluster.apply(podOf('twice', ['sleep', '100000']));
	const pod = await until(client(), 'pods', 'it to run', pods => isReady(pods.get('twice')) && pods.get('twice'));
	process.kill(pidOf(pod) ?? 0, 'SIGKILL');
	await answers(t, 'pod/twice', {
		answer:
			/^Nothing is wrong with Pod twice: it has been ready for .*; its container main was restarted .* ago: it was killed by signal 9 \(SIGKILL\) after \d+ m?s\.$/,
		chain: [/^pod/],
	});
});
