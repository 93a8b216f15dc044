// What every node is told of the network: of Services, their endpoints, names, routes, nodes and policies that which serves traffic, and nothing else.
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
	/** See `NetworkInfo`. Undefined: `direct`. */
	readonly reach?: 'relayed';
	/** The subnet of its pods, where they are routed. */
	readonly podCIDR: string | undefined;
};

/** A NetworkPolicy as one node holds to it: what its selectors come to, with addresses in their place. */
export type NetworkPolicyOfNode = Named & {
	readonly type: 'policy';
	/** Pods of that node, by their uid: so it holds for them before anyone knows their addresses. */
	readonly pods: readonly PolicedPod[];
	/** Undefined: the policy does not isolate its pods in this direction. */
	readonly ingress?: readonly PolicyRule[];
	readonly egress?: readonly PolicyRule[];
};

export type PolicedPod = {
	readonly uid: string;
	/** The number of each port that a rule for ingress has by its name, such as `TCP/http`. */
	readonly ports?: {readonly [name: string]: number};
};

export type PolicyProtocol = 'TCP' | 'UDP' | 'SCTP';

/** Lets through what is of these peers and of these ports. */
export type PolicyRule = {
	/** Addresses of IPv4 and ranges, `10.0.0.1-10.0.0.9`, none twice. Undefined: anyone. */
	readonly peers?: readonly string[];
	/** Undefined: every port of every protocol. */
	readonly ports?: readonly PolicyPorts[];
	/** Of ingress: further ports, by the names in `PolicedPod`. */
	readonly names?: readonly string[];
	/** Of egress: ports by name, as numbers, each with the peers that call it so. */
	readonly named?: readonly {readonly protocol: PolicyProtocol; readonly port: number; readonly peers: readonly string[]}[];
	/** Of egress: the protocols in which the node's own resolver may be asked for names, though it is no peer by its address. */
	readonly resolver?: readonly PolicyProtocol[];
};

/** Numbers and ranges, `8000-8010`, none twice. Undefined: all of the protocol. */
export type PolicyPorts = {readonly protocol: PolicyProtocol; readonly numbers?: readonly string[]};

/** Where functions are called for routes. Between an agent and what serves alone, as what follows: never from control, and in no cache. */
export type NetworkServers = {
	readonly type: 'servers';
	readonly name: typeof serversKey;
	readonly node: string;
	/** The node's own. */
	readonly credential: string;
	/** The authority of the cluster; PEM. */
	readonly ca: string;
	/** `https://host:port` of every server, as known now. */
	readonly servers: readonly string[];
};

/** The instances of functions on this node that are ready, as their agent knows it. */
export type NetworkInstances = {
	readonly type: 'instances';
	readonly name: typeof instancesKey;
	readonly instances: readonly PlacedInstance[];
};

/** One that takes calls. */
export type ReadyInstance = {
	readonly uid: string;
	readonly namespace: string;
	readonly function: string;
	readonly concurrency: number;
	readonly timeoutMs: number;
};

/** And the folder in which its socket is, with the user whose that has to be. */
export type PlacedInstance = ReadyInstance & {readonly home: string; readonly owner: number};

/** The keys of these two: there is one of each. */
export const serversKey = 'servers';
export const instancesKey = 'instances';

export type NetworkObject =
	| NetworkService
	| NetworkEndpoints
	| NetworkDns
	| NetworkIngress
	| NetworkCertificate
	| NetworkNode
	| NetworkPolicyOfNode
	| NetworkServers
	| NetworkInstances;
