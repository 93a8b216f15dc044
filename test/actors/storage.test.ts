// Claims get one volume and keep it, pods go where it is, and nothing that is in use is removed.

import test from 'ava';
import {selectedNode} from '../../api/local-storage.js';
import {collectionAddress, objectAddress, objectKey} from '../../api/keys.js';
import type {PersistentVolume} from '../../api/kinds/persistentvolume.js';
import type {ApiObject} from '../../api/object.js';
import {FakeCluster} from './_cluster.js';
import {aPod, indexOf, put} from './_objects.js';
import {commit} from './_records.js';
import {
	claimDraft,
	claimIn,
	claimKeyOf,
	nodeOfPod,
	onHost,
	podWith,
	remove,
	volumeDraft,
	volumeIn,
	volumeKeyOf,
	volumesIn,
	whyNot,
} from './_storage.js';

const three = ['node-a', 'node-b', 'node-c'];

function clusterWith(...objects: readonly (readonly [plural: string, object: unknown])[]): FakeCluster {
	const cluster = new FakeCluster({nodes: three});
	for (const [plural, object] of objects) cluster.create(plural, object);
	cluster.pass(2_000);
	return cluster;
}

const podKeyOf = (name: string) => objectKey('pods', 'default', name);

test('the first node that a claim is asked for is the one, whatever is asked while there is no volume yet', t => {
	const index = indexOf();
	const claim = {
		...claimDraft('data'),
		metadata: {...aPod().metadata, name: 'data', uid: 'uid-of-data'},
	} as ApiObject;
	put(index, claim);
	const place = (node: string) => commit(index, index.get(claimKeyOf('data')) ?? claim, {type: 'place', ...{uid: 'uid-of-data', node}});
	t.is(place('node-a')?.metadata.annotations?.[selectedNode], 'node-a');
	t.is(place('node-b')?.metadata.annotations?.[selectedNode], 'node-a');
});

test('a claim waits for its first pod, gets a volume where that goes, and every later pod goes there', t => {
	const cluster = clusterWith(['persistentvolumeclaims', claimDraft('data')]);
	t.is(claimIn(cluster, 'data')?.status?.phase, 'Pending');
	t.is(claimIn(cluster, 'data')?.spec?.storageClassName, 'local');
	t.deepEqual(cluster.reasons(claimKeyOf('data')), ['WaitForFirstConsumer']);
	t.deepEqual(volumesIn(cluster), []);

	cluster.create('pods', podWith('first', ['data']));
	cluster.pass(2_000);
	const node = nodeOfPod(cluster, 'first');
	t.true(three.includes(node));
	const claim = claimIn(cluster, 'data');
	const name = `pvc-${claim?.metadata.uid}`;
	t.is(claim?.metadata.annotations?.[selectedNode], node);
	t.is(claim?.spec?.volumeName, name);
	t.deepEqual(claim?.status, {phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: {storage: '1Gi'}});
	const [volume, ...others] = volumesIn(cluster);
	t.is(others.length, 0);
	t.is(volume?.status?.phase, 'Bound');
	t.is(volume?.spec?.persistentVolumeReclaimPolicy, 'Delete');
	t.deepEqual(volume?.spec?.local, {path: `/srv/volumes/${name}`});
	t.deepEqual(volume?.spec?.nodeAffinity, onHost(node));
	t.true(cluster.reasons(claimKeyOf('data')).includes('ProvisioningSucceeded'));
	t.deepEqual(cluster.node(node).copies.get(claimKeyOf('data'))?.named, {
		type: 'claim',
		source: {type: 'local', volume: name, path: `/srv/volumes/${name}`},
	});

	for (const later of ['second', 'third', 'fourth']) cluster.create('pods', podWith(later, ['data']));
	cluster.pass(2_000);
	t.deepEqual(
		['second', 'third', 'fourth'].map(each => nodeOfPod(cluster, each)),
		[node, node, node],
	);
	t.is(cluster.pod('first')?.status?.nominatedNodeName, undefined);
});

const away = {
	podAntiAffinity: {
		requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: 'db'}}, topologyKey: 'kubernetes.io/hostname'}],
	},
};
const onPort = [{name: 'main', image: 'any', command: ['sleep', '1d'], ports: [{containerPort: 6379}]}];

for (const [why, spec] of [
	['keep away from each other', {affinity: away}],
	['have a port of their node', {containers: onPort}],
] as const) {
	test(`pods that come at once, each with a new claim, and ${why} go to nodes of their own`, t => {
		const names = ['a', 'b', 'c'];
		const cluster = new FakeCluster();
		for (const name of names) {
			cluster.create('persistentvolumeclaims', claimDraft(name));
			cluster.create('pods', {...podWith(name, [name], spec), metadata: {name, namespace: 'default', labels: {app: 'db'}}});
		}
		for (const node of three) cluster.join(node);
		cluster.pass(5_000);
		t.deepEqual(names.map(name => nodeOfPod(cluster, name)).toSorted(), three);
	});
}

test('a pod that is deleted while its volume is made holds up no other one', t => {
	for (let steps = 0; steps < 60; steps++) {
		const cluster = new FakeCluster({nodes: ['node-a']});
		for (const name of ['a', 'b']) cluster.create('persistentvolumeclaims', claimDraft(name));
		cluster.tell(collectionAddress('pods'), {type: 'create', object: podWith('a', ['a'])}, 0);
		cluster.tell(collectionAddress('pods'), {type: 'create', object: podWith('b', ['b'])}, steps);
		cluster.ask(objectAddress(podKeyOf('a')), {type: 'delete', graceSeconds: 0});
		cluster.pass(3_000);
		t.is(nodeOfPod(cluster, 'b'), 'node-a', `after ${steps} steps`);
	}
});

test('pods of a new claim that come at once go to one node, and several claims of a pod to one as well', t => {
	const names = Array.from({length: 12}, (_, i) => `pod-${i}`);
	const cluster = clusterWith(
		['persistentvolumeclaims', claimDraft('shared')],
		['persistentvolumeclaims', claimDraft('own')],
		...names.map(name => ['pods', podWith(name, name === 'pod-7' ? ['own', 'shared'] : ['shared'])] as const),
	);
	t.deepEqual([...new Set(names.map(name => nodeOfPod(cluster, name)))].length, 1);
	t.is(claimIn(cluster, 'own')?.metadata.annotations?.[selectedNode], nodeOfPod(cluster, 'pod-0'));
	t.is(volumesIn(cluster).length, 2);
});

test('a pod says what it waits for, and goes on by itself', t => {
	const cluster = clusterWith(['pods', podWith('web', ['data'])]);
	t.is(whyNot(cluster.pod('web')), 'persistentvolumeclaim "data" not found');
	cluster.create('persistentvolumeclaims', claimDraft('data', {storageClassName: ''}));
	cluster.pass(30_000);
	t.is(whyNot(cluster.pod('web')), 'pod has unbound immediate PersistentVolumeClaims');
	t.is(nodeOfPod(cluster, 'web'), '');
	t.deepEqual(cluster.reasons(claimKeyOf('data')), ['FailedBinding']);
	cluster.create('persistentvolumes', volumeDraft('disk', {nodeAffinity: onHost('node-b')}));
	cluster.pass(2_000);
	t.is(nodeOfPod(cluster, 'web'), 'node-b');
	t.deepEqual(cluster.node('node-b').copies.get(claimKeyOf('data'))?.named, {
		type: 'claim',
		source: {type: 'hostPath', path: '/srv/disk', check: ''},
	});
});

test('a class that is not there is told', t => {
	const cluster = clusterWith(['persistentvolumeclaims', claimDraft('data', {storageClassName: 'fast'})]);
	t.deepEqual(cluster.reasons(claimKeyOf('data')), ['ProvisioningFailed']);
});

test('a pod for which there is no room where its volume is, waits there and says so', t => {
	const cluster = clusterWith(['persistentvolumeclaims', claimDraft('data')], ['pods', podWith('first', ['data'])]);
	const node = nodeOfPod(cluster, 'first');
	cluster.create('pods', podWith('elsewhere', ['data'], {nodeSelector: {'kubernetes.io/hostname': 'nowhere'}}));
	cluster.tellRecord(objectKey('nodes', undefined, node), {
		type: 'patch',
		mediaType: 'application/merge-patch+json',
		patch: {spec: {unschedulable: true}},
	});
	cluster.create('pods', podWith('second', ['data']));
	cluster.pass(2_000);
	t.is(nodeOfPod(cluster, 'second'), '');
	t.regex(whyNot(cluster.pod('second')), /had volume node affinity conflict/);
});

test('a claim is not removed before its last pod is gone, and then its volume and its folder are', t => {
	const cluster = clusterWith(['persistentvolumeclaims', claimDraft('data')], ['pods', podWith('web', ['data'])]);
	const node = cluster.node(nodeOfPod(cluster, 'web'));
	const name = claimIn(cluster, 'data')?.spec?.volumeName ?? '';
	remove(cluster, claimKeyOf('data'));
	remove(cluster, volumeKeyOf(name));
	t.not(claimIn(cluster, 'data')?.metadata.deletionTimestamp, undefined);
	t.not(volumeIn(cluster, name)?.metadata.deletionTimestamp, undefined);
	t.is(node.copies.get(volumeKeyOf(name)), undefined);
	cluster.create('pods', podWith('late', ['data']));
	cluster.pass(2_000);
	t.is(whyNot(cluster.pod('late')), 'persistentvolumeclaim "data" is being deleted');

	remove(cluster, podKeyOf('web'));
	cluster.pass(2_000);
	t.is(claimIn(cluster, 'data'), undefined);
	t.not(volumeIn(cluster, name), undefined, 'its folder is there');
	t.is(node.copies.get(volumeKeyOf(name))?.named?.type, 'removal');
	node.sayRemoved('a file is busy');
	cluster.pass(1_000);
	t.true(cluster.reasons(volumeKeyOf(name)).includes('VolumeFailedDelete'));
	node.sayRemoved();
	cluster.pass(1_000);
	t.is(volumeIn(cluster, name), undefined);
	t.is(node.copies.get(volumeKeyOf(name)), undefined);
});

test('a folder whose node is away waits for it; one of a node that was deleted is let go', t => {
	const cluster = clusterWith(['persistentvolumeclaims', claimDraft('data')], ['pods', podWith('web', ['data'])]);
	const node = cluster.node(nodeOfPod(cluster, 'web'));
	const name = claimIn(cluster, 'data')?.spec?.volumeName ?? '';
	node.cut = true;
	cluster.pass(20_000);
	remove(cluster, podKeyOf('web'));
	remove(cluster, claimKeyOf('data'));
	cluster.pass(60_000);
	t.not(volumeIn(cluster, name), undefined);
	cluster.heal(node.name);
	cluster.pass(2_000);
	t.is(node.copies.get(volumeKeyOf(name))?.named?.type, 'removal');
	node.cut = true;
	cluster.pass(20_000);
	remove(cluster, objectKey('nodes', undefined, node.name));
	cluster.pass(2_000);
	t.is(volumeIn(cluster, name), undefined);
	t.true(cluster.reasons(volumeKeyOf(name)).includes('VolumeFailedDelete'));
});

test('a volume that is to be retained keeps its folder, and is Released', t => {
	const cluster = clusterWith(['persistentvolumeclaims', claimDraft('data')], ['pods', podWith('web', ['data'])]);
	const node = cluster.node(nodeOfPod(cluster, 'web'));
	const name = claimIn(cluster, 'data')?.spec?.volumeName ?? '';
	const patch = {spec: {persistentVolumeReclaimPolicy: 'Retain'}};
	cluster.tellRecord(volumeKeyOf(name), {type: 'patch', mediaType: 'application/merge-patch+json', patch});
	remove(cluster, podKeyOf('web'));
	remove(cluster, claimKeyOf('data'));
	cluster.pass(2_000);
	t.is(volumeIn(cluster, name)?.status?.phase, 'Released');
	remove(cluster, volumeKeyOf(name));
	t.is(volumeIn(cluster, name), undefined);
	t.is(node.copies.get(volumeKeyOf(name)), undefined);
});

test('of volumes that fit a claim gets the smallest, and of claims one alone gets a volume', t => {
	const cluster = clusterWith(
		['persistentvolumes', volumeDraft('large', {capacity: {storage: '10Gi'}})],
		['persistentvolumes', volumeDraft('small', {capacity: {storage: '2Gi'}})],
		['persistentvolumes', volumeDraft('tiny', {capacity: {storage: '1Mi'}})],
		['persistentvolumes', volumeDraft('other', {storageClassName: 'manual'})],
		['persistentvolumes', volumeDraft('read', {accessModes: ['ReadOnlyMany']})],
	);
	t.deepEqual([...new Set(volumesIn(cluster).map(({status}) => status?.phase))], ['Available']);
	for (const name of ['a', 'b', 'c']) cluster.create('persistentvolumeclaims', claimDraft(name, {storageClassName: ''}));
	cluster.pass(2_000);
	t.deepEqual(
		['a', 'b', 'c'].map(name => claimIn(cluster, name)?.spec?.volumeName),
		['small', 'large', undefined],
	);
	t.is(volumeIn(cluster, 'small')?.status?.phase, 'Bound');
	remove(cluster, claimKeyOf('a'));
	t.is(volumeIn(cluster, 'small')?.status?.phase, 'Released');
	t.is(claimIn(cluster, 'c')?.spec?.volumeName, undefined, 'what is in a released volume is not given away');
});

test('a claim may name its volume, a volume its claim, and labels say which', t => {
	const cluster = clusterWith(
		['persistentvolumes', volumeDraft('one', {claimRef: {namespace: 'default', name: 'kept'}})],
		['persistentvolumes', volumeDraft('two')],
		['persistentvolumes', volumeDraft('three', {}, {tier: 'fast'})],
	);
	cluster.create('persistentvolumeclaims', claimDraft('named', {storageClassName: '', volumeName: 'two'}));
	cluster.create('persistentvolumeclaims', claimDraft('labelled', {storageClassName: '', selector: {matchLabels: {tier: 'fast'}}}));
	cluster.create('persistentvolumeclaims', claimDraft('other', {storageClassName: ''}));
	cluster.create('persistentvolumeclaims', claimDraft('kept', {storageClassName: ''}));
	cluster.pass(2_000);
	t.deepEqual(
		['kept', 'named', 'labelled', 'other'].map(name => claimIn(cluster, name)?.spec?.volumeName),
		['one', 'two', 'three', undefined],
	);
});

test('ReadWriteOncePod is for one pod', t => {
	const cluster = clusterWith(
		['persistentvolumeclaims', claimDraft('data', {accessModes: ['ReadWriteOncePod']})],
		['pods', podWith('one', ['data'])],
		['pods', podWith('two', ['data'])],
	);
	const bound = ['one', 'two'].filter(name => nodeOfPod(cluster, name) !== '');
	t.is(bound.length, 1);
	const [waits = ''] = ['one', 'two'].filter(name => !bound.includes(name));
	t.is(whyNot(cluster.pod(waits)), 'PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod');
	remove(cluster, podKeyOf(bound[0] ?? ''));
	cluster.pass(2_000);
	t.not(nodeOfPod(cluster, waits), '');
});

test('a claim whose volume is gone is lost, and says so', t => {
	const cluster = clusterWith(
		['persistentvolumes', volumeDraft('disk')],
		['persistentvolumeclaims', claimDraft('data', {storageClassName: ''})],
	);
	t.is(claimIn(cluster, 'data')?.status?.phase, 'Bound');
	const volume = volumeIn(cluster, 'disk') as PersistentVolume;
	remove(cluster, volumeKeyOf('disk'));
	t.is(volumeIn(cluster, 'disk')?.metadata.uid, volume.metadata.uid, 'it is bound');
	cluster.tellRecord(volumeKeyOf('disk'), {
		type: 'patch',
		mediaType: 'application/merge-patch+json',
		patch: {metadata: {finalizers: null}},
	});
	cluster.pass(2_000);
	t.is(volumeIn(cluster, 'disk'), undefined);
	t.is(claimIn(cluster, 'data')?.status?.phase, 'Lost');
	t.true(cluster.reasons(claimKeyOf('data')).includes('ClaimLost'));
	cluster.create('pods', podWith('web', ['data']));
	cluster.pass(2_000);
	t.is(whyNot(cluster.pod('web')), 'persistentvolumeclaim "data" bound to non-existent persistentvolume "disk"');
});

test('a pod that its manifest bound to another node does not get the volume', t => {
	const cluster = clusterWith(['persistentvolumeclaims', claimDraft('data')], ['pods', podWith('first', ['data'])]);
	const other = three.find(name => name !== nodeOfPod(cluster, 'first')) ?? '';
	cluster.create('pods', podWith('forced', ['data'], {nodeName: other}));
	cluster.pass(2_000);
	const named = cluster.node(other).copies.get(claimKeyOf('data'))?.named;
	t.is(named?.type === 'claim' ? named.source.type : '', 'elsewhere');
});

test('a leader that takes over at any moment makes neither a second volume nor another choice', t => {
	for (let lives = 1; lives <= 8; lives++) {
		const cluster = new FakeCluster({nodes: three});
		cluster.create('persistentvolumeclaims', claimDraft('data'));
		for (let life = 0; life < lives; life++) {
			cluster.create('pods', podWith(`pod-${life}`, ['data']));
			cluster.start();
			for (const node of cluster.nodes.values()) cluster.heal(node.name);
		}
		cluster.pass(10_000);
		t.is(volumesIn(cluster).length, 1);
		const nodes = new Set(Array.from({length: lives}, (_, life) => nodeOfPod(cluster, `pod-${life}`)));
		t.deepEqual([...nodes], [claimIn(cluster, 'data')?.metadata.annotations?.[selectedNode] ?? '']);
	}
});

test('what a node counts is shown by the volume and its claim when it has changed notably, and too much is told once', t => {
	const cluster = clusterWith(['persistentvolumeclaims', claimDraft('data')], ['pods', podWith('first', ['data'])]);
	const [volume] = volumesIn(cluster);
	const name = volume?.metadata.name ?? '';
	const node = nodeOfPod(cluster, 'first');
	const mebibyte = 1_048_576;
	const counted = (usedBytes: number, by = node) => {
		cluster.node(by).sayUsed(name, usedBytes);
		cluster.pass(1_000);
		return [volumeIn(cluster, name)?.status, claimIn(cluster, 'data')?.status] as const;
	};
	const [ofVolume, ofClaim] = counted(300 * mebibyte);
	t.deepEqual(ofVolume, {phase: 'Bound', used: {storage: '300Mi'}, message: '300Mi of 1Gi is used'});
	t.like(ofClaim, {phase: 'Bound', capacity: {storage: '1Gi'}, used: {storage: '300Mi'}});
	const condition = (status: typeof ofClaim) =>
		status?.conditions?.map(({type, status: value, reason, message}) => [type, value, reason, message]);
	t.deepEqual(condition(ofClaim), [['StorageExceeded', 'False', 'WithinCapacity', '300Mi of 1Gi is used']]);

	const version = volumeIn(cluster, name)?.metadata.resourceVersion;
	counted(302 * mebibyte);
	t.is(volumeIn(cluster, name)?.metadata.resourceVersion, version, 'much the same is no news');
	const other = three.find(each => each !== node) ?? '';
	counted(900 * mebibyte, other);
	t.is(volumeIn(cluster, name)?.metadata.resourceVersion, version, 'another node knows nothing of it');

	const [large, exceeded] = counted(1_025 * mebibyte);
	t.like(large, {used: {storage: '1025Mi'}, reason: 'CapacityExceeded', message: '1025Mi of 1Gi is used'});
	t.deepEqual(condition(exceeded), [['StorageExceeded', 'True', 'CapacityExceeded', '1025Mi of 1Gi is used']]);
	counted(1_500 * mebibyte);
	t.is(cluster.timesTold(claimKeyOf('data'), 'StorageExceeded'), 1);
	const [small, within] = counted(1_024 * mebibyte);
	t.deepEqual(small, {phase: 'Bound', used: {storage: '1Gi'}, message: '1Gi of 1Gi is used'});
	t.is(condition(within)?.[0]?.[1], 'False');
	counted(2_000 * mebibyte);
	t.is(cluster.timesTold(claimKeyOf('data'), 'StorageExceeded'), 2);

	remove(cluster, podKeyOf('first'));
	t.is(volumeIn(cluster, name)?.status?.used?.storage, '2000Mi', 'it is kept as it was counted last');
});

test('a small volume of a large claim is shown as it grows', t => {
	const cluster = clusterWith(
		['persistentvolumeclaims', claimDraft('data', {resources: {requests: {storage: '1Ti'}}})],
		['pods', podWith('first', ['data'])],
	);
	const name = volumesIn(cluster)[0]?.metadata.name ?? '';
	const shown = (usedBytes: number): unknown => {
		cluster.node(nodeOfPod(cluster, 'first')).sayUsed(name, usedBytes);
		cluster.pass(1_000);
		return volumeIn(cluster, name)?.status?.used?.['storage'];
	};
	t.is(shown(4_096), '4Ki');
	t.is(shown(2 ** 20), '4Ki');
	t.is(shown(2 ** 20 + 4_096), '1028Ki');
	t.is(shown(5 * 2 ** 30), '5Gi');
	t.is(shown(5.4 * 2 ** 30), '5Gi');
	t.is(shown(6 * 2 ** 30), '6Gi');
});

test('a volume of NFS is retained, and pods of its claim go where it can be mounted', t => {
	const nfs = {server: 'files', path: '/srv/all', readOnly: true};
	const shared = ['persistentvolumes', volumeDraft('shared', {hostPath: undefined, nfs, accessModes: ['ReadWriteMany']})] as const;
	const claim = ['persistentvolumeclaims', claimDraft('data', {accessModes: ['ReadWriteMany'], storageClassName: ''})] as const;
	const names = ['one', 'two', 'three', 'four'];
	const cluster = clusterWith(shared, claim, ...names.map(name => ['pods', podWith(name, ['data'])] as const));
	for (const name of names) t.is(nodeOfPod(cluster, name), 'node-c');
	t.deepEqual(cluster.node('node-c').copies.get(claimKeyOf('data'))?.named, {type: 'claim', source: {type: 'nfs', ...nfs}});
	for (const name of names) remove(cluster, podKeyOf(name));
	remove(cluster, claimKeyOf('data'));
	t.is(volumeIn(cluster, 'shared')?.status?.phase, 'Released');

	const without = new FakeCluster({nodes: ['node-a']});
	for (const [plural, object] of [shared, claim]) without.create(plural, object);
	without.create('pods', podWith('one', ['data']));
	without.pass(2_000);
	t.regex(whyNot(without.pod('one')), /lacks nfs \(volumes of NFS need an agent that is root, and mount\.nfs of nfs-common\)/);
});

test('a pod of class docker goes to no node with a volume of NFS', t => {
	const nfs = {server: 'files', path: '/srv/all', readOnly: true};
	const cluster = clusterWith(
		['persistentvolumes', volumeDraft('shared', {hostPath: undefined, nfs, accessModes: ['ReadWriteMany']})],
		['persistentvolumeclaims', claimDraft('data', {accessModes: ['ReadWriteMany'], storageClassName: ''})],
		['pods', podWith('one', ['data'], {runtimeClassName: 'docker'})],
	);
	t.regex(whyNot(cluster.pod('one')), /node-a: runs no pods of class docker; .*node-c: mounts no volumes of NFS for pods of class docker/);
});
