// The table of nftables for the pods of a node: what leaves the pods of the cluster gets the node's address, ports of the host lead to pods. Pure.

import type {HostPort} from '../../actors/node/runtime/runtime-port.js';
import type {NetworkPolicyOfNode} from '../../actors/protocol/network-object.js';
import type {HostPort as Place} from '../../api/host-port.js';
import {gateway} from './link-commands.js';
import {linkOf, type Names} from './names.js';
import {policyLines} from './policies.js';
import type {RoutedPod} from './routed-pod.js';

export type Rules = {
	/** Of this node's pods. Undefined: it is not known yet. */
	readonly subnet: string | undefined;
	/** Of the pods of all nodes, the own one among them. */
	readonly subnets: readonly string[];
	/** Of this node. */
	readonly pods: readonly RoutedPod[];
	readonly doors: readonly Door[];
	readonly policies: readonly NetworkPolicyOfNode[];
};

export const dnsPort = 53;

/** What of the node pods find at the address that they send everything to. */
export type Door = {readonly protocol: 'tcp' | 'udp'; readonly port: number; readonly at: Place};

/**
 * A bit of the mark of a packet that was led to an endpoint of a Service: of the first one of a connection, until it leaves this host. None that
 * Kubernetes, Docker, Calico or Tailscale use.
 */
export const ledMark = '0x2000';

/** All of the table, in place of what is there, as one change: connections that are there stay. */
export const rulesText = (names: Names, {subnet, subnets, pods, doors, policies}: Rules): string =>
	[
		`table inet ${names.table} {}`,
		`delete table inet ${names.table}`,
		`table inet ${names.table} {`,
		setOf('cluster', 'ipv4_addr; flags interval; auto-merge', subnets),
		// Pods that are of before the node got another subnet are among them.
		setOf('own', 'ipv4_addr; flags interval; auto-merge', [...(subnet === undefined ? [] : [subnet]), ...pods.map(({address}) => address)]),
		setOf(
			'hairpin',
			'ipv4_addr . ipv4_addr',
			pods.map(({address}) => `${address} . ${address}`),
		),
		`	set ends { type ifname . ipv4_addr;${elementsOf(pods.map(({address}) => `"${linkOf(names, address)}" . ${address}`))} }`,
		// What is translated below goes to loopback and comes from there; no pod gets at what else listens on it, and none has another's address.
		'	chain guard {',
		'		type filter hook prerouting priority raw; policy accept;',
		`		iifname "${names.links}*" ip daddr 127.0.0.0/8 drop`,
		`		iifname "${names.links}*" iifname != "${names.overlay}" iifname . ip saddr != @ends drop`,
		'	}',
		'	chain ports {',
		...pods.flatMap(({address, hostPorts}) => hostPorts.map(port => `		${portRule(address, port)}`)),
		'	}',
		'	chain prerouting {',
		'		type nat hook prerouting priority dstnat; policy accept;',
		...doors.map(
			({protocol, port, at}) => `		iifname "${names.links}*" ip daddr ${gateway} ${protocol} dport ${port} dnat ip to ${at.host}:${at.port}`,
		),
		'		fib daddr type local jump ports',
		'	}',
		'	chain output {',
		'		type nat hook output priority -100; policy accept;',
		// A resolv.conf names no port.
		...doors.flatMap(({protocol, port, at}) =>
			port === dnsPort ? [`		ip daddr ${names.resolver} ${protocol} dport ${port} dnat ip to ${at.host}:${at.port}`] : [],
		),
		'		fib daddr type local jump ports',
		'	}',
		// What still goes there after the translation is no port of it, and no business of another network.
		...['forward', 'output'].flatMap(hook => [
			`	chain ${hook}-lost {`,
			`		type filter hook ${hook} priority filter; policy accept;`,
			`		ip daddr ${gateway} reject with icmp port-unreachable`,
			'	}',
		]),
		...policyLines(policies, pods),
		'	chain postrouting {',
		'		type nat hook postrouting priority srcnat; policy accept;',
		// A pod that is led back to itself must not find that it wrote to itself.
		'		ct status dnat ip saddr . ip daddr @hairpin masquerade',
		`		oifname "${names.links}*" ip saddr 127.0.0.0/8 masquerade`,
		// A client outside of the cluster that was led to a pod of another node gets its answers by this one, which has the translation.
		`		meta mark & ${ledMark} == ${ledMark} oifname != "lo" ip saddr != @cluster ip daddr != @own masquerade`,
		'		ip saddr @own ip daddr != @cluster ip daddr != 224.0.0.0/4 masquerade',
		'	}',
		'}',
		'',
	].join('\n');

const setOf = (name: string, type: string, elements: readonly string[]): string => `	set ${name} { type ${type};${elementsOf(elements)} }`;

const elementsOf = (elements: readonly string[]): string =>
	elements.length === 0 ? '' : ` elements = { ${[...new Set(elements)].join(', ')} };`;

function portRule(address: string, {hostIP, hostPort, containerPort, protocol}: HostPort): string {
	const at = hostIP === undefined || hostIP === '0.0.0.0' ? '' : `ip daddr ${hostIP} `;
	return `${at}meta nfproto ipv4 meta l4proto ${protocol.toLowerCase()} th dport ${hostPort} dnat ip to ${address}:${containerPort}`;
}

/** For iptables-restore(8): where Docker or a firewall lets nothing through a host, what comes from pods or goes to them is let through. */
export const chainText = ({chain, links}: Names): string =>
	['*filter', `:${chain} - [0:0]`, `-A ${chain} -i ${links}+ -j ACCEPT`, `-A ${chain} -o ${links}+ -j ACCEPT`, 'COMMIT', ''].join('\n');
