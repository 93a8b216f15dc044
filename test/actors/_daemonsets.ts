// DaemonSets with what they own, as the index would hold them.

import type {ControllerRevision} from '../../api/kinds/controllerrevision.js';
import type {DaemonSet, DaemonSetSpec} from '../../api/kinds/daemonset.js';
import type {Pod, PodStatus} from '../../api/kinds/pod.js';
import {daemonPod, freeName} from '../../actors/control/workloads/daemon-pods.js';
import type {ApiObject, Draft, ObjectMeta} from '../../api/object.js';
import type {Effect} from '../../system/kernel/behavior.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {aContainer, before, contextWith, put, ready, scheduled} from './_objects.js';
import {tellRecord} from './_records.js';

export const aDaemonSet = (spec: Partial<DaemonSetSpec> = {}, metadata: Partial<ObjectMeta> = {}): DaemonSet => ({
	apiVersion: 'apps/v1',
	kind: 'DaemonSet',
	metadata: {
		name: 'web',
		namespace: 'default',
		uid: 'uid-of-ds',
		resourceVersion: '1',
		generation: 1,
		creationTimestamp: before,
		...metadata,
	},
	spec: {
		selector: {matchLabels: {app: 'web'}},
		template: {metadata: {labels: {app: 'web'}}, spec: {containers: [aContainer()], restartPolicy: 'Always'}},
		updateStrategy: {type: 'RollingUpdate', rollingUpdate: {maxUnavailable: 1, maxSurge: 0}},
		revisionHistoryLimit: 10,
		...spec,
	},
});

/** The same with another program. */
export const withProgram = (set: DaemonSet, image: string): DaemonSet => ({
	...set,
	metadata: {...set.metadata, generation: set.metadata.generation + 1},
	...(set.spec === undefined
		? {}
		: {spec: {...set.spec, template: {...set.spec.template, spec: {containers: [aContainer({image})], restartPolicy: 'Always'}}}}),
});

let uids = 0;

/** A draft as it would be committed. */
export const made = (draft: Draft, metadata: Partial<ObjectMeta> = {}): ApiObject => ({
	...draft,
	metadata: {
		uid: `made-${++uids}`,
		resourceVersion: '1',
		generation: 1,
		creationTimestamp: before,
		...draft.metadata,
		name: draft.metadata.name ?? '',
		...metadata,
	},
});

export const creates = (effects: readonly Effect[], kind: string): readonly Draft[] =>
	effects.flatMap(effect => (effect.type === 'create' && effect.object.kind === kind ? [effect.object] : []));

/** What one look of the set asks for. */
export const look = (index: ObjectIndex, set: ApiObject, overrides: Parameters<typeof contextWith>[1] = {}) =>
	tellRecord(set, [{type: 'wake'}], contextWith(index, overrides));

/** The set's revision of its present template, committed as the set asks for it. */
export function withRevision(index: ObjectIndex, set: DaemonSet): ControllerRevision {
	const [draft] = creates(look(index, set).effects, 'ControllerRevision');
	if (draft === undefined) throw new Error('no revision is asked for');
	const revision = made(draft) as ControllerRevision;
	put(index, revision);
	return revision;
}

const readyStatus: PodStatus = {phase: 'Running', conditions: [scheduled, ready]};

/** A pod that the set made for the node, committed. */
export function daemonOn(
	index: ObjectIndex,
	set: DaemonSet,
	node: string,
	revision: ControllerRevision,
	{status = readyStatus, metadata = {}}: {readonly status?: PodStatus; readonly metadata?: Partial<ObjectMeta>} = {},
): Pod {
	const name = freeName(set, node, index) ?? '';
	const hash = revision.metadata.labels?.['controller-revision-hash'] ?? '';
	const pod = {...made(daemonPod(set, node, name, hash), metadata), status} as Pod;
	put(index, pod);
	return pod;
}
