// What claims and volumes may say, what is added to them, and what of them is shown.

import test from 'ava';
import {admitUpdate} from '../../api/admission.js';
import type {JsonObject} from '../../api/object.js';
import {cells, committed, problemsOf} from './_objects.js';

const aClaim = (spec: JsonObject = {}): JsonObject => ({
	apiVersion: 'v1',
	kind: 'PersistentVolumeClaim',
	metadata: {name: 'data'},
	spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}, ...spec},
});

const aVolume = (spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
	apiVersion: 'v1',
	kind: 'PersistentVolume',
	metadata: {name: 'data', ...metadata},
	spec: {capacity: {storage: '1Gi'}, accessModes: ['ReadWriteOnce'], hostPath: {path: '/srv/data'}, ...spec},
});

const affinity = {
	required: {nodeSelectorTerms: [{matchExpressions: [{key: 'kubernetes.io/hostname', operator: 'In', values: ['node-a']}]}]},
};

test('a claim that names no class is of class local; an empty one stays empty', t => {
	t.like(committed(aClaim()).spec, {storageClassName: 'local', volumeMode: 'Filesystem'});
	t.like(committed(aClaim({storageClassName: ''})).spec, {storageClassName: ''});
});

test('a claim says how large it has to be, and who may use it', t => {
	t.deepEqual(problemsOf(aClaim({accessModes: []})), ['spec.accessModes: must name at least one']);
	t.deepEqual(problemsOf(aClaim({accessModes: ['ReadWriteOncePod', 'ReadWriteOnce']})), [
		'spec.accessModes: ReadWriteOncePod must be alone: it may not be used with others',
	]);
	t.deepEqual(problemsOf(aClaim({resources: {}})), ['spec.resources.requests.storage: is required']);
	t.deepEqual(problemsOf(aClaim({resources: {requests: {storage: '-1Gi'}}})), [
		'spec.resources.requests.storage: must be a quantity above 0, such as "10Gi", got "-1Gi"',
	]);
	t.deepEqual(problemsOf(aClaim({resources: {requests: {storage: '1Gi', cpu: '1'}}})), [
		'spec.resources.requests.cpu: is not known: storage is',
	]);
	t.regex(problemsOf(aClaim({volumeMode: 'Block'}))[0] ?? '', /^spec\.volumeMode: /);
	t.regex(problemsOf(aClaim({dataSource: {kind: 'VolumeSnapshot', name: 'x'}}))[0] ?? '', /^spec\.dataSource: /);
});

test('a claim keeps what it asked for and what it got', t => {
	const old = committed(aClaim());
	const bound = {...old, spec: {...(old.spec as object), volumeName: 'pvc-u'}};
	t.deepEqual(problemsOf(aClaim(), bound), []);
	t.like(admitUpdate(aClaim(), bound), {ok: true, value: {spec: {volumeName: 'pvc-u'}}});
	t.regex(problemsOf(aClaim({volumeName: 'another'}), bound)[0] ?? '', /^spec\.volumeName: cannot be changed/);
	t.regex(problemsOf(aClaim({resources: {requests: {storage: '2Gi'}}}), bound)[0] ?? '', /^spec: cannot be changed/);
	t.deepEqual(problemsOf(aClaim({volumeName: 'chosen'}), old), []);
});

test('a volume is one thing, which it stays, and is retained unless it was made for a claim', t => {
	t.like(committed(aVolume()).spec, {persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem'});
	t.deepEqual(problemsOf(aVolume({local: {path: '/srv'}, nodeAffinity: affinity})), [
		'spec: must be one of local, hostPath, nfs, got local and hostPath',
	]);
	t.deepEqual(problemsOf(aVolume({hostPath: {path: 'srv'}})), [
		'spec.hostPath.path: must be an absolute path, beginning with "/", got "srv"',
	]);
	t.regex(problemsOf(aVolume({hostPath: undefined as never, local: {path: '/srv'}}))[0] ?? '', /^spec\.nodeAffinity: must name the node/);
	t.regex(problemsOf(aVolume({persistentVolumeReclaimPolicy: 'Delete'}))[0] ?? '', /^spec\.persistentVolumeReclaimPolicy: must be Retain/);
	t.deepEqual(
		problemsOf(aVolume({persistentVolumeReclaimPolicy: 'Delete'}, {annotations: {'pv.kubernetes.io/provisioned-by': 'troupe.dev/local'}})),
		[],
	);
	const old = committed(aVolume());
	t.regex(problemsOf(aVolume({hostPath: {path: '/srv/other'}}), old)[0] ?? '', /^spec\.hostPath: cannot be changed/);
	t.deepEqual(problemsOf(aVolume({capacity: {storage: '2Gi'}}), old), []);
	t.regex(problemsOf(aVolume({nfs: {server: 'a', path: '/b'}}))[0] ?? '', /must be one of local, hostPath, nfs, got hostPath and nfs/);
});

test('a volume of NFS names a host and what that exports, and nothing else gets to mount.nfs', t => {
	const nfs = (server: unknown, path: unknown = '/srv'): JsonObject =>
		aVolume({hostPath: undefined as never, nfs: {server, path} as never});
	for (const server of ['files', 'files.example.com', '10.0.0.1', 'fd00::1', '::1', '::ffff:10.0.0.1'])
		t.deepEqual(problemsOf(nfs(server)), [], server);
	for (const server of ['', '-o', 'a b', 'a,b', 'a:/b', '[::1]', 'a\nb', 'fe80::1%eth0', `${'a'.repeat(254)}`])
		t.regex(problemsOf(nfs(server))[0] ?? '', /^spec\.nfs\.server: must be the name or the address of a host/, server);
	t.regex(problemsOf(nfs('files', 'srv'))[0] ?? '', /^spec\.nfs\.path: must be an absolute path/);
	t.regex(problemsOf(nfs('files', '/srv/../etc'))[0] ?? '', /^spec\.nfs\.path: must not contain "\.\."/);
	t.regex(
		problemsOf(nfs('files', '/srv\n-o exec'))[0] ?? '',
		/^spec\.nfs\.path: must not contain control characters, got "\/srv\\n-o exec"/,
	);
	t.deepEqual(problemsOf(nfs('files', `/${'s'.repeat(4_094)}`)), []);
	t.regex(problemsOf(nfs('files', `/${'s'.repeat(4_095)}`))[0] ?? '', /^spec\.nfs\.path: must have at most 4095 characters, got 4096/);
	const old = committed(nfs('files'));
	t.regex(problemsOf(nfs('other'), old)[0] ?? '', /^spec\.nfs: cannot be changed/);
});

test('claims and volumes are shown as kubectl shows them, and what is used of them', t => {
	const claim = {...committed(aClaim()), status: {phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: {storage: '1024Mi'}}};
	t.deepEqual(cells('persistentvolumeclaims', claim), ['data', 'Bound', '', '1Gi', 'RWO', 'local', '<unset>', '', 'Filesystem']);
	t.is(cells('persistentvolumeclaims', {...claim, status: {phase: 'Bound', used: {storage: '2048Ki'}}})[7], '2Mi');
	const volume = committed(aVolume({claimRef: {namespace: 'default', name: 'data'}, storageClassName: 'manual'}));
	t.deepEqual(cells('persistentvolumes', {...volume, status: {phase: 'Available'}}), [
		'data',
		'1Gi',
		'RWO',
		'Retain',
		'Available',
		'default/data',
		'manual',
		'<unset>',
		'',
		'',
		'Filesystem',
	]);
	const going = {...claim, metadata: {...claim.metadata, deletionTimestamp: '2023-11-14T22:13:20Z'}};
	t.is(cells('persistentvolumeclaims', going)[1], 'Terminating');
});
