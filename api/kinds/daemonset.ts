// The kind DaemonSet: a pod of one template on each node that fits.

import {ageColumn, column, nameColumn, none, numberColumn, templateColumns} from '../columns/common.js';
import {withTemplateDefaults} from '../defaults/pod.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft, JsonObject} from '../object.js';
import {checkCountOrPercent, isZeroCount} from '../rules/count-or-percent.js';
import {forbid, membersOf, refuse, type Found} from '../rules/report.js';
import {checkWorkload} from '../rules/workload.js';
import type {spec, status} from '../schemas/daemonset.js';
import type {ShapeOf} from '../schemas/parts.js';

export type DaemonSetSpec = ShapeOf<typeof spec>;
export type DaemonSetStatus = ShapeOf<typeof status>;
export type DaemonSet = ApiObject<DaemonSetSpec, DaemonSetStatus>;

const asDaemonSet = (object: ApiObject): DaemonSet => object as DaemonSet;

const statusColumn = (name: string, description: string, of: (status: DaemonSetStatus) => number | undefined) =>
	numberColumn(name, description, object => {
		const {status} = asDaemonSet(object);
		return (status && of(status)) ?? 0;
	});

export const daemonSet: KindDefinition = {
	kind: 'DaemonSet',
	group: 'apps',
	version: 'v1',
	plural: 'daemonsets',
	singular: 'daemonset',
	shortNames: ['ds'],
	categories: ['all'],
	namespaced: true,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec as DaemonSetSpec)}),
	validate,
	initialStatus: (): DaemonSetStatus => ({
		desiredNumberScheduled: 0,
		currentNumberScheduled: 0,
		numberMisscheduled: 0,
		numberReady: 0,
	}),
	columns: [
		nameColumn,
		statusColumn('Desired', 'On how many nodes there should be a pod.', status => status.desiredNumberScheduled),
		statusColumn('Current', 'On how many of them there is one.', status => status.currentNumberScheduled),
		statusColumn('Ready', 'On how many nodes it is ready.', status => status.numberReady),
		statusColumn('Up-to-date', 'On how many nodes it is of the newest template.', status => status.updatedNumberScheduled),
		statusColumn('Available', 'On how many nodes it can be relied on.', status => status.numberAvailable),
		column('Node Selector', 'Labels that its nodes have.', object => selectorText(asDaemonSet(object))),
		ageColumn,
		...templateColumns(object => {
			const {spec} = asDaemonSet(object);
			return spec === undefined ? undefined : {spec: spec.template.spec, selector: spec.selector};
		}),
	],
};

const selectorText = ({spec}: DaemonSet): string =>
	Object.entries(spec?.template.spec.nodeSelector ?? {})
		.map(([label, value]) => `${label}=${value}`)
		.join(',') || none;

/** As in Kubernetes. */
const defaults = {unavailable: 1, surge: 0, revisions: 10} as const;

const withDefaults = (spec: DaemonSetSpec): DaemonSetSpec => ({
	...spec,
	updateStrategy:
		spec.updateStrategy?.type === 'OnDelete'
			? spec.updateStrategy
			: {
					type: 'RollingUpdate',
					rollingUpdate: {
						maxUnavailable: spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? defaults.unavailable,
						maxSurge: spec.updateStrategy?.rollingUpdate?.maxSurge ?? defaults.surge,
					},
				},
	revisionHistoryLimit: spec.revisionHistoryLimit ?? defaults.revisions,
	template: {...spec.template, spec: withTemplateDefaults(spec.template.spec)},
});

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const spec = membersOf(draft.spec);
	checkWorkload(found, draft, old, 'DaemonSet');
	if (membersOf(membersOf(spec['template'])['spec'])['activeDeadlineSeconds'] !== undefined)
		forbid(found, 'spec.template.spec.activeDeadlineSeconds', 'must not be set in a DaemonSet: its pods run as long as their nodes');
	checkStrategy(found, 'spec.updateStrategy', membersOf(spec['updateStrategy']));
}

function checkStrategy(found: Found, path: string, strategy: JsonObject): void {
	if (strategy['type'] === 'OnDelete') {
		if (strategy['rollingUpdate'] !== undefined) forbid(found, `${path}.rollingUpdate`, 'must not be set when the type is OnDelete');
		return;
	}
	const {maxSurge, maxUnavailable} = membersOf(strategy['rollingUpdate']);
	checkCountOrPercent(found, `${path}.rollingUpdate.maxSurge`, maxSurge, 100);
	checkCountOrPercent(found, `${path}.rollingUpdate.maxUnavailable`, maxUnavailable, 100);
	const isSurging = maxSurge !== undefined && !isZeroCount(maxSurge);
	const isLacking = maxUnavailable !== undefined && !isZeroCount(maxUnavailable);
	if (isSurging && isLacking) refuse(found, `${path}.rollingUpdate.maxSurge`, 'must be 0 unless maxUnavailable is 0');
	if (isZeroCount(maxSurge) && isZeroCount(maxUnavailable))
		refuse(found, `${path}.rollingUpdate.maxUnavailable`, 'must not be 0 when maxSurge is 0: no pod could ever be replaced');
}
