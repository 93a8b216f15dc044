// Rules of label selectors in manifests.

import type {JsonObject, Labels} from '../object.js';
import {joinPath} from '../path.js';
import {matches, type LabelSelector, type SelectorRequirement} from '../selector.js';
import {checkLabels} from './metadata.js';
import {checkLabelKey, checkLabelValue} from './names.js';
import {isEmpty, itemsOf, membersOf, refuse, textOf, type Found} from './report.js';

/** A selector that selects something, and well written. */
export function checkSelector(found: Found, path: string, selector: JsonObject): void {
	if (isEmpty(selector['matchLabels']) && isEmpty(selector['matchExpressions'])) {
		refuse(found, path, 'must not be empty: it would select everything', 'FieldValueRequired');
	}
	checkRequirements(found, path, selector);
}

/** A selector that is well written; an empty one selects everything. */
export function checkRequirements(found: Found, path: string, selector: JsonObject): void {
	checkLabels(found, `${path}.matchLabels`, selector['matchLabels']);
	itemsOf(selector['matchExpressions']).forEach((item, i) => checkRequirement(found, `${path}.matchExpressions[${i}]`, membersOf(item)));
}

function checkRequirement(found: Found, path: string, requirement: JsonObject): void {
	const key = textOf(requirement['key']);
	if (key !== undefined) checkLabelKey(found, `${path}.key`, key);
	const values = itemsOf(requirement['values']);
	const operator = textOf(requirement['operator']);
	if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
		refuse(found, `${path}.values`, `must name a value when the operator is ${operator}`, 'FieldValueRequired');
	}
	if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
		refuse(found, `${path}.values`, `must be empty when the operator is ${operator}`);
	}
	values.forEach((value, i) => {
		if (typeof value === 'string') checkLabelValue(found, joinPath(`${path}.values`, i), value);
	});
}

/** Whether what is made with these labels would be selected. */
export function checkSelects(found: Found, path: string, selector: JsonObject, labels: JsonObject): void {
	if (!matches(selectorOf(selector), labels as Labels)) refuse(found, path, 'must match spec.selector: the pods would not be found again');
}

/** The well-formed part of a selector. */
function selectorOf(selector: JsonObject): LabelSelector {
	return {
		matchLabels: membersOf(selector['matchLabels']) as Labels,
		matchExpressions: itemsOf(selector['matchExpressions']).filter(isRequirement) as unknown as readonly SelectorRequirement[],
	};
}

function isRequirement(item: unknown): boolean {
	const {key, operator, values} = membersOf(item);
	const hasOperator = typeof operator === 'string' && ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator);
	return typeof key === 'string' && hasOperator && (values === undefined || Array.isArray(values));
}
