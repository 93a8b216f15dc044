// How much work one step of a run may be: a path such as `$..*[?(@..*)]` looks at each value once for each value.

import {limits} from '../limits.js';
import {EvaluationError} from './errors.js';

/** What is left of it: the one value of an evaluation that changes. */
export type Budget = {left: number};

export const newBudget = (): Budget => ({left: limits.statesStepValues});

/** Takes some of it. Throws States.Runtime where there is nothing left. */
export function spend(budget: Budget, values: number): void {
	budget.left -= values;
	if (budget.left < 0)
		throw new EvaluationError('States.Runtime', `the paths of this state look at more than ${limits.statesStepValues} values`);
}
