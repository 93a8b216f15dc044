// The schema of a Node.

import {objectWithOptional} from './metadata.js';
import {about, conditionFields, flag, labels, list, oneOf, optional, record, text, mergedAsSet, mergedBy} from './parts.js';

export const taint = () =>
	record({
		key: about('Its name.', text()),
		value: optional(about('Its value.', text())),
		effect: about('NoSchedule, PreferNoSchedule or NoExecute.', oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])),
		timeAdded: optional(about('When it was added.', text())),
	});

export const spec = () =>
	record({
		unschedulable: optional(about('Whether it takes no new pods: it is cordoned.', flag())),
		taints: optional(about('What keeps pods away that do not tolerate it.', list(taint()))),
		podCIDR: optional(about('The subnet of its pods, where they have a network of their own: given out by the cluster.', text())),
		podCIDRs: optional(about('The same in a list, as Kubernetes has it.', list(text(), mergedAsSet))),
		providerID: optional(about('Not supported yet.', text())),
	});

export const nodeCondition = () => record({...conditionFields(), lastHeartbeatTime: optional(text())});

export const nodeAddress = () =>
	record({type: oneOf(['InternalIP', 'ExternalIP', 'Hostname', 'InternalDNS', 'ExternalDNS']), address: text()});

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

export const status = () =>
	record({
		// Quantities as text: `{cpu: '2', memory: '4194304Ki', pods: '110'}`.
		capacity: optional(about('What it has.', labels())),
		allocatable: optional(about('What pods may use of it.', labels())),
		conditions: optional(about('What holds of it: Ready, and what its runtime cannot do.', list(nodeCondition(), mergedBy('type')))),
		addresses: optional(about('Where it is reached.', list(nodeAddress(), mergedBy('type')))),
		nodeInfo: optional(about('Its system and its runtime.', nodeInfo())),
		// Beyond Kubernetes, whose own `features` is an object: kubectl refuses a node with a list there.
		runtimeFeatures: optional(about('What its runtime can do: claims, limits, privileged, terminal, users, volumes.', list(text()))),
		// Without it: process, as all nodes did before there were classes.
		runtimeClasses: optional(about('Pods of which classes it runs now: process, docker.', list(text()))),
		localVolumes: optional(about('The folder of volumes of class local.', text())),
		network: optional(
			about(
				'How its pods and its Services are reached.',
				record({
					pods: about(
						'shared: pods use the network of the node. routed: they have addresses that all nodes reach.',
						oneOf(['shared', 'routed']),
					),
					services: about('proxy: a process passes bytes on. nftables: rules of the kernel do.', oneOf(['proxy', 'nftables'])),
					reach: optional(about('relayed: other hosts do not reach this one. direct, or left out: they do.', oneOf(['direct', 'relayed']))),
					occupied: optional(about('Subnets that its host uses for something else.', list(text()))),
				}),
			),
		),
	});

export const schema = () => objectWithOptional(about('Which pods it takes.', spec()));
