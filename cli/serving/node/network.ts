// What serves traffic on a node of this process: found running, or started with the first Service.

import {statSync} from 'node:fs';
import type {Network} from '../../../actors/node/runtime/network-port.js';
import {createNodeNetwork, type NodeNetworkOptions, type PodNetworkParts} from '../../../agent/node-network.js';
import {openKernelServices} from '../../../agent/network/nftables/kernel-services.js';
import {gateway} from '../../../agent/pod-network/link-commands.js';
import type {DataPlaneSettings} from '../../../agent/network/feed/settings.js';
import {mainModule} from '../../../agent/network/feed/data-plane-process.js';
import type {Clock} from '../../../system/time/clock.js';
import {programVersion} from '../../files/version.js';
import {addressTowards, nodePortPlaces} from './node-address.js';
import type {HostOptions} from '../serving-options.js';
import type {OpenPodNetwork, PodNetworkPlace} from './pod-network.js';
import type {ServeContext} from '../process/serve.js';

/** By which other hosts reach this one; undefined: they do not. */
export const addressOf = async (
	{podNetwork: {nodeAddress}}: Pick<HostOptions, 'podNetwork'>,
	{towards}: Pick<PodNetworkPlace, 'towards'>,
	pods: OpenPodNetwork | undefined,
): Promise<string | undefined> => pods?.network.hostIP ?? nodeAddress ?? (await addressTowards(towards));

export type NodeReach = {
	/** See `addressOf`. */
	readonly address: string | undefined;
	/** Undefined: pods share the network of this node. */
	readonly pods: OpenPodNetwork | undefined;
};

/** `router`, `routerTls` and `dns`: where it listens; undefined: nowhere. */
export function openNetwork(
	node: string,
	{
		router,
		routerTls,
		dns,
		nodePorts,
		openCertificate,
	}: Pick<HostOptions, 'router' | 'routerTls' | 'dns' | 'nodePorts'> & Pick<NodeNetworkOptions, 'openCertificate'>,
	{home, log, processParts: {clock}}: ServeContext,
	{address, pods: podNetwork}: NodeReach,
): Network {
	const {ranges, addresses} = nodePortPlaces(nodePorts, address);
	const isRouted = podNetwork?.network.isRouted === true;
	const settings: Omit<DataPlaneSettings, 'identity'> = {
		folder: home.network,
		node,
		router,
		routerTls,
		dns,
		...(isRouted ? {gateway} : {}),
		nodePortAddresses: addresses,
		isKernelLed: podNetwork !== undefined,
	};
	return createNodeNetwork({
		info: {
			pods: isRouted ? 'routed' : 'shared',
			services: podNetwork === undefined ? 'proxy' : 'nftables',
			...(podNetwork === undefined ? {} : {occupied: podNetwork.occupied}),
			...(routerTls === undefined ? {} : {certificates: true}),
		},
		podNetwork: podNetwork === undefined ? undefined : podNetworkParts(podNetwork, ranges, clock),
		openCertificate,
		settings: {...settings, identity: identityOf(settings)},
		clock,
		onWarning: message => log.warn(message),
	});
}

function podNetworkParts({network, names, tools}: OpenPodNetwork, nodeAddresses: readonly string[], clock: Clock): PodNetworkParts {
	const whenBegun = async (): Promise<boolean> => {
		await network.begin();
		return network.isInUse();
	};
	return {
		network,
		openServices: (table, onProblem) => openKernelServices({table, names, tools, clock, nodeAddresses, whenBegun, onProblem}),
	};
}

/** A data plane of another build, or with other settings, is to be replaced. Throws errno exceptions. */
const identityOf = (settings: object): string => [programVersion, statSync(mainModule).mtimeMs, JSON.stringify(settings)].join(' ');
