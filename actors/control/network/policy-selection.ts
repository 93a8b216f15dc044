// Whom a NetworkPolicy is about: the pods that it is for, and those that its rules name as peers. What is said here of one pod decides as well which
// policies a change of it concerns.

import {ipv4Number, isWithin, parseSubnet} from '../../../api/ipv4.js';
import {labelsOfNamespace} from '../../../api/kinds/namespace.js';
import type {NetworkPolicy, PolicyPeer, PolicyPort} from '../../../api/kinds/networkpolicy.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {ApiObject, Labels} from '../../../api/object.js';
import {matches, type LabelSelector} from '../../../api/selector.js';
import type {Known} from '../../../system/index/object-index.js';
import {namespaceKey, nodeKey} from '../../addresses.js';
import {policies} from '../../network-references.js';
import type {Watched} from '../objects/controller.js';
import {addressOf} from './pod-endpoint.js';

/** A rule of either direction. */
export type Rule = {readonly peers: readonly PolicyPeer[]; readonly ports: readonly PolicyPort[]};

export const ingressOf = ({spec}: NetworkPolicy): readonly Rule[] =>
	(spec?.ingress ?? []).map(({from = [], ports = []}) => ({peers: from, ports}));

export const egressOf = ({spec}: NetworkPolicy): readonly Rule[] =>
	(spec?.egress ?? []).map(({to = [], ports = []}) => ({peers: to, ports}));

/** Pods that share the network of their node have its address: no policy is about them, as in Kubernetes. */
const hasOwnNetwork = ({spec}: Pod): boolean => spec?.hostNetwork !== true;

export const isFor = ({metadata, spec}: NetworkPolicy, pod: Pod): boolean =>
	metadata.namespace === pod.metadata.namespace && hasOwnNetwork(pod) && matches(spec?.podSelector ?? {}, pod.metadata.labels);

export const podsFor = ({metadata, spec}: NetworkPolicy, known: Known): readonly Pod[] =>
	([...known.select('pods', metadata.namespace ?? '', spec?.podSelector ?? {})] as Pod[]).filter(hasOwnNetwork);

/** Whether rules of nodes see that pod by this address: it is of the subnet of its node, as that has been given it. */
export function isRouted(address: string, nodeName: string | undefined, known: Known): boolean {
	const node = known.get(nodeKey(nodeName ?? '')) as NodeObject | undefined;
	const subnet = parseSubnet(node?.spec?.podCIDR ?? '');
	const value = ipv4Number(address);
	if (node?.status?.network?.pods !== 'routed' || subnet === undefined || value === undefined) return false;
	return isWithin({first: value, size: 1}, subnet);
}

/** The address by which rules know a pod as a peer; undefined: it has none that means something on other nodes. */
export function peerAddressOf(pod: Pod, known: Known): number | undefined {
	const address = addressOf(pod);
	if (address === undefined || !hasOwnNetwork(pod) || !isRouted(address, pod.spec?.nodeName, known)) return undefined;
	return ipv4Number(address);
}

/** Pods that selectors name. */
export function* podsOfPeer({podSelector = {}, namespaceSelector, ipBlock}: PolicyPeer, home: string, known: Known): Iterable<Pod> {
	if (ipBlock !== undefined) return;
	for (const namespace of namespaceSelector === undefined ? [home] : namespacesOf(namespaceSelector, known))
		yield* known.select('pods', namespace, podSelector) as Iterable<Pod>;
}

function* namespacesOf(selector: LabelSelector, known: Known): Iterable<string> {
	for (const {metadata} of known.list('namespaces'))
		if (matches(selector, labelsOfNamespace(metadata.name, metadata.labels))) yield metadata.name;
}

/** Whether selectors name what has these labels, in that namespace. */
export function isPeer(
	{podSelector = {}, namespaceSelector, ipBlock}: PolicyPeer,
	home: string,
	namespace: string,
	labels: Labels | undefined,
	known: Known,
): boolean {
	if (ipBlock !== undefined || !matches(podSelector, labels)) return false;
	if (namespaceSelector === undefined) return namespace === home;
	return matches(namespaceSelector, labelsOfNamespace(namespace, known.get(namespaceKey(namespace))?.metadata.labels));
}

// ---- what a change concerns ----------------------------------------------------------------------------------------------

/** Policies whose rules may name pods of other namespaces. */
const farTerm = 'far';

/** A port by its name is looked up in the peers; where those are anyone, in all pods. */
const asksAnyone = ({peers, ports}: Rule): boolean => peers.length === 0 && ports.some(({port}) => typeof port === 'string');

export function policyTerms(policy: NetworkPolicy): readonly string[] {
	const isFar = [...ingressOf(policy), ...egressOf(policy)].some(({peers}) => peers.some(peer => peer.namespaceSelector !== undefined));
	return isFar || egressOf(policy).some(asksAnyone) ? [farTerm] : [];
}

/** `asPeer`: what its rules come to may be another for all nodes; otherwise only for those of the pods that it is for. */
export type Concerned = {readonly policy: NetworkPolicy; readonly asPeer: boolean};

/** Policies that come to something else by a change of a pod, a namespace or a node. */
export function* policiesConcerned(plural: string, {before, after}: Watched, known: Known): Iterable<Concerned> {
	if (plural === 'pods') yield* ofPod(before as Pod | undefined, after as Pod | undefined, known);
	if (plural === 'namespaces' && before?.metadata.labels !== after?.metadata.labels) yield* all(known.byTerm(policies, farTerm));
	if (plural === 'nodes' && subnetText(before) !== subnetText(after)) yield* all(known.list(policies));
}

function* all(found: Iterable<ApiObject>): Iterable<Concerned> {
	for (const policy of found) yield {policy: policy as NetworkPolicy, asPeer: true};
}

const subnetText = (node: NodeObject | ApiObject | undefined): string => {
	const {spec, status} = (node ?? {}) as Partial<NodeObject>;
	return `${spec?.podCIDR ?? ''} ${status?.network?.pods ?? ''}`;
};

const isSameToPolicies = (before: Pod | undefined, after: Pod | undefined): boolean =>
	before !== undefined &&
	after !== undefined &&
	before.spec === after.spec &&
	before.metadata.labels === after.metadata.labels &&
	addressOf(before) === addressOf(after);

function* ofPod(before: Pod | undefined, after: Pod | undefined, known: Known): Iterable<Concerned> {
	if (isSameToPolicies(before, after)) return;
	const states = [before, after].filter(each => each !== undefined);
	const namespace = states[0]?.metadata.namespace ?? '';
	const near = [...known.list(policies, namespace)] as NetworkPolicy[];
	const far = ([...known.byTerm(policies, farTerm)] as NetworkPolicy[]).filter(({metadata}) => metadata.namespace !== namespace);
	for (const policy of [...near, ...far]) {
		const asPeer = states.some(pod => addressOf(pod) !== undefined && isNamed(policy, pod, known));
		if (asPeer || states.some(pod => isFor(policy, pod))) yield {policy, asPeer};
	}
}

function isNamed(policy: NetworkPolicy, {metadata}: Pod, known: Known): boolean {
	const home = policy.metadata.namespace ?? '';
	const rules = [...ingressOf(policy), ...egressOf(policy)];
	return (
		egressOf(policy).some(asksAnyone) ||
		rules.some(({peers}) => peers.some(peer => isPeer(peer, home, metadata.namespace ?? '', metadata.labels, known)))
	);
}
