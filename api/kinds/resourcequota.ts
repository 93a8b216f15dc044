// The kind ResourceQuota: how much a namespace may hold and ask for.

import {ageColumn, column, nameColumn} from '../columns/common.js';
import {inText} from '../defaults/pod.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft, JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import {quotaAmount, quotaNames, quotaResource, quotaText} from '../quota.js';
import {isQuantity} from '../resource-amount.js';
import {checkUnchanged} from '../rules/immutable.js';
import {forbid, itemsOf, membersOf, refuse, textOf, type Found} from '../rules/report.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {scopeRequirement, spec, status} from '../schemas/resourcequota.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';

export type ResourceQuotaSpec = ShapeOf<typeof spec>;
export type ResourceQuotaStatus = ShapeOf<typeof status>;
export type ResourceQuota = ApiObject<ResourceQuotaSpec, ResourceQuotaStatus>;
export type ScopeRequirement = ShapeOf<typeof scopeRequirement>;

const asQuota = (object: ApiObject): ResourceQuota => object as ResourceQuota;

export const resourceQuota: KindDefinition = {
	kind: 'ResourceQuota',
	group: '',
	version: 'v1',
	plural: 'resourcequotas',
	singular: 'resourcequota',
	shortNames: ['quota'],
	namespaced: true,
	defaults: draft => ({...draft, spec: withText(draft.spec as ResourceQuotaSpec)}),
	validate,
	initialStatus: (): ResourceQuotaStatus => ({}),
	columns: [
		nameColumn,
		column('Request', 'What is used, of how much, limits aside.', object => usageText(asQuota(object), name => !isLimit(name))),
		column('Limit', 'What limits are used, of how much.', object => usageText(asQuota(object), isLimit)),
		ageColumn,
	],
};

const withText = (spec: ResourceQuotaSpec): ResourceQuotaSpec => (spec.hard === undefined ? spec : {...spec, hard: inText(spec.hard)});

const isLimit = (name: string): boolean => name.startsWith('limits.');

const usageText = ({status: {hard = {}, used = {}} = {}}: ResourceQuota, isShown: (name: string) => boolean): string =>
	Object.keys(hard)
		.filter(isShown)
		.sort()
		.map(name => `${name}: ${used[name] ?? 0}/${hard[name] ?? ''}`)
		.join(', ');

/** What a pod has to be to count: the scopes and the expressions of the selector are one list. */
export const scopesOf = ({scopes = [], scopeSelector}: ResourceQuotaSpec): readonly ScopeRequirement[] => [
	...scopes.map(scopeName => ({scopeName, operator: 'Exists'}) as const),
	...(scopeSelector?.matchExpressions ?? []),
];

// ---- rules ---------------------------------------------------------------------------------------------------------------

function validate(found: Found, draft: Draft, old?: ApiObject): void {
	const spec = membersOf(draft.spec);
	const scopes = scopeNames(spec);
	const hard = membersOf(spec['hard']);
	for (const name in hard) {
		const path = joinPath('spec.hard', name);
		if (checkName(found, path, name, scopes)) checkHard(found, path, name, hard);
	}
	for (const [one, other] of [
		['BestEffort', 'NotBestEffort'],
		['Terminating', 'NotTerminating'],
	] as const)
		if (scopes.includes(one) && scopes.includes(other)) refuse(found, 'spec.scopes', `no pod is ${one} and ${other}`);
	itemsOf(membersOf(spec['scopeSelector'])['matchExpressions']).forEach((item, i) =>
		checkExpression(found, `spec.scopeSelector.matchExpressions[${i}]`, membersOf(item)),
	);
	if (old === undefined) return;
	const before = membersOf(old.spec);
	for (const field of ['scopes', 'scopeSelector']) checkUnchanged(found, `spec.${field}`, spec[field], before[field]);
}

const scopeNames = (spec: JsonObject): readonly unknown[] => [
	...itemsOf(spec['scopes']),
	...itemsOf(membersOf(spec['scopeSelector'])['matchExpressions']).map(item => membersOf(item)['scopeName']),
];

function checkName(found: Found, path: string, name: string, scopes: readonly unknown[]): boolean {
	const bounded = quotaResource(name);
	if (bounded === undefined) {
		forbid(found, path, `no quota can be of ${shown(name)}; of objects it is count/PLURAL.GROUP${didYouMean(name, quotaNames)}`);
		return false;
	}
	const isOfPods = bounded.type === 'pods' || (bounded.type === 'compute' && !scopes.includes('BestEffort'));
	if (scopes.length === 0 || isOfPods) return true;
	forbid(
		found,
		path,
		`must not be set with the scope ${scopes.map(shown).join(', ')}: ${scopes.includes('BestEffort') ? 'only pods are counted by it' : 'scopes are about pods'}`,
	);
	return false;
}

function checkHard(found: Found, path: string, name: string, hard: JsonObject): void {
	const quantity = hard[name];
	if (!isQuantity(quantity)) return; // The schema says so.
	const amount = quotaAmount(name, quantity);
	const bounded = quotaResource(name)?.type;
	const isCount = bounded === 'objects' || bounded === 'pods' || bounded === 'claims';
	const most = Number.MAX_SAFE_INTEGER;
	if (amount !== undefined && amount > most && !isCount)
		refuse(found, path, `must be a quantity from 0 to "${quotaText(name, most)}", got ${shown(quantity)}`);
	else if (amount === undefined || amount < 0 || !Number.isSafeInteger(amount))
		refuse(found, path, `must be ${isCount ? 'a whole number from 0 on' : 'a quantity from 0 on'}, got ${shown(quantity)}`);
}

function checkExpression(found: Found, path: string, {scopeName, operator, values}: JsonObject): void {
	const isListed = operator === 'In' || operator === 'NotIn';
	if (scopeName !== 'PriorityClass' && textOf(operator) !== undefined && operator !== 'Exists')
		refuse(found, `${path}.operator`, `must be Exists with the scope ${shown(scopeName)}, got ${shown(operator)}`);
	else if (isListed && itemsOf(values).length === 0)
		refuse(found, `${path}.values`, `must name a value when the operator is ${operator}`, 'FieldValueRequired');
	else if (!isListed && itemsOf(values).length > 0)
		refuse(found, `${path}.values`, `must be empty when the operator is ${textOf(operator) ?? ''}`);
}
