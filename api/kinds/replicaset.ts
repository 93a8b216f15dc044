// The kind ReplicaSet: so many pods of one template.

import {ageColumn, nameColumn, numberColumn, templateColumns} from '../columns/common.js';
import {withTemplateDefaults} from '../defaults/pod.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject} from '../object.js';
import {checkWorkload} from '../rules/workload.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/replicaset.js';

export type ReplicaSetSpec = ShapeOf<typeof spec>;
export type ReplicaSetStatus = ShapeOf<typeof status>;
export type ReplicaSet = ApiObject<ReplicaSetSpec, ReplicaSetStatus>;

const asReplicaSet = (object: ApiObject): ReplicaSet => object as ReplicaSet;

export const replicaSet: KindDefinition = {
	kind: 'ReplicaSet',
	group: 'apps',
	version: 'v1',
	plural: 'replicasets',
	singular: 'replicaset',
	shortNames: ['rs'],
	categories: ['all'],
	namespaced: true,
	scalable: true,
	schemaVersion: 1,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec as ReplicaSetSpec)}),
	validate: (found, draft, old) => checkWorkload(found, draft, old, 'ReplicaSet'),
	initialStatus: (): ReplicaSetStatus => ({replicas: 0}),
	columns: [
		nameColumn,
		numberColumn('Desired', 'How many pods there should be.', object => asReplicaSet(object).spec?.replicas ?? 0),
		numberColumn('Current', 'How many pods there are.', object => asReplicaSet(object).status?.replicas ?? 0),
		numberColumn('Ready', 'How many of them are ready.', object => asReplicaSet(object).status?.readyReplicas ?? 0),
		ageColumn,
		...templateColumns(object => {
			const {spec} = asReplicaSet(object);
			return spec === undefined ? undefined : {spec: spec.template.spec, selector: spec.selector};
		}),
	],
	selectableFields: {'status.replicas': object => String(asReplicaSet(object).status?.replicas ?? 0)},
};

const withDefaults = (spec: ReplicaSetSpec): ReplicaSetSpec => ({
	...spec,
	replicas: spec.replicas ?? 1,
	template: {...spec.template, spec: withTemplateDefaults(spec.template.spec)},
});
