// The network of the pods of a node of this process, where they are to have one, or where some have one from before.

import {lookup} from 'node:dns/promises';
import {mkdirSync, realpathSync} from 'node:fs';
import {createPodNetwork, type PodNetwork} from '../../../agent/pod-network/pod-network.js';
import {isMarked} from '../../../agent/pod-network/host-rules.js';
import {namesOf, resolverPort, type Names} from '../../../agent/pod-network/names.js';
import {occupiedSubnets, underlayTo, underlayWith, type Underlay} from '../../../agent/pod-network/there.js';
import {trialText} from '../../../agent/network/nftables/table.js';
import {findNetworkTools, type NetworkTools} from '../../../agent/pod-network/tools.js';
import {obstacleToNetworks} from '../../../agent/pod-network/trial.js';
import type {HostPort} from '../../../api/host-port.js';
import {isLoopback} from '../../../api/loopback.js';
import {failedError} from '../../command.js';
import type {ServeContext} from '../process/serve.js';
import type {HostOptions} from '../serving-options.js';

export type OpenPodNetwork = {
	/** Undefined: pods share the network of this node, and none of before has another. */
	readonly network: PodNetwork | undefined;
	/** Why new pods share the network of this node, and what would help; undefined: they do not. */
	readonly sharedBecause: string | undefined;
	/** Subnets that the host uses for something else. */
	readonly occupied: readonly string[];
	/** What it is made with, for what else is made in the kernel; there where it is. */
	readonly kernel: {readonly names: Names; readonly tools: NetworkTools} | undefined;
	/** Where the node's resolver listens; undefined: nowhere. */
	readonly dns: HostPort | undefined;
};

export type PodNetworkPlace = {
	readonly node: string;
	/** A host to which the way leads by which other nodes are reached; undefined: none is known. */
	readonly towards: string | undefined;
	/** What the person who starts this is to be told. */
	readonly onNote: (note: string) => void;
};

/** Opens it, or says why pods have none. Throws an AppError for what has to be mended first. */
export async function openPodNetwork(
	{podNetwork: {kind, overlay, nodeAddress}, dns: asked, router, routerTls}: Asked,
	{node, towards, onNote}: PodNetworkPlace,
	{home, processParts: {clock}}: ServeContext,
): Promise<OpenPodNetwork> {
	const none = {network: undefined, kernel: undefined, occupied: [], dns: asked === 'off' ? undefined : asked};
	if (kind === 'shared' && !isMarked(home.network)) return {...none, sharedBecause: byFlag};
	if (process.getuid?.() !== 0 && !isMarked(home.network)) return shared(none, kind, noRoot, onNote);
	mkdirSync(home.network, {recursive: true, mode: 0o700});
	const folder = realpathSync(home.network);
	const names = namesOf(folder);
	const tools = process.getuid?.() === 0 ? findNetworkTools() : noRoot;
	if (isMarked(folder) && typeof tools === 'string')
		throw failedError(`pods of ${home.root} may have networks of their own, and this agent cannot reach them: ${tools}`);
	const obstacle =
		typeof tools === 'string' ? tools : isMarked(folder) ? undefined : await obstacleToNetworks(tools, names, trialText(names));
	if (typeof tools === 'string' || obstacle !== undefined) return shared(none, kind, obstacle ?? '', onNote);
	const isRouted = kind !== 'shared';
	const underlay = await underlayOf(tools, nodeAddress, towards);
	const occupied = await occupiedSubnets(tools, names);
	const dns = asked === undefined ? {host: names.resolver, port: resolverPort} : none.dns;
	return {
		network: createPodNetwork({names, tools, folder, node, overlay, underlay, doors: {dns, router, routerTls}, isRouted, clock}),
		sharedBecause: isRouted ? undefined : byFlag,
		occupied,
		kernel: {names, tools},
		dns,
	};
}

type Asked = Pick<HostOptions, 'podNetwork' | 'dns' | 'router' | 'routerTls'>;

const byFlag = '--network shared says so';
const noRoot = 'only root may make them';

/** Who has asked for another network is told at the start; the node's condition says it in any case. */
function shared(
	none: Omit<OpenPodNetwork, 'sharedBecause'>,
	kind: HostOptions['podNetwork']['kind'],
	obstacle: string,
	onNote: (note: string) => void,
): OpenPodNetwork {
	const why = `networks of their own cannot be made here: ${obstacle}`;
	if (kind === 'routed') onNote(`pods share the network of this node, for ${why}`);
	return {...none, sharedBecause: `${why}; once that is mended, start it again`};
}

/** What network new pods of a node have, in a line; undefined: they only pretend. Once those of before are known. */
export function networkText({runtime}: Pick<HostOptions, 'runtime'>, hasEngine: boolean, {network}: OpenPodNetwork): string | undefined {
	const forwards = network?.forwards() === true ? '; this host passes on packets for it (net.ipv4.ip_forward)' : '';
	const before = network?.isUsed() === true ? `; pods of before keep theirs${forwards}` : '';
	if (network?.isRouted === true) return `routed: pods have a network of their own${forwards}`;
	switch (runtime) {
		case 'simulated':
			return undefined;
		case 'docker':
			return `shared: containers have the bridge of Docker${before}`;
		case 'process':
		case 'auto':
			return `shared: pods have the network of this host${hasEngine && runtime === 'auto' ? ', containers the bridge of Docker' : ''}${before}`;
	}
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
