// A sandbox that was made before its pod was known: an infra container that runs and has its network, or, where pods have one of their own, none yet.
// The pod's names get into it from outside, through the files that the Engine mounts into all containers of a sandbox.
//
// Source: what moby's libnetwork/etchosts writes into them.

import {closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync} from 'node:fs';
import type {SandboxSpec} from '../../../actors/node/runtime/runtime-port.js';
import {limits} from '../../../api/limits.js';
import {valueOr} from '../../../api/value-or.js';
import {networkInode} from '../../os/network-namespace.js';
import {bytesAt} from '../../os/while-open.js';
import {resolvConfOf} from '../../pod-network/pod-names.js';
import {inspect, remove, start, type Inspected} from '../engine/calls.js';
import {EngineError} from '../engine/engine.js';
import {addressOf, createInfra, type InfraMaker} from './infra.js';
import {routedBefore, warmOptions, type RoutedNames} from './infra-options.js';

export type WarmSandbox = {
	readonly id: string;
	/** Undefined: it gets one of the pod network with its pod. */
	readonly podIP: string | undefined;
	/** What the Engine has called it: no other has that name. */
	readonly hostname: string;
	readonly files: {readonly hostname: string; readonly hosts: string; readonly resolvConf: string};
	/** Its process on this host, and the inode of its network there: together no other process has them. */
	readonly pid: number;
	readonly network: number;
};

export type WarmMaker = InfraMaker & {
	readonly owner: string;
	/** For pods of the pod network. */
	readonly isRouted: boolean;
	readonly cgroupParentOf: () => string | undefined;
};

/** Rejects with EngineErrors, and Errors where this agent could not give it a name; nothing of it is left then if the Engine answers. */
export async function makeWarm(maker: WarmMaker, hostname: string): Promise<WarmSandbox> {
	const {engine, owner, isRouted, cgroupParentOf} = maker;
	const id = await createInfra(maker, image => warmOptions(hostname, isRouted, {owner, image, cgroupParent: cgroupParentOf()}));
	try {
		await start(engine, id);
		return warmSandboxOf(await inspect(engine, id), isRouted);
	} catch (error) {
		if (!(error instanceof EngineError) || error.fault === 'refused') await remove(engine, id);
		throw error;
	}
}

function warmSandboxOf(inspected: Inspected, isRouted: boolean): WarmSandbox {
	const {Id: id, HostnamePath, HostsPath, ResolvConfPath, State, Config} = inspected;
	const podIP = isRouted ? undefined : addressOf(inspected);
	if (!State.Running || (!isRouted && podIP === undefined)) throw new Error('it has no address, or has ended');
	const network = networkOf(State.Pid);
	if (network === undefined || network === networkOf(process.pid)) throw new Error('its process is not to be seen from this agent');
	const {Hostname: hostname} = Config;
	const files = {hostname: HostnamePath, hosts: HostsPath, resolvConf: ResolvConfPath};
	const warm = {id, podIP, hostname, files, pid: State.Pid, network};
	// Whether that can be done is known before it is needed.
	writeNames(warm, {hostname, hostAliases: []}, isRouted ? routedBefore(hostname) : undefined);
	return warm;
}

const networkOf = (pid: number): number | undefined => valueOr(undefined, () => networkInode(pid));

/** Also between its end and the Engine's word of it. */
export const runs = ({pid, network}: WarmSandbox): boolean => networkOf(pid) === network;

type Names = Pick<SandboxSpec, 'hostname' | 'hostAliases'>;

/**
 * Gives it the names of a pod; once, for what the Engine wrote is gone then. `routed`: of a pod of the pod network. Throws Errors where the files are
 * not those that the Engine wrote.
 */
export function writeNames({podIP, hostname, files}: WarmSandbox, names: Names, routed?: RoutedNames): void {
	const hosts = readFile(files.hosts);
	const address = podIP ?? routedBefore(hostname).address;
	const areItsOwn =
		readFile(files.hostname) === `${hostname}\n` &&
		hosts.includes(`\n${address}\t${hostname}\n`) &&
		(podIP !== undefined || readFile(files.resolvConf).includes(`search ${hostname}\n`));
	if (!areItsOwn) throw new Error("what Docker's Engine calls its files of names is something else for this agent");
	writeInPlace(files.hosts, hostsText(hosts, hostname, names, routed?.address));
	if (routed !== undefined) writeInPlace(files.resolvConf, resolvConfOf(routed.names));
	writeInPlace(files.hostname, `${names.hostname}\n`);
}

/** What the Engine had written, had it known the pod. `address`: of the pod network; undefined: the Engine's, which is there. Pure. */
export function hostsText(text: string, before: string, {hostname, hostAliases}: Names, address?: string): string {
	const lines = text.split('\n');
	const own = lines.findIndex(line => line.endsWith(`\t${before}`));
	const aliases = hostAliases.flatMap(({ip, hostnames}) => hostnames.map(each => `${ip}\t${each}`));
	// There the Engine is told all of them, and adds no short name.
	if (address !== undefined) return lines.toSpliced(own, 1, `${address}\t${hostname}`, ...aliases).join('\n');
	const [short = ''] = hostname.split('.');
	const called = short === hostname ? hostname : `${hostname} ${short}`;
	const named = lines.map(line => (line.endsWith(`\t${before}`) ? `${line.slice(0, -before.length)}${called}` : line));
	return named.toSpliced(own, 0, ...aliases).join('\n');
}

const withFile = <Value>(file: string, flags: number, use: (descriptor: number) => Value): Value => {
	// Never through a link, and of a FIFO nobody is waited for.
	const descriptor = openSync(file, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
	try {
		if (!fstatSync(descriptor).isFile()) throw new Error(`${file} is no file`);
		return use(descriptor);
	} finally {
		closeSync(descriptor);
	}
};

const readFile = (file: string): string =>
	withFile(file, constants.O_RDONLY, descriptor => {
		const bytes = bytesAt(descriptor, 0, limits.warmNamesBytes + 1);
		if (bytes.length > limits.warmNamesBytes) throw new Error(`${file} is longer than the Engine makes it`);
		return bytes.toString('utf8');
	});

/** The same file: containers have it mounted. */
const writeInPlace = (file: string, text: string): void =>
	withFile(file, constants.O_WRONLY, descriptor => {
		ftruncateSync(descriptor, writeSync(descriptor, text, 0));
	});

/**
 * Whether names can be given from outside in that Engine: to Docker's own, which mounts the files of the infra container into all that join it, and
 * where no other rules than the host's own decide what a container may execute or see.
 */
export function takesNames(engine: string, info: unknown): boolean {
	const {SecurityOptions: rules} = Object(info) as {SecurityOptions?: unknown};
	return engine === 'Docker' && !listOf(rules).some(rule => /^name=(selinux|userns|rootless)\b/.test(String(rule)));
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
