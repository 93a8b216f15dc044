// What the network of an agent's pods is called in the kernel: whatever has such a name is this agent's, and nothing else is. Pure.

import {createHash} from 'node:crypto';
import {ipv4Number, ipv4Text, type Subnet} from '../../api/ipv4.js';

export type Names = {
	/** Of all network namespaces of pods. */
	readonly namespaces: string;
	/** Of all interfaces; an interface's name has 15 characters at most. */
	readonly links: string;
	readonly overlay: string;
	/** Of the node's own address in the subnet of its pods, which is one of loopback's device. */
	readonly label: string;
	/** In the family `inet` of nftables. */
	readonly table: string;
	/** The same, of Services. */
	readonly services: string;
	/** The same: that it is there says that the host passed on nothing before the pods of its agents had networks. */
	readonly offTable: string;
	/** Of iptables. */
	readonly chain: string;
	/** Who has set a route, as rtnetlink(7) has it: none of those that are given to known programs (/etc/iproute2/rt_protos). */
	readonly protocol: number;
	/**
	 * Of loopback, where the node's resolver listens if nobody says where, and where programs of the host find it in any case: nodes of one host are not to
	 * answer for each other. Clear of pods and Services.
	 */
	readonly resolver: string;
};

/** Where a node's resolver listens if nobody says at which port. */
export const resolverPort = 8_053;

/** Whether it is called as those of any agent of a host are. */
export const isLinkOfAgent = (link: string): boolean => /^troupe[0-9a-f]{4}-/.test(link);
export const isLabelOfAgent = (label: string): boolean => /^lo:troupe[0-9a-f]{4}$/.test(label);
export const isTableOfAgent = (table: string): boolean => /^troupe-(?:pods|services|off)-[0-9a-f]{4}$/.test(table);

/** Of the agent with that folder, which is absolute and resolved: several may live on one host. */
export function namesOf(folder: string): Names {
	const digest = createHash('sha256').update(folder).digest();
	const tag = digest.toString('hex', 0, 2);
	return {
		namespaces: `troupe-${tag}-`,
		links: `troupe${tag}-`,
		overlay: `troupe${tag}-vx`,
		label: `lo:troupe${tag}`,
		table: `troupe-pods-${tag}`,
		services: `troupe-services-${tag}`,
		offTable: `troupe-off-${tag}`,
		chain: `TROUPE-PODS-${tag.toUpperCase()}`,
		protocol: 64 + ((digest[2] ?? 0) % 100),
		resolver: [127, 32 + (digest.readUInt8(3) % 32), digest.readUInt8(4), 1 + (digest.readUInt8(5) % 254)].join('.'),
	};
}

export const namespaceOf = ({namespaces}: Names, uid: string): string => `${namespaces}${uid}`;

/** The uid of the pod whose namespace it is; undefined: it is no pod's of this agent. */
export const podOf = ({namespaces}: Names, namespace: string): string | undefined =>
	namespace.startsWith(namespaces) ? namespace.slice(namespaces.length) : undefined;

/** Where ip-netns(8) has it. */
export const namespaceFile = (names: Names, uid: string): string => `/run/netns/${namespaceOf(names, uid)}`;

/** The host's end of a pod's cable: the pods of a node differ in the last two bytes of their addresses. */
export const linkOf = ({links}: Names, address: string): string =>
	`${links}${((ipv4Number(address) ?? 0) % 65_536).toString(16).padStart(4, '0')}`;

/** By which a node's own programs speak to pods, also over the overlay: the lowest of its subnet. */
export const nodeAddress = ({first}: Subnet): string => ipv4Text(first);

/** Of the end of a node in the overlay. It follows from the subnet, so no node need tell another. */
export function overlayMac({first}: Subnet): string {
	const bytes = [0x0e, 0x54, first >>> 24, (first >>> 16) & 255, (first >>> 8) & 255, first & 255];
	return bytes.map(byte => byte.toString(16).padStart(2, '0')).join(':');
}
