// The kind StatefulSet: so many pods of one template, each with a number and a name that it keeps.

import {ageColumn, column, nameColumn, templateColumns} from '../columns/common.js';
import {withPodDefaults} from '../defaults/pod.js';
import type {KindDefinition} from '../kind.js';
import {hashNameLength} from '../names.js';
import type {ApiObject, Draft, JsonObject} from '../object.js';
import {checkUnchanged} from '../rules/immutable.js';
import {checkDnsLabel} from '../rules/names.js';
import {forbid, membersOf, refuse, textOf, type Found} from '../rules/report.js';
import {checkCountOrPercent, isZeroCount} from '../rules/count-or-percent.js';
import {checkWorkload} from '../rules/workload.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/statefulset.js';

export type StatefulSetSpec = ShapeOf<typeof spec>;
export type StatefulSetStatus = ShapeOf<typeof status>;
export type StatefulSet = ApiObject<StatefulSetSpec, StatefulSetStatus>;

const asStatefulSet = (object: ApiObject): StatefulSet => object as StatefulSet;

export const statefulSet: KindDefinition = {
	kind: 'StatefulSet',
	group: 'apps',
	version: 'v1',
	plural: 'statefulsets',
	singular: 'statefulset',
	shortNames: ['sts'],
	categories: ['all'],
	namespaced: true,
	scalable: true,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec as StatefulSetSpec)}),
	validate,
	initialStatus: (): StatefulSetStatus => ({replicas: 0, availableReplicas: 0}),
	columns: [
		nameColumn,
		column(
			'Ready',
			'How many pods are ready, of how many.',
			object => `${asStatefulSet(object).status?.readyReplicas ?? 0}/${asStatefulSet(object).spec?.replicas ?? 0}`,
		),
		ageColumn,
		...templateColumns(object => {
			const {spec} = asStatefulSet(object);
			return spec === undefined ? undefined : {spec: spec.template.spec, selector: spec.selector};
		}).filter(({name}) => name !== 'Selector'),
	],
};

/** As in Kubernetes. */
const defaults = {partition: 0, unavailable: 1, revisions: 10} as const;

const withDefaults = (spec: StatefulSetSpec): StatefulSetSpec => ({
	...spec,
	replicas: spec.replicas ?? 1,
	podManagementPolicy: spec.podManagementPolicy ?? 'OrderedReady',
	updateStrategy:
		spec.updateStrategy?.type === 'OnDelete'
			? spec.updateStrategy
			: {
					type: 'RollingUpdate',
					rollingUpdate: {
						partition: spec.updateStrategy?.rollingUpdate?.partition ?? defaults.partition,
						maxUnavailable: spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? defaults.unavailable,
					},
				},
	revisionHistoryLimit: spec.revisionHistoryLimit ?? defaults.revisions,
	template: {...spec.template, spec: withPodDefaults(spec.template.spec)},
});

/** With a hyphen and the name of a revision it is still the value of a label. */
const longestName = 63 - hashNameLength - 1;

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const spec = membersOf(draft.spec);
	checkName(found, textOf(draft.metadata.name) ?? '');
	checkWorkload(found, draft, old, 'StatefulSet');
	if (membersOf(membersOf(spec['template'])['spec'])['activeDeadlineSeconds'] !== undefined)
		forbid(found, 'spec.template.spec.activeDeadlineSeconds', 'must not be set in a StatefulSet: its pods have no end');
	checkStrategy(found, 'spec.updateStrategy', membersOf(spec['updateStrategy']));
	if (old === undefined) return;
	const before = membersOf(old.spec);
	for (const field of ['serviceName', 'podManagementPolicy']) checkUnchanged(found, `spec.${field}`, spec[field], before[field]);
}

/** Its pods are called like it, and a host has that name. */
function checkName(found: Found, name: string): void {
	if (name === '') return;
	checkDnsLabel(found, 'metadata.name', name);
	if (name.length > longestName)
		refuse(found, 'metadata.name', `must have at most ${longestName} characters, got ${name.length}: its pods have longer names`);
}

function checkStrategy(found: Found, path: string, strategy: JsonObject): void {
	if (strategy['type'] === 'OnDelete') {
		if (strategy['rollingUpdate'] !== undefined) forbid(found, `${path}.rollingUpdate`, 'must not be set when the type is OnDelete');
		return;
	}
	const {maxUnavailable} = membersOf(strategy['rollingUpdate']);
	checkCountOrPercent(found, `${path}.rollingUpdate.maxUnavailable`, maxUnavailable, 100);
	if (isZeroCount(maxUnavailable)) refuse(found, `${path}.rollingUpdate.maxUnavailable`, 'must not be 0: no pod could ever be replaced');
}
