// A ResourceQuota tells how much of it is used. What is let in is decided by the collections, from the index and not from this status.
//
// What it costs: an object that comes or goes, or a pod that is over, wakes the quotas of its namespace; each reads a few sums.

import {kindByPlural, kinds} from '../../../api/catalogue.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {scopesOf, type ResourceQuota, type ResourceQuotaStatus} from '../../../api/kinds/resourcequota.js';
import type {ApiObject} from '../../../api/object.js';
import {quotaResource, quotaText} from '../../../api/quota.js';
import type {Context, Effect} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {controller, type Reconciliation, type Watched} from '../objects/controller.js';
import {warning} from '../objects/event.js';
import {isDeleting} from '../objects/garbage.js';
import {usedOf} from '../objects/quota-usage.js';

export const resourceQuotaController = controller<ResourceQuota>({
	plural: 'resourcequotas',
	watches: {
		...Object.fromEntries(kinds.filter(({namespaced}) => namespaced).map(({plural}) => [plural, counted])),
		pods: (change, known) => (isUsedAlike(change) ? [] : quotasOf(change, known)),
	},
	reconcile,
});

function counted(change: Watched, known: Known): Iterable<ApiObject> {
	return change.before !== undefined && change.after !== undefined ? [] : quotasOf(change, known);
}

const quotasOf = ({before, after}: Watched, known: Known): Iterable<ApiObject> =>
	known.list('resourcequotas', (after ?? before)?.metadata.namespace ?? '');

function isUsedAlike({before, after}: Watched): boolean {
	if (before === undefined || after === undefined) return false;
	const [was, is] = [before as Pod, after as Pod];
	return was.spec === is.spec && was.status?.phase === is.status?.phase;
}

function reconcile(quota: ResourceQuota, {known}: Context): Reconciliation<ResourceQuotaStatus> {
	const {metadata, spec = {}, status} = quota;
	if (isDeleting(quota)) return {effects: []};
	const hard = spec.hard ?? {};
	const scopes = scopesOf(spec);
	const used = Object.keys(hard).flatMap((name): (readonly [string, string])[] => {
		const resource = quotaResource(name);
		return resource === undefined ? [] : [[name, quotaText(name, usedOf(resource, scopes, metadata.namespace ?? '', known))]];
	});
	return {status: {hard, used: Object.fromEntries(used)}, effects: status?.hard === undefined ? unknownKinds(Object.keys(hard)) : []};
}

/** Told once, when it is looked at first: the name may be a slip. */
const unknownKinds = (names: readonly string[]): readonly Effect[] =>
	names.flatMap(name => {
		const resource = quotaResource(name);
		const isUnknown = resource?.type === 'objects' && kindByPlural(resource.plural)?.group !== resource.group;
		return isUnknown ? [warning('UnknownResource', `this version has no objects that ${name} could count`)] : [];
	});
