// What serves traffic on a node of this process: found running, or started with the first Service.

import {statSync} from 'node:fs';
import type {Network} from '../../../actors/node/runtime/network-port.js';
import {createNodeNetwork} from '../../../agent/node-network.js';
import {gateway} from '../../../agent/pod-network/link-commands.js';
import type {DataPlaneSettings} from '../../../agent/network/feed/settings.js';
import {mainModule} from '../../../agent/network/feed/data-plane-process.js';
import {programVersion} from '../../files/version.js';
import type {HostOptions} from '../serving-options.js';
import type {OpenPodNetwork} from './pod-network.js';
import type {ServeContext} from '../process/serve.js';

/** `router` and `dns`: where it listens; undefined: nowhere. */
export function openNetwork(
	node: string,
	{router, dns}: Pick<HostOptions, 'router' | 'dns'>,
	{home, log, processParts: {clock}}: ServeContext,
	podNetwork?: OpenPodNetwork,
): Network {
	const settings: Omit<DataPlaneSettings, 'identity'> = {
		folder: home.network,
		node,
		router,
		dns,
		...(podNetwork?.network.isRouted === true ? {gateway} : {}),
	};
	return createNodeNetwork({
		info: {
			pods: podNetwork?.network.isRouted === true ? 'routed' : 'shared',
			services: 'proxy',
			...(podNetwork === undefined ? {} : {occupied: podNetwork.occupied}),
		},
		podNetwork: podNetwork?.network,
		settings: {...settings, identity: identityOf(settings)},
		clock,
		onWarning: message => log.warn(message),
	});
}

/** A data plane of another build, or with other settings, is to be replaced. Throws errno exceptions. */
const identityOf = (settings: object): string => [programVersion, statSync(mainModule).mtimeMs, JSON.stringify(settings)].join(' ');
