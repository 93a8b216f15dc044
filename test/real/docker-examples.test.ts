// What people run, on Docker, by a real cluster: a private registry, rollouts under load, and programs that keep what they wrote.

import {randomBytes} from 'node:crypto';
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {ApiObject} from '../../api/object.js';
import {eventually, followObjects, type Following} from '../../bench/rigs/cluster/waiting.js';
import {startDockerRegistry} from '../../bench/rigs/servers/registry-server.js';
import {judged} from '../e2e/_judged.js';
import {dockerCluster, dockerPod, shell, waits} from './_docker-cluster.js';
import {sharedDockerd} from './_dockerd.js';
import {kubectlFor, realInTurn} from './_kubectl.js';

const dockerd = sharedDockerd(test);
const cluster = dockerCluster(test, dockerd);
const {ask, asked, apply, says} = cluster;

test.serial('a cluster is up', async t => {
	t.regex(await cluster.up(), /containers of Docker \d/);
});

/** An image of what does not get smaller, in layers. */
async function pushLarge(push: (image: string, name: string) => Promise<void>, name: string): Promise<void> {
	const folder = path.join(cluster.home.folder, 'large');
	mkdirSync(folder);
	const layers = ['a', 'b', 'c'];
	for (const layer of layers) writeFileSync(path.join(folder, layer), randomBytes(6_000_000));
	const copies = layers.map(layer => `COPY ${layer} /${layer}\n`).join('');
	writeFileSync(path.join(folder, 'Dockerfile'), `FROM busybox\n${copies}`);
	await dockerd().docker('build', '-q', '-t', 'large', folder);
	await push('large', name);
	await dockerd().docker('rmi', 'large');
	await dockerd()
		.docker('builder', 'prune', '-af')
		.catch(() => undefined);
	await dockerd().docker('image', 'prune', '-f');
}

/** All that is written below a folder, as one text. */
const written = (folder: string): string =>
	readdirSync(folder, {recursive: true, withFileTypes: true})
		.filter(entry => entry.isFile())
		.map(entry => readFileSync(path.join(entry.parentPath, entry.name), 'latin1'))
		.join('\n');

function commandLines(): string {
	const read = (pid: string): string => {
		try {
			return readFileSync(`/proc/${pid}/cmdline`, 'latin1') + readFileSync(`/proc/${pid}/environ`, 'latin1');
		} catch {
			return '';
		}
	};
	return readdirSync('/proc')
		.filter(name => /^\d+$/.test(name) && name !== String(process.pid))
		.map(read)
		.join('\n');
}

const waitingOf = (pod: string) => async () => {
	const {status} = JSON.parse(await ask('get', 'pod', pod, '-o', 'json')) as Pod;
	return status?.containerStatuses?.[0]?.state?.waiting;
};

test.serial('a private registry: refused with its words, healed by a Secret, and its password is nowhere', async t => {
	const {host, username, password, push} = await startDockerRegistry(cluster.owner, dockerd());
	await pushLarge(push, 'team/large:1');
	const slow = '127.0.0.1:5001';
	const relay = path.join(import.meta.dirname, '_slow-relay.js');
	await cluster.inside(process.execPath, [relay, slow.split(':')[1] ?? '', host.split(':')[1] ?? '', '2000000']).says(/listening/);
	const image = `${slow}/team/large:1`;
	const main = {...shell('main', waits('runs')), image};
	await apply(
		dockerPod('stranger', {containers: [main]}),
		dockerPod('guest', {containers: [main], imagePullSecrets: [{name: 'registry'}]}),
	);
	for (const pod of ['stranger', 'guest']) {
		await says(new RegExp(`${pod} +0/1 +retry \\d+ in .*: (ErrImagePull|ImagePullBackOff)`), 'get', 'pods');
		const described = await says(/ImagePullBackOff/, 'describe', 'pod', pod);
		t.regex(described, /cannot pull image "127\.0\.0\.1:5001\/team\/large:1": .*no basic auth credentials/);
		t.regex(await ask('why', `pod/${pod}`), /no basic auth credentials/);
	}
	t.regex(await ask('describe', 'pod', 'guest'), /FailedToRetrieveImagePullSecret.*registry/);

	// So late that it would not be tried again for a while.
	const waiting = waitingOf('guest');
	const late = async (): Promise<boolean> => Date.parse((await waiting())?.retryAt ?? '') - Date.now() > 4_000;
	await eventually('the next try is far', late, () => '', 30_000);
	const retryAt = Date.parse((await waiting())?.retryAt ?? '');
	const watched = cluster.start(['get', 'pods', '-w']);
	await watched.says(/guest/);
	const secret = ['create', 'secret', 'docker-registry', 'registry', '--docker-server', slow, '--docker-username', username];
	await ask(...secret, '--docker-password', password);
	await watched.says(/guest +0\/1 +Pulling \d+%/);
	t.true(Date.now() < retryAt, 'it is tried at once');
	await watched.says(/guest +1\/1 +Running/);
	watched.kill('SIGTERM');
	t.regex(await ask('describe', 'pod', 'guest'), /Pulled .*127\.0\.0\.1:5001\/team\/large:1/);
	t.is(await ask('logs', 'guest'), 'runs\n');
	await cluster.fine('retry', 'stranger');
	await says(/stranger +1\/1 +Running/, 'get', 'pods');

	const told = [];
	for (const words of [
		['events', '-A'],
		['describe', 'pods'],
		['get', 'pods', '-o', 'yaml'],
		['describe', 'secret', 'registry'],
	])
		told.push(await ask(...words));
	const places = {told: told.join('\n'), home: written(cluster.home.home), processes: commandLines()};
	const secrets = [password, Buffer.from(`${username}:${password}`).toString('base64')];
	for (const [place, text] of Object.entries(places))
		for (const each of secrets) t.false(text.includes(each), `the password is in ${place}`);
	await ask('delete', 'pod', 'stranger', 'guest');
	await ask('delete', 'secret', 'registry');
});

const [replicas, surge, unavailable] = [6, 2, 1];

/** It takes a moment until it serves what it is. */
const serves = (version: string): string =>
	`sleep 0.3; echo ${version} >/tmp/index.html; httpd -p 8080 -h /tmp; trap "exit 0" TERM; sleep infinity & wait`;

const deployment = (version: string, rest: object = {}, progressDeadlineSeconds = 600): object => ({
	apiVersion: 'apps/v1',
	kind: 'Deployment',
	metadata: {name: 'web'},
	spec: {
		replicas,
		progressDeadlineSeconds,
		strategy: {rollingUpdate: {maxSurge: surge, maxUnavailable: unavailable}},
		selector: {matchLabels: {app: 'web'}},
		template: {
			metadata: {labels: {app: 'web'}},
			spec: {
				runtimeClassName: 'docker',
				terminationGracePeriodSeconds: 5,
				containers: [shell('web', serves(version), {readinessProbe: {httpGet: {port: 8080}, periodSeconds: 1}, ...rest})],
			},
		},
	},
});

type Counts = {readonly [version: string]: number};

/** How many of each version are ready once all that are wanted are. */
function readyOf(sets: ReadonlyMap<string, ApiObject>): Counts | undefined {
	const there = [...sets.values()].map(set => set as ReplicaSet).filter(({spec}) => (spec?.replicas ?? 0) > 0);
	if (there.some(({spec, status}) => spec?.replicas !== status?.readyReplicas || spec?.replicas !== status?.replicas)) return undefined;
	const versionOf = ({spec}: ReplicaSet): string => /echo (\w+)/.exec(spec?.template?.spec?.containers[0]?.command?.[2] ?? '')?.[1] ?? '';
	return Object.fromEntries(
		there.map((set): [string, number] => [versionOf(set), set.spec?.replicas ?? 0]).sort(([a], [b]) => (a < b ? -1 : 1)),
	);
}

const total = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

test.serial('a rollout, a bad image, undo, pause and resume: never fewer answer than may, never more are made', async t => {
	const client = await cluster.client();
	const followed = await Promise.all(['deployments', 'replicasets', 'pods'].map(kind => followObjects(client, kind)));
	const [, sets, pods] = followed as [Following, Following, Following];
	const rollout = (...words: readonly string[]): Promise<string> => ask('rollout', ...words, 'deployment/web');
	const settled = async (): Promise<void> => void t.regex(await rollout('status', '--timeout', '60s'), /successfully rolled out\n$/);
	await apply(deployment('one'));
	await settled();

	const answers = path.join(import.meta.dirname, '_answers.js');
	const sampler = cluster.inside(process.execPath, [answers, dockerd().socketPath, 'web']);
	/** Just these answer now, and did in so many samples. */
	const answering = async (wanted: Counts, times = 1): Promise<void> => {
		await sampler.says(new RegExp(`(${JSON.stringify(wanted)}\n){${times}}$`));
	};
	await answering({one: replicas});

	await apply(deployment('two'));
	await settled();
	await answering({two: replicas});

	await apply(deployment('three', {image: 'localhost:1/nosuch:1'}, 3));
	const stuck = await asked(['rollout', 'status', 'deployment/web']);
	t.deepEqual([stuck.code, stuck.err], [1, 'error: deployment "web" exceeded its progress deadline\n']);
	t.regex(await says(/nosuch/, 'why', 'deployment/web'), /does not progress/);
	await answering({two: replicas - unavailable});
	await ask('patch', 'deployment/web', '-p', '{"spec":{"progressDeadlineSeconds":600}}');
	await rollout('undo');
	await settled();

	await apply(deployment('four'));
	await pods.until('the first of the fourth version', objects =>
		[...objects.values()].some(pod => (pod as Pod).spec?.containers[0]?.command?.[2]?.includes('four') === true),
	);
	await rollout('pause');
	const paused = await sets.until('what was begun is ready', readyOf);
	t.deepEqual(Object.keys(paused), ['four', 'two']);
	await answering(paused, 20);
	t.deepEqual(readyOf(sets.objects), paused);
	await rollout('resume');
	await settled();
	await answering({four: replicas});
	sampler.kill('SIGKILL');
	const {out} = await sampler.ended;
	const samples = out
		.split('\n')
		.slice(0, -1)
		.map(line => JSON.parse(line) as Counts);

	const judge = judged(followed);
	t.deepEqual(judge.violations, []);
	t.true(judge.voluntary >= 2 * replicas);
	t.true(judge.mostPods <= replicas + surge);
	const few = samples.filter(counts => total(counts) < replicas - unavailable);
	t.deepEqual(few, []);
	t.log(
		`${samples.length} samples: ${Math.min(...samples.map(total))} to ${Math.max(...samples.map(total))} answered; the fewest available ${judge.leastAvailable}, the most pods ${judge.mostPods}`,
	);
	await ask('delete', 'deployment', 'web');
	await pods.until('all pods to follow', objects => objects.size === 0);
	for (const each of followed) each.close();
});

/** Writes into its volume that it was started. */
const keeps = `
hostname >>/data/starts; echo "start $(wc -l </data/starts), holder $TROUPE_LEASE_EPOCH"
trap "exit 0" TERM; sleep infinity & wait`;

/** From now on, what the Engine tells of the containers of a name: of each start, and whether another one of its pod ran then. */
function watchStarts(container: string): () => Promise<readonly {readonly pod: string; readonly others: number}[]> {
	const format = '{{.Action}} {{index .Actor.Attributes "troupe.dev/pod"}} {{.Actor.ID}}';
	const filters = [`label=troupe.dev/container=${container}`, 'event=start', 'event=die'].flatMap(filter => ['--filter', filter]);
	const events = cluster.home.startProgram('docker', ['events', '--since', '1s', '--format', format, ...filters], {
		DOCKER_HOST: dockerd().url,
	});
	return async () => {
		events.kill('SIGTERM');
		const running = new Map<string, Set<string>>();
		return (await events.ended).out.split('\n').flatMap(line => {
			const [action = '', pod = '', id = ''] = line.split(' ');
			const ofPod = running.get(pod) ?? new Set();
			running.set(pod, ofPod);
			if (action === 'die') ofPod.delete(id);
			if (action !== 'start') return [];
			ofPod.add(id);
			return [{pod, others: ofPod.size - 1}];
		});
	};
}

const journal = (version: string, replicas = 3): object => ({
	apiVersion: 'apps/v1',
	kind: 'StatefulSet',
	metadata: {name: 'db'},
	spec: {
		replicas,
		serviceName: 'db',
		selector: {matchLabels: {app: 'db'}},
		persistentVolumeClaimRetentionPolicy: {whenDeleted: 'Delete', whenScaled: 'Retain'},
		template: {
			metadata: {labels: {app: 'db'}},
			spec: {
				runtimeClassName: 'docker',
				terminationGracePeriodSeconds: 5,
				containers: [shell('main', keeps, {env: [{name: 'VERSION', value: version}], volumeMounts: [{name: 'data', mountPath: '/data'}]})],
			},
		},
		volumeClaimTemplates: [{metadata: {name: 'data'}, spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '10Mi'}}}}],
	},
});

const numbers = [0, 1, 2];
const isReady = (object: ApiObject | undefined): boolean =>
	(object as Pod | undefined)?.status?.conditions?.some(({type, status}) => type === 'Ready' && status === 'True') === true;

/** In which order pods became what is looked for. */
function orderOf({changes}: Following, from: number, isSo: (change: Following['changes'][number]) => boolean): readonly string[] {
	return [
		...new Set(
			changes
				.slice(from)
				.filter(isSo)
				.map(({object}) => object.metadata.name),
		),
	];
}

test.serial('a StatefulSet: each has its name and what it wrote, in order, and no two ever have one volume', async t => {
	const ended = watchStarts('main');
	const pods = await followObjects(await cluster.client(), 'pods');
	const starts = async (pod: number): Promise<string> =>
		(await cluster.fine('exec', `db-${pod}`, '--', 'cat', '/data/starts')).replaceAll(`db-${pod}\n`, '.');
	const all = async (): Promise<readonly string[]> => Promise.all(numbers.map(starts));
	const allReady = (names: readonly number[], isNew: (pod: ApiObject) => boolean = () => true): Promise<true> =>
		pods.until(
			`${names.join(', ')} to be ready`,
			objects =>
				[...objects.keys()].filter(name => name.startsWith('db-')).length === names.length &&
				(names.every(number => {
					const pod = objects.get(`db-${number}`);
					return pod !== undefined && isReady(pod) && pod.metadata.deletionTimestamp === undefined && isNew(pod);
				}) as true),
		);
	await apply(journal('one'));
	await allReady(numbers);
	const made = pods.changes.filter(({type, object}) => type === 'ADDED' && object.metadata.name.startsWith('db-'));
	for (const [number, {object}] of made.entries()) {
		t.is(object.metadata.name, `db-${number}`);
		if (number === 0) continue;
		const before = pods.changes.slice(
			0,
			pods.changes.findIndex(change => change.object === object),
		);
		t.true(isReady(before.findLast(change => change.object.metadata.name === `db-${number - 1}`)?.object), 'the one before is ready');
	}
	t.deepEqual(await all(), ['.', '.', '.']);

	await ask('delete', 'pod', 'db-1');
	await allReady(numbers);
	t.deepEqual(await all(), ['.', '..', '.']);

	const id = (pods.objects.get('db-0') as Pod).status?.containerStatuses?.[0]?.containerID?.slice('docker://'.length) ?? '';
	process.kill(Number(await dockerd().docker('inspect', '-f', '{{.State.Pid}}', id)), 'SIGKILL');
	await pods.until(
		'a restart',
		objects => isReady(objects.get('db-0')) && (objects.get('db-0') as Pod).status?.containerStatuses?.[0]?.restartCount === 1,
	);
	t.deepEqual(await all(), ['..', '..', '.']);

	const updated = pods.changes.length;
	await apply(journal('two'));
	const isSecond = (pod: ApiObject): boolean => (pod as Pod).spec?.containers[0]?.env?.[0]?.value === 'two';
	await allReady(numbers, isSecond);
	t.deepEqual(
		orderOf(pods, updated, ({type, object}) => type === 'ADDED' && isSecond(object)),
		['db-2', 'db-1', 'db-0'],
	);
	t.deepEqual(await all(), ['...', '...', '..']);

	const scaled = pods.changes.length;
	await ask('scale', 'sts/db', '--replicas', '1');
	await allReady([0]);
	t.deepEqual(
		orderOf(pods, scaled, ({type}) => type === 'DELETED'),
		['db-2', 'db-1'],
	);
	t.regex(await ask('get', 'pvc'), /data-db-0[^]*data-db-1[^]*data-db-2/, 'claims stay');
	await ask('scale', 'sts/db', '--replicas', '3');
	await allReady(numbers);
	t.deepEqual(await all(), ['...', '....', '...']);

	const started = await ended();
	t.is(started.length, 3 + 1 + 1 + 3 + 2);
	t.deepEqual(
		started.filter(({others}) => others > 0),
		[],
		'never two',
	);
	t.regex(await ask('logs', 'db-1'), /^start 4, holder \d+\n$/, 'it is exclusive');
	const folders = readdirSync(path.join(cluster.home.home, 'data/volumes'));
	t.is(folders.length, 3);
	await ask('delete', 'sts', 'db');
	await eventually('the claims are gone, as the policy says', async () => (await ask('get', 'pvc,pv', '-o', 'name')) === '');
	t.deepEqual(readdirSync(path.join(cluster.home.home, 'data/volumes')), []);
	pods.close();
});

realInTurn('kubectl: a pod on Docker is told of, entered, copied to and from, attached to, and removed', async t => {
	const {fine, kubectl, startWith} = kubectlFor({...cluster.home, startProgram: cluster.inside});
	await apply(
		dockerPod('kept', {containers: [shell('main', 'echo begun; while read line; do echo "got $line"; done; sleep 100000', {stdin: true})]}),
	);
	await fine('wait', '--for=condition=Ready', 'pod/kept', '--timeout=30s');
	t.regex(await fine('get', 'pods', '-o', 'wide'), /kept +1\/1 +Running +0 +\S+ +10\.244\.\d+\.\d+ +vm/);
	const described = await fine('describe', 'pod', 'kept');
	t.regex(described, /Runtime Class Name: +docker\n|IP: +10\.244\.\d+\.\d+\n/);
	t.regex(described, /Container ID: +docker:\/\/[0-9a-f]{64}\n +Image: +busybox\n +Image ID: +\S*sha256:[0-9a-f]{64}\n/);
	t.regex(described, /Normal +Started/);
	t.is(await fine('logs', 'kept'), 'begun\n');
	const ran = await kubectl('exec', 'kept', '--', 'sh', '-c', 'hostname; id -u; echo err >&2; exit 7');
	t.deepEqual([ran.code, ran.out, ran.err], [7, 'kept\n0\n', 'err\ncommand terminated with exit code 7\n']);
	t.is((await startWith('x'.repeat(300_000), 'exec', '-i', 'kept', '--', 'wc', '-c').ended).out, '300000\n');
	const [from, back] = [path.join(cluster.home.folder, 'from'), path.join(cluster.home.folder, 'back')];
	mkdirSync(path.join(from, 'empty'), {recursive: true});
	writeFileSync(path.join(from, 'two words'), 'text');
	await fine('cp', from, 'kept:/tmp/made');
	await fine('cp', 'kept:/tmp/made', back);
	t.deepEqual(readdirSync(back).sort(), ['empty', 'two words']);
	const attached = startWith('word\n', 'attach', '-i', 'kept');
	await attached.says(/got word\n/);
	attached.kill('SIGTERM');
	t.is(await fine('logs', 'kept', '--tail=1'), 'got word\n');
	await fine('delete', 'pod', 'kept', '--wait=true');
	t.is((await dockerd().docker('ps', '-aq', '--filter', 'label=troupe.dev/pod=kept')).trim(), '');
});
