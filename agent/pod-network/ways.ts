// Keeps the ways to the pods of other nodes in the kernel as they are to be: compared with what is there each time, whoever changed it.

import {networkInterfaces} from 'node:os';
import {subnetText, type Subnet} from '../../api/ipv4.js';
import {nodeAddress, overlayMac, type Names} from './names.js';
import {farPeers, overlayLines, vxlan, wayLines, waysTo, type Overlay, type Peer} from './peers.js';
import {removeInterface} from './pod-link.js';
import {nodeAddressesThere, overlayThere, waysThere, type Underlay} from './there.js';
import {batch, type NetworkTools} from './tools.js';

export type WaysWish = {
	readonly overlay: Overlay;
	/** Of this node; undefined: no other node reaches it. */
	readonly underlay: Underlay | undefined;
	readonly own: Subnet;
	readonly peers: readonly Peer[];
};

export const mtuOf = (overlay: Overlay, {mtu}: Underlay): number => (overlay === 'vxlan' ? mtu - vxlan.overheadBytes : mtu);

/** What can be done is done. Rejects as `call` where something could not be. */
export async function ensureWays(tools: NetworkTools, names: Names, {overlay, underlay, own, peers: all}: WaysWish): Promise<void> {
	const peers = farPeers(all, addressesHere());
	if (peers.length > 0 && overlay !== 'none' && underlay === undefined)
		throw new Error(`this host has no address by which other nodes reach the pods of ${subnetText(own)}: --node-address says it`);
	const isTunnel = overlay === 'vxlan' && underlay !== undefined && peers.length > 0;
	const hasTunnel = await ensureTunnel(tools, names, isTunnel ? {own, underlay} : undefined);
	const there = await waysThere(tools, names, hasTunnel);
	const lines = wayLines(names, overlay, own, waysTo(overlay, own, peers), there);
	await batch(tools.bridge, lines.bridge, {goesOn: true});
	await batch(tools.ip, lines.ip, {goesOn: true});
}

/** The node's own address: one of before is taken away. Rejects as `call`. */
export async function ensureNodeAddress(tools: NetworkTools, names: Names, own: Subnet | undefined): Promise<void> {
	const there = await nodeAddressesThere(tools, names);
	const wanted = own === undefined ? undefined : nodeAddress(own);
	await batch(tools.ip, [
		...there.filter(address => address !== wanted).map(address => `address del ${address}/32 dev lo`),
		...(wanted === undefined || there.includes(wanted) ? [] : [`address add ${wanted}/32 dev lo label ${names.label} scope global`]),
	]);
}

/** Whether it is there now. One of another address is made anew, and all its tables with it. */
async function ensureTunnel(
	tools: NetworkTools,
	names: Names,
	wanted: {readonly own: Subnet; readonly underlay: Underlay} | undefined,
): Promise<boolean> {
	const there = await overlayThere(tools, names);
	const isRight =
		there !== undefined &&
		wanted !== undefined &&
		there.mac === overlayMac(wanted.own) &&
		there.local === wanted.underlay.address &&
		there.mtu === mtuOf('vxlan', wanted.underlay) &&
		there.isUp;
	if (there !== undefined && !isRight) await removeInterface(tools, names.overlay);
	if (wanted === undefined) return false;
	if (isRight) return true;
	await batch(tools.ip, overlayLines(names, wanted.own, wanted.underlay.address, mtuOf('vxlan', wanted.underlay))).catch(
		(error: unknown) => {
			if (!/File exists/.test(String(error))) throw error;
			throw new Error(
				`another program of this host has VXLAN ${vxlan.network} on port ${vxlan.port}, perhaps another agent: only one of a host leads to other hosts that way; --overlay host-gw does without`,
			);
		},
	);
	return true;
}

/** IPv4 alone: nodes reach each other by that. */
const addressesHere = (): ReadonlySet<string> =>
	new Set(Object.values(networkInterfaces()).flatMap(all => (all ?? []).map(({address}) => address)));
