// What an object waits for whose create a quota refused: that the quota is gone or another one, or that there is room in it again. The refusal
// names the quota and what lacked; a record that rests looks at it whenever it is woken, and a quota that has room again wakes those that have
// fewer than they want.

import type {Failure} from '../../../api/errors.js';
import {objectKey, type ObjectKey} from '../../../api/keys.js';
import {scopesOf, type ResourceQuota} from '../../../api/kinds/resourcequota.js';
import type {ApiObject, JsonObject} from '../../../api/object.js';
import {quotaAmount, quotaResource} from '../../../api/quota.js';
import type {Known} from '../../../system/index/object-index.js';
import type {Watched} from './controller.js';
import {usedOf} from './quota-usage.js';

/** The quota as it was, and how much was asked of what it has too little of; of nothing where it was refused for something else. */
export type QuotaRefusal = {
	readonly name: string;
	readonly uid: string;
	readonly generation: number;
	readonly requested: Readonly<Record<string, number>>;
};

export const refusalBy = ({metadata}: ResourceQuota, requested: QuotaRefusal['requested']): QuotaRefusal => ({
	name: metadata.name,
	uid: metadata.uid,
	generation: metadata.generation,
	requested,
});

/** What the details of a refusal say; undefined: it was none by a quota. */
export const quotaRefusalIn = ({details}: Failure): QuotaRefusal | undefined => details['quota'] as (JsonObject & QuotaRefusal) | undefined;

const quotaKey = (namespace: string, name: string): ObjectKey => objectKey('resourcequotas', namespace, name);

/** Whether a try is worth it, as committed: what is on its way may still take the place. */
export function mayFit({name, uid, generation, requested}: QuotaRefusal, namespace: string, known: Known): boolean {
	const quota = known.get(quotaKey(namespace, name)) as ResourceQuota | undefined;
	if (quota?.metadata.uid !== uid || quota.metadata.generation !== generation) return true;
	const {spec = {}} = quota;
	const lacking = Object.entries(requested);
	return (
		lacking.length > 0 &&
		lacking.every(([resource, amount]) => {
			const bounded = quotaResource(resource);
			const used = bounded === undefined ? 0 : usedOf(bounded, scopesOf(spec), namespace, known);
			return used + amount <= (quotaAmount(resource, spec.hard?.[resource]) ?? 0);
		})
	);
}

/** Objects of a kind that have fewer than they want: a quota may be why. */
export const shortTerm = (namespace: string): string => `short=${namespace}`;

/** Its terms, by what its status says. */
export const shortOf = ({metadata}: ApiObject, isShort: boolean): readonly string[] =>
	isShort ? [shortTerm(metadata.namespace ?? '')] : [];

/** Those of them that a change of a quota may help: it is gone, another one, or less of it is used. */
export function awaitingQuota(plural: string, {before, after}: Watched, known: Known): Iterable<ApiObject> {
	if (before === undefined) return [];
	const isHelp = after === undefined || before.spec !== after.spec || isLessUsed(before as ResourceQuota, after as ResourceQuota);
	return isHelp ? known.byTerm(plural, shortTerm(before.metadata.namespace ?? '')) : [];
}

const isLessUsed = ({status: was}: ResourceQuota, {status: is}: ResourceQuota): boolean =>
	was !== is &&
	Object.entries(was?.used ?? {}).some(([name, used]) => (quotaAmount(name, used) ?? 0) > (quotaAmount(name, is?.used?.[name]) ?? 0));
