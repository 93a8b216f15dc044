// What a program writes into the volume of a claim is there for the next pod, after the cluster ended with its pods, and gone with the claim.

import {existsSync, readFileSync, readdirSync} from 'node:fs';
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

test('a claim keeps what its pods write, and goes after the last of them', async t => {
	const folder = path.join(cluster.home, 'data', 'volumes');
	const read = (): string =>
		readdirSync(folder)
			.map(name => readFileSync(path.join(folder, name, 'names'), 'utf8'))
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
	await cluster.apply(writer('second'));
	await until(client(), 'pods', 'the second', pods => isReadyPod(pods, 'second'));
	await eventually('it has written, too', () => read() === 'first\nsecond\n');

	await cluster.fine('delete', 'pvc', 'data', '--wait=false');
	t.regex(await cluster.fine('get', 'pvc'), /^data +Terminating /m);
	t.is(read(), 'first\nsecond\n');
	await cluster.fine('delete', 'pod', 'writer');
	await eventually('both are gone', async () => !/pvc-/.test(await cluster.fine('get', 'pvc,pv')));
	t.deepEqual(readdirSync(folder), []);
});
