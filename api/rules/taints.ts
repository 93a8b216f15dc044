// Rules of taints and tolerations.

import type {JsonObject} from '../object.js';
import {checkLabelKey, checkLabelValue} from './names.js';
import {itemsOf, membersOf, refuse, refuseDuplicates, textOf, type Found} from './report.js';

/** Effect NoExecute: on a node that counts as dead, until it is heard again. */
export const unreachableTaint = 'node.kubernetes.io/unreachable';

export function checkTolerations(found: Found, path: string, tolerations: unknown): void {
	itemsOf(tolerations).forEach((toleration, i) => checkToleration(found, `${path}[${i}]`, membersOf(toleration)));
}

function checkToleration(found: Found, path: string, toleration: JsonObject): void {
	const key = textOf(toleration['key']) ?? '';
	const value = textOf(toleration['value']) ?? '';
	const exists = toleration['operator'] === 'Exists';
	if (key !== '') checkLabelKey(found, `${path}.key`, key);
	else if (!exists) refuse(found, `${path}.operator`, 'must be Exists when the key is empty');
	if (exists && value !== '') refuse(found, `${path}.value`, 'must be empty when the operator is Exists');
	else checkLabelValue(found, `${path}.value`, value);
	if (toleration['tolerationSeconds'] !== undefined && toleration['effect'] !== 'NoExecute') {
		refuse(found, `${path}.effect`, 'must be NoExecute when tolerationSeconds is set');
	}
}

/** A node has one taint of each key and effect. */
export function checkTaints(found: Found, path: string, taints: unknown): void {
	const keys = itemsOf(taints).flatMap((item, i) => {
		const {key, value, effect} = membersOf(item);
		if (typeof key !== 'string') return [];
		checkLabelKey(found, `${path}[${i}].key`, key);
		if (typeof value === 'string') checkLabelValue(found, `${path}[${i}].value`, value);
		return typeof effect === 'string' ? [{value: `${key}:${effect}`, path: `${path}[${i}]`}] : [];
	});
	refuseDuplicates(found, keys, (taint, first) => `the taint ${taint} is at ${first} already`);
}
