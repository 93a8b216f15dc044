// The network in which a sandbox is: one of the pod's own, with an address of the pod network that is written down before anything is made with it, or
// its host's.

import type {NetworkOfProcess} from '../../os/network-namespace.js';
import type {PodNetwork} from '../../pod-network/pod-network.js';
import type {SandboxSpec} from '../../../actors/node/runtime/runtime-port.js';
import type {SandboxRecord, Sandboxes} from './sandboxes.js';

/** Pods of before keep theirs; `network` is told of them. */
export function adoptNetworks(sandboxes: Pick<Sandboxes, 'list' | 'find'>, network: PodNetwork): void {
	for (const uid of sandboxes.list()) {
		const routed = routedPodOf(sandboxes.find(uid));
		if (routed !== undefined) network.adopt(routed);
	}
}

export type NodeMeans = {
	readonly isRoot: boolean;
	/** Its pods can have files in place of the host's. */
	readonly mayMount: boolean;
	readonly network: Pick<PodNetwork, 'isRouted'> | undefined;
	readonly allowPrivileged: boolean;
};

/** Why this node does not make the sandbox; undefined: it does. */
export function obstacleTo(
	{hostNetwork, dns, hostAliases}: SandboxSpec,
	{isRoot, mayMount, network, allowPrivileged}: NodeMeans,
): string | undefined {
	if (hostNetwork && network?.isRouted === true && !allowPrivileged)
		return 'it asks for hostNetwork, and this node does not allow that (--allow-privileged)';
	const field = hostAliases.length > 0 ? 'hostAliases' : dns === undefined ? undefined : namesField(dns);
	if (field === undefined || mayMount) return undefined;
	const why = isRoot ? 'the agent no mount namespaces' : 'an agent that is not root no user namespaces';
	return `it asks for ${field}, and this node gives ${why} in which it could have files of its own`;
}

/** Undefined: what it says holds where it has the files of its host. */
const namesField = ({policy, nameservers, searches, options}: NonNullable<SandboxSpec['dns']>): string | undefined =>
	policy === 'None' ? 'dnsPolicy None' : [nameservers, searches, options].some(({length}) => length > 0) ? 'dnsConfig' : undefined;

/** The sandbox there is, or a new one in the network of the host. Throws as `Sandboxes.ensure`. */
export const ensureIn = (sandboxes: Sandboxes, hostIP: string, spec: SandboxSpec): SandboxRecord =>
	sandboxes.ensure(spec, spec.hostNetwork ? {podIP: hostIP, network: {type: 'host'}} : undefined);

/**
 * The sandbox there is, or a new one, with its network made or found whole. `processFor`: whose network a new one is to have, if there is one.
 * Rejects with Errors, and the next call goes on where this one ended.
 */
export async function ensureRouted(
	sandboxes: Sandboxes,
	network: PodNetwork,
	hostIP: string,
	spec: SandboxSpec,
	processFor: () => NetworkOfProcess | undefined,
): Promise<SandboxRecord> {
	const hasOwn = network.isRouted && !spec.hostNetwork;
	const there = sandboxes.find(spec.uid);
	const record = there ?? (hasOwn ? await placed(sandboxes, network, spec) : ensureIn(sandboxes, hostIP, spec));
	const routed = routedPodOf(record);
	if (routed !== undefined) await network.ensure(routed, there === undefined ? processFor() : undefined);
	return record;
}

async function placed(sandboxes: Sandboxes, network: PodNetwork, spec: SandboxSpec): Promise<SandboxRecord> {
	const podIP = await network.take();
	try {
		return sandboxes.ensure(spec, {podIP, network: {type: 'routed', hostPorts: spec.hostPorts}});
	} catch (error) {
		network.free(podIP);
		throw error;
	}
}

/** The pod's own address, or that of its host. */
export const addressOf = ({network, podIP}: SandboxRecord, hostIP: string): string => (network.type === 'host' ? hostIP : podIP);

export const isRouted = (record: SandboxRecord | undefined): record is SandboxRecord => record?.network.type === 'routed';

const routedPodOf = (record: SandboxRecord | undefined) =>
	record?.network.type === 'routed' ? {uid: record.uid, address: record.podIP, hostPorts: record.network.hostPorts} : undefined;
