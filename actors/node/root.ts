// The top of a node's tree, and every behaviour in it.

import {next, type AnyBehavior, type Behavior, type Effect} from '../../system/kernel/behavior.js';
import {leasesPath, namedPath, podsPath, runtimePath, syncPath} from '../addresses.js';
import {container} from './container.js';
import {hand} from './hand.js';
import {infra} from './infra.js';
import {leases} from './leases.js';
import {namedObject} from './named-object.js';
import {namedObjects} from './named-objects.js';
import {nodeSync, seenKey, type NodeSyncInput} from './node-sync.js';
import {podVolumes} from './pod-volumes.js';
import {pods} from './pods.js';
import {prober} from './prober.js';
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
