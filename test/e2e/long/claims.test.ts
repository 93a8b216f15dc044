// What a program writes into the volume of a claim is there for the next pod, after the cluster ended with its pods, and gone with the claim.

import {existsSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type {ApiObject} from '../../../api/object.js';
import {isReady} from '../../../bench/rigs/cluster/pods.js';
import {eventually, until} from '../../../bench/rigs/cluster/waiting.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {openFileHome} from '../_rig.js';

const {cluster, client} = openFileHome(test);

const claim = {
	apiVersion: 'v1',
	kind: 'PersistentVolumeClaim',
	metadata: {name: 'data'},
	spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Mi'}}},
};

/** Of one name, and so of one user. */
const writer = (word: string) => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name: 'writer', labels: {word}},
	spec: {
		terminationGracePeriodSeconds: 1,
		containers: [
			{
				name: 'main',
				image: 'any',
				command: ['sh', '-c', `echo ${word} >> /srv/data/names; while sleep 1; do :; done`],
				volumeMounts: [{name: 'data', mountPath: '/srv/data'}],
			},
		],
		volumes: [{name: 'data', persistentVolumeClaim: {claimName: 'data'}}],
	},
});

const isReadyPod = (pods: ReadonlyMap<string, ApiObject>, word: string): boolean =>
	([...pods.values()] as Pod[]).some(pod => pod.metadata.labels?.['word'] === word && isReady(pod));

test.serial('a claim keeps what its pods write, and goes after the last of them', async t => {
	const folder = path.join(cluster.home, 'data', 'volumes');
	const read = (): string =>
		readdirSync(folder)
			.map(name => path.join(folder, name, 'names'))
			.map(file => (existsSync(file) ? readFileSync(file, 'utf8') : ''))
			.join();
	await cluster.apply(claim);
	t.regex(await cluster.fine('describe', 'pvc', 'data'), /WaitForFirstConsumer +waiting for first consumer/);
	await cluster.apply(writer('first'));
	await until(client(), 'pods', 'the first', pods => isReadyPod(pods, 'first'));
	await eventually('it has written', () => existsSync(folder) && readdirSync(folder).length === 1 && read() === 'first\n');
	t.regex(await cluster.fine('get', 'pvc'), /^data +Bound +pvc-\S+ +1Mi +RWO +local /m);
	t.regex(await cluster.fine('get', 'pv'), /^pvc-\S+ +1Mi +RWO +Delete +Bound +default\/data +local /m);
	t.regex(await cluster.fine('describe', 'pvc', 'data'), /Used By: +writer\n/);
	t.regex(await cluster.fine('describe', 'pv'), /Node Affinity: +Term 0: kubernetes\.io\/hostname in \[vm\]\n/);

	await cluster.fine('delete', 'pod', 'writer');
	await eventually('what it wrote is counted', async () => /^Used: +(4|8|12)Ki$/m.test(await cluster.fine('describe', 'pvc', 'data')));
	t.regex(await cluster.fine('get', 'pvc'), /^data +Bound .* (4|8|12)Ki +\d+s *$/m);
	t.regex(await cluster.fine('get', 'pv'), /^pvc-.* (4|8|12)Ki +\d+s *$/m);
	t.regex(await cluster.fine('describe', 'pvc', 'data'), /StorageExceeded +False .*WithinCapacity +\d+Ki of 1Mi is used/);
	await cluster.apply(writer('second'));
	await until(client(), 'pods', 'the second', pods => isReadyPod(pods, 'second'));
	await eventually('it has written, too', () => read() === 'first\nsecond\n');
	const [volume = ''] = readdirSync(folder);
	writeFileSync(path.join(folder, volume, 'large'), Buffer.alloc(2_097_152, 1));
	await eventually('it is told that this is too much', async () =>
		/Warning +StorageExceeded +\d+Ki of 1Mi is used: class local does not enforce sizes/.test(
			await cluster.fine('describe', 'pvc', 'data'),
		),
	);
	t.regex(await cluster.fine('get', 'pv'), / CapacityExceeded +/);

	await cluster.fine('delete', 'pvc', 'data', '--wait=false');
	t.regex(await cluster.fine('get', 'pvc'), /^data +Terminating /m);
	t.is(read(), 'first\nsecond\n');
	await cluster.fine('delete', 'pod', 'writer');
	await eventually('both are gone', async () => !/pvc-/.test(await cluster.fine('get', 'pvc,pv')));
	t.deepEqual(readdirSync(folder), []);
});

test('what claims of a namespace request is bounded, each by a LimitRange and all by a quota, and the quota shows it', async t => {
	const sized = (name: string, storage: string) => ({
		...claim,
		metadata: {name, namespace: 'bounded'},
		spec: {...claim.spec, resources: {requests: {storage}}},
	});
	await cluster.fine('create', 'namespace', 'bounded');
	await cluster.apply({
		apiVersion: 'v1',
		kind: 'LimitRange',
		metadata: {name: 'sizes', namespace: 'bounded'},
		spec: {limits: [{type: 'PersistentVolumeClaim', min: {storage: '1Mi'}, max: {storage: '1Gi'}}]},
	});
	await cluster.apply({
		apiVersion: 'v1',
		kind: 'ResourceQuota',
		metadata: {name: 'budget', namespace: 'bounded'},
		spec: {hard: {'requests.storage': '1Gi', 'local.storageclass.storage.k8s.io/persistentvolumeclaims': '2'}},
	});
	const refusal = async (object: object): Promise<string> => (await t.throwsAsync(cluster.apply(object))).message;
	t.regex(
		await refusal(sized('large', '2Gi')),
		/persistentvolumeclaims "large" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi/,
	);
	await cluster.apply(sized('one', '600Mi'));
	t.regex(
		await refusal(sized('two', '500Mi')),
		/exceeded quota: budget, requested: requests\.storage=500Mi, used: requests\.storage=600Mi, limited: requests\.storage=1Gi/,
	);
	await cluster.apply(sized('two', '424Mi'));
	await eventually('the quota is full', async () =>
		/persistentvolumeclaims: 2\/2, requests\.storage: 1Gi\/1Gi/.test(await cluster.fine('get', 'quota', '-n', 'bounded')),
	);
	await cluster.fine('delete', 'pvc', 'one', '-n', 'bounded');
	await eventually('it gave its part back', async () =>
		/persistentvolumeclaims: 1\/2, requests\.storage: 424Mi\/1Gi/.test(await cluster.fine('get', 'quota', '-n', 'bounded')),
	);
});

const journals = (replicas: number, policy: object) => ({
	apiVersion: 'apps/v1',
	kind: 'StatefulSet',
	metadata: {name: 'journal'},
	spec: {
		serviceName: 'journal',
		replicas,
		selector: {matchLabels: {app: 'journal'}},
		template: {
			metadata: {labels: {app: 'journal'}},
			spec: {
				terminationGracePeriodSeconds: 1,
				containers: [
					{
						name: 'main',
						image: 'any',
						command: ['sh', '-c', 'echo "$HOSTNAME" >> /srv/journal/starts; cat /srv/journal/starts; exec sleep 100000'],
						volumeMounts: [{name: 'journal', mountPath: '/srv/journal'}],
					},
				],
			},
		},
		volumeClaimTemplates: [{metadata: {name: 'journal'}, spec: claim.spec}],
		persistentVolumeClaimRetentionPolicy: policy,
	},
});

test.serial(
	'each pod of a StatefulSet has a claim of its own, whose data the next pod of its name has; it goes where the set says so',
	async t => {
		const says = (pod: string, wanted: string): Promise<void> =>
			eventually(`${pod} says ${wanted}`, async () => (await cluster.troupe('logs', pod)).out === wanted);
		const claims = async (): Promise<readonly string[]> =>
			(await cluster.fine('get', 'pvc', '-l', 'app=journal', '-o', 'name')).trim().split('\n');
		await cluster.apply(journals(2, {}));
		await says('journal-1', 'journal-1\n');
		await cluster.fine('rollout', 'restart', 'sts/journal');
		await says('journal-0', 'journal-0\njournal-0\n');
		await cluster.fine('scale', 'sts/journal', '--replicas', '1');
		await until(client(), 'pods', 'one to be left', pods => !pods.has('journal-1'));
		t.deepEqual(await claims(), ['persistentvolumeclaim/journal-journal-0', 'persistentvolumeclaim/journal-journal-1']);
		await cluster.apply(journals(2, {whenScaled: 'Delete', whenDeleted: 'Delete'}));
		await says('journal-1', 'journal-1\njournal-1\njournal-1\n');
		await cluster.fine('scale', 'sts/journal', '--replicas', '1');
		await eventually('its claim is gone', async () => (await claims()).join() === 'persistentvolumeclaim/journal-journal-0');
		t.regex(
			await cluster.fine('describe', 'sts', 'journal'),
			/Volume Claims: +journal: 1Mi RWO\n +when deleted: Delete, when scaled: Delete\n/,
		);
		await cluster.fine('delete', 'sts', 'journal');
		await eventually('all is gone', async () => !/journal/.test(await cluster.fine('get', 'pvc,pv,pods')));
	},
);
