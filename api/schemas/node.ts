// The schema of a Node.

import type {Static} from 'typebox';
import type {NodeSpec, NodeStatus} from '../shapes/node.js';
import {objectWithOptional} from './metadata.js';
import {about, conditionFields, flag, labels, list, oneOf, optional, record, text, type Same} from './parts.js';

const nodeSpec = () =>
	record({
		unschedulable: optional(about('Whether it takes no new pods: it is cordoned.', flag())),
		taints: optional(
			about(
				'What keeps pods away that do not tolerate it.',
				list(
					record({
						key: about('Its name.', text()),
						value: optional(about('Its value.', text())),
						effect: about('NoSchedule, PreferNoSchedule or NoExecute.', oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])),
						timeAdded: optional(about('When it was added.', text())),
					}),
				),
			),
		),
		podCIDR: optional(about('Not supported yet.', text())),
		podCIDRs: optional(about('Not supported yet.', list(text()))),
		providerID: optional(about('Not supported yet.', text())),
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
		capacity: optional(about('What it has.', labels())),
		allocatable: optional(about('What pods may use of it.', labels())),
		conditions: optional(about('What holds of it: Ready, and what its runtime cannot do.', list(nodeCondition()))),
		addresses: optional(
			about(
				'Where it is reached.',
				list(record({type: oneOf(['InternalIP', 'ExternalIP', 'Hostname', 'InternalDNS', 'ExternalDNS']), address: text()})),
			),
		),
		nodeInfo: optional(about('Its system and its runtime.', nodeInfo())),
		runtimeFeatures: optional(about('What its runtime can do: limits, terminal, users, volumes.', list(text()))),
	});

export const node = () => objectWithOptional(about('Which pods it takes.', nodeSpec()));

export const specSaysTheSame: Same<Static<ReturnType<typeof nodeSpec>>, NodeSpec> = true;
export const statusSaysTheSame: Same<Static<ReturnType<typeof nodeStatus>>, NodeStatus> = true;
