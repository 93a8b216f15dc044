// NetworkPolicies as lines of nftables: who is isolated, what is let through, and that nothing but addresses and numbers gets into them.

import test from 'ava';
import {policyLines} from '../../../agent/pod-network/policies.js';
import type {NetworkPolicyOfNode} from '../../../actors/protocol/network-object.js';

const pods = [
	{uid: 'a', address: '10.244.3.2'},
	{uid: 'b', address: '10.244.3.3'},
	{uid: 'c', address: '10.244.3.4'},
];

type Rules = Pick<NetworkPolicyOfNode, 'ingress' | 'egress'>;

const policy = (uids: readonly (string | {uid: string; ports: {[name: string]: number}})[], rules: Rules): NetworkPolicyOfNode => ({
	type: 'policy',
	namespace: 'default',
	name: 'p',
	pods: uids.map(each => (typeof each === 'string' ? {uid: each} : each)),
	...rules,
});

/** The lines of each chain, its hook aside. */
function chainsOf(...policies: readonly NetworkPolicyOfNode[]): {readonly [chain: string]: readonly string[]} {
	const chains: {[chain: string]: string[]} = {};
	let chain = '';
	for (const line of policyLines(policies, pods).flatMap(text => text.split('\n'))) {
		const begun = /^\tchain (\S+) \{$/.exec(line)?.[1];
		if (begun !== undefined) chains[(chain = begun)] = [];
		else if (line !== '\t}' && !line.includes(' hook ')) chains[chain]?.push(line.trim());
	}
	return chains;
}

const rejected = 'reject with icmpx type admin-prohibited';

test('without policies, and for pods that are not here, there is nothing', t => {
	t.deepEqual(policyLines([], pods), []);
	t.deepEqual(policyLines([policy(['elsewhere'], {ingress: []})], pods), []);
	t.deepEqual(policyLines([policy(['a'], {})], pods), []);
});

test('pods without rules are reached by nobody, in the direction that is isolated alone', t => {
	t.deepEqual(chainsOf(policy(['a', 'b'], {ingress: []})), {
		'policies-in-0': [rejected],
		policies: [
			'ct state established,related accept',
			'ip saddr . ip daddr @hairpin accept',
			'ip daddr vmap { 10.244.3.2 : jump policies-in-0, 10.244.3.3 : jump policies-in-0 }',
		],
		'policies-here': ['ct state established,related accept'],
	});
});

test('what pods send is judged on its way out and where it stays on the node', t => {
	const chains = chainsOf(
		policy(['a'], {egress: [{peers: ['10.244.4.2', '192.0.2.0-192.0.2.9'], ports: [{protocol: 'TCP', numbers: ['80', '90-99']}]}]}),
	);
	t.deepEqual(chains['policies-out-0'], ['ip daddr { 10.244.4.2, 192.0.2.0-192.0.2.9 } tcp dport { 80, 90-99 } return', rejected]);
	t.deepEqual(chains['policies-local-0'], [
		'ct original ip daddr { 10.244.4.2, 192.0.2.0-192.0.2.9 } meta l4proto tcp ct original proto-dst { 80, 90-99 } return',
		rejected,
	]);
	t.true(chains['policies']?.includes('ip saddr vmap { 10.244.3.2 : jump policies-out-0 }'));
	t.true(chains['policies-here']?.includes('ip saddr vmap { 10.244.3.2 : jump policies-local-0 }'));
});

test('rules add up: over policies, over protocols; a rule without peers is for anyone, one without ports for all', t => {
	t.deepEqual(
		chainsOf(
			policy(['a', 'b'], {ingress: [{ports: [{protocol: 'UDP', numbers: ['53']}, {protocol: 'SCTP'}]}]}),
			policy(['a'], {ingress: [{peers: ['10.244.3.3']}]}),
			policy(['c'], {ingress: [{}]}),
		),
		{
			'policies-in-0': ['udp dport { 53 } return', 'meta l4proto sctp return', 'ip saddr { 10.244.3.3 } return', rejected],
			'policies-in-1': ['udp dport { 53 } return', 'meta l4proto sctp return', rejected],
			'policies-in-2': ['return', rejected],
			policies: [
				'ct state established,related accept',
				'ip saddr . ip daddr @hairpin accept',
				'ip daddr vmap { 10.244.3.2 : jump policies-in-0, 10.244.3.3 : jump policies-in-1, 10.244.3.4 : jump policies-in-2 }',
			],
			'policies-here': ['ct state established,related accept'],
		},
	);
});

test('all addresses are anyone; peers that come to nothing let nothing through', t => {
	const lines = (...peers: readonly string[]) => chainsOf(policy(['a'], {ingress: [{peers}]}))['policies-in-0'];
	t.deepEqual(lines('0.0.0.0-255.255.255.255'), ['return', rejected]);
	t.deepEqual(lines(), [rejected]);
});

test('a port by name is the number that each pod has for it; no number, no port', t => {
	const chains = chainsOf(
		policy([{uid: 'a', ports: {'TCP/http': 8080}}, {uid: 'b', ports: {'TCP/http': 9090}}, 'c'], {
			ingress: [{peers: ['10.244.3.9'], ports: [{protocol: 'TCP', numbers: ['80']}], names: ['TCP/http']}],
		}),
	);
	t.deepEqual(
		[0, 1, 2].map(i => chains[`policies-in-${i}`]?.slice(0, -1)),
		[
			['ip saddr { 10.244.3.9 } tcp dport { 80 } return', 'ip saddr { 10.244.3.9 } tcp dport { 8080 } return'],
			['ip saddr { 10.244.3.9 } tcp dport { 80 } return', 'ip saddr { 10.244.3.9 } tcp dport { 9090 } return'],
			['ip saddr { 10.244.3.9 } tcp dport { 80 } return'],
		],
	);
	const egress = [{peers: ['10.244.4.2', '10.244.4.3'], ports: [], named: [{protocol: 'UDP', port: 5353, peers: ['10.244.4.3']}]}] as const;
	t.deepEqual(chainsOf(policy(['a'], {egress}))['policies-out-0'], ['ip daddr { 10.244.4.3 } udp dport { 5353 } return', rejected]);
});

test('the resolver of the node is let through as what the pod has asked for, and nothing else of the node with it', t => {
	const chains = chainsOf(policy(['a'], {egress: [{peers: [], resolver: ['UDP', 'TCP']}]}));
	t.deepEqual(chains['policies-out-0'], [rejected]);
	t.deepEqual(chains['policies-local-0'], [
		'ct original ip daddr { 169.254.1.1 } meta l4proto udp ct original proto-dst { 53 } return',
		'ct original ip daddr { 169.254.1.1 } meta l4proto tcp ct original proto-dst { 53 } return',
		rejected,
	]);
});

test('what is no address and no number does not get in', t => {
	const evil = '10.0.0.1 } accept; ip saddr { 0.0.0.0/0';
	const chains = chainsOf(
		policy([{uid: 'a', ports: {'TCP/http': '80 } accept' as unknown as number}}], {
			ingress: [
				{peers: [evil, '10.0.0.1-10.0.0.2-10.0.0.3', '::1', '10.0.0.7'], ports: [{protocol: 'TCP', numbers: ['1; accept', '80']}]},
				{peers: [evil]},
				{ports: [{protocol: 'tcp accept' as 'TCP', numbers: ['1']}], names: ['TCP/http']},
			],
		}),
	);
	t.deepEqual(chains['policies-in-0'], ['ip saddr { 10.0.0.7 } tcp dport { 80 } return', rejected]);
});
