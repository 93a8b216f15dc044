// The kind PodDisruptionBudget: how many of some pods evictions must leave.

import {ageColumn, column, nameColumn, numberColumn} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {checkCountOrPercent} from '../rules/count-or-percent.js';
import {membersOf, requireOne, type Found} from '../rules/report.js';
import {checkRequirements} from '../rules/selector.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/poddisruptionbudget.js';

export type PodDisruptionBudgetSpec = ShapeOf<typeof spec>;
export type PodDisruptionBudgetStatus = ShapeOf<typeof status>;
export type PodDisruptionBudget = ApiObject<PodDisruptionBudgetSpec, PodDisruptionBudgetStatus>;

const asBudget = (object: ApiObject): PodDisruptionBudget => object as PodDisruptionBudget;

const notSaid = 'N/A';

export const podDisruptionBudget: KindDefinition = {
	kind: 'PodDisruptionBudget',
	group: 'policy',
	version: 'v1',
	plural: 'poddisruptionbudgets',
	singular: 'poddisruptionbudget',
	shortNames: ['pdb'],
	namespaced: true,
	defaults: draft => draft,
	validate,
	initialStatus: (): PodDisruptionBudgetStatus => ({disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0}),
	columns: [
		nameColumn,
		column('Min Available', 'How many of its pods must stay healthy.', object => String(asBudget(object).spec?.minAvailable ?? notSaid)),
		column('Max Unavailable', 'How many of its pods may be missing.', object => String(asBudget(object).spec?.maxUnavailable ?? notSaid)),
		numberColumn('Allowed Disruptions', 'How many pods may be evicted now.', object => asBudget(object).status?.disruptionsAllowed ?? 0),
		ageColumn,
	],
};

function validate(found: Found, draft: Draft): void {
	const spec = membersOf(draft.spec);
	requireOne(found, 'spec', spec, ['minAvailable', 'maxUnavailable'], ['selector', 'unhealthyPodEvictionPolicy']);
	checkCountOrPercent(found, 'spec.minAvailable', spec['minAvailable'], 100);
	checkCountOrPercent(found, 'spec.maxUnavailable', spec['maxUnavailable'], 100);
	checkRequirements(found, 'spec.selector', membersOf(spec['selector']));
}
