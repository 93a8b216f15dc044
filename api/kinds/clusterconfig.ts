// The kind ClusterConfig: settings that people change while the cluster runs.

import {ageColumn, column, nameColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import type {Problem} from '../problem.js';
import {membersOf, refuse} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/clusterconfig.js';
import type {SchedulerStrategy} from '../scheduler-strategies.js';
import {shown} from '../shown.js';

export type ClusterConfigSpec = ShapeOf<typeof spec>;
export type ClusterConfigStatus = ShapeOf<typeof status>;
export type ClusterConfig = ApiObject<ClusterConfigSpec, ClusterConfigStatus>;

/** The only name a ClusterConfig may have. */
export const clusterConfigName = 'cluster';

/** How pods are spread when the ClusterConfig does not say. */
export const defaultStrategy: SchedulerStrategy = 'least-pods';

export const clusterConfig: KindDefinition = {
	kind: 'ClusterConfig',
	group: 'troupe.dev',
	version: 'v1',
	plural: 'clusterconfigs',
	singular: 'clusterconfig',
	shortNames: ['config'],
	categories: [],
	namespaced: false,
	scalable: false,
	schemaVersion: 1,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec ?? {})}),
	validate,
	initialStatus: () => undefined,
	refuseDeletion: ({metadata}) =>
		metadata.name === clusterConfigName
			? `clusterconfigs "${clusterConfigName}" is forbidden: the cluster needs its configuration`
			: undefined,
	columns: [
		nameColumn,
		column(
			'Strategy',
			'How the scheduler chooses among nodes.',
			object => (object as ClusterConfig).spec?.scheduler?.strategy ?? defaultStrategy,
		),
		ageColumn,
	],
	selectableFields: {},
};

const withDefaults = (spec: ClusterConfigSpec): ClusterConfigSpec => ({
	...spec,
	scheduler: {...spec.scheduler, strategy: spec.scheduler?.strategy ?? defaultStrategy},
});

function validate(object: Draft): readonly Problem[] {
	const found: Problem[] = [];
	const {name} = membersOf(object.metadata);
	if (name !== clusterConfigName) {
		refuse(found, 'metadata.name', `there is one ClusterConfig, and its name is "${clusterConfigName}", got ${shown(name)}`);
	}
	return found;
}
