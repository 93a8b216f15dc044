// Rules of a Choice's rules: one comparison with a literal of its type, or And, Or, Not of others.

import {limits} from '../../limits.js';
import {isObject, type Json, type JsonObject} from '../../object.js';
import {joinPath} from '../../path.js';
import {refuse} from '../../rules/report.js';
import {shown} from '../../shown.js';
import {didYouMean} from '../../suggest.js';
import {comparisonNamed, comparisonNames, isPresent, type Literal} from '../comparisons.js';
import {timestampMs} from '../timestamp.js';
import {checkMembers, checkPath, itemsIn, type Found} from './report.js';

const joins = ['And', 'Or', 'Not'] as const;
const known = [...joins, ...comparisonNames];

export function checkChoices(found: Found, path: string, value: Json | undefined): void {
	itemsIn(found, path, value).forEach((rule, index) => {
		const at = joinPath(path, index);
		checkRule(found, at, rule, 0);
		if (isObject(rule) && typeof rule['Next'] !== 'string')
			refuse(found, `${at}.Next`, `must be the name of a state, got ${shown(rule['Next'])}`, 'FieldValueRequired');
	});
}

function checkRule(found: Found, path: string, rule: Json, depth: number): void {
	if (!isObject(rule)) return refuse(found, path, `must be an object, got ${shown(rule)}`);
	if (depth > limits.statesRuleDepth) return refuse(found, path, `rules are nested deeper than ${limits.statesRuleDepth} levels`);
	if (depth > 0 && rule['Next'] !== undefined)
		refuse(found, `${path}.Next`, 'belongs to the outermost rule alone; leave it out here', 'FieldValueForbidden');
	const given = known.filter(name => rule[name] !== undefined);
	const [operator, second] = given;
	checkMembers(found, path, rule, ['Comment', 'Next', 'Variable', ...known], 'a rule');
	if (second !== undefined && operator !== undefined)
		return refuse(found, `${path}.${second}`, `stands beside ${operator}; And joins several comparisons`, 'FieldValueForbidden');
	if (operator === undefined) return refuse(found, path, noOperator(rule), 'FieldValueRequired');
	const inner = rule[operator] ?? null;
	if (operator === 'Not') return checkRule(found, `${path}.Not`, inner, depth + 1);
	if (operator === 'And' || operator === 'Or') {
		itemsIn(found, `${path}.${operator}`, inner).forEach((each, at) =>
			checkRule(found, joinPath(`${path}.${operator}`, at), each, depth + 1),
		);
		return;
	}
	checkComparison(found, path, rule, operator);
}

function noOperator(rule: JsonObject): string {
	const [other] = Object.keys(rule).filter(name => !['Comment', 'Next', 'Variable'].includes(name));
	return `an operator such as NumericEquals, or And, Or, Not, is missing${other === undefined ? '' : didYouMean(other, known)}`;
}

function checkComparison(found: Found, path: string, rule: JsonObject, operator: string): void {
	if (rule['Variable'] === undefined)
		refuse(found, path, `Variable is missing: the path of what ${operator} looks at`, 'FieldValueRequired');
	checkPath(found, `${path}.Variable`, rule['Variable']);
	const at = `${path}.${operator}`;
	const comparison = comparisonNamed(operator);
	if (comparison?.isPath === true) return checkPath(found, at, rule[operator]);
	const literal = operator === isPresent ? 'boolean' : (comparison?.literal ?? 'boolean');
	const message = literalFault(literal, rule[operator] ?? null);
	if (message !== undefined) refuse(found, at, message);
}

function literalFault(literal: Literal, value: Json): string | undefined {
	switch (literal) {
		case 'text':
			return typeof value === 'string' ? undefined : `must be a text, got ${shown(value)}${otherOperator(value)}`;
		case 'number':
			return typeof value === 'number' ? undefined : `must be a number, got ${shown(value)}${otherOperator(value)}`;
		case 'boolean':
			return typeof value === 'boolean' ? undefined : `must be true or false, got ${shown(value)}`;
		case 'timestamp':
			return timestampMs(value) === undefined ? `must be a time such as "2030-01-31T12:00:00Z", got ${shown(value)}` : undefined;
		case 'pattern':
			if (typeof value !== 'string') return `must be a text in which * stands for any characters, got ${shown(value)}`;
			return value.length > limits.statesPatternCharacters ? `must have at most ${limits.statesPatternCharacters} characters` : undefined;
	}
}

/** The operators of the type that is written. */
function otherOperator(value: Json): string {
	if (typeof value === 'number') return '; operators of numbers begin with Numeric';
	if (typeof value === 'boolean') return '; the operator is BooleanEquals';
	return typeof value === 'string' ? '; operators of texts begin with String' : '';
}
