// Conditions of a status, read by their type.

import type {Condition} from './object.js';

export const conditionOf = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
	conditions?.find(condition => condition.type === type);

/** Whether there is one of that type, and it is True: not False, not Unknown. */
export const isConditionTrue = (conditions: readonly Condition[] | undefined, type: string): boolean =>
	conditionOf(conditions, type)?.status === 'True';
