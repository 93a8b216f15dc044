// One served port as rules of nftables: which chain a place leads to, and how that chain chooses an endpoint. Pure.
//
// A place leads to the chain of its port (service → endpoint in one rule), chosen by chance for each connection. With session affinity each endpoint
// has a chain of its own, and a set of the clients that are its: as kube-proxy has it, so that what a client is to keep goes with the endpoint.

import {deepEqual} from '../../../api/equal.js';
import {localAddressOf} from '../../../actors/node/network/local-address.js';
import {endpointsAt, isRelayedAt, placeText, type EndpointPlace, type ServedPlace, type ServedPort} from '../services/served-port.js';
import {ledMark} from '../../pod-network/rules.js';

/** What one served port has in the table, by name. */
export type Part = {
	/** The rules of each chain, in order. */
	readonly chains: ReadonlyMap<string, readonly string[]>;
	/** The definition of each set of its own. */
	readonly sets: ReadonlyMap<string, string>;
	/** By set and key, what is in a set that all share; of a map with what it leads to. */
	readonly elements: ReadonlyMap<string, string>;
	/** ClusterIPs: what is not led from there is refused. */
	readonly addresses: readonly string[];
};

export const noPart: Part = {chains: new Map(), sets: new Map(), elements: new Map(), addresses: []};

export function partOf(served: ServedPort): Part {
	const chains = new Map<string, readonly string[]>();
	const sets = new Map<string, string>();
	const elements = new Map<string, string>();
	for (const place of served.places) {
		const rules = rulesAt(served, place);
		if (rules === undefined) continue;
		const chain = chainAt(served, place);
		chains.set(chain, rules);
		elements.set(elementAt(served, place), ` : goto ${chain}`);
		// Of the host's own addresses the kernel itself refuses what nothing listens on.
		if (place.kind === 'external' && endpointsAt(served, place).length === 0) elements.set(`refused ${keyAt(served, place)}`, '');
	}
	if (served.affinitySeconds !== undefined)
		for (const endpoint of distinct([...served.inside, ...served.outside].filter(({via}) => via === undefined))) {
			const clients = clientsOf(served, endpoint);
			sets.set(clients, `type ipv4_addr; flags dynamic,timeout; timeout ${served.affinitySeconds}s; size ${mostClients};`);
			chains.set(chainOf(served, endpoint), [`update @${clients} { ip saddr }`, `${leading(served)} ${placeText(endpoint)}`]);
		}
	const addresses = served.places.flatMap(({kind, address}) => (kind === 'cluster' && address !== undefined ? [address] : []));
	return {chains, sets, elements, addresses};
}

/** Undefined: the process that passes on connections listens at that place itself. */
function rulesAt(served: ServedPort, place: ServedPlace): readonly string[] | undefined {
	const endpoints = endpointsAt(served, place);
	if (!isRelayedAt(served, place)) return served.affinitySeconds === undefined ? choosing(served, endpoints) : keeping(served, endpoints);
	const local = place.kind === 'cluster' && place.address !== undefined ? localAddressOf(place.address) : undefined;
	return local === undefined ? undefined : [`${leading(served)} ${local}:${place.port}`];
}

/** Of one endpoint: those beyond come back to any. */
const mostClients = 65_535;

const protocolOf = ({protocol}: ServedPort): string => protocol.toLowerCase();

/** Clients outside have other endpoints where a traffic policy says so. */
const chainAt = (served: ServedPort, {kind}: ServedPlace): string =>
	kind === 'cluster' || deepEqual(served.inside, served.outside) ? `service/${served.key}` : `outside/${served.key}`;

const chainOf = ({key}: ServedPort, {address, port}: EndpointPlace): string => `endpoint/${key}/${address}/${port}`;

/** The time is in the name, since that of a set cannot be changed. */
const clientsOf = ({key, affinitySeconds = 0}: ServedPort, {address, port}: EndpointPlace): string =>
	`clients/${key}/${address}/${port}/${affinitySeconds}`;

const keyAt = (served: ServedPort, {address, port}: ServedPlace): string =>
	[...(address === undefined ? [] : [address]), protocolOf(served), port].join(' . ');

const elementAt = (served: ServedPort, place: ServedPlace): string => {
	const map = place.kind === 'cluster' ? 'services' : place.kind === 'external' ? 'externals' : 'ports';
	return `${map} ${keyAt(served, place)}`;
};

/** A client that comes from elsewhere is to get its answers by this node, see `rulesText`. */
const leading = (served: ServedPort): string => `meta l4proto ${protocolOf(served)} meta mark set meta mark | ${ledMark} dnat ip to`;

const elementOf = ({address, port}: EndpointPlace, index: number): string => `${index} : ${address} . ${port}`;

function choosing(served: ServedPort, endpoints: readonly EndpointPlace[]): readonly string[] {
	const [first, ...others] = endpoints;
	if (first === undefined) return [];
	if (others.length === 0) return [`${leading(served)} ${placeText(first)}`];
	return [`${leading(served)} numgen random mod ${endpoints.length} map { ${endpoints.map(elementOf).join(', ')} }`];
}

function keeping(served: ServedPort, endpoints: readonly EndpointPlace[]): readonly string[] {
	if (endpoints.length === 0) return [];
	const own = endpoints.map(endpoint => `ip saddr @${clientsOf(served, endpoint)} goto ${chainOf(served, endpoint)}`);
	const any = endpoints.map((endpoint, index) => `${index} : goto ${chainOf(served, endpoint)}`);
	return [...own, `numgen random mod ${endpoints.length} vmap { ${any.join(', ')} }`];
}

const distinct = (endpoints: readonly EndpointPlace[]): readonly EndpointPlace[] => [
	...new Map(endpoints.map(endpoint => [placeText(endpoint), endpoint])).values(),
];
