// A cluster of several processes, as on several hosts: servers and agents, each with a home of its own, all on loopback.

import {copyFileSync, mkdirSync} from 'node:fs';
import path from 'node:path';
import {freePorts, openHome, type Home} from './_rig.js';
import type {Owner} from '../../bench/rigs/owner.js';
import {lives} from '../../bench/rigs/cluster/processes.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';

export type Host = Home & {
	/** The process that serves from this home. */
	readonly pid: () => number;
	/** SIGKILL to it alone. */
	readonly killIt: () => Promise<void>;
};

function hostOf(home: Home): Host {
	const pid = (): number => home.endpoints().pid;
	return {
		...home,
		pid,
		async killIt() {
			const victim = pid();
			process.kill(victim, 'SIGKILL');
			await eventually(`process ${victim} is dead`, () => !lives(victim));
		},
	};
}

export type Server = Host & {
	readonly api: () => string;
	/** Starts it again where it was before, so that agents find it. */
	readonly restart: () => Promise<void>;
	readonly joinToken: (...flags: readonly string[]) => Promise<string>;
};

/** A server in the background, on free ports. */
export const openServer = (owner: Owner, ...flags: readonly string[]): Promise<Server> => serverIn(openHome(owner), flags);

/** Another one of the same cluster, whose key it has. */
export function openServerBeside(owner: Owner, first: Server, ...flags: readonly string[]): Promise<Server> {
	const home = openHome(owner);
	const keyOf = (folder: string): string => path.join(folder, 'data', 'cluster.key');
	mkdirSync(path.dirname(keyOf(home.home)), {recursive: true});
	copyFileSync(keyOf(first.home), keyOf(home.home));
	return serverIn(home, flags);
}

async function serverIn(home: Home, flags: readonly string[]): Promise<Server> {
	await home.fine('server', '--detach', ...freePorts, ...flags);
	const {api} = home.endpoints();
	return {
		...hostOf(home),
		api: () => api,
		async restart() {
			const [, ...others] = freePorts;
			await home.fine('server', '--detach', `--api=${new URL(api).host}`, ...others, ...flags);
		},
		joinToken: async (...more) => (await home.fine('token', 'create', '--join', ...more)).trim(),
	};
}

export type Agent = Host & {readonly node: string; readonly restart: () => Promise<void>};

/** An agent in the background that has joined. */
export async function openAgent(
	owner: Owner,
	servers: readonly string[],
	token: string,
	node: string,
	...flags: readonly string[]
): Promise<Agent> {
	const home = openHome(owner);
	await home.fine('agent', '--detach', `--join=${servers.join()}`, `--token=${token}`, `--node=${node}`, ...flags);
	return {...hostOf(home), node, restart: async () => void (await home.fine('agent', '--detach', ...flags))};
}

export const credentialFile = ({home}: Home): string => path.join(home, 'data', 'credential');
