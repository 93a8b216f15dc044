// The schema of a Node.

import type {Static} from 'typebox';
import type {NodeSpec, NodeStatus} from '../shapes/node.js';
import {objectWithOptional} from './metadata.js';
import {conditionFields, flag, labels, list, oneOf, optional, record, text, type Same} from './parts.js';

const nodeSpec = () =>
	record({
		unschedulable: optional(flag()),
		taints: optional(
			list(
				record({
					key: text(),
					value: optional(text()),
					effect: oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
					timeAdded: optional(text()),
				}),
			),
		),
		podCIDR: optional(text()),
		podCIDRs: optional(list(text())),
		providerID: optional(text()),
	});

const nodeCondition = () => record({...conditionFields(), lastHeartbeatTime: optional(text())});

const nodeInfo = () =>
	record({
		machineID: text(),
		systemUUID: text(),
		bootID: text(),
		kernelVersion: text(),
		osImage: text(),
		containerRuntimeVersion: text(),
		kubeletVersion: text(),
		kubeProxyVersion: text(),
		operatingSystem: text(),
		architecture: text(),
	});

export const nodeStatus = () =>
	record({
		capacity: optional(labels()),
		allocatable: optional(labels()),
		conditions: optional(list(nodeCondition())),
		addresses: optional(
			list(record({type: oneOf(['InternalIP', 'ExternalIP', 'Hostname', 'InternalDNS', 'ExternalDNS']), address: text()})),
		),
		nodeInfo: optional(nodeInfo()),
		runtimeFeatures: optional(list(text())),
	});

export const node = () => objectWithOptional(nodeSpec());

export const specSaysTheSame: Same<Static<ReturnType<typeof nodeSpec>>, NodeSpec> = true;
export const statusSaysTheSame: Same<Static<ReturnType<typeof nodeStatus>>, NodeStatus> = true;
