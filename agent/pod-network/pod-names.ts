// Whom a pod with a network of its own asks for names, as in Kubernetes: its node, by the address that it sends everything to. Pure.

import {gateway} from './link-commands.js';

/** Lines of resolv.conf(5). */
export type PodNames = {readonly nameserver: string; readonly searches: readonly string[]; readonly options: readonly string[]};

/** Domains of the host beside those of the cluster; some C libraries take no more than six in all. */
const mostOfHost = 3;

const clusterDomain = 'cluster.local';

/** `host`: the host's own resolv.conf. */
export function podNamesOf(namespace: string, host: string): PodNames {
	const searched = [...host.matchAll(/^[ \t]*(?:search|domain)[ \t]+(.+)$/gm)].at(-1)?.[1]?.trim().split(/\s+/) ?? [];
	const usable = searched.filter(domain => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,252}$/.test(domain));
	return {
		nameserver: gateway,
		searches: [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain, ...usable.slice(0, mostOfHost)],
		options: ['ndots:5'],
	};
}

export const resolvConfOf = ({nameserver, searches, options}: PodNames): string =>
	`nameserver ${nameserver}\nsearch ${searches.join(' ')}\noptions ${options.join(' ')}\n`;
