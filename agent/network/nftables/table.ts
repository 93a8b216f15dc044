// The table of nftables in which a node's Services are: all of it, or what of it is another than before, each as one change of the kernel. Pure.

import type {Names} from '../../pod-network/names.js';
import {noPart, partOf, type Part} from './served-rules.js';

/** Addresses of the node, or ranges of them, at which node ports are served. */
export type NodeAddresses = readonly string[];

/** What is, or is to be, in the table. */
export type Content = {readonly parts: readonly Part[]; readonly addresses: ReadonlySet<string>};

export const noContent: Content = {parts: [], addresses: new Set()};

/** All of it, in place of what is there: connections that are there stay. */
export const tableText = ({services: table, links}: Names, node: NodeAddresses, content: Content): string =>
	[
		`table inet ${table} {}`,
		`delete table inet ${table}`,
		`table inet ${table} {`,
		'	map services { type ipv4_addr . inet_proto . inet_service : verdict; }',
		'	map externals { type ipv4_addr . inet_proto . inet_service : verdict; }',
		'	map ports { type inet_proto . inet_service : verdict; }',
		'	set addresses { type ipv4_addr; }',
		'	set refused { type ipv4_addr . inet_proto . inet_service; }',
		`	set node { type ipv4_addr; flags interval; auto-merge;${node.length === 0 ? '' : ` elements = { ${node.join(', ')} };`} }`,
		'	chain outside {',
		'		ip daddr . meta l4proto . th dport vmap @externals',
		'		ip daddr @node fib daddr type local meta l4proto . th dport vmap @ports',
		'	}',
		'	chain prerouting {',
		'		type nat hook prerouting priority dstnat; policy accept;',
		// Who is outside of the cluster has no business with its own addresses.
		`		iifname "${links}*" ip daddr . meta l4proto . th dport vmap @services`,
		'		jump outside',
		'	}',
		'	chain output {',
		'		type nat hook output priority -100; policy accept;',
		'		ip daddr . meta l4proto . th dport vmap @services',
		'		jump outside',
		'	}',
		// What still has such an address after the translation is no port of a Service with endpoints, and no business of another network.
		...['forward', 'output'].flatMap(hook => [
			`	chain ${hook}-lost {`,
			`		type filter hook ${hook} priority filter; policy accept;`,
			'		ip daddr @addresses reject with icmp port-unreachable',
			'		ip daddr . meta l4proto . th dport @refused reject with icmp port-unreachable',
			'	}',
		]),
		'}',
		changeText({services: table}, noContent, content),
	].join('\n');

/** One of everything that there may be in it: whether this kernel takes it can be tried. */
export function trialText(names: Names): string {
	const endpoints = [1, 2].map(last => ({address: `10.0.0.${last}`, port: 80}));
	const parts = ([undefined, 600] as const).map((affinitySeconds, index) =>
		partOf({
			key: `trial/${index}`,
			namespace: 'trial',
			service: 'trial',
			protocol: 'UDP',
			places: [{kind: 'cluster', address: `10.0.1.${index}`, port: 80}],
			taken: [],
			inside: endpoints,
			outside: endpoints,
			isOutsideLocal: false,
			known: endpoints,
			affinitySeconds,
		}),
	);
	return tableText(names, ['10.0.2.0/24'], {parts, addresses: new Set(['10.0.1.0'])});
}

/** The lines that make the one of the other; the parts are those of served ports that are others, before and now, at the same places. */
export function changeText({services: table}: Pick<Names, 'services'>, before: Content, after: Content): string {
	const was = joined(before.parts);
	const is = joined(after.parts);
	const at = `inet ${table}`;
	const kept = (chain: string): boolean => sameLines(was.chains.get(chain), is.chains.get(chain));
	const gone = <Value>(those: ReadonlyMap<string, Value>, now: ReadonlyMap<string, Value>): string[] =>
		[...those.keys()].filter(key => !now.has(key));
	const addedAddresses = [...after.addresses].filter(address => !before.addresses.has(address));
	const goneAddresses = [...before.addresses].filter(address => !after.addresses.has(address));
	const changedElements = (those: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] =>
		[...those].flatMap(([key, value]) => (other.get(key) === value ? [] : [key]));
	return [
		// What leads to a chain goes before the chain does, and comes after it.
		...bySet(changedElements(was.elements, is.elements).map(key => [key, ''])).map(
			([set, list]) => `delete element ${at} ${set} { ${list} }`,
		),
		...(goneAddresses.length === 0 ? [] : [`delete element ${at} addresses { ${goneAddresses.join(', ')} }`]),
		...[...was.chains.keys()].filter(chain => !kept(chain)).map(chain => `flush chain ${at} ${chain}`),
		...[...is.sets].filter(([set]) => !was.sets.has(set)).map(([set, definition]) => `add set ${at} ${set} { ${definition} }`),
		...gone(is.chains, was.chains).map(chain => `add chain ${at} ${chain}`),
		...[...is.chains].filter(([chain]) => !kept(chain)).flatMap(([chain, rules]) => rules.map(rule => `add rule ${at} ${chain} ${rule}`)),
		...gone(was.chains, is.chains).map(chain => `delete chain ${at} ${chain}`),
		...gone(was.sets, is.sets).map(set => `delete set ${at} ${set}`),
		...(addedAddresses.length === 0 ? [] : [`add element ${at} addresses { ${addedAddresses.join(', ')} }`]),
		...bySet(changedElements(is.elements, was.elements).map(key => [key, is.elements.get(key) ?? ''])).map(
			([set, list]) => `add element ${at} ${set} { ${list} }`,
		),
		'',
	].join('\n');
}

const sameLines = (one: readonly string[] | undefined, other: readonly string[] | undefined): boolean =>
	one !== undefined && other !== undefined && one.length === other.length && one.every((line, index) => line === other[index]);

function joined(parts: readonly Part[]): Part {
	const [only = noPart] = parts;
	if (parts.length <= 1) return only;
	return {
		chains: new Map(parts.flatMap(({chains}) => [...chains])),
		sets: new Map(parts.flatMap(({sets}) => [...sets])),
		elements: new Map(parts.flatMap(({elements}) => [...elements])),
		addresses: [],
	};
}

/** Each set once, with all that is said of it. */
function bySet(elements: readonly (readonly [key: string, value: string])[]): readonly (readonly [set: string, list: string])[] {
	const lists = new Map<string, string[]>();
	for (const [key, value] of elements) {
		const space = key.indexOf(' ');
		const list = lists.get(key.slice(0, space)) ?? [];
		lists.set(key.slice(0, space), list);
		list.push(key.slice(space + 1) + value);
	}
	return [...lists].map(([set, list]) => [set, list.join(', ')] as const);
}
