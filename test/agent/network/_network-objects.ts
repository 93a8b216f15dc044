// Services, slices and nodes as a node is told of them.

import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';
import type {NetworkEndpoints, NetworkNode, NetworkService} from '../../../actors/protocol/network-object.js';
import {objectKey} from '../../../api/keys.js';

type Spec = NetworkService['spec'] & {readonly externalIPs?: readonly string[]};
type EndpointOf = NetworkEndpoints['endpoints'][number];

/** Of Services, each of which has an address of its own; an ordinary user may listen there. */
export const servicePort = 8180;

export const aService = (name: string, spec: Spec): NetworkChange => ({
	key: objectKey('services', 'default', name),
	object: {type: 'service', namespace: 'default', name, spec},
});

export const noService = (name: string): NetworkChange => ({key: objectKey('services', 'default', name), object: undefined});

/** A slice of that name in which all endpoints listen on the same ports. */
export const aSlice = (
	service: string,
	endpoints: readonly EndpointOf[],
	ports: NonNullable<NetworkEndpoints['ports']>,
	name = `${service}-aaaaa`,
): NetworkChange => ({
	key: objectKey('endpointslices', 'default', name),
	object: {type: 'endpoints', namespace: 'default', name, service, addressType: 'IPv4', endpoints, ports},
});

export const noSlice = (service: string, name = `${service}-aaaaa`): NetworkChange => ({
	key: objectKey('endpointslices', 'default', name),
	object: undefined,
});

export const aNode = (name: string, pods: NetworkNode['pods'], podCIDR?: string): NetworkChange => ({
	key: objectKey('nodes', undefined, name),
	object: {type: 'node', name, addresses: [], pods, podCIDR},
});

/** A pod of this node, as a slice has it. */
export const ready = (address: string, nodeName = 'here'): EndpointOf => ({
	addresses: [address],
	nodeName,
	conditions: {ready: true, serving: true, terminating: false},
});

export const notReady = (address: string, nodeName = 'here'): EndpointOf => ({
	addresses: [address],
	nodeName,
	conditions: {ready: false, serving: false, terminating: false},
});

/** Of a node that is suspect. */
export const unheard = (address: string): EndpointOf => ({
	addresses: [address],
	nodeName: 'here',
	conditions: {ready: false, serving: true, terminating: false},
});

export const terminating = (address: string, serving = true): EndpointOf => ({
	addresses: [address],
	nodeName: 'here',
	conditions: {ready: false, serving, terminating: true},
});
