// Whom a pod asks for names, as in Kubernetes: where the cluster has a resolver for it, its node; and what its dnsConfig says besides. Pure.

import {limits} from '../../api/limits.js';
import {isIPv4, isIPv6} from '../../api/rules/address.js';
import type {SandboxSpec} from '../../actors/node/runtime/runtime-port.js';

/** Lines of resolv.conf(5). */
export type PodNames = {readonly nameservers: readonly string[]; readonly searches: readonly string[]; readonly options: readonly string[]};

export type NamesWish = Pick<SandboxSpec, 'namespace' | 'hostNetwork'> & {
	readonly dns?: SandboxSpec['dns'] | undefined;
	/** Whether it finds what listens on the host's loopback. */
	readonly seesLoopback: boolean;
	/** At which it finds the resolver of its node; undefined: there is none for it, and the cluster has no names for it. */
	readonly resolver: string | undefined;
};

/** Domains of the host beside those of the cluster; some C libraries take no more than six in all. */
const mostOfHost = 3;

const clusterDomain = 'cluster.local';

/** `host`: the host's own resolv.conf. Undefined: that, as it is. */
export function podNamesOf({namespace, dns, hostNetwork, seesLoopback, resolver}: NamesWish, host: string): PodNames | undefined {
	const {policy = 'ClusterFirst', nameservers = [], searches = [], options = []} = dns ?? {};
	const ofCluster = policy === 'ClusterFirstWithHostNet' || (policy === 'ClusterFirst' && !hostNetwork) ? resolver : undefined;
	const addsNothing = [nameservers, searches, options].every(({length}) => length === 0);
	if (policy !== 'None' && ofCluster === undefined && addsNothing) return undefined;
	const base =
		policy === 'None' ? nothing : ofCluster === undefined ? hostNames(host, seesLoopback) : clusterNames(namespace, ofCluster, host);
	return {
		nameservers: once([...base.nameservers, ...nameservers]).slice(0, limits.podNameservers),
		searches: fitting(once([...base.searches, ...searches])),
		options: merged(base.options, options),
	};
}

const nothing: PodNames = {nameservers: [], searches: [], options: []};

const clusterNames = (namespace: string, resolver: string, host: string): PodNames => ({
	nameservers: [resolver],
	searches: [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain, ...searchesIn(host).slice(0, mostOfHost)],
	options: ['ndots:5'],
});

/** What listens on the host's loopback is not there in another network. */
const hostNames = (host: string, seesLoopback: boolean): PodNames => ({
	nameservers: [...host.matchAll(/^[ \t]*nameserver[ \t]+(\S+)/gm)].flatMap(([, server = '']) =>
		(isIPv4(server) && (seesLoopback || !server.startsWith('127.'))) || (isIPv6(server) && (seesLoopback || server !== '::1'))
			? [server]
			: [],
	),
	searches: searchesIn(host),
	options: (lastOf(host, 'options') ?? []).filter(option => /^[A-Za-z0-9_:.-]{1,64}$/.test(option)),
});

const searchesIn = (host: string): readonly string[] =>
	(lastOf(host, '(?:search|domain)') ?? []).filter(domain => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,252}$/.test(domain));

/** The words of the last such line, which is the one that counts. */
const lastOf = (host: string, word: string): readonly string[] | undefined =>
	[...host.matchAll(new RegExp(`^[ \\t]*${word}[ \\t]+(.+)$`, 'gm'))].at(-1)?.[1]?.trim().split(/\s+/);

const once = (items: readonly string[]): readonly string[] => [...new Set(items)];

/** As many as a resolv.conf may have, from the first. */
function fitting(searches: readonly string[]): readonly string[] {
	let characters = -1;
	return searches.slice(0, limits.podSearches).filter(each => (characters += each.length + 1) <= limits.podSearchCharacters);
}

/** One of each name: the last. */
const merged = (before: readonly string[], after: readonly string[]): readonly string[] => [
	...new Map([...before, ...after].map(option => [option.split(':', 1)[0], option])).values(),
];

export const resolvConfOf = ({nameservers, searches, options}: PodNames): string =>
	[
		...nameservers.map(server => `nameserver ${server}\n`),
		...(searches.length === 0 ? [] : [`search ${searches.join(' ')}\n`]),
		...(options.length === 0 ? [] : [`options ${options.join(' ')}\n`]),
	].join('');

/** The host's own hosts(5), with further names of the pod. */
export const hostsOf = (host: string, aliases: SandboxSpec['hostAliases']): string =>
	[
		host.replace(/\n*$/, '\n'),
		'\n# hostAliases of the pod\n',
		...aliases.filter(({hostnames}) => hostnames.length > 0).map(({ip, hostnames}) => `${ip}\t${hostnames.join('\t')}\n`),
	].join('');
