// What serves traffic on a node of this process: found running, or started with the first Service.

import {statSync} from 'node:fs';
import {createNodeNetwork, type NodeNetwork, type NodeNetworkOptions, type PodNetworkParts} from '../../../agent/node-network.js';
import {openKernelServices} from '../../../agent/network/nftables/kernel-services.js';
import {gateway} from '../../../agent/pod-network/link-commands.js';
import type {PodNetwork} from '../../../agent/pod-network/pod-network.js';
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
): Promise<string | undefined> => pods?.network?.hostIP ?? nodeAddress ?? (await addressTowards(towards));

export type NodeReach = {
	/** See `addressOf`. */
	readonly address: string | undefined;
	readonly pods: OpenPodNetwork;
	/** Other hosts do not reach this one. */
	readonly isBehindNat?: boolean;
};

/** `router` and `routerTls`: where it listens; undefined: nowhere. */
export function openNetwork(
	node: string,
	{
		router,
		routerTls,
		nodePorts,
		openCertificate,
		placeOf,
	}: Pick<HostOptions, 'router' | 'routerTls' | 'nodePorts'> & Pick<NodeNetworkOptions, 'openCertificate' | 'placeOf'>,
	{home, log, processParts: {clock}}: ServeContext,
	{address, pods: {network: podNetwork, kernel, occupied, dns}, isBehindNat = false}: NodeReach,
): NodeNetwork {
	const {ranges, addresses} = nodePortPlaces(nodePorts, address);
	const settings: Omit<DataPlaneSettings, 'identity'> = {
		folder: home.network,
		node,
		router,
		routerTls,
		dns,
		...(podNetwork?.isUsed() === true ? {gateway} : {}),
		nodePortAddresses: addresses,
		isKernelLed: podNetwork !== undefined,
	};
	return createNodeNetwork({
		info: {
			pods: podNetwork?.isRouted === true ? 'routed' : 'shared',
			services: podNetwork === undefined ? 'proxy' : 'nftables',
			...(isBehindNat ? {reach: 'relayed' as const} : {}),
			...(podNetwork === undefined ? {} : {occupied}),
			...(routerTls === undefined ? {} : {certificates: true}),
		},
		podNetwork: podNetwork === undefined || kernel === undefined ? undefined : podNetworkParts(podNetwork, kernel, ranges, clock),
		openCertificate,
		placeOf,
		settings: {...settings, identity: identityOf(settings)},
		clock,
		onWarning: message => log.warn(message),
	});
}

function podNetworkParts(
	network: PodNetwork,
	{names, tools}: NonNullable<OpenPodNetwork['kernel']>,
	nodeAddresses: readonly string[],
	clock: Clock,
): PodNetworkParts {
	const whenBegun = async (): Promise<boolean> => {
		await network.begin();
		return network.isUsed();
	};
	return {
		network,
		openServices: (table, onProblem) => openKernelServices({table, names, tools, clock, nodeAddresses, whenBegun, onProblem}),
	};
}

/** A data plane of another build, or with other settings, is to be replaced. Throws errno exceptions. */
const identityOf = (settings: object): string => [programVersion, statSync(mainModule).mtimeMs, JSON.stringify(settings)].join(' ');
