// Whether a new object fits into the quotas of its namespace. After Kubernetes' ResourceQuota admission, with its words.
//
// The collection of the kind asks, and alone creates its objects: so what it let through and what is not committed yet is all that there is
// beside the index. That is kept in its state and counts as used, until the object is in the index or its record has ended without one.

import {qualifiedPlural} from '../../../api/catalogue.js';
import {failed, type Outcome} from '../../../api/errors.js';
import {gpuResource} from '../../../api/gpu.js';
import type {KindDefinition} from '../../../api/kind.js';
import type {PersistentVolumeClaimSpec} from '../../../api/kinds/persistentvolumeclaim.js';
import type {PodSpec} from '../../../api/kinds/pod.js';
import {scopesOf, type ResourceQuota, type ScopeRequirement} from '../../../api/kinds/resourcequota.js';
import type {ObjectKey} from '../../../api/keys.js';
import type {Draft} from '../../../api/object.js';
import {quotaAmount, quotaResource, quotaText, type QuotaResource} from '../../../api/quota.js';
import {shown} from '../../../api/shown.js';
import type {Context} from '../../../system/kernel/behavior.js';
import {amountOf, claimAmountOf, claimUsageOf, isInScope, podUsageOf, usedOf, type ClaimUsage, type PodUsage} from './quota-usage.js';
import {refusalBy, type QuotaRefusal} from './quota-wait.js';

/** A create that was let through: in the index, or refused after all, it counts no more. */
export type Coming = {
	/** The name of its record. */
	readonly child: string;
	readonly key: ObjectKey;
	readonly namespace: string;
	readonly usage: Usage;
};

/** What a new object takes beside its place. */
export type Usage = {
	/** Of a pod: what it asks for. */
	readonly pod?: PodUsage;
	/** Of a claim: what it asks for. */
	readonly claim?: ClaimUsage;
};

/** Those that are still on their way. */
export const stillComing = (coming: readonly Coming[], {known, hasChild}: Pick<Context, 'known' | 'hasChild'>): readonly Coming[] =>
	coming.filter(({child, key}) => hasChild(child) && known.get(key) === undefined);

type New = {readonly definition: KindDefinition; readonly draft: Draft; readonly usage: Usage};

/** What the object, as admitted, takes of the quotas of its namespace; or which quota it does not fit into. */
export function withinQuotas(
	definition: KindDefinition,
	draft: Draft,
	quotas: readonly ResourceQuota[],
	coming: readonly Coming[],
	known: Context['known'],
): Outcome<Usage> {
	const usage = usageOf(definition, draft);
	const made: New = {definition, draft, usage};
	const others = coming.filter(({namespace}) => namespace === draft.metadata.namespace);
	for (const quota of [...quotas].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
		const refusal = refusalOf(quota, made, others, known);
		if (refusal === undefined) continue;
		const message = `${qualifiedPlural(definition)} ${shown(draft.metadata.name ?? '')} is forbidden: ${refusal.why}`;
		return failed('ERR_FORBIDDEN', {message, name: draft.metadata.name ?? '', quota: refusalBy(quota, refusal.requested)});
	}
	return {ok: true, value: usage};
}

function usageOf({plural}: KindDefinition, {spec}: Draft): Usage {
	if (plural === 'pods') return {pod: podUsageOf(spec as PodSpec)};
	return plural === 'persistentvolumeclaims' ? {claim: claimUsageOf(spec as PersistentVolumeClaimSpec)} : {};
}

type Bound = {readonly name: string; readonly resource: QuotaResource; readonly hard: number};

type Refusal = {readonly why: string; readonly requested: QuotaRefusal['requested']};

function refusalOf(
	{metadata, spec = {}}: ResourceQuota,
	made: New,
	coming: readonly Coming[],
	known: Context['known'],
): Refusal | undefined {
	const scopes = scopesOf(spec);
	const {pod} = made.usage;
	if (scopes.length > 0 && (pod === undefined || !isInScope(scopes, pod))) return undefined;
	const bounds = Object.keys(spec.hard ?? {})
		.sort()
		.flatMap((name): Bound[] => {
			const resource = quotaResource(name);
			return resource !== undefined && isOf(resource, made.definition)
				? [{name, resource, hard: quotaAmount(name, spec.hard?.[name]) ?? 0}]
				: [];
		});
	const unsaid = unsaidOf(bounds, made);
	if (unsaid.length > 0) return {why: `failed quota: ${metadata.name}: must specify ${unsaid.join('; ')}`, requested: {}};
	const exceeded = bounds.flatMap(bound => {
		const requested = requestedOf(bound.resource, made.usage);
		const used = usedWith(bound, scopes, metadata.namespace ?? '', coming, known);
		return requested > 0 && used + requested > bound.hard ? [{...bound, requested, used}] : [];
	});
	if (exceeded.length === 0) return undefined;
	const listed = (amount: (each: (typeof exceeded)[number]) => number): string =>
		exceeded.map(each => `${each.name}=${quotaText(each.name, amount(each))}`).join(',');
	const [requested, used, limited] = [listed(each => each.requested), listed(each => each.used), listed(({hard}) => hard)];
	return {
		why: `exceeded quota: ${metadata.name}, requested: ${requested}, used: ${used}, limited: ${limited}`,
		requested: Object.fromEntries(exceeded.map(each => [each.name, each.requested])),
	};
}

/** Whether a new object of the kind takes of it. */
function isOf(resource: QuotaResource, {plural, group}: KindDefinition): boolean {
	switch (resource.type) {
		case 'objects':
			return resource.plural === plural && resource.group === group;
		case 'pods':
		case 'compute':
			return plural === 'pods';
		case 'claims':
		case 'storage':
			return plural === 'persistentvolumeclaims';
	}
}

function requestedOf(resource: QuotaResource, {pod, claim}: Usage): number {
	switch (resource.type) {
		case 'objects':
			return 1;
		case 'claims':
		case 'storage':
			return claim === undefined ? 0 : claimAmountOf(claim, resource);
		case 'pods':
		case 'compute':
			return pod === undefined ? 0 : amountOf(pod, resource);
	}
}

function usedWith(
	{resource}: Bound,
	scopes: readonly ScopeRequirement[],
	namespace: string,
	coming: readonly Coming[],
	known: Context['known'],
): number {
	const onTheWay = coming.filter(({usage: {pod}}) => pod === undefined || isInScope(scopes, pod));
	return onTheWay.reduce((sum, {usage}) => sum + requestedOf(resource, usage), usedOf(resource, scopes, namespace, known));
}

/** Where cpu or memory is bounded, each container has to say how much of it it takes. */
function unsaidOf(bounds: readonly Bound[], {usage: {pod}, draft}: New): readonly string[] {
	if (pod === undefined) return [];
	const {containers, initContainers = []} = draft.spec as PodSpec;
	return bounds.flatMap(({name, resource}) => {
		if (resource.type !== 'compute' || resource.resource === gpuResource) return [];
		const {part, resource: of} = resource;
		const silent = [...containers, ...initContainers].filter(({resources}) => resources?.[part]?.[of] === undefined).map(each => each.name);
		return silent.length === 0 ? [] : [`${name} for: ${[...silent].sort().join(',')}`];
	});
}
