// The top of a node's tree, and every behaviour in it.

import {next, type AnyBehavior, type Behavior, type Effect} from '../../system/kernel/behavior.js';
import {leasesPath, namedPath, podsPath, runtimePath, syncPath} from '../addresses.js';
import {container} from './containers/container.js';
import {hand} from './pods/hand.js';
import {infra} from './pods/infra.js';
import {leases} from './pods/leases.js';
import {namedObject} from './cache/named-object.js';
import {namedObjects} from './cache/named-objects.js';
import {nodeSync, seenKey, type NodeSyncInput} from './sync/node-sync.js';
import {podVolumes} from './pods/pod-volumes.js';
import {pods} from './pods/pods.js';
import {prober} from './containers/prober.js';
import {runtimeActor} from './runtime-actor.js';

export type NodeRootMessage = {readonly type: never};

export const nodeRoot: Behavior<NodeSyncInput, null, NodeRootMessage> = {
	kind: 'NodeRoot',
	init: input => next(null, tree(input)),
	receive: state => next(state),
};

const tree = (input: NodeSyncInput): Effect[] => [
	{type: 'spawn', name: runtimePath, behavior: runtimeActor.kind, input: null, restart: 'permanent'},
	{type: 'spawn', name: namedPath, behavior: namedObjects.kind, input: null, restart: 'permanent'},
	{type: 'spawn', name: podsPath, behavior: pods.kind, input: null, restart: 'permanent'},
	{type: 'spawn', name: leasesPath, behavior: leases.kind, input, restart: 'permanent'},
	{type: 'spawn', name: syncPath, behavior: nodeSync.kind, input, snapshot: seenKey, restart: 'permanent'},
];

/** Every behaviour of a node system, by the name that `spawn` effects use. */
export const nodeBehaviors: {readonly [name: string]: AnyBehavior} = Object.fromEntries<AnyBehavior>(
	[nodeRoot, runtimeActor, leases, namedObjects, namedObject, pods, nodeSync, hand, infra, podVolumes, container, prober].map(
		(behavior: AnyBehavior) => [behavior.kind, behavior],
	),
);
