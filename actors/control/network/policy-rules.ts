// What the selectors of a NetworkPolicy come to: pods by their node, and rules with addresses and numbers in place of labels and names.
//
// It follows from the index alone and is never stored: who needs it looks, and what was found is kept for as long as the index is the same, so that
// thousands of nodes that are told of one change cost one look.

import {subnetAround} from '../../../api/ipv4.js';
import type {NetworkPolicy, PolicyPeer, PolicyPort, PolicyType} from '../../../api/kinds/networkpolicy.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import type {Known} from '../../../system/index/object-index.js';
import type {NetworkPolicyOfNode, PolicedPod, PolicyPorts, PolicyProtocol, PolicyRule} from '../../protocol/network-object.js';
import {addressTexts, merged, portTexts, rangeOfSubnet, without, type Range} from './address-ranges.js';
import {targetOf} from './pod-endpoint.js';
import {egressOf, ingressOf, isPeer, peerAddressOf, podsFor, podsOfPeer, type Rule} from './policy-selection.js';

export type ResolvedPolicy = {
	/** The pods that it is for, by their node. */
	readonly pods: ReadonlyMap<string, readonly Pod[]>;
	readonly ingress: readonly PolicyRule[] | undefined;
	readonly egress: readonly PolicyRule[] | undefined;
	/** Its rules come to more ranges than are let through. */
	readonly isCut: boolean;
};

type Found = {readonly version: number; readonly resolved: ResolvedPolicy};

const found = new WeakMap<Known, WeakMap<NetworkPolicy, Found>>();

export function resolvedPolicy(policy: NetworkPolicy, known: Known): ResolvedPolicy {
	const ofIndex = found.get(known) ?? new WeakMap<NetworkPolicy, Found>();
	found.set(known, ofIndex);
	const before = ofIndex.get(policy);
	if (before?.version === known.version) return before.resolved;
	const resolved = resolve(policy, known);
	ofIndex.set(policy, {version: known.version, resolved});
	return resolved;
}

/** Undefined: none of its pods is on that node. */
export function policyOfNode(policy: NetworkPolicy, node: string, known: Known): NetworkPolicyOfNode | undefined {
	const {pods, ingress, egress} = resolvedPolicy(policy, known);
	const own = pods.get(node);
	if (own === undefined) return undefined;
	const names = new Set((ingress ?? []).flatMap(rule => rule.names ?? []));
	const {namespace = '', name} = policy.metadata;
	return {
		type: 'policy',
		namespace,
		name,
		pods: own.map(pod => policedPod(pod, names)).sort((a, b) => (a.uid < b.uid ? -1 : 1)),
		...(ingress === undefined ? {} : {ingress}),
		...(egress === undefined ? {} : {egress}),
	};
}

function policedPod(pod: Pod, names: ReadonlySet<string>): PolicedPod {
	const ports = [...names].flatMap(name => {
		const [protocol = '', ...rest] = name.split('/');
		const number = numberOf(pod, protocol as PolicyProtocol, rest.join('/'));
		return number === undefined ? [] : [[name, number] as const];
	});
	return {uid: pod.metadata.uid, ...(ports.length === 0 ? {} : {ports: Object.fromEntries(ports)})};
}

const numberOf = (pod: Pod, protocol: PolicyProtocol, targetPort: string): number | undefined =>
	targetOf(pod, {port: 0, targetPort, protocol});

// ---- rules ---------------------------------------------------------------------------------------------------------------

function resolve(policy: NetworkPolicy, known: Known): ResolvedPolicy {
	const isolates = (type: PolicyType): boolean => policy.spec?.policyTypes?.includes(type) ?? type === 'Ingress';
	const home = policy.metadata.namespace ?? '';
	const room: Room = {left: limits.policyRanges, isCut: false};
	const ingress = isolates('Ingress') ? ingressOf(policy).map(rule => ingressRule(rule, home, known, room)) : undefined;
	const egress = isolates('Egress') ? egressOf(policy).map(rule => egressRule(rule, home, known, room)) : undefined;
	return {pods: byNode(podsFor(policy, known)), ingress, egress, isCut: room.isCut};
}

function byNode(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
	const nodes = new Map<string, Pod[]>();
	for (const pod of pods) {
		const node = pod.spec?.nodeName;
		if (node === undefined) continue;
		const there = nodes.get(node);
		if (there === undefined) nodes.set(node, [pod]);
		else there.push(pod);
	}
	return nodes;
}

/** How many ranges all rules may still come to. */
type Room = {left: number; isCut: boolean};

/** What does not fit is left out, and so not let through. */
function textsIn(room: Room, ranges: readonly Range[]): readonly string[] {
	const all = merged(ranges);
	if (all.length > room.left) room.isCut = true;
	const kept = all.slice(0, room.left);
	room.left -= kept.length;
	return addressTexts(kept);
}

function ingressRule({peers, ports}: Rule, home: string, known: Known, room: Room): PolicyRule {
	const names = ports.flatMap(({port, protocol = 'TCP'}) => (typeof port === 'string' ? [`${protocol}/${port}`] : []));
	return {
		...peersPart(peers, home, known, room),
		...(ports.length === 0 ? {} : {ports: portsOf(ports)}),
		...(names.length === 0 ? {} : {names: [...new Set(names)]}),
	};
}

function egressRule({peers, ports}: Rule, home: string, known: Known, room: Room): PolicyRule {
	const named = namedPorts({peers, ports}, home, known, room);
	const resolver = resolverProtocols({peers, ports}, home, known);
	return {
		...peersPart(peers, home, known, room),
		...(ports.length === 0 ? {} : {ports: portsOf(ports)}),
		...(named.length === 0 ? {} : {named}),
		...(resolver.length === 0 ? {} : {resolver}),
	};
}

const peersPart = (peers: readonly PolicyPeer[], home: string, known: Known, room: Room): Pick<PolicyRule, 'peers'> =>
	peers.length === 0
		? {}
		: {
				peers: textsIn(
					room,
					peers.flatMap(peer => rangesOf(peer, home, known)),
				),
			};

function rangesOf(peer: PolicyPeer, home: string, known: Known): readonly Range[] {
	if (peer.ipBlock === undefined) return [...podsOfPeer(peer, home, known)].flatMap(pod => addressRange(pod, known));
	const {cidr, except = []} = peer.ipBlock;
	const block = subnetAround(cidr);
	if (block === undefined) return [];
	return without(
		rangeOfSubnet(block),
		except.flatMap(text => {
			const part = subnetAround(text);
			return part === undefined ? [] : [rangeOfSubnet(part)];
		}),
	);
}

const addressRange = (pod: Pod, known: Known): readonly Range[] => {
	const address = peerAddressOf(pod, known);
	return address === undefined ? [] : [{first: address, last: address}];
};

const protocols: readonly PolicyProtocol[] = ['TCP', 'UDP', 'SCTP'];

/** Those by number, and those that are all of a protocol. */
function portsOf(ports: readonly PolicyPort[]): readonly PolicyPorts[] {
	return protocols.flatMap((protocol): PolicyPorts[] => {
		const own = ports.filter(each => (each.protocol ?? 'TCP') === protocol);
		if (own.some(({port}) => port === undefined)) return [{protocol}];
		const ranges = own.flatMap(({port, endPort}) => (typeof port === 'number' ? [{first: port, last: endPort ?? port}] : []));
		return ranges.length === 0 ? [] : [{protocol, numbers: portTexts(merged(ranges))}];
	});
}

/** Ports that peers have by name, by their number; of peers that are addresses alone none has a name. */
function namedPorts({peers, ports}: Rule, home: string, known: Known, room: Room): NonNullable<PolicyRule['named']> {
	const asked = ports.flatMap(({port, protocol = 'TCP'}) => (typeof port === 'string' ? [{protocol, name: port}] : []));
	if (asked.length === 0) return [];
	const pods = (peers.length === 0 ? [{namespaceSelector: {}}] : peers).flatMap(peer => [...podsOfPeer(peer, home, known)]);
	const places = new Map<string, {readonly protocol: PolicyProtocol; readonly port: number; readonly ranges: Range[]}>();
	for (const pod of pods) {
		for (const {protocol, name} of asked) {
			const port = numberOf(pod, protocol, name);
			if (port === undefined) continue;
			const place = places.get(`${protocol} ${port}`) ?? {protocol, port, ranges: []};
			place.ranges.push(...addressRange(pod, known));
			places.set(`${protocol} ${port}`, place);
		}
	}
	return [...places.values()]
		.sort((a, b) => a.port - b.port || (a.protocol < b.protocol ? -1 : 1))
		.flatMap(({protocol, port, ranges}) => (ranges.length === 0 ? [] : [{protocol, port, peers: textsIn(room, ranges)}]));
}

/** The resolver of each node stands for the pods that answer for names in a cluster of Kubernetes, so that policies that were written for those hold. */
const resolverPod = {namespace: 'kube-system', labels: {'k8s-app': 'kube-dns'}, port: 53, names: {UDP: 'dns', TCP: 'dns-tcp'}} as const;

function resolverProtocols({peers, ports}: Rule, home: string, known: Known): readonly PolicyProtocol[] {
	const {namespace, labels, port: its, names} = resolverPod;
	if (!peers.some(peer => isPeer(peer, home, namespace, labels, known))) return [];
	return (['UDP', 'TCP'] as const).filter(
		protocol =>
			ports.length === 0 ||
			ports.some(({port, endPort, protocol: of = 'TCP'}) => {
				if (of !== protocol) return false;
				if (typeof port === 'string') return port === names[protocol];
				return port === undefined || (port <= its && its <= (endPort ?? port));
			}),
	);
}
