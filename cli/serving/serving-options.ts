// What the serving commands were asked for, checked.

import type {EvictionThresholds} from '../../api/eviction-thresholds.js';
import type {HostPort} from '../../api/host-port.js';
import type {EngineAddress} from '../../agent/docker/engine/engine-url.js';
import type {Overlay} from '../../agent/pod-network/peers.js';
import type {UserRange} from '../../agent/process/users/pod-users.js';
import type {OutsideUrl} from '../../system/links/outside-url.js';

/** A host, and a port where it is another than the one that is listened on. */
export type Advertised = {readonly host: string; readonly port: number | undefined};

export type DoorOptions = {
	readonly api: HostPort;
	readonly web: HostPort;
	readonly mqtt: HostPort;
	/** What agents and kubeconfigs are told instead of where the API listens. */
	readonly advertise: Advertised | undefined;
	/** The broker, when it is not the server itself. */
	readonly broker: OutsideBrokerChoice | undefined;
};

/** `text` is as it was given, password included. */
export type OutsideBrokerChoice = {readonly server: OutsideUrl; readonly text: string};

/** `auto` is the process runtime, and Docker's as soon as an Engine answers. */
export type RuntimeChoice = 'auto' | 'process' | 'docker' | 'simulated';

export type EngineChoice = {
	/** As people write it. */
	readonly url: string;
	readonly address: EngineAddress;
	/** Somebody said that it is there: it is missed where it is not. */
	readonly isAsked: boolean;
};

/** What of a host pods may mount: everything, or what is below these folders; nothing where there are none. */
export type HostPathsChoice = 'all' | readonly string[];

/** `level`, `memory` or `etcd://…`. */
export type StoreChoice = string;

export type ServerOptions = DoorOptions & {
	/** Absolute path of TROUPE_HOME. */
	readonly home: string;
	readonly store: StoreChoice;
	/** How long a silent node has, in a cluster that begins now: `5s`. Undefined: nobody said. */
	readonly grace: string | undefined;
	/** A new cluster begins also where the home has served another, whose store is empty now. */
	readonly isNew: boolean;
	/** Admins may make faults in the systems of this process. */
	readonly faults: boolean;
	/** To run in the background: `cli/serving/detach.ts` takes such options, a process that serves never sees them. */
	readonly detach: boolean;
};

/** As the ClusterConfig has it. */
export const graceSetting = ({grace}: Pick<ServerOptions, 'grace'>): {readonly nodes?: {readonly grace: string}} =>
	grace === undefined ? {} : {nodes: {grace}};

/** What a node may take of its host. */
export type HostOptions = {
	readonly runtime: RuntimeChoice;
	/** Undefined: no Engine is looked for. */
	readonly docker: EngineChoice | undefined;
	/** What DOCKER_HOST says is no Engine of this host: a person is told why nothing comes of it. */
	readonly dockerProblem: string | undefined;
	/** Pods of Docker may have what gives them the host. */
	readonly allowPrivileged: boolean;
	/** Below which the host is short of something. */
	readonly thresholds: EvictionThresholds;
	/** How many of them are kept ready; undefined: nobody said. */
	readonly warmSandboxes: number | undefined;
	/** Undefined: a range that follows from the home. */
	readonly podUsers: UserRange | undefined;
	/** Of one container; undefined: `containerProcesses`. */
	readonly maxProcesses: number | undefined;
	/** Where the node's router listens, once there is a route; undefined: nowhere. */
	readonly router: HostPort | undefined;
	/** The same for TLS, once there is a certificate. */
	readonly routerTls: HostPort | undefined;
	/** Where the node's resolver listens; `off`: nowhere; undefined: nobody said, so that pods with a network of their own have one. */
	readonly dns: HostPort | 'off' | undefined;
	readonly podNetwork: PodNetworkChoice;
	/** Ranges of addresses of this host at which node ports are served; undefined: the one by which other hosts reach it. */
	readonly nodePorts: readonly string[] | undefined;
	/** Where volumes of claims are, absolute; undefined: in the home. */
	readonly volumes: string | undefined;
	/** Where device files of GPUs are, and what tells of them; undefined: where this host has both. */
	readonly gpus: {readonly folder: string; readonly program: string | undefined} | undefined;
};

/** The first is the default. */
export const podNetworks = ['auto', 'routed', 'shared'] as const;

export type PodNetworkChoice = {
	/** `routed`: pods get a network of their own where that can be made, else they share that of the node; so does `auto`, and says nothing of it. */
	readonly kind: (typeof podNetworks)[number];
	/** What leads to the pods of other nodes. */
	readonly overlay: Overlay;
	/** By which other nodes reach this one; undefined: the one by which it reaches its server. */
	readonly nodeAddress: string | undefined;
};

export type UpOptions = ServerOptions &
	HostOptions & {
		/** The name of the node in this process. */
		readonly node: string;
		readonly simulatedNodes: number;
		readonly hostPaths: HostPathsChoice;
	};

export type AgentOptions = HostOptions & {
	readonly home: string;
	/** Servers to join, `https://host:port` each; none where the agent has joined before. */
	readonly join: readonly string[];
	/** Traded for the node's own credential, once. */
	readonly token: string | undefined;
	/** A file with the authority's certificate, instead of the pin in the token. */
	readonly caFile: string | undefined;
	/** Undefined: the one it has, or its host's name. */
	readonly node: string | undefined;
	readonly hostNode: string;
	/** Where the node remembers what it was told: a folder, or `redis://…`. */
	readonly cache: string | undefined;
	/** Undefined: everything where all servers are on this host, else nothing. */
	readonly hostPaths: HostPathsChoice | undefined;
	/** The node follows whichever control plane answers, also when it remembers another. */
	readonly isNew: boolean;
	/** Where it tells a scraper of itself, on loopback; undefined: nowhere. */
	readonly metrics: HostPort | undefined;
	/** The token that is shown there; undefined: one in the home. */
	readonly metricsTokenFile: string | undefined;
	/** Other hosts do not reach this one. */
	readonly isBehindNat: boolean;
	/** As of a server. */
	readonly faults: boolean;
	readonly detach: boolean;
};

/**
 * Reads `HOST:PORT`, `[IPV6]:PORT`, `:PORT` (all addresses are never meant by that: it is the default host) or `PORT`.
 * Undefined for anything else.
 */
export function parseHostPort(text: string, defaultHost: string): HostPort | undefined {
	const match = /^(?:(?:\[([0-9a-fA-F:.%]+)\]|([^:[\]\s/]*)):)?(\d{1,5})$/.exec(text);
	const port = Number(match?.[3]);
	if (match === null || port > 65_535) return undefined;
	const host = match[1] ?? match[2] ?? '';
	return {host: host === '' ? defaultHost : host, port};
}

/** Reads `HOST`, `HOST:PORT`, `[IPV6]` or `[IPV6]:PORT`. Undefined for anything else. */
export function parseAdvertised(text: string): Advertised | undefined {
	const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9][A-Za-z0-9.-]*))(?::(\d{1,5}))?$/.exec(text);
	const host = match?.[1] ?? match?.[2];
	const port = match?.[3] === undefined ? undefined : Number(match[3]);
	if (host === undefined || (port !== undefined && (port < 1 || port > 65_535))) return undefined;
	return {host, port};
}
