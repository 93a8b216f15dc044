// Whether a rule of a Choice holds.

import type {Json, JsonObject} from '../object.js';
import {spend} from './budget.js';
import {comparisonNamed, comparisonNames, isPresent} from './comparisons.js';
import type {ChoiceRule} from './definition.js';
import {EvaluationError} from './errors.js';
import {nothing, valueAtText, type Roots} from './path.js';

/** Throws States.Runtime where there is nothing to compare. */
export function ruleHolds(rule: ChoiceRule, roots: Roots): boolean {
	const {And, Or, Not} = rule;
	if (And !== undefined) return rulesIn(And).every(each => ruleHolds(each, roots));
	if (Or !== undefined) return rulesIn(Or).some(each => ruleHolds(each, roots));
	if (Not !== undefined) return !ruleHolds(Not as JsonObject, roots);
	return comparisonHolds(rule, roots);
}

const rulesIn = (value: Json): readonly JsonObject[] => value as readonly JsonObject[];

function comparisonHolds(rule: JsonObject, roots: Roots): boolean {
	const variable = textOf(rule['Variable']);
	const operator = comparisonNames.find(name => rule[name] !== undefined) ?? '';
	const literal = rule[operator] ?? null;
	const value = valueAtText(variable, roots);
	if (operator === isPresent) return (value !== nothing) === literal;
	const comparison = comparisonNamed(operator);
	if (comparison === undefined) return false;
	const left = found(value, variable);
	const right = comparison.isPath ? found(valueAtText(textOf(literal), roots), textOf(literal)) : literal;
	spend(roots.budget, costOf(left, comparison.literal === 'pattern' ? textOf(right).length : 1));
	return comparison.holds(left, right);
}

/** A text is compared in portions; with a pattern, each of them as often as that has characters. */
const costOf = (value: Json, times: number): number =>
	typeof value === 'string' ? Math.ceil((value.length * times) / charactersAValue) : 0;

const charactersAValue = 1_024;

/** Validation lets nothing else in. */
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function found(value: Json | typeof nothing, text: string): Json {
	if (value === nothing) throw new EvaluationError('States.Runtime', `there is nothing at ${text}; IsPresent asks whether there is`);
	return value;
}
