// Volumes of NFS through the whole of it: a cluster with the mount.nfs that this host has. Where the kernel has no NFS, and no server answers, a pod
// waits and says what mount.nfs says.

import {existsSync, readFileSync} from 'node:fs';
import test from 'ava';
import {openFileHome} from '../e2e/_rig.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {findNfsTools} from '../../agent/volumes/nfs.js';
import {isRoot, needing} from '../_needing.js';

const {cluster} = openFileHome(test);

const nfs = {server: '127.0.0.1', path: '/srv/nowhere'};

const podOf = (name: string, volume: object, command: readonly string[] = ['sleep', '1d']) => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name},
	spec: {
		terminationGracePeriodSeconds: 1,
		containers: [{name: 'main', image: 'any', command, volumeMounts: [{name: 'data', mountPath: '/mnt/data'}]}],
		volumes: [{name: 'data', ...volume}],
	},
});

needing(isRoot && findNfsTools() !== undefined, 'needs root and mount.nfs')(
	'pods whose server does not answer wait and say so, by a claim and without one, and go when they are deleted',
	async t => {
		await cluster.apply({
			apiVersion: 'v1',
			kind: 'PersistentVolume',
			metadata: {name: 'shared'},
			spec: {capacity: {storage: '1Gi'}, accessModes: ['ReadWriteMany'], nfs},
		});
		await cluster.apply({
			apiVersion: 'v1',
			kind: 'PersistentVolumeClaim',
			metadata: {name: 'data'},
			spec: {accessModes: ['ReadWriteMany'], storageClassName: '', volumeName: 'shared', resources: {requests: {storage: '1Gi'}}},
		});
		await cluster.apply(podOf('claims', {persistentVolumeClaim: {claimName: 'data'}}));
		await cluster.apply(podOf('names', {nfs: {...nfs, readOnly: true}}));
		const why = /volume "data" cannot be mounted from "127\.0\.0\.1:\/srv\/nowhere": mount\.nfs: /;
		for (const name of ['claims', 'names'])
			await eventually(`${name} says why`, async () => why.test(await cluster.fine('describe', 'pod', name)));
		t.regex(await cluster.fine('describe', 'pod', 'names'), /NFS 127\.0\.0\.1:\/srv\/nowhere \(ro\)/);
		t.regex(await cluster.fine('describe', 'pv', 'shared'), /Type: +NFS [^\n]*\n +Server: +127\.0\.0\.1\n +Path: +\/srv\/nowhere\n/);
		t.regex(await cluster.fine('get', 'pvc'), /^data +Bound +shared +1Gi +RWX /m);
		await cluster.fine('delete', 'pod', 'claims', 'names');
		await cluster.fine('delete', 'pvc', 'data');
		await eventually('the volume is kept', async () => /^shared .* Released /m.test(await cluster.fine('get', 'pv')));
		t.false(readFileSync('/proc/self/mountinfo', 'utf8').includes('/srv/nowhere'));
		t.true(existsSync(cluster.folder));
	},
);
