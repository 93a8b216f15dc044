// The class of a new pod, and what follows from it: filled in before the pod is admitted, and refused with its words where it cannot be.

import test from 'ava';
import {withRuntimeClass} from '../../actors/control/pods/pod-class.js';
import {podController} from '../../actors/control/pods/pod.js';
import {admitCreate} from '../../api/admission.js';
import type {ClusterConfig} from '../../api/kinds/clusterconfig.js';
import type {PodSpec} from '../../api/kinds/pod.js';
import type {Draft} from '../../api/object.js';
import type {RuntimeClass} from '../../api/runtime-class.js';
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
		const prepared = podController.prepare?.(draft({hostAliases: [{ip: '10.0.0.1'}]}), indexOf(configured(runtimeClass)));
		if (prepared?.ok !== true) return 'not prepared';
		const admitted = admitCreate(prepared.value);
		return admitted.ok ? 'admitted' : admitted.error.message;
	};
	t.is(problemsWith('docker'), 'admitted');
	t.is(problemsWith('process'), 'spec.hostAliases: needs runtimeClassName: docker, and here it is process');
});
