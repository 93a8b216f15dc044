// The kind NetworkPolicy: what may reach some pods, and what these may reach. As in Kubernetes.

import {ageColumn, column, nameColumn, none} from '../columns/common.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject, Draft} from '../object.js';
import {checkNetworkPolicy} from '../rules/network-policy.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/networkpolicy.js';
import {formatSelector} from '../selector-text.js';

export type NetworkPolicySpec = ShapeOf<typeof spec>;
export type NetworkPolicyStatus = ShapeOf<typeof status>;
export type NetworkPolicy = ApiObject<NetworkPolicySpec, NetworkPolicyStatus>;

export type PolicyType = 'Ingress' | 'Egress';
export type PolicyPort = NonNullable<NonNullable<NetworkPolicySpec['ingress']>[number]['ports']>[number];
export type PolicyPeer = NonNullable<NonNullable<NetworkPolicySpec['ingress']>[number]['from']>[number];

export const networkPolicy: KindDefinition = {
	kind: 'NetworkPolicy',
	group: 'networking.k8s.io',
	version: 'v1',
	plural: 'networkpolicies',
	singular: 'networkpolicy',
	shortNames: ['netpol'],
	namespaced: true,
	defaults: draft => ({...draft, spec: withDefaults(draft.spec as NetworkPolicySpec | undefined)}),
	validate: checkNetworkPolicy,
	initialStatus: (_draft: Draft): NetworkPolicyStatus => ({}),
	columns: [
		nameColumn,
		column(
			'Pod-Selector',
			'Which pods of its namespace it is for.',
			object => formatSelector((object as NetworkPolicy).spec?.podSelector ?? {}) || none,
		),
		ageColumn,
	],
};

/** Kubernetes' own. */
function withDefaults(spec: NetworkPolicySpec = {}): NetworkPolicySpec {
	const {podSelector = {}, policyTypes = [], ingress, egress} = spec;
	const implied: readonly PolicyType[] = (egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
	return {
		...spec,
		podSelector,
		policyTypes: policyTypes.length > 0 ? policyTypes : implied,
		...(ingress === undefined ? {} : {ingress: ingress.map(withProtocols)}),
		...(egress === undefined ? {} : {egress: egress.map(withProtocols)}),
	};
}

const withProtocols = <Rule extends {readonly ports?: readonly PolicyPort[]}>(rule: Rule): Rule =>
	rule.ports === undefined ? rule : {...rule, ports: rule.ports.map(port => ({...port, protocol: port.protocol ?? 'TCP'}))};
