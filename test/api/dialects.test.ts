import test from 'ava';
import {admitCreate} from '../../api/admission.js';
import {normalise} from '../../api/dialects/normalise.js';
import {aContainer, aPod, aReplicaSet} from './_objects.js';

test('a canonical manifest passes as it is', t => {
	for (const manifest of [aPod(), aReplicaSet(), {apiVersion: 'v1', kind: 'Node', metadata: {name: 'a'}}]) {
		const read = normalise(manifest);
		t.true(read.ok && Object.is(read.object, manifest));
		t.like(read, {notes: [], renamed: []});
	}
});

test('the older dialect’s pod becomes a canonical one, in one line', t => {
	const read = normalise({
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {name: 'test-pod'},
		spec: {
			nodeSelector: {disk: 'ssd'},
			containers: [
				{
					name: 'test1',
					image: 'x',
					ImagePullPolicy: 'IfNotPresent',
					tty: false,
					ports: [{containerPort: 80, hostPort: '8080', protocol: 'tcp'}],
					resources: {requests: {memory: 100_000_000, cpu: 1_000_000_000}, limits: {memory: 200_000_000}},
					lifecycle: {postStart: {exec: {cmd: ['a']}}},
				},
			],
		},
	});
	t.deepEqual(read.ok && read.object.spec, {
		nodeSelector: {disk: 'ssd'},
		containers: [
			{
				name: 'test1',
				image: 'x',
				imagePullPolicy: 'IfNotPresent',
				tty: false,
				ports: [{containerPort: 80, hostPort: 8080, protocol: 'TCP'}],
				resources: {requests: {memory: 100_000_000, cpu: '1'}, limits: {memory: 200_000_000}},
				lifecycle: {postStart: {exec: {command: ['a']}}},
			},
		],
	});
	t.deepEqual(read.ok && read.notes, [
		'dialect A Pod read as v1 Pod: containers[0].imagePullPolicy, containers[0].ports[0].hostPort, containers[0].ports[0].protocol, containers[0].resources.requests.cpu, containers[0].lifecycle.postStart.exec.command',
	]);
	t.deepEqual(read.ok && read.renamed, [
		{path: 'spec.containers[0].imagePullPolicy', from: 'spec.containers[0].ImagePullPolicy'},
		{path: 'spec.containers[0].lifecycle.postStart.exec.command', from: 'spec.containers[0].lifecycle.postStart.exec.cmd'},
	]);
});

test('the older dialect’s Replicaset is an apps/v1 ReplicaSet, and is admitted', t => {
	const read = normalise({...aReplicaSet(), apiVersion: 'v1', kind: 'Replicaset'});
	t.like(read, {ok: true, object: {apiVersion: 'apps/v1', kind: 'ReplicaSet'}, notes: ['dialect A Replicaset read as apps/v1 ReplicaSet']});
	t.true(read.ok && admitCreate(read.object).ok);
});

test('the other dialect’s apiVersion is a path, and its ReplicaSet is in v1', t => {
	t.like(normalise({...aPod(), apiVersion: '/api/v1'}), {
		ok: true,
		object: {apiVersion: 'v1'},
		notes: ['dialect B /api/v1 Pod read as v1 Pod'],
	});
	t.like(normalise({...aReplicaSet(), apiVersion: 'v1'}), {
		ok: true,
		object: {apiVersion: 'apps/v1'},
		notes: ['dialect B v1 ReplicaSet read as apps/v1 ReplicaSet'],
	});
});

test('the address of a node becomes an annotation', t => {
	const read = normalise({apiVersion: 'v1', kind: 'Node', metadata: {name: 'ubuntu', labels: {disk: 'ssd'}}, ip: '10.0.0.7'});
	t.like(read, {
		ok: true,
		object: {metadata: {name: 'ubuntu', labels: {disk: 'ssd'}, annotations: {'troupe.dev/ip': '10.0.0.7'}}},
		notes: ['dialect A Node read as v1 Node: metadata.annotations["troupe.dev/ip"]'],
		renamed: [{path: 'metadata.annotations["troupe.dev/ip"]', from: 'ip'}],
	});
	t.true(read.ok && admitCreate(read.object).ok);
	t.deepEqual(normalise({apiVersion: 'v1', kind: 'Node', metadata: {name: 'a'}, ip: 7}), {
		ok: false,
		problems: [{path: 'ip', message: 'must be an IP address, got 7', reason: 'FieldValueInvalid'}],
	});
});

test('two spellings of one field are a problem, not a choice', t => {
	const read = normalise({...aPod(), spec: {containers: [{...aContainer({imagePullPolicy: 'Always'}), ImagePullPolicy: 'Never'}]}});
	t.like(read, {
		ok: false,
		problems: [{path: 'spec.containers[0].ImagePullPolicy', message: 'stands beside imagePullPolicy, which says the same; leave one out'}],
	});
});

const refused: readonly [document: unknown, path: string, message: string][] = [
	[null, '', 'an object is expected, got nothing'],
	[{apiVersion: 'v1', kind: 'pod'}, 'kind', 'there is no kind "pod" in "v1"; did you mean Pod?'],
	[{apiVersion: 'apps/v1', kind: 'Replicaset'}, 'kind', 'there is no kind "Replicaset" in "apps/v1"; did you mean ReplicaSet?'],
	[{apiVersion: 'v1', kind: 'Servise'}, 'kind', 'there is no kind "Servise" in "v1"; did you mean Service?'],
	[{kind: 'Pod'}, 'apiVersion', 'is required'],
	[{apiVersion: 1, kind: 'Pod'}, 'apiVersion', 'must be a string, got 1'],
];

for (const [document, path, message] of refused) {
	test(`${JSON.stringify(document)} is refused`, t => {
		const read = normalise(document);
		t.like(read.ok ? {} : read.problems[0], {path, message});
	});
}
