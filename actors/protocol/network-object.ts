// What every node is told of the network: of Services, their endpoints, names, routes and nodes that which serves traffic, and nothing else.
// It goes with node sync as config does, is kept in the node's cache, and from there feeds what serves traffic, also while no control plane answers.

import type {DnsSpec} from '../../api/kinds/dns.js';
import type {EndpointSlice} from '../../api/kinds/endpointslice.js';
import type {IngressSpec} from '../../api/kinds/ingress.js';
import type {ServiceSpec} from '../../api/kinds/service.js';

type Named = {readonly namespace: string; readonly name: string};

export type NetworkService = Named & {readonly type: 'service'; readonly spec: ServiceSpec};

/** One EndpointSlice of a Service. */
export type NetworkEndpoints = Named &
	Pick<EndpointSlice, 'addressType' | 'endpoints' | 'ports'> & {
		readonly type: 'endpoints';
		/** The name of its Service, in the same namespace. */
		readonly service: string;
	};

/** Of two that ask for the same path of a host the older one gets it. */
type Aged = {readonly createdAt: string};

export type NetworkDns = Named & Aged & {readonly type: 'dns'; readonly spec: DnsSpec};

export type NetworkIngress = Named & Aged & {readonly type: 'ingress'; readonly spec: IngressSpec};

/** A Secret that an Ingress names in its `tls`. Control tells that it is there; each node that serves TLS fetches its values itself. */
export type NetworkCertificate = Named & {
	readonly type: 'certificate';
	/** Of the Secret: another one means other values. */
	readonly version: string;
	/** Whether its type is `kubernetes.io/tls`. */
	readonly isTls: boolean;
	/** Between an agent and what serves alone: never from control, and in no cache. */
	readonly opened?: OpenedCertificate | undefined;
	/** The same: why the agent could not open it. */
	readonly problem?: string | undefined;
};

/** Both in PEM; empty where the Secret has no such entry. */
export type OpenedCertificate = {readonly certificate: string; readonly privateKey: string};

/** A node, as others reach it and its pods. */
export type NetworkNode = {
	readonly type: 'node';
	readonly name: string;
	/** Its addresses that other hosts may use. */
	readonly addresses: readonly string[];
	/** Whether pods of other nodes reach those of this one, see `NetworkInfo`. */
	readonly pods: 'shared' | 'routed';
	/** The subnet of its pods, where they are routed. */
	readonly podCIDR: string | undefined;
};

export type NetworkObject = NetworkService | NetworkEndpoints | NetworkDns | NetworkIngress | NetworkCertificate | NetworkNode;
