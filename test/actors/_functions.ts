// Functions, their sets and their instances, as the index would hold them.

import {functionAnnotation, functionLabel} from '../../api/function-instance.js';
import type {FunctionObject, FunctionSpec, FunctionStatus} from '../../api/kinds/function.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {Run} from '../../api/kinds/run.js';
import type {ApiObject} from '../../api/object.js';
import {templateOf} from '../../actors/control/functions/function-template.js';
import {versionOf} from '../../actors/control/functions/function-version.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {aReadyPod, aReplicaSet, before, now, ownedBy} from './_objects.js';

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

/** `create add-x 2`, `add-1 to 0`, `delete add-1`. */
export const writes = (effects: readonly Effect[]): readonly string[] =>
	effects.flatMap(effect => {
		switch (effect.type) {
			case 'create':
				return `create ${effect.object.metadata.name?.slice(0, 4) ?? ''} ${(effect.object.spec as {replicas: number}).replicas}`;
			case 'update': {
				const {spec} = (effect.message as unknown as {patch: {spec: {replicas: number}}}).patch;
				return `${effect.key.split('/')[2] ?? ''} to ${spec.replicas}`;
			}
			case 'delete':
				return `delete ${effect.key.split('/')[2] ?? ''}`;
			default:
				return [];
		}
	});

/** The set of the version that the function has, and its instances. */
export const version = (fn: FunctionObject, revision: number, replicas: number, ready = replicas): readonly ApiObject[] => {
	const template = templateOf(fn);
	if (template === undefined) throw new Error('it has no code');
	const labels = {...template.metadata?.labels, 'pod-template-hash': `v${revision}`};
	const set = aReplicaSet({
		name: `add-${revision}`,
		metadata: {ownerReferences: [ownedBy(fn)], annotations: {'deployment.kubernetes.io/revision': String(revision)}},
		spec: {replicas, selector: {matchLabels: labels}, template: {...template, metadata: {...template.metadata, labels}}},
	});
	const pods = Array.from({length: ready}, (_, i) =>
		aReadyPod({name: `add-${revision}-${i}`, metadata: {labels, ownerReferences: [ownedBy(set)]}}),
	);
	return [set, ...pods];
};

/** A run under way, or one that is over, which began with the version that the function has. */
export const aRunOf = (fn: FunctionObject, name = 'order-7', isOver = false): Run => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Run',
	metadata: {name, namespace: 'default', uid: `uid-of-run-${name}`, resourceVersion: '1', generation: 1, creationTimestamp: before},
	spec: {workflow: 'order'},
	status: {
		phase: isOver ? 'Succeeded' : 'Running',
		startTime: before,
		functions: [{function: `default/${fn.metadata.name}`, version: versionOf(fn) ?? ''}],
		...(isOver ? {completionTime: now} : {}),
	},
});
