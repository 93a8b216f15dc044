// Lists of Kubernetes' kinds whose items are told apart by a field, as the Kubernetes API declares them (`patchMergeKey` and
// `listMapKeys` of its OpenAPI document). All other lists are one value. Pure.

import {isObject, type Json} from '../../api/object.js';

/** The fields that tell items apart, each with what it is when it is not given; none: the items are plain values and a set. */
export type Identity = readonly (readonly [field: string, usual: string])[];

const byName: Identity = [['name', '']];
const container = '(containers|initContainers|ephemeralContainers)';

const table: readonly (readonly [where: RegExp, identity: Identity])[] = [
	[new RegExp(`(^|\\.)spec\\.(${container}|volumes|imagePullSecrets|resourceClaims|schedulingGates)$`), byName],
	[new RegExp(`\\.${container}\\[\\]\\.env$`), byName],
	[
		new RegExp(`\\.${container}\\[\\]\\.ports$`),
		[
			['containerPort', ''],
			['protocol', 'TCP'],
		],
	],
	[new RegExp(`\\.${container}\\[\\]\\.volumeMounts$`), [['mountPath', '']]],
	[new RegExp(`\\.${container}\\[\\]\\.volumeDevices$`), [['devicePath', '']]],
	[/(^|\.)spec\.hostAliases$/, [['ip', '']]],
	[
		/(^|\.)spec\.topologySpreadConstraints$/,
		[
			['topologyKey', ''],
			['whenUnsatisfiable', ''],
		],
	],
	[
		/^spec\.ports$/,
		[
			['port', ''],
			['protocol', 'TCP'],
		],
	],
	[/^metadata\.ownerReferences$/, [['uid', '']]],
	[/^metadata\.finalizers$/, []],
];

/** How the items of the list at this path are told apart; items on the way are `[]`. Undefined: the list is one value. */
export const identityOf = (path: string): Identity | undefined => table.find(([where]) => where.test(path))?.[1];

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
