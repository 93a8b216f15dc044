// What a node tells of its runtime and its host with each hello.

import type {RuntimeClass} from '../../api/runtime-class.js';

/** What the network of a node is. */
export type NetworkInfo = {
	/** `shared`: pods have addresses that mean something on their own host alone. `routed`: addresses of the node's subnet, reached from all nodes. */
	readonly pods: 'shared' | 'routed';
	/** What leads from the address of a Service to those who serve it: a process that passes bytes on, or rules of the kernel. */
	readonly services: 'proxy' | 'nftables';
	/**
	 * `relayed`: other hosts do not reach this one, it only dials; what goes to its pods goes over its connection to the control plane. Undefined:
	 * `direct`.
	 */
	readonly reach?: 'direct' | 'relayed' | undefined;
	/** Subnets that the host uses for something else: no pod gets an address of them. Undefined: none that it knows. */
	readonly occupied?: readonly string[] | undefined;
	/** It serves TLS, and is to be told of the certificates of routes. Undefined: it does not, or is of before there was that. */
	readonly certificates?: true | undefined;
};

/** What a runtime can do; the node record shows it and the scheduler filters by it. */
export type RuntimeInfo = {
	readonly name: string;
	readonly version: string;
	readonly cpuMillis: number;
	readonly memoryBytes: number;
	readonly maxPods: number;
	/** Devices of which each is one pod's at a time. Undefined: none, or an agent of before they were looked for. */
	readonly gpus?: number | undefined;
	/** Of `api/features.ts`. */
	readonly features: readonly string[];
	/** Of pods that it runs now. Undefined: an agent of before there were classes, which runs `process`. */
	readonly classes?: readonly RuntimeClass[] | undefined;
	/** Conditions of the node, such as SharedNetwork. */
	readonly conditions: readonly {
		readonly type: string;
		/** Left out: True. */
		readonly status?: 'True' | 'False';
		readonly reason: string;
		readonly message: string;
	}[];
	/** Where it keeps volumes of class `local`: absolute; undefined: nowhere. */
	readonly localVolumes?: string | undefined;
	/** Undefined: the agent serves no network, or is of before there was one. */
	readonly network?: NetworkInfo | undefined;
	readonly hostIP: string;
	readonly hostBootId: string;
	readonly os: string;
	readonly kernel: string;
	readonly architecture: string;
};
