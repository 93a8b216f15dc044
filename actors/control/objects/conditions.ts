// Conditions of a status: set one or take one away, keep the others, and keep the reference where nothing changes.

import {conditionOf} from '../../../api/conditions.js';
import {timestampOf, type Condition} from '../../../api/object.js';

/** The list with this condition; its transition time moves only when its status does. */
export function withCondition(
	conditions: readonly Condition[] | undefined,
	condition: Omit<Condition, 'lastTransitionTime'>,
	nowMs: number,
): readonly Condition[] {
	const present = conditions ?? [];
	const old = conditionOf(present, condition.type);
	if (old !== undefined && old.status === condition.status && old.reason === condition.reason && old.message === condition.message)
		return present;
	const lastTransitionTime =
		old?.status === condition.status && old.lastTransitionTime !== undefined ? old.lastTransitionTime : timestampOf(nowMs);
	const changed = {...condition, lastTransitionTime};
	return old === undefined ? [...present, changed] : present.map(each => (each === old ? changed : each));
}

export const withoutCondition = (conditions: readonly Condition[] | undefined, type: string): readonly Condition[] | undefined =>
	conditionOf(conditions, type) === undefined ? conditions : conditions?.filter(condition => condition.type !== type);
