// A NetworkPolicy: says of itself whether the nodes of its pods hold to it. What they hold to goes to them by node sync, see `sync/policy-entry.ts`.

import {conditionOf} from '../../../api/conditions.js';
import type {NetworkPolicy, NetworkPolicyStatus} from '../../../api/kinds/networkpolicy.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject, Condition} from '../../../api/object.js';
import type {Context} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {nodeKey} from '../../addresses.js';
import {policies} from '../../network-references.js';
import {withCondition} from '../objects/conditions.js';
import {controller, type Reconciliation, type Watched} from '../objects/controller.js';
import {warning} from '../objects/event.js';
import {isDeleting} from '../objects/garbage.js';
import {isTerminal} from '../pods/pod-lifecycle.js';
import {addressOf} from './pod-endpoint.js';
import {resolvedPolicy} from './policy-rules.js';
import {isRouted, policiesConcerned, policyTerms} from './policy-selection.js';

export const networkPolicyController = controller<NetworkPolicy>({
	plural: policies,
	terms: policyTerms,
	watches: Object.fromEntries(
		['pods', 'namespaces', 'nodes'].map(plural => [plural, (change: Watched, known: Known) => concerned(plural, change, known)]),
	),
	reconcile,
});

function* concerned(plural: string, change: Watched, known: Known): Iterable<ApiObject> {
	for (const {policy} of policiesConcerned(plural, change, known)) yield policy;
}

const enforced = 'Enforced';

function reconcile(policy: NetworkPolicy, {known, nowMs}: Context): Reconciliation<NetworkPolicyStatus> {
	if (isDeleting(policy)) return {effects: []};
	const condition = conditionNow(policy, known);
	const isNews = condition.status === 'False' && conditionOf(policy.status?.conditions, enforced)?.message !== condition.message;
	return {
		status: {...policy.status, conditions: withCondition(policy.status?.conditions, condition, nowMs)},
		effects: isNews ? [warning(condition.reason ?? '', condition.message ?? '')] : [],
	};
}

function conditionNow(policy: NetworkPolicy, known: Known): Condition {
	const {pods: all, isCut} = resolvedPolicy(policy, known);
	const pods = new Map(
		[...all].map(([node, there]) => [node, there.filter(pod => !isTerminal(pod))] as const).filter(([, there]) => there.length > 0),
	);
	const shared = [...pods.keys()].filter(node => networkOf(node, known) !== 'routed').sort();
	const early = [...pods].flatMap(([node, there]) => (shared.includes(node) ? [] : there.filter(pod => isOfBefore(pod, known))));
	const problems = [
		...(shared.length === 0 ? [] : [sharedText(shared)]),
		...(early.length === 0 ? [] : [earlyText(early.map(({metadata}) => metadata.name).sort())]),
	];
	const cut = `its rules come to more than ${limits.policyRanges} ranges of addresses: what is beyond is not let through`;
	if (problems.length === 0 && !isCut)
		return {type: enforced, status: 'True', reason: enforced, message: 'the nodes of its pods hold to it'};
	return {
		type: enforced,
		status: 'False',
		reason: problems.length > 0 ? 'SharedNetwork' : 'TooManyPeers',
		message: [...problems, ...(isCut ? [cut] : [])].join('; '),
	};
}

const networkOf = (node: string, known: Known) => (known.get(nodeKey(node)) as NodeObject | undefined)?.status?.network?.pods;

/** A pod keeps the network that it began with. */
function isOfBefore(pod: Pod, known: Known): boolean {
	const address = addressOf(pod);
	return address !== undefined && !isRouted(address, pod.spec?.nodeName, known);
}

const sharedText = (nodes: readonly string[]): string =>
	`not enforced on ${nodes.length === 1 ? 'node' : 'nodes'} ${listed(nodes)}, where pods have no network of their own: start the agent there with --network routed`;

const earlyText = (pods: readonly string[]): string =>
	`not enforced for ${pods.length === 1 ? 'pod' : 'pods'} ${listed(pods)}, begun before the node had a network for pods: delete them, so that others take their place`;

function listed(names: readonly string[]): string {
	const more = names.length - limits.policyNamesShown;
	return names.slice(0, limits.policyNamesShown).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
