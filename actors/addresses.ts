// Where actors find each other: paths and keys that more than one of them names.

import {address, controlSystem, objectKey, parseAddress, type Address, type ObjectKey} from '../api/keys.js';
import {clusterConfigName} from '../api/kinds/clusterconfig.js';

/** In the control system where nodes say hello, in a node's system its end of node sync. */
export const syncPath = 'sync';

/** Control's end of node sync for one node. */
export const nodeSyncPath = (node: string): string => `${syncPath}/${node}`;

export const dispatcherOfNode = (node: string): Address => address(controlSystem, nodeSyncPath(node));

/** A node's end of node sync. */
export const syncOfNode = (node: string): Address => address(node, syncPath);

/** What a node does with its runtime beyond single pods. */
export const runtimePath = 'runtime';

/** In each system: what answers when somebody looks into it. */
export const inspectorPath = 'inspector';

export const inspectorOf = (system: string): Address => address(system, inspectorPath);

/** In each system: what passes on TCP connections between nodes that do not reach each other. */
export const relayPath = 'relay';

/** The leases of a node's exclusive pods. */
export const leasesPath = 'leases';

/** The hands of a node's pods. */
export const podsPath = 'pods';

/** The cache of what the pods of a node name: ConfigMaps, and versions of Secrets. Its records are kept under this word: it stays. */
export const configPath = 'named';

/** Of a node's tree: what counts its volumes. */
export const volumeUsagePath = 'volume-usage';

/** Of a node's tree: what tells that which serves traffic of changes. */
export const networkPath = 'network';

/** Of a node's tree: what measures the node and its containers. */
export const usagePath = 'usage';

/** A hand is called like its pod's record. */
export const handName = ({namespace, name}: {readonly namespace: string; readonly name: string}): string => `${namespace}.${name}`;

/** An actor in the same system as another. */
export const besides = (self: Address, path: string): Address => address(parseAddress(self)?.system ?? '', path);

export const nodeKey = (name: string): ObjectKey => objectKey('nodes', undefined, name);
export const namespaceKey = (name: string): ObjectKey => objectKey('namespaces', undefined, name);
export const podKey = ({namespace, name}: {readonly namespace?: string; readonly name: string}): ObjectKey =>
	objectKey('pods', namespace, name);
export const clusterConfigKey: ObjectKey = objectKey('clusterconfigs', undefined, clusterConfigName);

/** Binds pods to nodes. */
export const schedulerPath = 'scheduler';

/** Gives nodes the subnets of their pods. */
export const subnetsPath = 'subnets';
export const subnetsAddress: Address = address(controlSystem, subnetsPath);

/** Hears the signs of all nodes and judges which of them are dead. */
export const detectorPath = 'detector';
export const detectorAddress: Address = address(controlSystem, detectorPath);

/** Where functions that are called, or have instances, have their activators. */
export const activatorsPath = 'activators';
export const activatorsAddress: Address = address(controlSystem, activatorsPath);

/** The name of a function's activator: that of its record. Of a version that has calls of its own, with the number of that. */
export const activatorName = ({namespace, name}: {readonly namespace: string; readonly name: string}, revision?: number): string =>
	`${namespace}.${name}${revision === undefined ? '' : `@${revision}`}`;

export const activatorOf = (namespace: string, name: string, revision?: number): Address =>
	address(controlSystem, `${activatorsPath}/${activatorName({namespace, name}, revision)}`);

/** Where autoscalers are decided: what they need is measured for all of them together. */
export const autoscalersPath = 'autoscalers';
export const autoscalersAddress: Address = address(controlSystem, autoscalersPath);

/** What decides for one autoscaler; it is called like its record. */
export const autoscalerOf = (name: string): Address => address(controlSystem, `${autoscalersPath}/${name}`);
