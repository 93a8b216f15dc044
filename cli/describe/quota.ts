// `describe resourcequota`, and `describe namespace` with the quotas and limits that hold in it. Pure.

import type {LimitRange} from '../../api/kinds/limitrange.js';
import type {Namespace} from '../../api/kinds/namespace.js';
import {scopesOf, type ResourceQuota, type ScopeRequirement} from '../../api/kinds/resourcequota.js';
import type {WidthOf} from '../screen/table.js';
import {limitHead, limitRows} from './limit-range.js';
import {drawConditions, drawFields, drawSection, metadataFields} from './lines.js';

/** Everything but the events. */
export function describeResourceQuota(object: ResourceQuota, nowMs: number, widthOf: WidthOf): string {
	const scopes = scopesOf(object.spec ?? {}).map(scopeText);
	const fields = drawFields([...metadataFields(object, nowMs), ['Scopes', scopes.length === 0 ? undefined : scopes]]);
	return fields + drawSection('Resources', ['RESOURCE', 'USED', 'HARD'], usageRows(object), widthOf);
}

const scopeText = ({scopeName, operator, values = []}: ScopeRequirement): string =>
	scopeName === 'PriorityClass' ? `${scopeName} ${operator}${values.length === 0 ? '' : ` (${values.join(', ')})`}` : scopeName;

const usageRows = ({spec, status}: ResourceQuota): readonly (readonly string[])[] => {
	const hard = status?.hard ?? spec?.hard ?? {};
	return Object.keys(hard)
		.sort()
		.map(name => [name, String(status?.used?.[name] ?? 0), String(hard[name] ?? '')]);
};

/** Everything but the events. */
export function describeNamespace(
	object: Namespace,
	{quotas, limits}: {readonly quotas: readonly ResourceQuota[]; readonly limits: readonly LimitRange[]},
	nowMs: number,
	widthOf: WidthOf,
): string {
	const ofQuotas = quotas.flatMap(quota => usageRows(quota).map(row => [quota.metadata.name, ...row]));
	return [
		drawFields([...metadataFields(object, nowMs), ['Status', object.status?.phase ?? 'Active']]),
		drawConditions(object.status?.conditions, widthOf),
		ofQuotas.length === 0
			? 'No resource quota.\n'
			: drawSection('Resource Quotas', ['NAME', 'RESOURCE', 'USED', 'HARD'], ofQuotas, widthOf),
		limits.length === 0 ? 'No LimitRange resource.\n' : drawSection('Resource Limits', limitHead, limits.flatMap(limitRows), widthOf),
	].join('');
}
