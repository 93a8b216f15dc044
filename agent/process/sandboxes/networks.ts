// The sandboxes of pods that have a network of their own: an address of the pod network first, written down before anything is made with it.

import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {valueOr} from '../../../api/value-or.js';
import {resolvConfOf} from '../../pod-network/pod-names.js';
import type {PodNetwork} from '../../pod-network/pod-network.js';
import type {SandboxSpec} from '../../../actors/node/runtime/runtime-port.js';
import {resolvConfName, type SandboxRecord, type Sandboxes} from './sandboxes.js';

/** Pods of before keep theirs; `network` is told of them. */
export function adoptNetworks(sandboxes: Pick<Sandboxes, 'list' | 'find'>, network: PodNetwork): void {
	for (const uid of sandboxes.list()) {
		const routed = routedPodOf(sandboxes.find(uid));
		if (routed !== undefined) network.adopt(routed);
	}
}

/** The sandbox there is, or a new one, with its network made or found whole. Rejects with Errors, and the next call goes on where this one ended. */
export async function ensureRouted(sandboxes: Sandboxes, network: PodNetwork, spec: SandboxSpec): Promise<SandboxRecord> {
	const record = sandboxes.find(spec.uid) ?? (network.isRouted ? await placed(sandboxes, network, spec) : sandboxes.ensure(spec));
	const routed = routedPodOf(record);
	if (routed !== undefined) await network.ensure(routed);
	return record;
}

async function placed(sandboxes: Sandboxes, network: PodNetwork, spec: SandboxSpec): Promise<SandboxRecord> {
	const podIP = await network.take();
	try {
		return sandboxes.ensure(spec, {podIP, network: {type: 'routed', hostPorts: spec.hostPorts, dnsPolicy: spec.dnsPolicy}});
	} catch (error) {
		network.free(podIP);
		throw error;
	}
}

/** Its /etc/resolv.conf, written anew for each start; undefined: it has the host's. Throws errno exceptions. */
export function resolvConfIn(record: SandboxRecord | undefined, network: PodNetwork | undefined, folder: string): string | undefined {
	if (record?.network.type !== 'routed' || record.network.dnsPolicy === 'Default') return undefined;
	const names = network?.namesOf(record.namespace);
	if (names === undefined) return undefined;
	const file = path.join(folder, resolvConfName);
	const text = resolvConfOf(names);
	// Programs of before have it mounted.
	if (valueOr('', () => readFileSync(file, 'utf8')) !== text) writeFileSync(file, text, {mode: 0o644});
	return file;
}

export const isRouted = (record: SandboxRecord | undefined): record is SandboxRecord => record?.network.type === 'routed';

const routedPodOf = (record: SandboxRecord | undefined) =>
	record?.network.type === 'routed' ? {uid: record.uid, address: record.podIP, hostPorts: record.network.hostPorts} : undefined;
