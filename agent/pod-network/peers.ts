// The ways to the pods of other nodes: which routes, neighbours and tunnel ends there are to be, and what of those that are there is to go. Pure.

import {overlap, parseSubnet, subnetText, type Subnet} from '../../api/ipv4.js';
import {nodeAddress, overlayMac, type Names} from './names.js';

/** `vxlan`: packed in UDP (RFC 7348). `host-gw`: by the other node's own address, on one network. `none`: the network itself knows the way. */
export const overlays = ['vxlan', 'host-gw', 'none'] as const;
export type Overlay = (typeof overlays)[number];

/** Another node. `address` is undefined where no other host reaches it: it is on this host, or nothing leads there. */
export type Peer = {readonly subnet: Subnet; readonly address: string | undefined};

/** One to which a way is to lead: those of this host are reached by the routes to their pods, whichever agent has set them. */
export type FarPeer = Peer & {readonly address: string};

/** `here`: addresses of this host. */
export const farPeers = (peers: readonly Peer[], here: ReadonlySet<string>): readonly FarPeer[] =>
	peers.filter((peer): peer is FarPeer => peer.address !== undefined && !here.has(peer.address));

/** What there is, or is to be. */
export type Ways = {
	/** By the subnet: what is behind it in the line of the route. */
	readonly routes: ReadonlyMap<string, string>;
	/** In the overlay: MACs by address, and addresses of nodes by MAC. */
	readonly neighbours: ReadonlyMap<string, string>;
	readonly ends: ReadonlyMap<string, string>;
};

export const noWays: Ways = {routes: new Map(), neighbours: new Map(), ends: new Map()};

/** VXLAN's network, and the port that Linux has for it: one of each on a host. */
export const vxlan = {network: 7_711, port: 8_472, overheadBytes: 50} as const;

/** Peers whose subnet overlaps that of this node, or of one before, are left out: where to is not known. */
export function waysTo(overlay: Overlay, own: Subnet, peers: readonly FarPeer[]): Ways {
	if (overlay === 'none') return noWays;
	const clear = peers.filter(
		({subnet}, index) => !overlap(subnet, own) && !peers.slice(0, index).some(before => overlap(before.subnet, subnet)),
	);
	if (overlay === 'host-gw') return {...noWays, routes: new Map(clear.map(({subnet, address}) => [subnetText(subnet), `via ${address}`]))};
	return {
		routes: new Map(clear.map(({subnet}) => [subnetText(subnet), `via ${nodeAddress(subnet)}`])),
		neighbours: new Map(clear.map(({subnet}) => [nodeAddress(subnet), overlayMac(subnet)])),
		ends: new Map(clear.map(({subnet, address}) => [overlayMac(subnet), address])),
	};
}

/** Lines for ip(8) and bridge(8). All that is wanted is set again: whatever it was before, and if it was there at all. */
export type WayLines = {readonly ip: readonly string[]; readonly bridge: readonly string[]};

export function wayLines(names: Names, overlay: Overlay, own: Subnet, wanted: Ways, there: Ways): WayLines {
	const device = names.overlay;
	const over = overlay === 'vxlan' ? ` dev ${device} onlink src ${nodeAddress(own)}` : '';
	const gone = (before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] =>
		[...before.keys()].filter(key => !now.has(key));
	return {
		ip: [
			...gone(there.routes, wanted.routes).map(subnet => `route del ${subnet} proto ${names.protocol}`),
			...gone(there.neighbours, wanted.neighbours).map(address => `neighbour del ${address} dev ${device}`),
			...[...wanted.neighbours].map(([address, mac]) => `neighbour replace ${address} lladdr ${mac} dev ${device} nud permanent`),
			...[...wanted.routes].map(([subnet, way]) => `route replace ${subnet} ${way}${over} proto ${names.protocol}`),
		],
		bridge: [
			...gone(there.ends, wanted.ends).map(mac => `fdb del ${mac} dev ${device} dst ${there.ends.get(mac) ?? ''} self`),
			...[...wanted.ends].map(([mac, address]) => `fdb replace ${mac} dev ${device} dst ${address} self permanent`),
		],
	};
}

/** One device for all peers: which of them a packet goes to is said by the tables above, and nothing is learnt from what comes. */
export const overlayLines = (names: Names, own: Subnet, address: string, mtu: number): readonly string[] => [
	`link add ${names.overlay} address ${overlayMac(own)} mtu ${mtu} type vxlan id ${vxlan.network} dstport ${vxlan.port} local ${address} nolearning`,
	`address add ${nodeAddress(own)}/32 dev ${names.overlay}`,
	`link set ${names.overlay} up`,
];

/** What a Node says of its subnet; undefined: it has none, or it is unreadable. */
export const subnetOf = (text: string | undefined): Subnet | undefined => (text === undefined ? undefined : parseSubnet(text));
