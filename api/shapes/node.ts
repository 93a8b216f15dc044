// The static shape of a v1 Node.

import type {ApiObject, Condition, Labels} from '../object.js';

export type Taint = {
	readonly key: string;
	readonly value?: string;
	readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
	readonly timeAdded?: string;
};

export type NodeSpec = {
	/** Cordoned: no new pods. */
	readonly unschedulable?: boolean;
	readonly taints?: readonly Taint[];
	readonly podCIDR?: string;
	readonly podCIDRs?: readonly string[];
	readonly providerID?: string;
};

export type NodeAddress = {
	readonly type: 'InternalIP' | 'ExternalIP' | 'Hostname' | 'InternalDNS' | 'ExternalDNS';
	readonly address: string;
};

export type NodeCondition = Condition & {readonly lastHeartbeatTime?: string};

export type NodeInfo = {
	readonly machineID: string;
	readonly systemUUID: string;
	readonly bootID: string;
	readonly kernelVersion: string;
	readonly osImage: string;
	readonly containerRuntimeVersion: string;
	readonly kubeletVersion: string;
	readonly kubeProxyVersion: string;
	readonly operatingSystem: string;
	readonly architecture: string;
};

export type NodeStatus = {
	/** Quantities as text: `{cpu: '2', memory: '4194304Ki', pods: '110'}`. */
	readonly capacity?: Labels;
	readonly allocatable?: Labels;
	readonly conditions?: readonly NodeCondition[];
	readonly addresses?: readonly NodeAddress[];
	readonly nodeInfo?: NodeInfo;
	/** Beyond Kubernetes: what the node's runtime can do. (Its own `features` is an object: kubectl refuses a node with a list there.) */
	readonly runtimeFeatures?: readonly string[];
};

export type NodeObject = ApiObject<NodeSpec, NodeStatus>;
