// The sandboxes of a node: a folder per pod with a small file that says whose it is and which address it has.
//
// The folders are the truth: an agent that starts finds all pods of earlier ones, and none of their addresses is given out twice.

import {existsSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {parsedJson, valueOr} from '../../../api/value-or.js';
import type {HostAlias, HostPort, PodDns, SandboxSpec} from '../../../actors/node/runtime/runtime-port.js';
import {sandboxFile, type Stock} from '../attempts/stock.js';
import {foldersIn} from '../../os/folders.js';
import {isPodUser, type PodUsers} from '../users/pod-users.js';
import type {User} from '../../os/user.js';
import type {AddressPool} from '../../pod-network/address-pool.js';
import {createLoopbackPool} from './addresses.js';

export type SandboxRecord = {
	readonly uid: string;
	readonly namespace: string;
	readonly name: string;
	readonly podIP: string;
	/** One of its own, its host's with an address of loopback, or its host's for good: then its address is whatever the host's is. */
	readonly network: PodNetworking;
	/** What it says of names. */
	readonly dns: PodDns | undefined;
	readonly hostAliases: readonly HostAlias[];
	/** Whose programs are whose; undefined: the node gives out no users, or did not when the pod came. */
	readonly owner: {readonly controller: string; readonly user: User} | undefined;
};

export type PodNetworking =
	{readonly type: 'shared'} | {readonly type: 'host'} | {readonly type: 'routed'; readonly hostPorts: readonly HostPort[]};

/** An address that was found for a pod. */
export type Placed = Pick<SandboxRecord, 'podIP' | 'network'>;

export type Sandboxes = {
	/** The sandbox there is, or a new one: at that place, or with an address of loopback. Throws errno exceptions; an Error when no address is left. */
	readonly ensure: (spec: SandboxSpec, placed?: Placed) => SandboxRecord;
	readonly find: (uid: string) => SandboxRecord | undefined;
	readonly list: () => readonly string[];
	readonly folderOf: (uid: string) => string;
	/** Frees the address and the user; the folder is gone by now. */
	readonly forget: (uid: string) => void;
};

/** Of the empty folder in a sandbox on which its containers put their private roots together. */
export const privateRootName = '.root';

/** Beside it: what the shim of a container's last attempt has mounted to hide folders. */
export const tableName = (container: string): string => `.mounts-${container}`;

/** What the file of one sandbox says; undefined when it is missing or damaged. */
export function readSandbox(directory: string, uid: string): SandboxRecord | undefined {
	const said = valueOr(undefined, () => parsedJson(readFileSync(path.join(directory, uid, sandboxFile), 'utf8')));
	const {namespace, name, podIP, network, dns, hostAliases, controller, user} = Object(said) as Record<string, unknown>;
	if (typeof namespace !== 'string' || typeof name !== 'string' || typeof podIP !== 'string') return undefined;
	// Without both it is of a version that gave out no users; with one that was never given out it is damaged.
	if (user !== undefined && !(typeof controller === 'string' && isPodUser(user))) return undefined;
	const owner = typeof controller === 'string' && user !== undefined ? {controller, user: {uid: user, gid: user}} : undefined;
	return {
		uid,
		namespace,
		name,
		podIP,
		network: networkingOf(network),
		dns: dnsOf(dns, network),
		hostAliases: Array.isArray(hostAliases) ? (hostAliases as HostAlias[]) : [],
		owner,
	};
}

/** Those of before say it of their network, and no more than whether the host is asked. */
function dnsOf(said: unknown, network: unknown): PodDns | undefined {
	if (said !== undefined) return said as PodDns;
	const {dnsPolicy} = Object(network) as Record<string, unknown>;
	return dnsPolicy === 'Default' ? {policy: dnsPolicy, nameservers: [], searches: [], options: []} : undefined;
}

/** Sandboxes of before there were others say nothing. */
function networkingOf(said: unknown): PodNetworking {
	const {type, hostPorts} = Object(said) as Record<string, unknown>;
	if (type === 'routed') return {type, hostPorts: Array.isArray(hostPorts) ? (hostPorts as HostPort[]) : []};
	return {type: type === 'host' ? type : 'shared'};
}

type State = {
	readonly directory: string;
	readonly subnet: string;
	readonly stock: Stock;
	readonly onWarning: (message: string) => void;
	readonly users: PodUsers | undefined;
	readonly pool: AddressPool;
	readonly known: Map<string, SandboxRecord>;
};

/** Reads what there is. Without `users` none are given out. Throws errno exceptions, and a RangeError for a wrong subnet. */
export function openSandboxes(
	directory: string,
	subnet: string,
	stock: Stock,
	onWarning: (message: string) => void,
	users?: PodUsers,
): Sandboxes {
	const state: State = {directory, subnet, stock, onWarning, users, pool: createLoopbackPool(subnet, directory), known: new Map()};
	for (const uid of foldersIn(directory)) {
		const record = readSandbox(directory, uid);
		if (record === undefined)
			onWarning(`the sandbox "${path.join(directory, uid)}" has no readable ${sandboxFile}; it gets a new address when it is used`);
		else state.known.set(uid, record);
	}
	for (const [uid, record] of [...state.known]) {
		state.pool.claim(record.podIP);
		const {owner} = record;
		if (owner === undefined || users === undefined) continue;
		state.known.set(uid, {...record, owner: {...owner, user: users.claim(owner.controller, owner.user)}});
	}
	return {
		ensure(spec, placed) {
			const record = state.known.get(spec.uid) ?? make(state, spec, placed);
			state.known.set(spec.uid, record);
			return record;
		},
		find: uid => state.known.get(uid),
		list: () => foldersIn(state.directory),
		folderOf: uid => path.join(state.directory, uid),
		forget(uid) {
			const record = state.known.get(uid);
			state.known.delete(uid);
			if (record === undefined) return;
			state.pool.free(record.podIP);
			if (record.owner !== undefined) state.users?.release(record.owner.controller);
		},
	};
}

function make(state: State, {uid, namespace, name, controller, dns, hostAliases}: SandboxSpec, placed: Placed | undefined): SandboxRecord {
	const user = state.users?.take(controller);
	const owner = user === undefined ? undefined : {controller, user};
	const podIP = placed?.podIP ?? state.pool.take();
	const network: PodNetworking = placed?.network ?? {type: 'shared'};
	try {
		if (podIP === undefined) throw new Error(`no address is left for pods in "${state.subnet}"`);
		const ofOwner = owner === undefined ? {} : {controller, user: owner.user.uid};
		const aliases = hostAliases.length === 0 ? {} : {hostAliases};
		write(
			state,
			path.join(state.directory, uid),
			`${JSON.stringify({namespace, name, uid, podIP, ...(placed === undefined ? {} : {network}), dns, ...aliases, ...ofOwner})}\n`,
		);
		return {uid, namespace, name, podIP, network, dns, hostAliases, owner};
	} catch (error) {
		if (podIP !== undefined) state.pool.free(podIP);
		if (owner !== undefined) state.users?.release(controller);
		throw error;
	}
}

/** A folder that is there already has lost its record, and perhaps not its containers. */
function write({stock}: State, folder: string, text: string): void {
	if (!existsSync(folder)) return stock.put('sandboxes', folder, fresh => writeFileSync(path.join(fresh, sandboxFile), text));
	const file = path.join(folder, sandboxFile);
	writeFileSync(`${file}.new`, text, {mode: 0o600});
	renameSync(`${file}.new`, file);
}
