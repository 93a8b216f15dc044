// Where a server is found: what it tells agents and kubeconfigs, and the names its certificate must carry.

import {networkInterfaces} from 'node:os';
import {type HostPort, formatHostPort} from '../../../api/host-port.js';
import type {Advertised} from '../serving-options.js';

const wildcards = ['0.0.0.0', '::', ''];

/** Whether it stands for every address of the machine. */
export const isWildcard = (host: string): boolean => wildcards.includes(host);

/** Every address of this machine, those that others reach first. */
function ownAddresses(): readonly string[] {
	const all = Object.values(networkInterfaces()).flatMap(each => each ?? []);
	const usable = all.filter(({address, scopeid}) => scopeid === undefined || scopeid === 0 || !address.startsWith('fe80'));
	return usable.toSorted((a, b) => rank(a) - rank(b)).map(({address}) => address);
}

const rank = ({internal, family}: {readonly internal: boolean; readonly family: string}): number =>
	(internal ? 2 : 0) + (family === 'IPv4' ? 0 : 1);

/** `https://…` as agents, people and the other servers reach the API that listens at `place`. */
export function advertisedUrl(place: HostPort, advertised: Advertised | undefined): string {
	return `https://${formatHostPort({host: advertisedHost(place, advertised), port: advertised?.port ?? place.port})}`;
}

/** Of this machine, as others reach it. */
export const advertisedHost = ({host}: Pick<HostPort, 'host'>, advertised: Advertised | undefined): string =>
	advertised?.host ?? (isWildcard(host) ? (ownAddresses()[0] ?? '127.0.0.1') : host);

/** Names and addresses for the certificate: those of the doors, and what is advertised. */
export function certificateNames(hosts: readonly string[], advertised: Advertised | undefined): readonly string[] {
	const named = hosts.filter(host => !isWildcard(host));
	const own = hosts.some(isWildcard) ? ownAddresses() : [];
	return [...new Set([...named, ...own, ...(advertised === undefined ? [] : [advertised.host])])];
}
