// A sandbox that was made before its pod was known: an infra container that runs and has its network. The pod's names get into it from outside,
// through the files that the Engine mounts into all containers of a sandbox.
//
// Source: what moby's libnetwork/etchosts writes into them.

import {closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, readlinkSync, writeSync} from 'node:fs';
import type {SandboxSpec} from '../../../actors/node/runtime/runtime-port.js';
import {valueOr} from '../../../api/value-or.js';
import {inspect, remove, start, type Inspected} from '../engine/calls.js';
import {EngineError} from '../engine/engine.js';
import {addressOf, createInfra, type InfraMaker} from './infra.js';
import {warmOptions} from './infra-options.js';

export type WarmSandbox = {
	readonly id: string;
	readonly podIP: string;
	/** What the Engine has called it: no other has that name. */
	readonly hostname: string;
	readonly files: {readonly hostname: string; readonly hosts: string};
	/** Its process on this host, and its network there: together no other process has them. */
	readonly pid: number;
	readonly network: string;
};

export type WarmMaker = InfraMaker & {readonly owner: string; readonly cgroupParentOf: () => string | undefined};

/** Rejects with EngineErrors, and Errors where this agent could not give it a name; nothing of it is left then if the Engine answers. */
export async function makeWarm(maker: WarmMaker, hostname: string): Promise<WarmSandbox> {
	const {engine, owner, cgroupParentOf} = maker;
	const id = await createInfra(maker, image => warmOptions(hostname, {owner, image, cgroupParent: cgroupParentOf()}));
	try {
		await start(engine, id);
		return warmSandboxOf(await inspect(engine, id));
	} catch (error) {
		if (!(error instanceof EngineError) || error.fault === 'refused') await remove(engine, id);
		throw error;
	}
}

function warmSandboxOf(inspected: Inspected): WarmSandbox {
	const podIP = addressOf(inspected);
	if (podIP === undefined) throw new Error('it has no address, or has ended');
	const {Id: id, HostnamePath, HostsPath, State, Config} = inspected;
	const network = networkOf(State.Pid);
	if (network === '' || network === networkOf('self')) throw new Error('its process is not to be seen from this agent');
	const warm = {id, podIP, hostname: Config.Hostname, files: {hostname: HostnamePath, hosts: HostsPath}, pid: State.Pid, network};
	// Whether that can be done is known before it is needed.
	writeNames(warm, {hostname: warm.hostname, hostAliases: []});
	return warm;
}

const networkOf = (pid: number | 'self'): string => valueOr('', () => readlinkSync(`/proc/${pid}/ns/net`));

/** Also between its end and the Engine's word of it. */
export const runs = ({pid, network}: WarmSandbox): boolean => networkOf(pid) === network;

type Names = Pick<SandboxSpec, 'hostname' | 'hostAliases'>;

/** Gives it the names of a pod; once, for what the Engine wrote is gone then. Throws Errors where the files are not those that the Engine wrote. */
export function writeNames({podIP, hostname, files}: WarmSandbox, names: Names): void {
	const hosts = readFile(files.hosts);
	if (readFile(files.hostname) !== `${hostname}\n` || !hosts.includes(`\n${podIP}\t${hostname}\n`))
		throw new Error("what Docker's Engine calls its files of names is something else for this agent");
	writeInPlace(files.hosts, hostsText(hosts, hostname, names));
	writeInPlace(files.hostname, `${names.hostname}\n`);
}

/** What the Engine had written, had it known the pod. Pure. */
export function hostsText(text: string, before: string, {hostname, hostAliases}: Names): string {
	const lines = text.split('\n');
	const own = lines.findIndex(line => line.endsWith(`\t${before}`));
	const aliases = hostAliases.flatMap(({ip, hostnames}) => hostnames.map(each => `${ip}\t${each}`));
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

const readFile = (file: string): string => withFile(file, constants.O_RDONLY, descriptor => readFileSync(descriptor, 'utf8'));

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
