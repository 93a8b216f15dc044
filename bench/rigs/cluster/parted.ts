// A control plane and an agent, each a process of its own on this machine: so that one of them can be killed and started again alone.

import {tokensPath, type TokenAnswer} from '../../../api/join.js';
import {clientOf, type Client} from '../../../cli/client.js';
import {readConnection} from '../../../cli/cluster/kubeconfig.js';
import {homeOf} from '../../../cli/files/home.js';
import type {Scope} from '../../harness/scope.js';
import {freePort} from '../servers/server.js';
import {free, startServing, temporaryFolder, temporaryHome, type Serving} from './cluster.js';

/** One of the two. */
export type Part = {
	readonly home: string;
	/** Of the process that was started last. */
	readonly pid: () => number;
	/** SIGKILL; resolves when it is over. */
	readonly kill: () => Promise<void>;
	/** Over the same home; resolves when it says that it is ready. */
	readonly start: () => Promise<void>;
	/** In good order. */
	readonly stop: () => Promise<void>;
};

export type PartedCluster = {readonly server: Part; readonly agent: Part; readonly client: Client};

export type PartedOptions = {readonly node: string; readonly agentFlags: readonly string[]; readonly nodeFlags: readonly string[]};

/** Both run when it resolves, and end with the scope, the pods too. */
export async function startParted(scope: Scope, {node, agentFlags, nodeFlags}: PartedOptions): Promise<PartedCluster> {
	const folder = temporaryFolder(scope, 'server');
	// An agent comes back to where it was told the server is.
	const api = `--api=127.0.0.1:${await freePort()}`;
	const server = partOf(scope, folder, nodeFlags, ['server', `--home=${folder}`, api, `--web=${free}`, `--mqtt=${free}`]);
	await server.start();
	const client = clientOf(await readConnection({flag: undefined, fromEnvironment: undefined, ofHome: homeOf(folder).kubeconfig}));
	scope.defer(() => client.close());
	const {token} = (await client.json({method: 'POST', path: tokensPath, body: {join: true}})) as TokenAnswer;
	const home = temporaryHome(scope);
	const words = ['agent', `--home=${home}`, ...agentFlags];
	const agent = partOf(scope, home, nodeFlags, words, [`--join=${client.server}`, `--token=${token}`, `--node=${node}`]);
	await agent.start();
	return {server, agent, client};
}

function partOf(scope: Scope, home: string, nodeFlags: readonly string[], words: readonly string[], first: readonly string[] = []): Part {
	let serving: Serving | undefined;
	const running = (): Serving => {
		if (serving === undefined) throw new Error(`troupe ${words[0]} was never started`);
		return serving;
	};
	return {
		home,
		pid: () => running().pid,
		kill: () => running().kill(),
		stop: () => running().stop(),
		async start() {
			const all = serving === undefined ? [...words, ...first] : words;
			serving = await startServing(scope, home, all, {nodeFlags, abrupt: false});
		},
	};
}
