// Whether a rule of a Choice holds.

import type {Json, JsonObject} from '../object.js';
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
	return comparison.holds(
		found(value, variable),
		comparison.isPath ? found(valueAtText(textOf(literal), roots), textOf(literal)) : literal,
	);
}

/** Validation lets nothing else in. */
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function found(value: Json | typeof nothing, text: string): Json {
	if (value === nothing) throw new EvaluationError('States.Runtime', `there is nothing at ${text}; IsPresent asks whether there is`);
	return value;
}
