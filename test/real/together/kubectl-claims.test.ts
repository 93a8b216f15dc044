// Claims and volumes as the real kubectl sees them: applied, waited for, looked at, and deleted while a pod has them.

import test from 'ava';
import {openFileHome} from '../../e2e/_rig.js';
import {kubectlFor, manifest, realInTurn} from '../_kubectl.js';

const {cluster} = openFileHome(test);
const {fine: kubectl} = kubectlFor(cluster);
const file = (object: object): string => manifest(cluster, object);

const claim = {
	apiVersion: 'v1',
	kind: 'PersistentVolumeClaim',
	metadata: {name: 'data'},
	spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}},
};

const container = {
	name: 'main',
	image: 'any',
	command: ['sh', '-c', 'echo here >> /srv/data/file; exec sleep 100000'],
	volumeMounts: [{name: 'data', mountPath: '/srv/data'}],
};

const pod = {
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name: 'user'},
	spec: {
		terminationGracePeriodSeconds: 1,
		containers: [container],
		volumes: [{name: 'data', persistentVolumeClaim: {claimName: 'data'}}],
	},
};

realInTurn('a claim is applied, waits for its first pod, is bound, and is shown with its volume', async t => {
	t.is(await kubectl('apply', '-f', file(claim)), 'persistentvolumeclaim/data created\n');
	t.regex(await kubectl('get', 'pvc'), /^NAME +STATUS +VOLUME +CAPACITY +ACCESS MODES +STORAGECLASS [^\n]*AGE\ndata +Pending +local /);
	t.regex(await kubectl('describe', 'pvc', 'data'), /Status: +Pending\n[^]*Used By: +<none>\n[^]*WaitForFirstConsumer/);
	t.is(await kubectl('apply', '-f', file(pod)), 'pod/user created\n');
	t.is(
		await kubectl('wait', '--for=jsonpath={.status.phase}=Bound', 'pvc/data', '--timeout=30s'),
		'persistentvolumeclaim/data condition met\n',
	);
	await kubectl('wait', '--for=condition=Ready', 'pod/user', '--timeout=30s');
	const volume = await kubectl('get', 'pvc', 'data', '-o', 'jsonpath={.spec.volumeName}');
	t.regex(volume, /^pvc-/);
	t.regex(await kubectl('get', 'pvc'), new RegExp(`^data +Bound +${volume} +1Gi +RWO +local `, 'm'));
	t.regex(await kubectl('get', 'pv'), new RegExp(`^${volume} +1Gi +RWO +Delete +Bound +default/data +local `, 'm'));
	t.regex(
		await kubectl('describe', 'pvc', 'data'),
		new RegExp(
			`Status: +Bound\\nVolume: +${volume}\\n[^]*Finalizers: +\\[kubernetes.io/pvc-protection\\]\\nCapacity: +1Gi\\nAccess Modes: +RWO\\n[^]*Used By: +user\\n`,
		),
	);
	t.regex(
		await kubectl('describe', 'pv', volume),
		/Status: +Bound\nClaim: +default\/data\nReclaim Policy: +Delete\n[^]*Node Affinity: *\n +Required Terms: *\n +Term 0: +kubernetes\.io\/hostname in \[vm\]\n[^]*Type: +LocalVolume/,
	);
	t.is(await kubectl('apply', '-f', file(claim)), 'persistentvolumeclaim/data unchanged\n');
	await t.throwsAsync(kubectl('patch', 'pvc', 'data', '-p', JSON.stringify({spec: {resources: {requests: {storage: '2Gi'}}}})), {
		message: /The PersistentVolumeClaim "data" is invalid: spec: cannot be changed/,
	});
});

realInTurn('a claim that is deleted while a pod has it stays Terminating until the pod is gone, and its volume goes with it', async t => {
	t.is(await kubectl('delete', 'pvc', 'data', '--wait=false'), 'persistentvolumeclaim "data" deleted\n');
	t.regex(await kubectl('get', 'pvc'), /^data +Terminating /m);
	t.is(await kubectl('exec', 'user', '--', 'cat', '/srv/data/file'), 'here\n');
	const gone = kubectl('wait', '--for=delete', 'pvc/data', '--timeout=30s');
	t.is(await kubectl('delete', 'pod', 'user'), 'pod "user" deleted\n');
	await gone;
	t.is(await kubectl('get', 'pvc', '-o', 'name'), '');
	await kubectl('wait', '--for=delete', 'pv', '--all', '--timeout=30s');
	t.is(await kubectl('get', 'pv', '-o', 'name'), '');
});

const set = (replicas: number, more: object = {}) => ({
	apiVersion: 'apps/v1',
	kind: 'StatefulSet',
	metadata: {name: 'db'},
	spec: {
		serviceName: 'db',
		replicas,
		selector: {matchLabels: {app: 'db'}},
		template: {metadata: {labels: {app: 'db'}}, spec: {terminationGracePeriodSeconds: 1, containers: [container]}},
		volumeClaimTemplates: [{metadata: {name: 'data'}, spec: claim.spec}],
		...more,
	},
});

realInTurn('a StatefulSet with claims is applied, shown, scaled and deleted; its claims stay, or go with it', async t => {
	t.is(await kubectl('apply', '-f', file(set(2))), 'statefulset.apps/db created\n');
	await kubectl('rollout', 'status', 'sts/db', '--timeout=30s');
	t.is(await kubectl('get', 'pvc', '-l', 'app=db', '-o', 'name'), 'persistentvolumeclaim/data-db-0\npersistentvolumeclaim/data-db-1\n');
	t.regex(
		await kubectl('describe', 'sts', 'db'),
		/Volume Claims:\n +Name: +data\n +StorageClass: *\n +Labels: +<none>\n +Annotations: +<none>\n +Capacity: +1Gi\n +Access Modes: +\[ReadWriteOnce\]\n/,
	);
	// kubectl sends what the manifest leaves out of a template: the server sees that nothing is another.
	await kubectl('apply', '-f', file(set(2)));
	t.is(await kubectl('get', 'sts', 'db', '-o', 'jsonpath={.metadata.generation}'), '1');
	await t.throwsAsync(kubectl('apply', '-f', file(set(2, {volumeClaimTemplates: [{metadata: {name: 'other'}, spec: claim.spec}]}))), {
		message: /StatefulSet "db" is invalid: .*spec\.volumeClaimTemplates: .*updates to statefulset spec for fields other than 'replicas'/s,
	});
	await kubectl('scale', 'sts/db', '--replicas=1');
	await kubectl('wait', '--for=delete', 'pod/db-1', '--timeout=20s');
	await kubectl('scale', 'sts/db', '--replicas=2');
	await kubectl('rollout', 'status', 'sts/db', '--timeout=30s');
	t.is(await kubectl('exec', 'db-1', '--', 'cat', '/srv/data/file'), 'here\nhere\n');

	const patch = {spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: 'Delete', whenScaled: 'Delete'}}};
	t.is(await kubectl('patch', 'sts', 'db', '-p', JSON.stringify(patch)), 'statefulset.apps/db patched\n');
	await kubectl(
		'wait',
		'--for=jsonpath={.metadata.ownerReferences[0].kind}=StatefulSet',
		'pvc/data-db-0',
		'pvc/data-db-1',
		'--timeout=20s',
	);
	await kubectl('scale', 'sts/db', '--replicas=1');
	await kubectl('wait', '--for=delete', 'pvc/data-db-1', '--timeout=20s');
	t.is(await kubectl('delete', 'sts', 'db', '--cascade=orphan'), 'statefulset.apps "db" deleted\n');
	t.is(await kubectl('get', 'pvc', '-o', 'jsonpath={.items[*].metadata.name} {.items[*].metadata.ownerReferences}'), 'data-db-0 ');
	t.is(await kubectl('apply', '-f', file(set(1, patch.spec))), 'statefulset.apps/db created\n');
	await kubectl('rollout', 'status', 'sts/db', '--timeout=30s');
	t.is(await kubectl('exec', 'db-0', '--', 'cat', '/srv/data/file'), 'here\n', 'it was not touched');
	await kubectl('wait', '--for=jsonpath={.metadata.ownerReferences[0].kind}=StatefulSet', 'pvc/data-db-0', '--timeout=20s');
	t.is(await kubectl('delete', 'sts', 'db'), 'statefulset.apps "db" deleted\n');
	await kubectl('wait', '--for=delete', 'pvc/data-db-0', '--timeout=20s');
	t.is(await kubectl('get', 'pvc,pv,pods', '-o', 'name'), '');
});
