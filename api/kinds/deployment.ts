// The kind Deployment: pods of one template, replaced step by step when it changes.

import {ageColumn, column, nameColumn, numberColumn, templateColumns} from '../columns/common.js';
import {withTemplateDefaults} from '../defaults/pod.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft, JsonObject} from '../object.js';
import {checkCountOrPercent, isZeroCount} from '../rules/count-or-percent.js';
import {forbid, membersOf, refuse, type Found} from '../rules/report.js';
import {checkWorkload} from '../rules/workload.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {condition, spec, status} from '../schemas/deployment.js';

export type DeploymentSpec = ShapeOf<typeof spec>;
export type DeploymentStatus = ShapeOf<typeof status>;
export type DeploymentCondition = ShapeOf<typeof condition>;
export type Deployment = ApiObject<DeploymentSpec, DeploymentStatus>;

const asDeployment = (object: ApiObject): Deployment => object as Deployment;

/** As in Kubernetes. */
const defaults = {part: '25%', revisions: 10, progressSeconds: 600} as const;

export const deployment: KindDefinition = {
	kind: 'Deployment',
	group: 'apps',
	version: 'v1',
	plural: 'deployments',
	singular: 'deployment',
	shortNames: ['deploy'],
	categories: ['all'],
	namespaced: true,
	scalable: true,
	schemaVersion: 1,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec as DeploymentSpec)}),
	validate,
	initialStatus: (): DeploymentStatus => ({}),
	columns: [
		nameColumn,
		column(
			'Ready',
			'How many pods are ready, of how many.',
			object => `${asDeployment(object).status?.readyReplicas ?? 0}/${asDeployment(object).spec?.replicas ?? 0}`,
		),
		numberColumn('Up-to-date', 'How many pods are of the newest template.', object => asDeployment(object).status?.updatedReplicas ?? 0),
		numberColumn('Available', 'How many pods can be relied on.', object => asDeployment(object).status?.availableReplicas ?? 0),
		ageColumn,
		...templateColumns(object => {
			const {spec} = asDeployment(object);
			return spec === undefined ? undefined : {spec: spec.template.spec, selector: spec.selector};
		}),
	],
	selectableFields: {},
};

const withDefaults = (spec: DeploymentSpec): DeploymentSpec => ({
	...spec,
	replicas: spec.replicas ?? 1,
	strategy:
		spec.strategy?.type === 'Recreate'
			? spec.strategy
			: {
					type: 'RollingUpdate',
					rollingUpdate: {
						maxSurge: spec.strategy?.rollingUpdate?.maxSurge ?? defaults.part,
						maxUnavailable: spec.strategy?.rollingUpdate?.maxUnavailable ?? defaults.part,
					},
				},
	revisionHistoryLimit: spec.revisionHistoryLimit ?? defaults.revisions,
	progressDeadlineSeconds: spec.progressDeadlineSeconds ?? defaults.progressSeconds,
	template: {...spec.template, spec: withTemplateDefaults(spec.template.spec)},
});

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const spec = membersOf(draft.spec);
	checkWorkload(found, draft, old, 'Deployment');
	checkStrategy(found, 'spec.strategy', membersOf(spec['strategy']));
	const {minReadySeconds, progressDeadlineSeconds} = spec;
	if (typeof minReadySeconds === 'number' && typeof progressDeadlineSeconds === 'number' && progressDeadlineSeconds <= minReadySeconds)
		refuse(found, 'spec.progressDeadlineSeconds', `must be more than minReadySeconds (${minReadySeconds}), got ${progressDeadlineSeconds}`);
}

function checkStrategy(found: Found, path: string, strategy: JsonObject): void {
	if (strategy['type'] === 'Recreate') {
		if (strategy['rollingUpdate'] !== undefined) forbid(found, `${path}.rollingUpdate`, 'must not be set when the type is Recreate');
		return;
	}
	const {maxSurge, maxUnavailable} = membersOf(strategy['rollingUpdate']);
	checkCountOrPercent(found, `${path}.rollingUpdate.maxSurge`, maxSurge, Infinity);
	checkCountOrPercent(found, `${path}.rollingUpdate.maxUnavailable`, maxUnavailable, 100);
	if (isZeroCount(maxSurge) && isZeroCount(maxUnavailable))
		refuse(found, `${path}.rollingUpdate.maxUnavailable`, 'must not be 0 when maxSurge is 0: no pod could ever be replaced');
}
