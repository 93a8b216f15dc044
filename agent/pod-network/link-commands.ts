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

/** On the host. `pid`: a process that has the namespace already; undefined: one is made. */
export const cableLines = (names: Names, link: PodLink, pid: number | undefined): readonly string[] => {
	const {uid, address, mtu, from} = link;
	const name = linkOf(names, address);
	const namespace = namespaceOf(names, uid);
	return [
		pid === undefined ? `netns add ${namespace}` : `netns attach ${namespace} ${pid}`,
		`link add ${name} mtu ${mtu} address ${gatewayMac} type veth peer name eth0 mtu ${mtu} netns ${namespace}`,
		`link set ${name} up`,
		`route replace ${address}/32 dev ${name} scope link src ${from} proto ${names.protocol}`,
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
