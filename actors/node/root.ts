// The top of a node's tree, and every behaviour in it.

import {next, type AnyBehavior, type Behavior, type Effect} from '../../system/kernel/behavior.js';
import {leasesPath, configPath, networkPath, podsPath, relayPath, runtimePath, syncPath, usagePath, volumeUsagePath} from '../addresses.js';
import {inspector, spawnInspector} from '../inspector.js';
import {container} from './containers/container.js';
import {hand} from './pods/hand.js';
import {infra} from './pods/infra.js';
import {leases} from './pods/leases.js';
import {configCopy} from './cache/config-copy.js';
import {configCache} from './cache/config-cache.js';
import {volumeRemoval} from './cache/volume-removal.js';
import {volumeUsage} from './cache/volume-usage.js';
import {network} from './network/network.js';
import {nodeRelay} from './network/relay.js';
import {syncClient, seenKey, type SyncClientInput} from './sync/sync-client.js';
import {podVolumes} from './pods/pod-volumes.js';
import {pods} from './pods/pods.js';
import {prober} from './containers/prober.js';
import {usage, type UsageInput} from './usage/usage.js';
import {runtimeActor} from './runtime-actor.js';

export type NodeRootInput = SyncClientInput & UsageInput;

export type NodeRootMessage = {readonly type: never};

export const nodeRoot: Behavior<NodeRootInput, null, NodeRootMessage> = {
	kind: 'NodeRoot',
	init: input => next(null, tree(input)),
	receive: () => undefined,
};

const tree = ({measuresAlways = false, thresholds, ...input}: NodeRootInput): Effect[] => [
	{type: 'spawn', name: runtimePath, behavior: runtimeActor.kind, input: null, restart: 'permanent'},
	{type: 'spawn', name: configPath, behavior: configCache.kind, input: null, restart: 'permanent'},
	{type: 'spawn', name: networkPath, behavior: network.kind, input: null, restart: 'permanent'},
	{type: 'spawn', name: relayPath, behavior: nodeRelay.kind, input: null, restart: 'permanent'},
	{type: 'spawn', name: podsPath, behavior: pods.kind, input: null, restart: 'permanent'},
	{type: 'spawn', name: leasesPath, behavior: leases.kind, input, restart: 'permanent'},
	{type: 'spawn', name: volumeUsagePath, behavior: volumeUsage.kind, input: null, restart: 'permanent'},
	{
		type: 'spawn',
		name: usagePath,
		behavior: usage.kind,
		input: {measuresAlways, ...(thresholds === undefined ? {} : {thresholds})} satisfies UsageInput,
		restart: 'permanent',
	},
	{type: 'spawn', name: syncPath, behavior: syncClient.kind, input, snapshot: seenKey, restart: 'permanent'},
	spawnInspector,
];

/** Every behaviour of a node system, by the name that `spawn` effects use. */
export const nodeBehaviors: {readonly [name: string]: AnyBehavior} = Object.fromEntries<AnyBehavior>(
	[
		nodeRoot,
		runtimeActor,
		inspector,
		leases,
		configCache,
		configCopy,
		network,
		nodeRelay,
		volumeRemoval,
		volumeUsage,
		usage,
		pods,
		syncClient,
		hand,
		infra,
		podVolumes,
		container,
		prober,
	].map((behavior: AnyBehavior) => [behavior.kind, behavior]),
);
