// Rules of a pod's affinity: which nodes and which other pods it wants to be near to or away from.

import type {Json, JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import {shown} from '../shown.js';
import {checkDnsLabel, checkLabelKey, checkLabelValue} from './names.js';
import {isEmpty, itemsOf, membersOf, refuse, textOf, type Found} from './report.js';
import {checkSelector} from './selector.js';

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

export function checkAffinity(found: Found, path: string, affinity: unknown): void {
	const {nodeAffinity, podAffinity, podAntiAffinity} = membersOf(affinity);
	checkNodeAffinity(found, `${path}.nodeAffinity`, membersOf(nodeAffinity));
	checkPodAffinity(found, `${path}.podAffinity`, membersOf(podAffinity));
	checkPodAffinity(found, `${path}.podAntiAffinity`, membersOf(podAntiAffinity));
}

function checkNodeAffinity(found: Found, path: string, affinity: JsonObject): void {
	const terms = membersOf(affinity[required])['nodeSelectorTerms'];
	const at = `${path}.${required}.nodeSelectorTerms`;
	if (Array.isArray(terms) && terms.length === 0)
		refuse(found, at, 'must have at least one term: without any no node matches', 'FieldValueRequired');
	itemsOf(terms).forEach((term, i) => checkNodeTerm(found, `${at}[${i}]`, membersOf(term)));
	itemsOf(affinity[preferred]).forEach((item, i) =>
		checkNodeTerm(found, `${path}.${preferred}[${i}].preference`, membersOf(membersOf(item)['preference'])),
	);
}

function checkNodeTerm(found: Found, path: string, {matchExpressions, matchFields}: JsonObject): void {
	itemsOf(matchExpressions).forEach((item, i) => {
		const at = `${path}.matchExpressions[${i}]`;
		const requirement = membersOf(item);
		const key = textOf(requirement['key']);
		if (key !== undefined) checkLabelKey(found, `${at}.key`, key);
		checkValues(found, at, requirement);
		itemsOf(requirement['values']).forEach((value, j) => {
			if (typeof value === 'string') checkLabelValue(found, joinPath(`${at}.values`, j), value);
		});
	});
	itemsOf(matchFields).forEach((item, i) => checkField(found, `${path}.matchFields[${i}]`, membersOf(item)));
}

/** A node has one field by which it can be named. */
function checkField(found: Found, path: string, requirement: JsonObject): void {
	const key = textOf(requirement['key']);
	const operator = textOf(requirement['operator']);
	if (key !== undefined && key !== 'metadata.name') refuse(found, `${path}.key`, `must be metadata.name, got ${shown(key)}`);
	if (operator !== undefined && operator !== 'In' && operator !== 'NotIn')
		refuse(found, `${path}.operator`, `must be In or NotIn, got ${shown(operator)}`);
	else checkValues(found, path, requirement);
}

function checkValues(found: Found, path: string, requirement: JsonObject): void {
	const values = itemsOf(requirement['values']);
	const operator = textOf(requirement['operator']);
	const at = `${path}.values`;
	switch (operator) {
		case 'In':
		case 'NotIn':
			if (values.length === 0) refuse(found, at, `must name a value when the operator is ${operator}`, 'FieldValueRequired');
			return;
		case 'Exists':
		case 'DoesNotExist':
			if (values.length > 0) refuse(found, at, `must be empty when the operator is ${operator}`);
			return;
		case 'Gt':
		case 'Lt':
			if (values.length !== 1 || !isWholeText(values[0]))
				refuse(
					found,
					at,
					`must be one whole number as text when the operator is ${operator}, got ${shown(values.length === 1 ? values[0] : `${values.length} values`)}`,
				);
			return;
		default:
	}
}

const isWholeText = (value: Json | undefined): boolean => typeof value === 'string' && /^-?\d{1,15}$/.test(value);

function checkPodAffinity(found: Found, path: string, affinity: JsonObject): void {
	itemsOf(affinity[required]).forEach((term, i) => checkPodTerm(found, `${path}.${required}[${i}]`, membersOf(term)));
	itemsOf(affinity[preferred]).forEach((item, i) =>
		checkPodTerm(found, `${path}.${preferred}[${i}].podAffinityTerm`, membersOf(membersOf(item)['podAffinityTerm'])),
	);
}

function checkPodTerm(found: Found, path: string, {topologyKey, labelSelector, namespaces}: JsonObject): void {
	checkTopologyKey(found, `${path}.topologyKey`, topologyKey);
	checkPodSelector(found, `${path}.labelSelector`, labelSelector);
	itemsOf(namespaces).forEach((namespace, i) => {
		if (typeof namespace === 'string') checkDnsLabel(found, joinPath(`${path}.namespaces`, i), namespace);
	});
}

/** The label of nodes that makes the parts of a cluster. */
export function checkTopologyKey(found: Found, path: string, key: unknown): void {
	if (key === '')
		refuse(found, path, 'is required: the label of nodes that makes the parts, such as "kubernetes.io/hostname"', 'FieldValueRequired');
	else if (typeof key === 'string') checkLabelKey(found, path, key);
}

/** An empty selector names all pods, none names no pod: both mean something here. */
export function checkPodSelector(found: Found, path: string, selector: unknown): void {
	const members = membersOf(selector);
	if (!isEmpty(members['matchLabels']) || !isEmpty(members['matchExpressions'])) checkSelector(found, path, members);
}
