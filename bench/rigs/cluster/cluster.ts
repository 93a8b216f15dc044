// A cluster of its own for one benchmark: the built command, spawned with a fresh home on free ports, and agents beside it.

import {spawn, type ChildProcess} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {tokensPath, type TokenAnswer} from '../../../api/join.js';
import {clientOf, type Client} from '../../../cli/client.js';
import {homeOf} from '../../../cli/files/home.js';
import {nodeFlags as usualFlags} from '../../../cli/files/node-flags.js';
import {readConnection} from '../../../cli/cluster/kubeconfig.js';
import {stopPods} from '../../../cli/serving/stop-cluster.js';
import {asProcesses} from '../as-processes.js';
import {main} from '../main-file.js';
import type {Scope} from '../../harness/scope.js';

export type BenchCluster = {
	readonly pid: number;
	readonly home: string;
	/** From the spawn to the line that says that it is ready. */
	readonly readyMs: number;
	readonly client: Client;
	/** Stops it in good order; its pods run on. */
	readonly stop: () => Promise<void>;
};

export type ClusterOptions = {
	/** `up` when nobody says: a control plane with a node. */
	readonly command?: 'up' | 'server';
	/** Of the command. */
	readonly flags?: readonly string[];
	/** Of node itself beside the usual ones, such as `--cpu-prof`. */
	readonly nodeFlags?: readonly string[];
	/** Ends it by SIGKILL: for clusters whose pods are simulated. */
	readonly abrupt?: boolean;
};

/** A door of this machine, on a port that is free. */
export const free = '127.0.0.1:0';

/** A folder of its own, removed with the scope; pods' programs may look into it. */
export function temporaryFolder(scope: Scope, name: string): string {
	if (scope.isClosing()) throw new Error('interrupted');
	const folder = mkdtempSync(path.join(tmpdir(), `troupe-bench-${name}-`));
	scope.defer(() => rmSync(folder, {recursive: true, force: true, maxRetries: 5}));
	return folder;
}

/** A home whose pods are stopped, whatever becomes of the cluster, before it is removed. */
export function temporaryHome(scope: Scope): string {
	const home = temporaryFolder(scope, 'home');
	scope.defer(() => stopPods(home));
	return home;
}

/** Starts a cluster and waits until it is ready; it ends with the scope. Rejects with what it said when it does not start. */
export async function startCluster(
	scope: Scope,
	home: string,
	{command = 'up', flags = [], nodeFlags = [], abrupt = false}: ClusterOptions = {},
): Promise<BenchCluster> {
	const startedAt = performance.now();
	const words = [command, `--home=${home}`, `--api=${free}`, `--web=${free}`, `--mqtt=${free}`, ...flags];
	const {pid, stop} = await startServing(scope, home, words, {nodeFlags, abrupt});
	const readyMs = performance.now() - startedAt;
	const connection = {flag: undefined, fromEnvironment: undefined, ofHome: homeOf(home).kubeconfig};
	const client = clientOf(await readConnection(connection));
	scope.defer(() => client.close());
	return {pid, home, readyMs, client, stop};
}

/** An agent on this machine with a home of its own, one more node of the cluster; its process. Its pods end with the scope. */
export async function startAgent(
	scope: Scope,
	{client}: Pick<BenchCluster, 'client'>,
	node: string,
	{nodeFlags = []}: Pick<ClusterOptions, 'nodeFlags'> = {},
): Promise<number> {
	const {token} = (await client.json({method: 'POST', path: tokensPath, body: {join: true}})) as TokenAnswer;
	const home = temporaryHome(scope);
	const words = ['agent', `--home=${home}`, `--join=${client.server}`, `--token=${token}`, `--node=${node}`];
	const {pid} = await startServing(scope, home, words, {nodeFlags, abrupt: false});
	return pid;
}

export type Serving = {
	readonly pid: number;
	readonly stop: () => Promise<void>;
	/** SIGKILL; resolves when it is over. */
	readonly kill: () => Promise<void>;
};

/** A command that serves, spawned; resolves when it says that it is ready. It ends with the scope. Rejects with what it said when it does not start. */
export async function startServing(
	scope: Scope,
	home: string,
	words: readonly string[],
	{nodeFlags, abrupt}: Required<Pick<ClusterOptions, 'nodeFlags' | 'abrupt'>>,
): Promise<Serving> {
	if (scope.isClosing()) throw new Error('interrupted');
	const child = spawn(process.execPath, [...usualFlags, ...nodeFlags, main, ...asProcesses(words)], {
		env: {PATH: process.env['PATH'], HOME: home},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const ended = new Promise<void>(resolve => child.once('exit', () => resolve()));
	const end = async (signal: NodeJS.Signals): Promise<void> => {
		if (child.exitCode === null && child.signalCode === null) child.kill(signal);
		await ended;
	};
	const stop = (): Promise<void> => end(abrupt ? 'SIGKILL' : 'SIGTERM');
	scope.defer(stop);
	await ready(child);
	return {pid: child.pid ?? 0, stop, kill: () => end('SIGKILL')};
}

function ready(child: ChildProcess): Promise<void> {
	return new Promise((resolve, reject) => {
		let said = '';
		const listen = (chunk: Buffer): void => {
			said += chunk.toString();
			if (/the (cluster|server|agent) is ready/.test(said)) resolve();
		};
		child.stdout?.on('data', listen);
		child.stderr?.on('data', listen);
		child.once('error', reject);
		child.once('exit', () => reject(new Error(`it did not start: ${said.trim()}`)));
	});
}
