// StatefulSets with what they own, as the index would hold them.

import type {ControllerRevision} from '../../api/kinds/controllerrevision.js';
import type {Pod, PodStatus} from '../../api/kinds/pod.js';
import type {StatefulSet, StatefulSetSpec} from '../../api/kinds/statefulset.js';
import type {ObjectMeta} from '../../api/object.js';
import {statefulPod} from '../../actors/control/workloads/stateful-pods.js';
import type {Effect} from '../../system/kernel/behavior.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {creates, look, made} from './_daemonsets.js';
import {aContainer, before, drop, indexOf, put, ready, scheduled, type contextWith} from './_objects.js';

export const aStatefulSet = (spec: Partial<StatefulSetSpec> = {}, metadata: Partial<ObjectMeta> = {}): StatefulSet => ({
	apiVersion: 'apps/v1',
	kind: 'StatefulSet',
	metadata: {
		name: 'db',
		namespace: 'default',
		uid: 'uid-of-sts',
		resourceVersion: '1',
		generation: 1,
		creationTimestamp: before,
		...metadata,
	},
	spec: {
		replicas: 3,
		selector: {matchLabels: {app: 'db'}},
		template: {metadata: {labels: {app: 'db'}}, spec: {containers: [aContainer()], restartPolicy: 'Always'}},
		podManagementPolicy: 'OrderedReady',
		updateStrategy: {type: 'RollingUpdate', rollingUpdate: {partition: 0, maxUnavailable: 1}},
		revisionHistoryLimit: 10,
		...spec,
	},
	status: {replicas: 0},
});

/** The set with some of its spec changed. */
function changed(set: StatefulSet, spec: Partial<StatefulSetSpec>): StatefulSet {
	if (set.spec === undefined) return set;
	return {...set, metadata: {...set.metadata, generation: set.metadata.generation + 1}, spec: {...set.spec, ...spec}};
}

export const templateOf = (image: string): StatefulSetSpec['template'] => ({
	metadata: {labels: {app: 'db'}},
	spec: {containers: [aContainer({image})], restartPolicy: 'Always'},
});

export const names = (effects: readonly Effect[]): readonly (string | undefined)[] =>
	creates(effects, 'Pod').map(({metadata}) => metadata.name);
export const deletions = (effects: readonly Effect[]): readonly string[] =>
	effects.flatMap(effect => (effect.type === 'delete' ? [effect.key.slice(effect.key.lastIndexOf('/') + 1)] : []));

/** A set in an index, with the revision of its template; what it looks like is followed. */
export class World {
	set: StatefulSet;
	readonly index: ObjectIndex;
	#revision: ControllerRevision | undefined;

	constructor(spec: Partial<StatefulSetSpec> = {}) {
		this.set = aStatefulSet(spec);
		this.index = indexOf(this.set);
		this.revise();
	}

	get revision(): ControllerRevision {
		if (this.#revision === undefined) throw new Error('no revision');
		return this.#revision;
	}

	/** Commits the revision that the set asks for. */
	revise(): void {
		const [draft] = creates(look(this.index, this.set).effects, 'ControllerRevision');
		if (draft === undefined) return;
		this.#revision = made(draft) as ControllerRevision;
		put(this.index, this.#revision);
	}

	change(spec: Partial<StatefulSetSpec>): void {
		this.set = changed(this.set, spec);
		put(this.index, this.set);
		this.revise();
	}

	/** What it asks for now; its status is committed. */
	look(overrides: Parameters<typeof contextWith>[1] = {}): readonly Effect[] {
		const played = look(this.index, this.set, overrides);
		this.set = played.object as StatefulSet;
		put(this.index, this.set);
		return played.effects;
	}

	pod(
		ordinal: number,
		{status = {phase: 'Running', conditions: [scheduled, ready]}, ...metadata}: Partial<ObjectMeta> & {status?: PodStatus} = {},
	): Pod {
		const pod = {...made(statefulPod(this.set, ordinal, this.revision), metadata), status} as Pod;
		put(this.index, pod);
		return pod;
	}

	get(ordinal: number): Pod {
		const pod = this.index.get(`pods/default/db-${ordinal}`);
		if (pod === undefined) throw new Error(`no pod ${ordinal}`);
		return pod as Pod;
	}

	remove(...ordinals: readonly number[]): void {
		for (const ordinal of ordinals) drop(this.index, this.get(ordinal));
	}
}
