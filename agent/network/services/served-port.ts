// One port of one Service as a node serves it: where clients find it, and who answers there.

export type ServedProtocol = 'TCP' | 'UDP';

/** Where an endpoint is reached. `via`: not from here, but by the agents, on that node. */
export type EndpointPlace = {readonly address: string; readonly port: number; readonly via?: string};

/**
 * Where clients find a port. `cluster`: the ClusterIP, for clients in the cluster. The others are for clients outside: `external` one of
 * externalIPs, `node` and `balancer` all addresses of the node that its operator allows: its node port, and the port itself of a LoadBalancer.
 */
export type ServedPlace = {
	readonly kind: 'cluster' | 'external' | 'node' | 'balancer';
	/** Undefined: of `node` and `balancer`, the node's. */
	readonly address: string | undefined;
	readonly port: number;
};

export type ServedPort = {
	/** `namespace/service/protocol/port`. */
	readonly key: string;
	readonly namespace: string;
	readonly service: string;
	readonly protocol: ServedProtocol;
	readonly places: readonly ServedPlace[];
	/** Those that another Service has: nothing of this one is there. */
	readonly taken: readonly {readonly place: ServedPlace; readonly by: string}[];
	/** Who answers clients in the cluster, and clients outside: they differ by the traffic policies. Each endpoint once. */
	readonly inside: readonly EndpointPlace[];
	readonly outside: readonly EndpointPlace[];
	/** Whether only endpoints of this node answer clients outside: those see who the client is. */
	readonly isOutsideLocal: boolean;
	/** All that the slices name, whether they are used or not: what runs to another one has lost its endpoint. */
	readonly known: readonly EndpointPlace[];
	/** For how long a client stays with its endpoint; undefined: it does not. */
	readonly affinitySeconds: number | undefined;
};

export type ServedDifference = {readonly key: string; readonly before: ServedPort | undefined; readonly after: ServedPort | undefined};

/** An endpoint that gets no traffic on this node. */
export type LeftOut = {
	readonly address: string;
	readonly node: string | undefined;
	/** The object behind it, mostly a pod. */
	readonly target: string | undefined;
	/** For people. */
	readonly reason: string;
};

/** What people call a served port. */
export const nameOfServed = ({namespace, service, key}: ServedPort): string =>
	`${namespace}/${service} (port ${key.slice(key.lastIndexOf('/') + 1)})`;

/** Which endpoints answer at a place. */
export const endpointsAt = (served: ServedPort, {kind}: ServedPlace): readonly EndpointPlace[] =>
	kind === 'cluster' ? served.inside : served.outside;

/** Each has another: addresses of other nodes may be the same as those of this one. */
/** Whether some endpoint there is reached by the agents alone: no rule of the kernel leads to it. */
export const isRelayedAt = (served: ServedPort, place: ServedPlace): boolean =>
	endpointsAt(served, place).some(({via}) => via !== undefined);

export const placeText = ({address, port, via}: EndpointPlace): string => `${address}:${port}${via === undefined ? '' : ` on ${via}`}`;
