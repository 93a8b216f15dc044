// The lines for ip(8) that make the network of one pod: a cable from its namespace to the host, and routes of single addresses over it. Pure.
//
// There is no bridge: the host routes between pods, so its rules see all that goes from one to another, and the address of who sent it.

import {linkOf, namespaceOf, type Names} from './names.js';

/** What pods send everything to; no host has it. Who answers for it is set once, by the MAC of all of the host's ends. */
export const gateway = '169.254.1.1';
const gatewayMac = 'ee:ee:ee:ee:ee:ee';

export type PodLink = {
	readonly uid: string;
	readonly address: string;
	readonly mtu: number;
	/** The node's own, in the subnet of its pods. */ readonly from: string;
};

/** On the host. */
export const cableLines = (names: Names, {uid, address, mtu}: PodLink): readonly string[] => {
	const link = linkOf(names, address);
	return [
		`link add ${link} mtu ${mtu} address ${gatewayMac} type veth peer name eth0 mtu ${mtu} netns ${namespaceOf(names, uid)}`,
		`link set ${link} up`,
	];
};

/** In the namespace. */
export const insideLines = ({address}: PodLink): readonly string[] => [
	'link set lo up',
	`address add ${address}/32 dev eth0`,
	'link set eth0 up',
	`neighbour replace ${gateway} lladdr ${gatewayMac} dev eth0 nud permanent`,
	`route replace ${gateway}/32 dev eth0 scope link`,
	`route replace default via ${gateway} dev eth0 src ${address}`,
];

/** On the host, the last of all: where it is, all is. */
export const routeLine = (names: Names, {address, from}: PodLink): string =>
	`route replace ${address}/32 dev ${linkOf(names, address)} scope link src ${from} proto ${names.protocol}`;
