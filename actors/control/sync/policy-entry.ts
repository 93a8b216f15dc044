// What of NetworkPolicies goes to a node: of those that are for pods of it, what they come to there. It changes with pods and namespaces as well as
// with the policies, and is found when it goes, so that nothing of it is ever stored but in the cache of the node.

import type {ObjectKey} from '../../../api/keys.js';
import {objectKey} from '../../../api/keys.js';
import type {NetworkPolicy} from '../../../api/kinds/networkpolicy.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {Known} from '../../../system/index/object-index.js';
import {policies} from '../../network-references.js';
import type {ConfigEntry} from '../../protocol/sync-message.js';
import {policyOfNode} from '../network/policy-rules.js';
import {policiesConcerned} from '../network/policy-selection.js';
import type {Watched} from '../objects/controller.js';
import {versionOf} from './network-entry.js';

export function policyEntryOf(node: string, key: ObjectKey, known: Known): ConfigEntry {
	const policy = known.get(key) as NetworkPolicy | undefined;
	const object = policy === undefined ? undefined : policyOfNode(policy, node, known);
	if (object === undefined) return {key, version: '', named: null};
	return {key, version: versionOf(object), named: {type: 'network', object}};
}

const keyOf = ({metadata}: NetworkPolicy): ObjectKey => objectKey(policies, metadata.namespace, metadata.name);

/** All that a node may have to hold to. */
export const policyKeys = (known: Known): readonly ObjectKey[] => ([...known.list(policies)] as NetworkPolicy[]).map(keyOf);

/** `nodes`: for whom it may be another one; undefined: for all. */
export type PolicyNews = {readonly key: ObjectKey; readonly nodes: readonly string[] | undefined};

/** Policies that nodes are to be told anew because of this change. */
export function* policyNews(plural: string, change: Watched, known: Known): Iterable<PolicyNews> {
	const {before, after} = change;
	if (plural === policies && before?.spec !== after?.spec) {
		const policy = (after ?? before) as NetworkPolicy;
		yield {key: keyOf(policy), nodes: undefined};
	}
	const own = new Set([before, after].flatMap(each => (plural === 'pods' ? ((each as Pod | undefined)?.spec?.nodeName ?? []) : [])));
	for (const {policy, asPeer} of policiesConcerned(plural, change, known)) yield {key: keyOf(policy), nodes: asPeer ? undefined : [...own]};
}
