// The text form of label selectors, as query strings and `-l` have it: `app in (web,p),tier!=db,!canary`.
//
// Grammar: requirements joined by commas; each is `key`, `!key`, `key=value`, `key==value`, `key!=value`, `key in (a,b)` or
// `key notin (a,b)` (apimachinery's labels.Parse, without its numeric comparisons).

import {failed, succeeded, type Outcome} from './errors.js';
import type {Labels} from './object.js';
import {isLabelValue, isQualifiedName} from './rules/names.js';
import type {LabelSelector, SelectorRequirement} from './selector.js';
import {shown} from './shown.js';

/** Of a part whose spaces are single. */
const requirement = /^(?:(!) ?)?([^\s=!,()<>]+)(?: ?(==|=|!=) ?([^\s=!,()]*)| (in|notin) ?\(([^()]*)\))?$/;

/** What a selector text means; every text that is none is refused with the part that is wrong. */
export function parseSelector(text: string): Outcome<LabelSelector> {
	if (text.trim() === '') return succeeded({});
	const requirements: SelectorRequirement[] = [];
	for (const part of partsOf(text)) {
		const parsed = parseRequirement(part);
		if (typeof parsed === 'string') return failed('ERR_BAD_REQUEST', {message: `the label selector ${shown(text)} is wrong: ${parsed}`});
		requirements.push(parsed);
	}
	return succeeded(selectorOf(requirements));
}

/** Splits at commas outside of parentheses. */
function partsOf(text: string): string[] {
	const parts: string[] = [];
	let start = 0;
	let depth = 0;
	for (let i = 0; i < text.length; i++) {
		if (text[i] === '(') depth++;
		else if (text[i] === ')') depth--;
		else if (text[i] === ',' && depth === 0) {
			parts.push(text.slice(start, i));
			start = i + 1;
		}
	}
	parts.push(text.slice(start));
	return parts;
}

/** A requirement, or what is wrong with it. */
function parseRequirement(part: string): SelectorRequirement | string {
	const match = requirement.exec(part.trim().replaceAll(/\s+/g, ' '));
	if (match === null) return `${shown(part.trim())} is no requirement; one is key, !key, key=value, key!=value or key in (a,b)`;
	const [, not, key = '', equality, value = '', setOperator, list = ''] = match;
	if (!isQualifiedName(key)) return `${shown(key)} is no label key`;
	const values = equality !== undefined ? [value] : list.split(',').map(item => item.trim());
	const wrong = values.find(item => !isLabelValue(item));
	if (wrong !== undefined) return `${shown(wrong)} is no label value`;
	if (equality === undefined && setOperator === undefined) return {key, operator: not === undefined ? 'Exists' : 'DoesNotExist'};
	if (not !== undefined) return `"!" and a value do not go together in ${shown(part.trim())}`;
	return {key, operator: equality === '!=' || setOperator === 'notin' ? 'NotIn' : 'In', values};
}

/** One value is an equality, which the index finds directly. */
function selectorOf(requirements: readonly SelectorRequirement[]): LabelSelector {
	const equal = new Map<string, string>();
	const others: SelectorRequirement[] = [];
	for (const one of requirements) {
		const [value, ...more] = one.values ?? [];
		if (one.operator === 'In' && value !== undefined && more.length === 0 && !equal.has(one.key)) equal.set(one.key, value);
		else others.push(one);
	}
	const matchLabels: Labels = Object.fromEntries(equal);
	return {...(equal.size === 0 ? {} : {matchLabels}), ...(others.length === 0 ? {} : {matchExpressions: others})};
}

/** The text of a selector; empty for one that selects everything. */
export function formatSelector({matchLabels = {}, matchExpressions = []}: LabelSelector): string {
	const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
	return [...equal, ...matchExpressions.map(formatRequirement)].join(',');
}

function formatRequirement({key, operator, values = []}: SelectorRequirement): string {
	switch (operator) {
		case 'In':
			return `${key} in (${values.join(',')})`;
		case 'NotIn':
			return `${key} notin (${values.join(',')})`;
		case 'Exists':
			return key;
		case 'DoesNotExist':
			return `!${key}`;
	}
}
