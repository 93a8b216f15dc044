// What tells the items of a list apart, so that a list can be merged item by item: the field that schemas name for strategic merge patches, and
// where that alone is not enough, a second one (`listMapKeys` of Kubernetes' OpenAPI document). All other lists are one value. Pure.

import {isObject, type Json} from '../../api/object.js';
import type {PatchField} from '../../api/patch-schemas.cjs';

/** The fields that tell items apart, each with what it is when it is not given; none: the items are plain values and a set. */
export type Identity = readonly (readonly [field: string, usual: string])[];

/** One port number may be there for each protocol; one domain may bind pods in two ways. */
const seconds: {readonly [field: string]: Identity | undefined} = {
	containerPort: [['protocol', 'TCP']],
	port: [['protocol', 'TCP']],
	topologyKey: [['whenUnsatisfiable', '']],
};

/** How the items of a list are told apart. Undefined: the list is one value. */
export function identityOf({list}: PatchField): Identity | undefined {
	if (list === undefined || list === 'set') return list === undefined ? undefined : [];
	return [[list.by, ''], ...(seconds[list.by] ?? [])];
}

/** The items by identity, in order. Undefined where one has none, or two have the same. */
export function byIdentity(list: readonly Json[], identity: Identity): ReadonlyMap<string, Json> | undefined {
	const items = new Map<string, Json>();
	for (const item of list) {
		const key = keyOf(item, identity);
		if (key === undefined || items.has(key)) return undefined;
		items.set(key, item);
	}
	return items;
}

function keyOf(item: Json, identity: Identity): string | undefined {
	if (identity.length === 0) return typeof item === 'object' ? undefined : JSON.stringify(item);
	if (!isObject(item)) return undefined;
	const values = identity.map(([field, usual]) => item[field] ?? usual);
	return values[0] === '' ? undefined : JSON.stringify(values);
}

/**
 * The order of a merged list: that of the manifest, with the items of others where they stand among them now. A list that was
 * not reordered stays as it is.
 */
export function inMergedOrder(wanted: readonly string[], others: readonly string[], live: readonly string[]): readonly string[] {
	const placeOf = new Map(live.map((key, at) => [key, at]));
	const merged: string[] = [];
	let next = 0;
	for (const key of wanted) {
		const place = placeOf.get(key);
		while (place !== undefined && next < others.length && (placeOf.get(others[next] ?? '') ?? 0) < place) merged.push(others[next++] ?? '');
		merged.push(key);
	}
	return [...merged, ...others.slice(next)];
}
