// What quotas count. Of pods the index adds up amounts, by what scopes tell apart, of claims by their class; of all kinds it counts objects. So
// no namespace is ever walked: what a quota has used is a handful of sums.

import {gpuResource} from '../../../api/gpu.js';
import type {ScopeRequirement} from '../../../api/kinds/resourcequota.js';
import type {PersistentVolumeClaimSpec} from '../../../api/kinds/persistentvolumeclaim.js';
import type {PodSpec} from '../../../api/kinds/pod.js';
import {podLimits, podRequests, type Amounts} from '../../../api/pod-resources.js';
import type {QuotaResource} from '../../../api/quota.js';
import {amountOf as quantityOf} from '../../../api/resource-amount.js';
import type {Filing, Known} from '../../../system/index/object-index.js';

/** What a pod counts as, and for how much. */
export type PodUsage = {
	/** Whether it has a deadline of its own. */
	readonly terminating: boolean;
	/** Whether no container asks for cpu or memory. */
	readonly bestEffort: boolean;
	readonly priorityClass: string | undefined;
	readonly requests: Amounts;
	readonly limits: Amounts;
};

/** What of a pod a quota bounds. */
export type OfPods = Extract<QuotaResource, {type: 'pods' | 'compute'}>;

const usages = new WeakMap<PodSpec, PodUsage>();

/** By the reference of the spec, which stays while status and metadata change. */
export function podUsageOf(spec: PodSpec): PodUsage {
	const found = usages.get(spec);
	if (found !== undefined) return found;
	const made: PodUsage = {
		terminating: spec.activeDeadlineSeconds !== undefined,
		bestEffort: [...spec.containers, ...(spec.initContainers ?? [])].every(({resources: {requests = {}, limits = {}} = {}}) =>
			[requests, limits].every(({cpu, memory}) => cpu === undefined && memory === undefined),
		),
		priorityClass: spec.priorityClassName === '' ? undefined : spec.priorityClassName,
		requests: podRequests(spec),
		limits: podLimits(spec),
	};
	usages.set(spec, made);
	return made;
}

/** How much of it a pod takes. */
export function amountOf({requests, limits}: PodUsage, bounded: OfPods): number {
	if (bounded.type === 'pods') return 1;
	const amounts = bounded.part === 'requests' ? requests : limits;
	switch (bounded.resource) {
		case 'cpu':
			return amounts.cpuMillis;
		case 'memory':
			return amounts.memoryBytes;
		case gpuResource:
			return amounts.gpus;
	}
}

/** What a claim counts as, and for how much. */
export type ClaimUsage = {readonly storageClass: string; readonly bytes: number};

export const claimUsageOf = ({storageClassName = '', resources}: PersistentVolumeClaimSpec): ClaimUsage => ({
	storageClass: storageClassName,
	bytes: quantityOf('storage', resources.requests?.['storage']) ?? 0,
});

/** What of a claim a quota bounds. */
export type OfClaims = Extract<QuotaResource, {type: 'claims' | 'storage'}>;

/** How much of it a claim takes. */
export function claimAmountOf({storageClass, bytes}: ClaimUsage, bounded: OfClaims): number {
	if (bounded.storageClass !== undefined && bounded.storageClass !== storageClass) return 0;
	return bounded.type === 'claims' ? 1 : bytes;
}

// ---- terms ---------------------------------------------------------------------------------------------------------------

const ofPods: readonly OfPods[] = [
	{type: 'pods'},
	{type: 'compute', part: 'requests', resource: gpuResource},
	...(['requests', 'limits'] as const).flatMap(part =>
		(['cpu', 'memory'] as const).map((resource): OfPods => ({type: 'compute', part, resource})),
	),
];

const nameOf = (bounded: OfPods): string => (bounded.type === 'pods' ? 'pods' : `${bounded.part}.${bounded.resource}`);

type Facets = Pick<PodUsage, 'terminating' | 'bestEffort'>;

/** Pods of any class together. */
const anyClass = '*';

/** The amounts of the pods with these facets: of all, of those that name a class, or of those of one class. */
const term = (bounded: OfPods, namespace: string, {terminating, bestEffort}: Facets, priorityClass = ''): string =>
	`used=${nameOf(bounded)}/${namespace}/${terminating ? 'T' : '-'}${bestEffort ? 'B' : '-'}/${priorityClass}`;

/** The amounts by which the index adds up a pod that is not over. */
export function usageTerms(namespace: string, spec: PodSpec): readonly Filing[] {
	const usage = podUsageOf(spec);
	const filings: Filing[] = [];
	for (const bounded of ofPods) {
		const amount = amountOf(usage, bounded);
		if (amount === 0) continue;
		filings.push({term: term(bounded, namespace, usage), amount});
		if (usage.priorityClass === undefined) continue;
		filings.push({term: term(bounded, namespace, usage, anyClass), amount});
		filings.push({term: term(bounded, namespace, usage, usage.priorityClass), amount});
	}
	return filings;
}

/** Of all claims of a namespace, or of those of one class. */
const claimTerm = ({type, storageClass}: OfClaims, namespace: string): string =>
	storageClass === undefined ? `used=${type}/${namespace}` : `used=${type}/${namespace}/${storageClass}`;

/** The amounts by which the index adds up a claim. */
export function claimUsageTerms(namespace: string, spec: PersistentVolumeClaimSpec): readonly Filing[] {
	const usage = claimUsageOf(spec);
	const {storageClass} = usage;
	const all: readonly OfClaims[] = [{type: 'storage'}, {type: 'storage', storageClass}, {type: 'claims', storageClass}];
	return all.map(bounded => ({term: claimTerm(bounded, namespace), amount: claimAmountOf(usage, bounded)}));
}

// ---- scopes --------------------------------------------------------------------------------------------------------------

/** Whether a pod counts. */
export const isInScope = (scopes: readonly ScopeRequirement[], usage: PodUsage): boolean =>
	hasFacets(scopes, usage) && classScopes(scopes).every(scope => hasClass(scope, usage.priorityClass));

const classScopes = (scopes: readonly ScopeRequirement[]): readonly ScopeRequirement[] =>
	scopes.filter(({scopeName}) => scopeName === 'PriorityClass');

function hasFacets(scopes: readonly ScopeRequirement[], {terminating, bestEffort}: Facets): boolean {
	return scopes.every(({scopeName}) => {
		switch (scopeName) {
			case 'Terminating':
				return terminating;
			case 'NotTerminating':
				return !terminating;
			case 'BestEffort':
				return bestEffort;
			case 'NotBestEffort':
				return !bestEffort;
			case 'PriorityClass':
				return true;
		}
	});
}

/** As a label selector would: a pod without a class is in no list of classes. */
function hasClass({operator, values = []}: ScopeRequirement, priorityClass: string | undefined): boolean {
	switch (operator) {
		case 'In':
			return priorityClass !== undefined && values.includes(priorityClass);
		case 'NotIn':
			return priorityClass === undefined || !values.includes(priorityClass);
		case 'Exists':
			return priorityClass !== undefined;
		case 'DoesNotExist':
			return priorityClass === undefined;
	}
}

// ---- sums ----------------------------------------------------------------------------------------------------------------

const bools = [true, false] as const;
const allFacets: readonly Facets[] = bools.flatMap(terminating => bools.map(bestEffort => ({terminating, bestEffort})));

/** How much of it a namespace has used, as committed. */
export function usedOf(bounded: QuotaResource, scopes: readonly ScopeRequirement[], namespace: string, known: Known): number {
	switch (bounded.type) {
		case 'objects':
			return known.countOf(bounded.plural, namespace);
		case 'claims':
		case 'storage':
			return known.sumByTerm('persistentvolumeclaims', claimTerm(bounded, namespace));
		case 'pods':
		case 'compute': {
			const facets = allFacets.filter(each => hasFacets(scopes, each));
			const sumOf = (priorityClass?: string): number =>
				facets.reduce((sum, each) => sum + known.sumByTerm('pods', term(bounded, namespace, each, priorityClass)), 0);
			return sumOfClasses(classScopes(scopes), sumOf);
		}
	}
}

/** Classes are never enumerated: what is in no list is all without what is in one. */
function sumOfClasses(scopes: readonly ScopeRequirement[], sumOf: (priorityClass?: string) => number): number {
	if (scopes.length === 0) return sumOf();
	const isCounted = (priorityClass: string | undefined): boolean => scopes.every(scope => hasClass(scope, priorityClass));
	const named = new Set(scopes.flatMap(({values = []}) => values));
	const ofNamed = [...named].filter(isCounted).reduce((sum, each) => sum + sumOf(each), 0);
	const withoutClass = isCounted(undefined) ? sumOf() - sumOf(anyClass) : 0;
	const isOpen = scopes.every(({operator}) => operator === 'NotIn' || operator === 'Exists');
	const ofOthers = isOpen ? sumOf(anyClass) - [...named].reduce((sum, each) => sum + sumOf(each), 0) : 0;
	return ofNamed + withoutClass + ofOthers;
}
