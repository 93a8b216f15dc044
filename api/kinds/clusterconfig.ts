// The kind ClusterConfig: settings that people change while the cluster runs.

import {ageColumn, column, nameColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {membersOf, refuse, type Found} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/clusterconfig.js';
import type {RuntimeClass} from '../runtime-class.js';
import type {SchedulerStrategy} from '../scheduler-strategies.js';
import {shown} from '../shown.js';

export type ClusterConfigSpec = ShapeOf<typeof spec>;
export type ClusterConfig = ApiObject<ClusterConfigSpec, ShapeOf<typeof status>>;

/** The only name a ClusterConfig may have. */
export const clusterConfigName = 'cluster';

/** How pods are spread when the ClusterConfig does not say. */
export const defaultStrategy: SchedulerStrategy = 'least-pods';

/** Of pods that name none when the ClusterConfig does not say: what every pod was before there were classes. */
const defaultClass: RuntimeClass = 'process';

/** The class of new pods that name none. */
export const defaultClassOf = (config: Pick<ClusterConfig, 'spec'> | undefined): RuntimeClass =>
	config?.spec?.runtime?.default ?? defaultClass;

export const clusterConfig: KindDefinition = {
	kind: 'ClusterConfig',
	group: 'troupe.dev',
	version: 'v1',
	plural: 'clusterconfigs',
	singular: 'clusterconfig',
	shortNames: ['config'],
	namespaced: false,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec ?? {})}),
	validate,
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
		column('Runtime', 'The class of new pods that name none.', object => defaultClassOf(object as ClusterConfig)),
		ageColumn,
	],
};

/** All settings, those that were never set included. */
export const withDefaults = (spec: ClusterConfigSpec): ClusterConfigSpec => ({
	...spec,
	scheduler: {...spec.scheduler, strategy: spec.scheduler?.strategy ?? defaultStrategy},
	runtime: {...spec.runtime, default: defaultClassOf({spec})},
});

function validate(found: Found, object: Draft): void {
	const {name} = membersOf(object.metadata);
	if (name !== clusterConfigName) {
		refuse(found, 'metadata.name', `there is one ClusterConfig, and its name is "${clusterConfigName}", got ${shown(name)}`);
	}
}
