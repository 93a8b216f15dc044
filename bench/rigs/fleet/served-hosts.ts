// Hosts of a cluster whose servers are alone on theirs, and whose nodes have routed pods: what can befall each of them.

import {copyFileSync, mkdirSync, readdirSync, readlinkSync, realpathSync, statSync} from 'node:fs';
import path from 'node:path';
import {namesOf, type Names} from '../../../agent/pod-network/names.js';
import {readRecord} from '../../../agent/network/feed/record.js';
import {homeOf} from '../../../cli/files/home.js';
import type {Request} from '../../../cli/client.js';
import type {Home} from '../cluster/home.js';
import {kill, lives} from '../cluster/processes.js';
import {eventually} from '../cluster/waiting.js';
import type {Owner} from '../owner.js';
import {startPart, type Remote} from '../remote.js';
import {pauseProcess} from '../servers/server.js';
import type {ApiPart} from './api-program.js';
import {layNetwork, type Network} from './network.js';
import {hostOf, type RoutedHost} from './routed-hosts.js';

export type ServedHost = RoutedHost & {
	/** What stands before a command that is to run there. */
	readonly words: readonly string[];
	/** Of its server or agent. */
	readonly pid: () => number;
	/** Starts that again, with these flags more. */
	readonly start: (...flags: readonly string[]) => Promise<void>;
};

export type ServedHosts = {
	readonly network: Network;
	readonly servers: readonly ServedHost[];
	readonly nodes: readonly ServedHost[];
	readonly apply: (...objects: readonly object[]) => Promise<void>;
	/** Asks the API from the first server's host. Rejects as the command would. */
	readonly api: (request: Request) => Promise<unknown>;
};

export type ServedHostsOptions = {
	/** `s` when nobody says. Several need a store that they share. */
	readonly servers?: readonly [string, ...string[]];
	readonly nodes: readonly string[];
	/** Hosts that are in the network and run nothing of the cluster. */
	readonly others?: readonly string[];
	/** Called when the network is there; more flags of each server. */
	readonly store?: (network: Network) => Promise<readonly string[]>;
	/** Of a silent node, as `--grace` has it. */
	readonly grace?: string;
	/** Of each agent. */
	readonly flags?: readonly string[];
	/** What runs the pods of a node; `--runtime=process` when nobody says. */
	readonly runtimeOf?: (node: string) => readonly string[];
	/** Called when all nodes have joined: a broker elsewhere has to hear of their logins before they are let in. */
	readonly joined?: (servers: readonly ServedHost[], nodes: readonly ServedHost[]) => Promise<void>;
	/** The home of a node, where it is to be a special one. */
	readonly homeFor?: (node: string) => Home | undefined;
};

let count = 0;

/** Everything goes with the owner. */
export async function openServedHosts(owner: Owner, options: ServedHostsOptions): Promise<ServedHosts> {
	const {
		servers: serverNames = ['s'],
		nodes: nodeNames,
		others = [],
		store,
		grace = '5s',
		flags = [],
		runtimeOf = () => ['--runtime=process'],
		joined,
		homeFor,
	} = options;
	const network = layNetwork(owner, `tf${process.pid}${count++}`, [...serverNames, ...nodeNames, ...others]);
	const ofServer = [`--grace=${grace}`, ...((await store?.(network)) ?? [])];
	const served = (name: string, words: readonly string[], home?: Home): ServedHost => {
		const host = hostOf(owner, network, name, home);
		return {
			...host,
			words: network.on(name),
			pid: () => host.home.endpoints().pid,
			start: async (...more) => void (await host.fine(...words, ...more)),
			begin: async () => void (await host.fine(...words)),
		};
	};
	const servers = serverNames.map(name => {
		const api = `--api=${network.addressOf(name)}:6443`;
		return served(name, ['server', '--detach', api, '--web=127.0.0.1:0', '--mqtt=127.0.0.1:0', ...ofServer]);
	});
	const [first, ...standbys] = servers as [ServedHost, ...ServedHost[]];
	await first.begin();
	for (const standby of standbys) {
		// A second server of a cluster has its key.
		const keyOf = ({home: {home}}: ServedHost): string => path.join(home, 'data', 'cluster.key');
		mkdirSync(path.dirname(keyOf(standby)), {recursive: true});
		copyFileSync(keyOf(first), keyOf(standby));
		await standby.begin();
	}
	const token = (await first.fine('token', 'create', '--join')).trim();
	const join = servers.map(({address}) => `https://${address}:6443`).join();
	const common = ['agent', '--detach', '--network=routed', ...flags];
	const nodes = nodeNames.map(name => served(name, [...common, ...runtimeOf(name)], homeFor?.(name)));
	// Addresses of Services are found by way of it; it leads no farther than to the switch.
	for (const node of nodes) node.run('ip', 'route', 'add', 'default', 'dev', 'eth0');
	for (const node of nodes) await node.start(`--join=${join}`, `--token=${token}`, `--node=${node.name}`);
	await joined?.(servers, nodes);
	const part: Remote<ApiPart> = startPart(owner, path.join(import.meta.dirname, 'api-program.js'), [], first.words);
	return {
		network,
		servers,
		nodes,
		async apply(...objects) {
			const {code, err} = await first.troupe(['apply', '-f', '-'], objects.map(object => JSON.stringify(object)).join('\n---\n'));
			if (code !== 0) throw new Error(err);
		},
		api: request => part.call('request', {...request, home: first.home.home}),
	};
}

/** SIGKILL to the agent or the server alone. */
export async function killServing(host: ServedHost): Promise<void> {
	const pid = host.pid();
	kill(pid);
	await eventually(`${host.name}, process ${pid}, is dead`, () => !lives(pid));
}

/** What serves traffic there; undefined: nothing does. */
export const dataPlaneOf = ({home}: ServedHost): number | undefined => readRecord(homeOf(home.home).network).serving?.pid;

/** SIGKILL to it; its pid. */
export async function killDataPlane(host: ServedHost): Promise<number> {
	const pid = dataPlaneOf(host);
	if (pid === undefined) throw new Error(`no data plane runs on ${host.name}`);
	kill(pid);
	await eventually(`the data plane of ${host.name}, process ${pid}, is dead`, () => !lives(pid));
	return pid;
}

/** SIGSTOP to the agent or the server. */
export const hang = (host: ServedHost): Promise<void> => pauseProcess(host.pid());
export const wake = (host: ServedHost): void => void process.kill(host.pid(), 'SIGCONT');

/** What a host's network and its pods' are called in the kernel. */
export const networkNamesOf = ({home}: ServedHost): Names => namesOf(realpathSync(homeOf(home.home).network));

/** Network namespaces of its pods, by name. */
export const podNamespacesOf = (host: ServedHost): readonly string[] =>
	readdirSync('/run/netns').filter(name => name.startsWith(networkNamesOf(host).namespaces));

/** As by a loss of power: its cable is dead, then all that ran in its network or in that of one of its pods. What it was called stays. */
export async function killHost(network: Network, host: ServedHost): Promise<void> {
	network.cut(host.name);
	const [, option = ''] = host.words;
	const files = [option.replace(/^--net=/, ''), ...podNamespacesOf(host).map(name => `/run/netns/${name}`)];
	const inodes = new Set(files.map(file => statSync(file).ino));
	await eventually(`nothing runs on ${host.name}`, () => {
		const left = processesIn(inodes);
		left.forEach(kill);
		return left.length === 0;
	});
}

/** Those whose network namespace is one of these. */
const processesIn = (inodes: ReadonlySet<number>): readonly number[] =>
	readdirSync('/proc')
		.filter(name => /^\d+$/.test(name))
		.filter(pid => inodes.has(namespaceInode(pid)))
		.map(Number)
		.filter(lives);

/** NaN: it has ended. */
function namespaceInode(pid: string): number {
	try {
		return Number(/\d+/.exec(readlinkSync(`/proc/${pid}/ns/net`))?.[0]);
	} catch {
		return Number.NaN;
	}
}
