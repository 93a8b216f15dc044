// The kind LimitRange: what new pods of a namespace may ask for, and what they get without asking.

import {column, nameColumn} from '../columns/common.js';
import {inText} from '../defaults/pod.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft, Json, JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import {quantityValue} from '../quantity.js';
import {amountOf, isQuantity} from '../resource-amount.js';
import {forbid, isEmpty, itemsOf, membersOf, refuse, refuseDuplicates, textOf, type Found} from '../rules/report.js';
import {checkAmount} from '../rules/resources.js';
import type {item, spec} from '../schemas/limitrange.js';
import type {ShapeOf} from '../schemas/parts.js';
import {shown} from '../shown.js';

export type LimitRangeItem = ShapeOf<typeof item>;
export type LimitRangeSpec = ShapeOf<typeof spec>;
export type LimitRange = ApiObject<LimitRangeSpec>;

export const limitRange: KindDefinition = {
	kind: 'LimitRange',
	group: '',
	version: 'v1',
	plural: 'limitranges',
	singular: 'limitrange',
	shortNames: ['limits'],
	namespaced: true,
	defaults: draft => ({...draft, spec: {limits: (draft.spec as LimitRangeSpec).limits.map(withDefaults)}}),
	validate,
	columns: [nameColumn, column('Created At', 'When it was created.', ({metadata}) => metadata.creationTimestamp)],
};

/** Of a container: without a default limit the most is that, without a default request the default limit, or else the least. As in Kubernetes. */
function withDefaults(given: LimitRangeItem): LimitRangeItem {
	const written = Object.fromEntries(
		Object.entries(given).map(([field, value]) => [field, typeof value === 'string' ? value : inText(value)]),
	) as LimitRangeItem;
	if (written.type !== 'Container') return written;
	const most = {...written.max, ...written.default};
	const request = {...written.min, ...most, ...written.defaultRequest};
	return {
		...written,
		...(Object.keys(most).length === 0 ? {} : {default: most}),
		...(Object.keys(request).length === 0 ? {} : {defaultRequest: request}),
	};
}

// ---- rules ---------------------------------------------------------------------------------------------------------------

function validate(found: Found, draft: Draft): void {
	const items = itemsOf(membersOf(draft.spec)['limits']).map(membersOf);
	const at = (i: number): string => `spec.limits[${i}]`;
	refuseDuplicates(
		found,
		items.flatMap(({type}, i) => (typeof type === 'string' ? [{value: type, path: `${at(i)}.type`}] : [])),
		(type, first) => `${shown(type)} is there already, at ${first}`,
	);
	items.forEach((item, i) => checkItem(found, at(i), item));
}

const ofContainers = ['default', 'defaultRequest'] as const;
const amountFields = ['max', 'min', ...ofContainers] as const;

function checkItem(found: Found, path: string, item: JsonObject): void {
	const type = textOf(item['type']) ?? '';
	const resources = type === 'PersistentVolumeClaim' ? ['storage'] : ['cpu', 'memory'];
	if (type !== 'Container')
		for (const field of ofContainers)
			if (!isEmpty(item[field]))
				forbid(found, `${path}.${field}`, `must not be set when the type is ${shown(type)}: only containers have defaults`);
	if (type === 'PersistentVolumeClaim' && isEmpty(item['max']) && isEmpty(item['min']))
		refuse(found, path, 'must have a max or a min of storage', 'FieldValueRequired');
	for (const field of [...amountFields, 'maxLimitRequestRatio'] as const) {
		const members = membersOf(item[field]);
		for (const resource in members) {
			const at = joinPath(`${path}.${field}`, resource);
			if (!resources.includes(resource))
				forbid(
					found,
					at,
					`the resource ${shown(resource)} is not supported yet; ${resources.join(' and ')} ${resources.length > 1 ? 'are' : 'is'}`,
				);
			else if (field === 'maxLimitRequestRatio') checkRatio(found, at, members[resource]);
			else checkAmount(found, at, resource, members[resource]);
		}
	}
	for (const resource of resources) checkOrder(found, path, item, resource);
}

function checkRatio(found: Found, path: string, ratio: Json | undefined): void {
	if (!isQuantity(ratio)) return;
	const value = quantityValue(ratio);
	if (value === undefined || value < 1) refuse(found, path, `must be a number from 1 on, got ${shown(ratio)}`);
}

/** From the least to the most. */
const inOrder = ['min', 'defaultRequest', 'default', 'max'] as const;

function checkOrder(found: Found, path: string, item: JsonObject, resource: string): void {
	const quantityOf = (field: string): Json | undefined => membersOf(item[field])[resource];
	const refuseLess = (field: string, lower: string): void =>
		refuse(
			found,
			joinPath(`${path}.${field}`, resource),
			`must be at least the ${lower} of ${shown(quantityOf(lower))}, got ${shown(quantityOf(field))}`,
		);
	const [least, most] = [amountOf(resource, quantityOf('min')), amountOf(resource, quantityOf('max'))];
	// Defaults were made of them.
	if (least !== undefined && most !== undefined && most < least) return refuseLess('max', 'min');
	let lower: {readonly field: string; readonly amount: number} | undefined;
	for (const field of inOrder) {
		const amount = amountOf(resource, quantityOf(field));
		if (amount === undefined) continue;
		if (lower !== undefined && amount < lower.amount) refuseLess(field, lower.field);
		else lower = {field, amount};
	}
	const given = quantityOf('maxLimitRequestRatio');
	const ratio = isQuantity(given) ? quantityValue(given) : undefined;
	if (ratio !== undefined && least !== undefined && most !== undefined && ratio * least > most)
		refuse(found, joinPath(`${path}.maxLimitRequestRatio`, resource), `must be at most max/min, ${most / least}, got ${shown(given)}`);
}
