// A real cluster in a folder of its own: the built command, its API, and every process that has anything to do with the folder.
//
// Whatever happens in a test or benchmark, nothing of it is left: what holds a file of the folder open is killed, then the folder is removed.
// That is found by looking at /proc, not by asking the product, so a process that the product lost shows, too.

import {spawn, type ChildProcess} from 'node:child_process';
import {mkdtempSync, readFileSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {removeHomes} from '../../../agent/process/sandboxes/homes.js';
import {releaseMemory} from '../../../agent/volumes/memory.js';
import {clientOf, type Client} from '../../../cli/client.js';
import {readEndpoints, type Endpoints} from '../../../cli/files/endpoints.js';
import {homeOf} from '../../../cli/files/home.js';
import {readConnection} from '../../../cli/cluster/kubeconfig.js';
import {asProcesses} from '../as-processes.js';
import {removeDockerPods} from './docker-pods.js';
import {killAll, lives, processesOf} from './processes.js';
import {eventually, within} from './waiting.js';
import {line, type Ran} from '../command-line.js';
import {main} from '../main-file.js';
import type {Owner} from '../owner.js';

export const freePorts = ['--api=127.0.0.1:0', '--web=127.0.0.1:0', '--mqtt=127.0.0.1:0'];
export const nodeName = 'vm';

const talking: ReadonlySet<string> = new Set(['delete', 'describe', 'events', 'get', 'label', 'logs', 'scale', 'taint', 'wait', 'why']);

export type Started = {
	readonly pid: number;
	readonly kill: (signal: NodeJS.Signals) => void;
	/** Resolves with what stdout holds as soon as that matches; rejects when the command ends without, or after a while. */
	readonly says: (wanted: RegExp) => Promise<string>;
	/** The same of stderr. */
	readonly notes: (wanted: RegExp) => Promise<string>;
	/** Its end; rejects when that does not come within a minute of being asked for. */
	readonly ended: Promise<Ran>;
};

export type Home = Awaited<ReturnType<typeof openHome>>;

/** An empty home. Nothing runs in it yet. */
export function openHome(owner: Owner) {
	const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'troupe-e2e-')));
	const home = path.join(folder, 'home');
	const children = new Set<ChildProcess>();
	const clients = new Set<Client>();
	owner.teardown(async () => {
		for (const client of clients) client.close();
		for (const child of children) child.kill('SIGKILL');
		await killAll(home);
		await removeDockerPods(homeOf(home));
		await releaseMemory(homeOf(home).runtime);
		await releaseMemory(homeOf(home).docker);
		await removeHomes(homeOf(home).runtime, process.getuid?.() === 0);
		rmSync(folder, {recursive: true, force: true});
	});

	/** Starts any program with this environment; killed with the home. */
	const startProgram = (program: string, args: readonly string[], env: NodeJS.ProcessEnv, input = ''): Started => {
		const child = spawn(program, args, {env: {PATH: process.env['PATH'], HOME: folder, ...env}});
		children.add(child);
		child.once('close', () => children.delete(child));
		return follow(child, input, `troupe ${args.join(' ')}`);
	};
	const startFile = (file: string, args: readonly string[], input?: string): Started =>
		startProgram(process.execPath, [file, ...args], {TROUPE_HOME: home}, input);
	const start = (args: readonly string[], input?: string): Started => startFile(main, asProcesses(args), input);
	const troupe = (...args: readonly string[]): Promise<Ran> => start(args).ended;

	return {
		folder,
		home,
		start,
		startProgram,
		startFile,
		troupe,
		/** Runs a command that must succeed; its output. One that only talks to the API runs in this process, which costs far less. */
		async fine(...args: readonly string[]): Promise<string> {
			const {code, out, err} = await (talking.has(args[0] ?? '') ? line(args, {home}) : troupe(...args));
			if (code !== 0) throw new Error(`troupe ${args.join(' ')} ended with ${code}: ${err}${out}`);
			return out;
		},
		/** Applies a manifest that must be taken. */
		async apply(...objects: readonly object[]): Promise<void> {
			const {code, err} = await line(['apply', '-f', '-'], {home, input: objects.map(object => JSON.stringify(object)).join('\n---\n')});
			if (code !== 0) throw new Error(`apply ended with ${code}: ${err}`);
		},
		/** Starts the cluster in the background; where it listens. */
		async up(...flags: readonly string[]): Promise<Endpoints> {
			const {code, err} = await troupe('up', '--detach', `--node=${nodeName}`, ...freePorts, ...flags);
			const endpoints = readEndpoints(home);
			if (code === 0 && endpoints !== undefined) return endpoints;
			throw new Error(`up ended with ${code}: ${err}`);
		},
		endpoints(): Endpoints {
			const endpoints = readEndpoints(home);
			if (endpoints === undefined) throw new Error(`there is no endpoints.json in ${home}`);
			return endpoints;
		},
		/** The API as the CLI speaks to it, of the cluster that runs now. */
		async client(): Promise<Client> {
			const sources = {flag: undefined, fromEnvironment: undefined, ofHome: path.join(home, 'kubeconfig')};
			const client = clientOf(await readConnection(sources));
			clients.add(client);
			return client;
		},
		token: (): string => readFileSync(path.join(home, 'admin.token'), 'utf8').trim(),
		processes: () => processesOf(home),
		/** SIGKILL to the cluster's process alone; resolves when it is gone. */
		async killCluster(): Promise<void> {
			const {pid} = this.endpoints();
			process.kill(pid, 'SIGKILL');
			await eventually('the cluster is dead', () => !lives(pid));
		},
		/** Everything dies at the same moment, as by a loss of power; data stays. */
		killEverything: () => killAll(home),
	};
}

/** Collects what a command says and how it ends; it gets `input` as stdin, and is called `name` where it does not end. */
export function follow(child: ChildProcess, input: string, name = child.spawnargs.join(' ')): Started {
	let out = '';
	let err = '';
	const listeners = new Set<() => void>();
	child.stdout?.on('data', (chunk: Buffer) => {
		out += chunk.toString();
		for (const listener of listeners) listener();
	});
	child.stderr?.on('data', (chunk: Buffer) => {
		err += chunk.toString();
		for (const listener of listeners) listener();
	});
	child.stdin?.on('error', () => undefined); // The command may end without reading.
	child.stdin?.end(input);
	const ended = new Promise<Ran>((resolve, reject) => {
		child.once('error', reject);
		child.once('close', code => resolve({code, out, err}));
	});
	const saidIn = (textOf: () => string, wanted: RegExp): Promise<string> =>
		new Promise((resolve, reject) => {
			const late = AbortSignal.timeout(20_000);
			const finish = (settle: () => void): void => {
				listeners.delete(look);
				settle();
			};
			const look = (): void => {
				if (wanted.test(textOf())) finish(() => resolve(textOf()));
			};
			listeners.add(look);
			look();
			late.addEventListener('abort', () => finish(() => reject(new Error(`did not say ${wanted.source} in time: ${out}${err}`))));
			void ended.then(({code}) => finish(() => reject(new Error(`ended with ${code} before it said ${wanted.source}: ${out}${err}`))));
		});
	return {
		pid: child.pid ?? 0,
		kill: signal => child.kill(signal),
		says: wanted => saidIn(() => out, wanted),
		notes: wanted => saidIn(() => err, wanted),
		get ended() {
			return within(`the end of ${name}`, ended, () => `It said ${out}${err}`);
		},
	};
}
