// What is used of a claim's volume, as the real kubectl shows it: it knows no such field, and prints columns, conditions and messages.

import test from 'ava';
import {openFileHome} from '../../e2e/_rig.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {kubectlFor, real} from '../_kubectl.js';

const {cluster} = openFileHome(test);
const {fine: kubectl} = kubectlFor(cluster);

real('kubectl shows what the volume of a claim takes of the disk, and that it is too much', async t => {
	await cluster.apply(
		{
			apiVersion: 'v1',
			kind: 'PersistentVolumeClaim',
			metadata: {name: 'data'},
			spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Mi'}}},
		},
		{
			apiVersion: 'v1',
			kind: 'Pod',
			metadata: {name: 'writer'},
			spec: {
				containers: [
					{
						name: 'main',
						image: 'any',
						command: ['sh', '-c', 'head -c 3000000 /dev/zero >/srv/data/zeros; exec sleep 1d'],
						volumeMounts: [{name: 'data', mountPath: '/srv/data'}],
					},
				],
				volumes: [{name: 'data', persistentVolumeClaim: {claimName: 'data'}}],
			},
		},
	);
	await eventually('it is counted', async () => / StorageExceeded +True /.test(await kubectl('describe', 'pvc', 'data')));
	t.regex(
		await kubectl('describe', 'pvc', 'data'),
		/ StorageExceeded +True [^\n]* CapacityExceeded +29\d\dKi of 1Mi is used\n[^]* Warning +StorageExceeded .* class local does not enforce sizes/,
	);
	t.regex(await kubectl('describe', 'pv'), /\nMessage: +29\d\dKi of 1Mi is used\n/);
	t.regex(await kubectl('get', 'pvc'), /^NAME .* VOLUMEATTRIBUTESCLASS +USED +AGE\ndata .* 29\d\dKi +\d+s\n$/);
	t.regex(await kubectl('get', 'pv'), / REASON +USED +AGE\npvc-.* CapacityExceeded +29\d\dKi +\d+s\n$/);
	t.regex(await kubectl('get', 'pvc', 'data', '-o', 'jsonpath={.status.used.storage}'), /^29\d\dKi$/);
});
