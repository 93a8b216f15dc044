// The network of the pods of a node of this process, where they are to have one, or where some have one from before.

import {lookup} from 'node:dns/promises';
import {mkdirSync, realpathSync} from 'node:fs';
import {createPodNetwork, type PodNetwork} from '../../../agent/pod-network/pod-network.js';
import {isMarked} from '../../../agent/pod-network/host-rules.js';
import {namesOf, type Names} from '../../../agent/pod-network/names.js';
import {occupiedSubnets, underlayTo, underlayWith, type Underlay} from '../../../agent/pod-network/there.js';
import {trialText} from '../../../agent/network/nftables/table.js';
import {findNetworkTools, type NetworkTools} from '../../../agent/pod-network/tools.js';
import {obstacleToNetworks} from '../../../agent/pod-network/trial.js';
import {isLoopback} from '../../../api/loopback.js';
import {failedError} from '../../command.js';
import type {ServeContext} from '../process/serve.js';
import type {HostOptions} from '../serving-options.js';

export type OpenPodNetwork = {
	readonly network: PodNetwork;
	/** Subnets that the host uses for something else. */
	readonly occupied: readonly string[];
	/** What it is made with, for what else is made in the kernel. */
	readonly names: Names;
	readonly tools: NetworkTools;
};

export type PodNetworkPlace = {
	readonly node: string;
	/** A host to which the way leads by which other nodes are reached; undefined: none is known. */
	readonly towards: string | undefined;
	/** What the person who starts this is to be told. */
	readonly onNote: (note: string) => void;
};

/** Undefined: pods share the network of this node, and none of before has another. Throws an AppError for what has to be mended first. */
export async function openPodNetwork(
	{podNetwork: {isRouted, overlay, nodeAddress}, dns, router, routerTls}: Pick<HostOptions, 'podNetwork' | 'dns' | 'router' | 'routerTls'>,
	{node, towards, onNote}: PodNetworkPlace,
	{home, processParts: {clock}}: ServeContext,
): Promise<OpenPodNetwork | undefined> {
	if (!isRouted && !isMarked(home.network)) return undefined;
	mkdirSync(home.network, {recursive: true, mode: 0o700});
	const folder = realpathSync(home.network);
	const names = namesOf(folder);
	const tools = process.getuid?.() === 0 ? findNetworkTools() : 'only root may make them';
	if (isMarked(folder) && typeof tools === 'string')
		throw failedError(`pods of ${home.root} may have networks of their own, and this agent cannot reach them: ${tools}`);
	const obstacle =
		typeof tools === 'string' ? tools : isMarked(folder) ? undefined : await obstacleToNetworks(tools, names, trialText(names));
	if (typeof tools === 'string' || obstacle !== undefined) {
		onNote(`pods share the network of this node, for networks of their own cannot be made here: ${obstacle ?? ''}`);
		return undefined;
	}
	const underlay = await underlayOf(tools, nodeAddress, towards);
	const occupied = await occupiedSubnets(tools, names);
	return {
		network: createPodNetwork({names, tools, folder, node, overlay, underlay, doors: {dns, router, routerTls}, isRouted, clock, onNote}),
		occupied,
		names,
		tools,
	};
}

/** What `troupe down --pods` and `troupe uninstall` need to know. */
export const namesOfHome = (network: string): Names => namesOf(realpathSync(network));

async function underlayOf(tools: NetworkTools, address: string | undefined, towards: string | undefined): Promise<Underlay | undefined> {
	if (address !== undefined) {
		const underlay = await underlayWith(tools, address);
		if (underlay === undefined) throw failedError(`--node-address ${address}: no interface of this host has that address`);
		return underlay;
	}
	if (towards === undefined || isLoopback(towards)) return undefined;
	const found = await lookup(towards, {family: 4}).catch(() => undefined);
	if (found === undefined || isLoopback(found.address) || found.address === '0.0.0.0') return undefined;
	return (await underlayWith(tools, found.address)) ?? underlayTo(tools, found.address);
}
