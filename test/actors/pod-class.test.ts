// The class of a new pod, and what follows from it: filled in before the pod is admitted, and refused with its words where it cannot be.

import test from 'ava';
import {withRuntimeClass} from '../../actors/control/pods/pod-class.js';
import {podController} from '../../actors/control/pods/pod.js';
import {clusterConfigKey} from '../../actors/addresses.js';
import {admitCreate} from '../../api/admission.js';
import {conditionOf} from '../../api/conditions.js';
import {collectionAddress, objectKey} from '../../api/keys.js';
import type {ClusterConfig} from '../../api/kinds/clusterconfig.js';
import type {Pod, PodSpec} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {Draft} from '../../api/object.js';
import type {RuntimeClass} from '../../api/runtime-class.js';
import {FakeCluster} from './_cluster.js';
import {aClusterConfig, aContainer, indexOf} from './_objects.js';

const draft = (spec: Partial<PodSpec> = {}): Draft => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name: 'web', namespace: 'default'},
	spec: {containers: [aContainer()], ...spec},
});

const configured = (runtimeClass?: RuntimeClass): ClusterConfig => {
	const config = aClusterConfig('least-pods');
	return runtimeClass === undefined ? config : {...config, spec: {...config.spec, runtime: {default: runtimeClass}}};
};

const classOf = (object: Draft, ...known: readonly ClusterConfig[]): unknown =>
	(withRuntimeClass(object, indexOf(...known)).spec as PodSpec | undefined)?.runtimeClassName;

test('a pod that names no class has that of the cluster, and one that names one keeps it', t => {
	t.is(classOf(draft(), configured('docker')), 'docker');
	t.is(classOf(draft(), configured('process')), 'process');
	t.is(classOf(draft({runtimeClassName: 'process'}), configured('docker')), 'process');
});

test('a cluster of before there were classes makes processes', t => {
	t.is(classOf(draft(), configured()), 'process');
	t.is(classOf(draft()), 'process');
});

test('what is no spec is left to admission', t => {
	for (const spec of [undefined, null, 'x', 7]) {
		const broken = {...draft(), spec} as unknown as Draft;
		t.is(withRuntimeClass(broken, indexOf(configured('docker'))), broken);
	}
});

test('what a pod asks for is looked at with the class that it was given', t => {
	const problemsWith = (runtimeClass: RuntimeClass): string => {
		const prepared = podController.prepare?.(draft({shareProcessNamespace: true}), indexOf(configured(runtimeClass)));
		if (prepared?.ok !== true) return 'not prepared';
		const admitted = admitCreate(prepared.value);
		return admitted.ok ? 'admitted' : admitted.error.message;
	};
	t.is(problemsWith('docker'), 'admitted');
	t.is(problemsWith('process'), 'spec.shareProcessNamespace: needs runtimeClassName: docker, and here it is process');
});

// ---- in a cluster --------------------------------------------------------------------------------------------------------

const hostly = (name: string, replicas: number): unknown => ({
	apiVersion: 'apps/v1',
	kind: 'ReplicaSet',
	metadata: {name, namespace: 'default'},
	spec: {
		replicas,
		selector: {matchLabels: {app: name}},
		template: {
			metadata: {labels: {app: name}},
			spec: {containers: [aContainer()], ...(name === 'web' ? {} : {shareProcessNamespace: true})},
		},
	},
});

const replicaSet = (cluster: FakeCluster, name: string): ReplicaSet => {
	const found = (cluster.list('replicasets') as readonly ReplicaSet[]).find(({metadata}) => metadata.name === name);
	if (found === undefined) throw new Error(`there is no replicaset ${name}`);
	return found;
};

const classesOf = (cluster: FakeCluster, app: string): readonly unknown[] =>
	(cluster.list('pods') as readonly Pod[]).filter(({metadata}) => metadata.labels?.['app'] === app).map(({spec}) => spec?.runtimeClassName);

test('what makes pods that the default class refuses says so in its words, and makes them when the default is another', t => {
	const cluster = new FakeCluster({nodes: ['node-a']});
	cluster.create('replicasets', hostly('web', 1));
	cluster.create('replicasets', hostly('sharing', 2));
	cluster.pass(5_000);
	t.deepEqual(classesOf(cluster, 'web'), ['process']);
	t.deepEqual(classesOf(cluster, 'sharing'), []);
	const key = objectKey('replicasets', 'default', 'sharing');
	t.true(cluster.reasons(key).includes('FailedCreate'));
	const failure = conditionOf(replicaSet(cluster, 'sharing').status?.conditions, 'ReplicaFailure');
	t.regex(failure?.message ?? '', /spec\.shareProcessNamespace: needs runtimeClassName: docker, and here it is process/);

	const changed = cluster.tellRecord(clusterConfigKey, {type: 'patch', patch: {spec: {runtime: {default: 'docker'}}}});
	t.true(changed.ok, changed.ok ? '' : changed.error.message);
	cluster.pass(600_000);
	t.deepEqual(classesOf(cluster, 'sharing'), ['docker', 'docker']);
	t.deepEqual(classesOf(cluster, 'web'), ['process']);
	const [waiting] = (cluster.list('pods') as readonly Pod[]).filter(({metadata}) => metadata.labels?.['app'] === 'sharing');
	t.is(conditionOf(waiting?.status?.conditions, 'PodScheduled')?.message, '0/1 nodes fit: node-a: runs no pods of class docker');
	t.is(conditionOf(replicaSet(cluster, 'sharing').status?.conditions, 'ReplicaFailure'), undefined);
});

test('a pod that a client creates is refused as a whole, also where it is only tried', t => {
	const cluster = new FakeCluster({nodes: ['node-a']});
	const create = (object: unknown, more: object = {}) => cluster.ask(collectionAddress('pods'), {type: 'create', object, ...more});
	for (const more of [{}, {dryRun: true}]) {
		const refused = create(draft({hostPID: true}), more);
		t.deepEqual([refused.ok, refused.ok ? '' : refused.error.code], [false, 'ERR_INVALID']);
		const tried = create(draft(), {...more, dryRun: true});
		t.is(tried.ok ? (tried.value as Pod).spec?.runtimeClassName : tried.error.message, 'process');
	}
	t.deepEqual(cluster.list('pods'), []);
});
