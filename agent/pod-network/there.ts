// What is there in the kernel of an agent's pod network, found by name.

import {readdirSync} from 'node:fs';
import {isIPv4} from 'node:net';
import {ipv4Number, subnetText, type Subnet} from '../../api/ipv4.js';
import {nodeSubnetSize} from '../../api/kinds/clusterconfig.js';
import {limits} from '../../api/limits.js';
import {parsedJson, valueOr} from '../../api/value-or.js';
import {valueOrFor} from '../../system/files/errno.js';
import {isLabelOfAgent, isLinkOfAgent, podOf, type Names} from './names.js';
import type {Ways} from './peers.js';
import {call, type NetworkTools} from './tools.js';

type Members = Readonly<Record<string, unknown>>;

/** What a program of iproute2 has written as JSON; nothing where it wrote none. */
const listed = (text: string): readonly Members[] => {
	const said = valueOr(undefined, () => parsedJson(text));
	return Array.isArray(said) ? said.map(each => Object(each) as Members) : [];
};

const textsOf = (items: readonly Members[], member: string): string[] =>
	items.flatMap(item => (typeof item[member] === 'string' ? [item[member]] : []));

/** Uids of the pods whose namespaces are there. Throws errno exceptions. */
export const podsThere = (names: Names): readonly string[] =>
	valueOrFor([], ['ENOENT'], () => readdirSync('/run/netns')).flatMap(name => podOf(names, name) ?? []);

/** Interfaces of ours on the host. Rejects as `call`. */
export const linksThere = async ({ip}: NetworkTools, {links}: Names): Promise<readonly string[]> =>
	textsOf(listed(await call(ip, ['-json', 'link', 'show'])), 'ifname').filter(name => name.startsWith(links));

/** Destinations of routes of ours: subnets, and addresses of pods. Another agent's may have the same number. Rejects as `call`. */
export const routesThere = async ({ip}: NetworkTools, {protocol, links}: Names): Promise<readonly string[]> =>
	textsOf(
		listed(await call(ip, ['-json', 'route', 'show', 'proto', String(protocol)])).filter(({dev}) => !isLinkOfAnother(dev, links)),
		'dst',
	);

const isLinkOfAnother = (dev: unknown, links: string): boolean => typeof dev === 'string' && isLinkOfAgent(dev) && !dev.startsWith(links);

/** The host's end of the route to a pod; undefined: there is none. Rejects as `call`. */
export const routeTo = async ({ip}: NetworkTools, address: string): Promise<string | undefined> =>
	textsOf(listed(await call(ip, ['-json', 'route', 'show', `${address}/32`])), 'dev')[0];

/** Ways to other nodes. Rejects as `call`. */
export async function waysThere(tools: NetworkTools, names: Names, hasOverlay: boolean): Promise<Ways> {
	const routes = (await routesThere(tools, names)).filter(subnet => subnet.includes('/'));
	const neighbours = hasOverlay ? listed(await call(tools.ip, ['-json', 'neighbour', 'show', 'dev', names.overlay])) : [];
	const ends = hasOverlay ? listed(await call(tools.bridge, ['-json', 'fdb', 'show', 'dev', names.overlay])) : [];
	return {
		routes: new Map(routes.map(subnet => [subnet, ''])),
		neighbours: new Map(textsOf(neighbours, 'dst').map(address => [address, ''])),
		ends: new Map(ends.flatMap(({mac, dst}) => (typeof mac === 'string' && typeof dst === 'string' ? [[mac, dst] as const] : []))),
	};
}

/** Addresses of the node itself among those of its pods. Rejects as `call`. */
export const nodeAddressesThere = async ({ip}: NetworkTools, {label}: Names): Promise<readonly string[]> =>
	listed(await call(ip, ['-json', '-4', 'address', 'show', 'dev', 'lo', 'label', label])).flatMap(({addr_info: addresses}) =>
		Array.isArray(addresses)
			? textsOf(
					addresses.map(each => Object(each) as Members),
					'local',
				)
			: [],
	);

/** Those of pods of other agents, and subnets that interfaces of the host are in, ours aside; as many as may be told. Rejects as `call`. */
export async function occupiedSubnets(tools: NetworkTools, names: Names): Promise<readonly string[]> {
	const routes = listed(await call(tools.ip, ['-json', '-4', 'route', 'show', 'proto', 'kernel']));
	const ofHost = textsOf(
		routes.filter(({dev}) => typeof dev !== 'string' || !isLinkOfAgent(dev)),
		'dst',
	).filter(subnet => subnet.includes('/'));
	return [...new Set([...(await subnetsOfOthers(tools, names)), ...ofHost])].slice(0, limits.occupiedSubnets);
}

/** Each has an address of its node, and addresses of pods that it was given before it had another subnet. */
async function subnetsOfOthers({ip}: NetworkTools, {label, links}: Names): Promise<readonly string[]> {
	const addresses = listed(await call(ip, ['-json', '-4', 'address', 'show', 'dev', 'lo'])).flatMap(({addr_info: all}) =>
		Array.isArray(all) ? all.map(each => Object(each) as Members) : [],
	);
	const ofNodes = addresses.filter(({label: other}) => typeof other === 'string' && isLabelOfAgent(other) && other !== label);
	const toPods = listed(await call(ip, ['-json', '-4', 'route', 'show'])).filter(({dev}) => isLinkOfAnother(dev, links));
	return [...textsOf(ofNodes, 'local'), ...textsOf(toPods, 'dst').filter(dst => !dst.includes('/'))].flatMap(address => {
		const subnet = nodeSubnetAround(address);
		return subnet === undefined ? [] : [subnetText(subnet)];
	});
}

/** The subnet that a node has whose pod has that address; undefined: it is none. */
export function nodeSubnetAround(address: string): Subnet | undefined {
	const number = ipv4Number(address);
	return number === undefined ? undefined : {first: number - (number % nodeSubnetSize), size: nodeSubnetSize};
}

export type Underlay = {readonly address: string; readonly mtu: number};

/**
 * The address by which the host reaches another one, and how much its packets hold. Undefined: no way leads there. Rejects as `call` where it has no
 * such interface.
 */
export async function underlayTo({ip}: NetworkTools, destination: string): Promise<Underlay | undefined> {
	const routes = listed(await call(ip, ['-json', 'route', 'get', destination]).catch(() => ''));
	const [device] = textsOf(routes, 'dev');
	const [address] = textsOf(routes, 'prefsrc');
	if (device === undefined || address === undefined || !isIPv4(address)) return undefined;
	return {address, mtu: await mtuOf(ip, ['dev', device])};
}

/** The same of an address that is known; undefined: no interface has it. */
export async function underlayWith({ip}: NetworkTools, address: string): Promise<Underlay | undefined> {
	const [device] = textsOf(
		listed(await call(ip, ['-json', 'address', 'show', 'to', `${address}/32`])).filter(each => 'ifname' in each),
		'ifname',
	);
	return device === undefined ? undefined : {address, mtu: await mtuOf(ip, ['dev', device])};
}

const usualMtu = 1_500;

async function mtuOf(ip: string, words: readonly string[]): Promise<number> {
	const mtu = listed(await call(ip, ['-json', 'link', 'show', ...words]))[0]?.['mtu'];
	return typeof mtu === 'number' ? Math.min(mtu, 9_000) : usualMtu;
}

export type OverlayThere = {readonly mac: string; readonly local: string; readonly mtu: number; readonly isUp: boolean};

/** Undefined: there is none. Rejects as `call`. */
export async function overlayThere(tools: NetworkTools, names: Names): Promise<OverlayThere | undefined> {
	if (!(await linksThere(tools, names)).includes(names.overlay)) return undefined;
	const [link] = listed(await call(tools.ip, ['-json', '-details', 'link', 'show', 'dev', names.overlay]));
	const {info_data: data} = Object(link?.['linkinfo']) as Members;
	const {local} = Object(data) as Members;
	const {address, mtu, flags} = link ?? {};
	return {mac: String(address), local: String(local), mtu: Number(mtu), isUp: Array.isArray(flags) && flags.includes('UP')};
}
