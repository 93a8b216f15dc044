// Functions, their sets and their instances, as the index would hold them.

import {functionAnnotation, functionLabel} from '../../api/function-instance.js';
import type {FunctionObject, FunctionSpec, FunctionStatus} from '../../api/kinds/function.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {aReadyPod, aReplicaSet, before, ownedBy} from './_objects.js';

export const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;

export const aFunction = (spec: Partial<FunctionSpec> = {}, status: FunctionStatus = {}): FunctionObject => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Function',
	metadata: {name: 'add', namespace: 'default', uid: 'uid-of-add', resourceVersion: '1', generation: 1, creationTimestamp: before},
	spec: {artifact: digest('a'), runtime: 'python', concurrency: 2, max: 3, idle: '60s', timeout: '30s', revisionHistoryLimit: 10, ...spec},
	status,
});

export const aVersion = (fn: FunctionObject, revision: number, replicas = 1): ReplicaSet =>
	aReplicaSet({
		name: `add-${revision}`,
		metadata: {ownerReferences: [ownedBy(fn)], annotations: {'deployment.kubernetes.io/revision': String(revision)}},
		spec: {replicas},
	});

export const anInstance = (set: ReplicaSet, name: string, concurrency = 2, metadata: Partial<Pod['metadata']> = {}): Pod =>
	aReadyPod({
		name,
		metadata: {
			ownerReferences: [ownedBy(set)],
			labels: {...set.spec?.template.metadata?.labels, [functionLabel]: 'add'},
			annotations: {
				[functionAnnotation]: JSON.stringify({artifact: digest('a'), runtime: 'python', concurrency, timeoutMs: 30_000}),
			},
			...metadata,
		},
	});
