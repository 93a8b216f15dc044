// Every schema that becomes a validator, by the name of its kind; a kind's status is `<Kind>Status`.

import type {TSchema} from 'typebox';
import type {ValidatorName} from '../validators.cjs';
import {clusterConfig, clusterConfigStatus} from './cluster-config.js';
import {configMap, configMapStatus} from './configmap.js';
import {container, handler, probe} from './container.js';
import {metadata} from './metadata.js';
import {namespace, namespaceStatus} from './namespace.js';
import {node, nodeStatus} from './node.js';
import {condition, labelSelector, type DefinitionName} from './parts.js';
import {containerStatus, pod, podSpec, podStatus} from './pod.js';
import {replicaSet, replicaSetStatus} from './replicaset.js';
import {secret, secretStatus} from './secret.js';

export const schemas: Record<ValidatorName, TSchema> = {
	ClusterConfig: clusterConfig(),
	ClusterConfigStatus: clusterConfigStatus(),
	ConfigMap: configMap(),
	ConfigMapStatus: configMapStatus(),
	Namespace: namespace(),
	NamespaceStatus: namespaceStatus(),
	Node: node(),
	NodeStatus: nodeStatus(),
	Pod: pod(),
	PodStatus: podStatus(),
	ReplicaSet: replicaSet(),
	ReplicaSetStatus: replicaSetStatus(),
	Secret: secret(),
	SecretStatus: secretStatus(),
};

/** Schemas that others refer to by name. */
export const definitions: Record<DefinitionName, TSchema> = {
	Condition: condition(),
	Container: container(),
	ContainerStatus: containerStatus(),
	LabelSelector: labelSelector(),
	LifecycleHandler: handler(),
	Metadata: metadata(),
	PodSpec: podSpec(),
	Probe: probe(),
};
