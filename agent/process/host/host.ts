// What a process runtime needs to know of its host, and what it says of it.

import os from 'node:os';
import process from 'node:process';
import type {RuntimeInfo} from '../../../actors/protocol/runtime-info.js';
import {kubernetesArchitecture} from '../../../api/architecture.js';
import type {NodeFeature} from '../../../api/features.js';
import {limits} from '../../../api/limits.js';
import type {ContainerGroups} from '../cgroups/container-groups.js';
import type {MountTools} from '../mounts/mount-script.js';
import {readBootId} from '../../os/identity.js';
import type {User} from '../../os/user.js';
import {findDropper, findNoGain, type Dropper} from '../users/privileges.js';
import {findNfsTools, type NfsTools} from '../../volumes/nfs.js';
import {findMountTools} from './mount-trial.js';
import {findNamespaces, type Namespaces} from './namespaces.js';
import {findTerminal, type Terminal} from './terminal.js';

export type Host = {
	readonly agent: User;
	/** Groups of the agent beside its own. */
	readonly groups: readonly number[];
	/** Undefined: none works, the shim itself runs as the user. */
	readonly dropper: Dropper | undefined;
	/** A setpriv for programs that keep the agent's user; undefined: none works, and set-user-ID files give them rights. */
	readonly noGain: string | undefined;
	/** Undefined: containers see the node's files as they are, and have no volumes. */
	readonly mountTools: MountTools | undefined;
	/** Undefined: containers see the processes of the node. */
	readonly namespaces: Namespaces | undefined;
	/** What mounts NFS; undefined: nothing may, or does. */
	readonly nfs: NfsTools | undefined;
	/** Undefined: no program can have a terminal. */
	readonly terminal: Terminal | undefined;
	/** Where programs are looked up when the container's environment has no PATH. */
	readonly path: string;
	readonly bootId: string;
};

/** As a login shell of Debian has it. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export type HostOptions = {
	readonly path: string | undefined;
	/** Undefined: whatever works here. */
	readonly dropper: Dropper | null | undefined;
	/** Undefined: whatever works here; null: none. */
	readonly namespaces: null | undefined;
	/** Undefined: whatever works here; null: nothing. */
	readonly nfs: NfsTools | null | undefined;
	/** A folder without links in its path, to try mounts on. */
	readonly folder: string;
	readonly onWarning: (message: string) => void;
};

/** Throws errno exceptions where there is no /proc of a Linux kernel. */
export function hostOf({path = defaultPath, dropper, namespaces: wanted, nfs, folder, onWarning}: HostOptions): Host {
	const agent = {uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0};
	const found = agent.uid === 0 ? (dropper === null ? undefined : (dropper ?? findDropper())) : undefined;
	if (agent.uid === 0 && found === undefined) {
		onWarning(
			'neither chroot of GNU coreutils nor setpriv of util-linux can change the user here: ' +
				'containers of other users run under shims of these users, which their programs can kill',
		);
	}
	// A shim that runs as its container's user cannot make them.
	const mayMake = wanted !== null && (agent.uid !== 0 || found !== undefined);
	const namespaces = mayMake ? findNamespaces(agent) : undefined;
	const mayMount = agent.uid === 0 ? found !== undefined : namespaces !== undefined;
	const mountTools = mayMount ? findMountTools(folder, namespaces) : undefined;
	const noGain = findNoGain();
	if (noGain === undefined)
		onWarning('no setpriv of util-linux works here: set-user-ID programs give their rights to containers (allowPrivilegeEscalation)');
	return {
		agent,
		noGain,
		groups: process.getgroups?.() ?? [],
		dropper: found,
		mountTools,
		nfs: agent.uid === 0 && mountTools !== undefined && nfs !== null ? (nfs ?? findNfsTools()) : undefined,
		namespaces,
		terminal: findTerminal(),
		path,
		bootId: readBootId(),
	};
}

/** As the node's record shows it. */
export function infoOf(
	host: Host,
	hostIP: string,
	groups: Pick<ContainerGroups, 'enforces'>,
	{
		maxPods = limits.podsPerNode,
		localVolumes,
		isRouted,
		allowPrivileged,
		sharedBecause,
	}: {
		readonly maxPods?: number | undefined;
		readonly localVolumes?: string | undefined;
		readonly isRouted: boolean;
		readonly allowPrivileged?: boolean | undefined;
		readonly sharedBecause?: string | undefined;
	},
): RuntimeInfo {
	return {
		name: 'process',
		version: process.versions.node,
		cpuMillis: os.availableParallelism() * 1_000,
		memoryBytes: os.totalmem(),
		maxPods,
		features: [
			...featuresOf(host, groups, localVolumes),
			...(isRouted ? (['hostPorts'] as const) : []),
			...(isRouted && allowPrivileged !== true ? [] : (['hostNetwork'] as const)),
		].sort(),
		classes: ['process'],
		...(localVolumes === undefined || host.mountTools === undefined ? {} : {localVolumes}),
		conditions: [
			...(isRouted ? [] : [sharedNetwork(sharedBecause)]),
			...sharedProcesses(host),
			...sharedHome(host),
			...limitsNotEnforced(groups, host.agent.uid === 0),
		],
		hostIP,
		hostBootId: host.bootId,
		os: os.type(),
		kernel: os.release(),
		architecture: kubernetesArchitecture(os.arch()),
	};
}

const sharedNetwork = (because: string | undefined): RuntimeInfo['conditions'][number] => ({
	type: 'SharedNetwork',
	reason: 'ProcessRuntime',
	message: `pods share the network of this node; each has a loopback address of its own${because === undefined ? '' : ` (${because})`}`,
});

const enforcesAll = ({enforces}: Pick<ContainerGroups, 'enforces'>): boolean => enforces('memory') && enforces('cpu');

const featuresOf = (
	{agent, mountTools, nfs, terminal}: Host,
	groups: Pick<ContainerGroups, 'enforces'>,
	localVolumes: string | undefined,
): readonly NodeFeature[] => [
	...(mountTools === undefined || localVolumes === undefined ? [] : (['claims'] as const)),
	...(enforcesAll(groups) ? (['limits'] as const) : []),
	...(nfs === undefined ? [] : (['nfs'] as const)),
	...(terminal === undefined ? [] : (['terminal'] as const)),
	...(agent.uid === 0 ? (['users'] as const) : []),
	...(mountTools === undefined ? [] : (['names', 'volumes'] as const)),
];

function sharedProcesses({namespaces}: Host): RuntimeInfo['conditions'] {
	if (namespaces !== undefined) return [];
	const message =
		'this agent may not make namespaces of processes: pods see the processes of this node, and may reach into those of their own user';
	return [{type: 'SharedProcesses', reason: 'NoNamespaces', message}];
}

function sharedHome({agent, mountTools}: Host): RuntimeInfo['conditions'] {
	if (agent.uid === 0 || mountTools !== undefined) return [];
	const message =
		"pods are the user of this agent, which may not make namespaces of mounts: they can read and write its home, with its tokens and all that is other pods'";
	return [{type: 'SharedHome', reason: 'NoNamespaces', message}];
}

/** Says what holds instead. */
function limitsNotEnforced(groups: Pick<ContainerGroups, 'enforces'>, isRoot: boolean): RuntimeInfo['conditions'] {
	if (enforcesAll(groups) && groups.enforces('pids')) return [];
	const memory = groups.enforces('memory')
		? 'limits of memory are enforced'
		: 'a limit of memory bounds the data of each process by itself (rlimit)';
	const cpu = groups.enforces('cpu') ? 'limits of cpu are enforced' : 'limits of cpu are not enforced';
	const unbound = isRoot
		? 'the number of processes is bounded for all pods of a controller together (rlimit), and not at all where they run as root or ask for a user'
		: 'the number of processes is not bounded';
	const processes = groups.enforces('pids') ? 'the number of processes is bounded' : unbound;
	const message = `this agent may not use all control groups: ${memory}, ${cpu}, ${processes}`;
	return [{type: 'LimitsNotEnforced', reason: 'NoControlGroups', message}];
}
