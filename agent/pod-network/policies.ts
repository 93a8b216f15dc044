// NetworkPolicies as lines of the table of nftables: for the pods of this node, what of others reaches them and what they reach. Pure.
//
// What is new is judged by where it goes after all translation, and by who sent it before any: a pod of a Service is what it is, not the Service.
// Pods with the same rules share a chain; a rule that lets through returns from it, and what none lets through is rejected at its end. What is sent by
// the node itself passes no chain of these, as in Kubernetes: it is the node that asks pods whether they are ready.
//
// Texts come from other hosts, by way of the control plane. Here they become lines of a program of root: what is no address and no number is left out.

import {isIPv4} from 'node:net';
import type {NetworkPolicyOfNode, PolicedPod, PolicyPorts, PolicyRule} from '../../actors/protocol/network-object.js';
import {gateway} from './link-commands.js';

/** Of a pod of this node. */
type PodAddress = {readonly uid: string; readonly address: string};

/** Chains with all that they need; none where no pod of this node is isolated. */
export function policyLines(policies: readonly NetworkPolicyOfNode[], pods: readonly PodAddress[]): readonly string[] {
	const incoming = chainsOf('in', pods, policies, 'ingress', ingressLines);
	const outgoing = chainsOf('out', pods, policies, 'egress', rule => egressLines(rule, away));
	// The same policies for what pods send to addresses of the node, which never leaves it.
	const local = chainsOf('local', pods, policies, 'egress', rule => [...egressLines(rule, here), ...resolverLines(rule)]);
	const all = [...incoming.chains, ...outgoing.chains, ...local.chains];
	if (all.length === 0) return [];
	return [
		...all,
		'	chain policies {',
		'		type filter hook forward priority filter; policy accept;',
		'		ct state established,related accept',
		'		ip saddr . ip daddr @hairpin accept',
		...jumps('ip saddr', outgoing),
		...jumps('ip daddr', incoming),
		'	}',
		'	chain policies-here {',
		'		type filter hook input priority filter; policy accept;',
		'		ct state established,related accept',
		...jumps('ip saddr', local),
		'	}',
	];
}

type Chains = {
	readonly chains: readonly string[];
	/** The name of the chain of each isolated pod, by its address. */
	readonly chainOf: ReadonlyMap<string, string>;
};

type LinesOf = (rule: PolicyRule, pod: PolicedPod) => readonly string[];

function chainsOf(
	name: string,
	pods: readonly PodAddress[],
	policies: readonly NetworkPolicyOfNode[],
	direction: 'ingress' | 'egress',
	linesOf: LinesOf,
): Chains {
	const linesOfPod = new Map<string, string[]>();
	for (const policy of policies) {
		const rules = policy[direction];
		if (rules === undefined) continue;
		for (const pod of policy.pods) {
			const lines = linesOfPod.get(pod.uid) ?? [];
			lines.push(...rules.flatMap(rule => linesOf(rule, pod)));
			linesOfPod.set(pod.uid, lines);
		}
	}
	const names = new Map<string, string>();
	const chainOf = new Map<string, string>();
	for (const {uid, address} of pods) {
		const lines = linesOfPod.get(uid);
		if (lines === undefined) continue;
		const text = [...new Set(lines)].map(line => `		${line}\n`).join('');
		const chain = names.get(text) ?? `policies-${name}-${names.size}`;
		names.set(text, chain);
		chainOf.set(address, chain);
	}
	return {chains: [...names].map(([text, chain]) => `	chain ${chain} {\n${text}		${rejected}\n	}`), chainOf};
}

/** Programs hear of it at once, instead of waiting for an answer. */
const rejected = 'reject with icmpx type admin-prohibited';

const jumps = (field: string, {chainOf}: Chains): readonly string[] =>
	chainOf.size === 0 ? [] : [`		${field} vmap { ${[...chainOf].map(([address, chain]) => `${address} : jump ${chain}`).join(', ')} }`];

// ---- a rule --------------------------------------------------------------------------------------------------------------

/** How a line asks for an address and a port. */
type Fields = {readonly address: string; readonly port: (protocol: string) => string};

const from: Fields = {address: 'ip saddr', port: protocol => `${protocol} dport`};
const away: Fields = {address: 'ip daddr', port: protocol => `${protocol} dport`};
/** To doors of the node, such as its resolver: as the pod has said it, for it was translated to loopback. */
const here: Fields = {address: 'ct original ip daddr', port: protocol => `meta l4proto ${protocol} ct original proto-dst`};

const ingressLines = (rule: PolicyRule, {ports: numbers = {}}: PolicedPod): readonly string[] => {
	const named = (rule.names ?? []).flatMap((name): PolicyPorts[] => {
		const number = Object.hasOwn(numbers, name) ? numbers[name] : undefined;
		const protocol = protocols.find(each => name.startsWith(`${each}/`));
		return number === undefined || protocol === undefined ? [] : [{protocol, numbers: [String(number)]}];
	});
	return linesOf(from, rule.peers, rule.ports === undefined ? undefined : [...rule.ports, ...named]);
};

const egressLines = (rule: PolicyRule, fields: Fields): readonly string[] => [
	...linesOf(fields, rule.peers, rule.ports),
	...(rule.named ?? []).flatMap(({protocol, port, peers}) => linesOf(fields, peers, [{protocol, numbers: [String(port)]}])),
];

const resolverLines = ({resolver = []}: PolicyRule): readonly string[] =>
	linesOf(
		here,
		[gateway],
		resolver.map(protocol => ({protocol, numbers: ['53']})),
	);

const protocols = ['TCP', 'UDP', 'SCTP'] as const;

function linesOf(
	{address, port}: Fields,
	peers: readonly string[] | undefined,
	ports: readonly PolicyPorts[] | undefined,
): readonly string[] {
	const who = peers === undefined || peers.includes(everyAddress) ? '' : setOf(address, peers.filter(isAddresses));
	if (who === undefined) return [];
	const which = ports === undefined ? [''] : ports.flatMap(each => portMatch(each, port) ?? []);
	return which.map(each => [who, each, 'return'].filter(part => part !== '').join(' '));
}

function portMatch({protocol, numbers}: PolicyPorts, port: Fields['port']): string | undefined {
	if (!protocols.includes(protocol)) return undefined;
	const name = protocol.toLowerCase();
	return numbers === undefined ? `meta l4proto ${name}` : setOf(port(name), numbers.filter(isPorts));
}

const setOf = (field: string, values: readonly string[]): string | undefined =>
	values.length === 0 ? undefined : `${field} { ${values.join(', ')} }`;

/** The kernel has no set of all. */
const everyAddress = '0.0.0.0-255.255.255.255';

/** One, or a range. */
function isAddresses(text: string): boolean {
	const parts = text.split('-', 3);
	return parts.length <= 2 && parts.every(isIPv4);
}

const isPorts = (text: string): boolean => /^\d{1,5}(-\d{1,5})?$/.test(text);
