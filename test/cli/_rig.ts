// The real command against the real gateway over a small control plane, or against a server that says what a test scripts.

import {spawn, spawnSync} from 'node:child_process';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import https from 'node:https';
import type {IncomingMessage, ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {ensureCertificates} from '../../server/certificates.js';
import {createGateway} from '../../server/gateway.js';
import {kubeconfigText} from '../../server/kubeconfig.js';
import {sealsOf} from '../../server/seal.js';
import {systemClock} from '../../system/time/clock.js';
import {keptArtifacts} from '../server/_artifacts.js';
import {testCluster} from '../server/cluster.js';
import {vaults} from '../server/support.js';
import {asProcesses} from '../../bench/rigs/as-processes.js';
import {line, type Ran} from '../../bench/rigs/command-line.js';
import {main} from '../../bench/rigs/main-file.js';

export type Started = {
	readonly kill: (signal: NodeJS.Signals) => void;
	/** Resolves as soon as stdout holds this text; rejects when the command ends without. */
	readonly says: (text: string) => Promise<void>;
	/** The same of stderr. */
	readonly notes: (text: string) => Promise<void>;
	readonly closeStdout: () => void;
	readonly ended: Promise<Ran>;
};

/** A folder that is removed with the test. */
export async function folder(t: ExecutionContext): Promise<string> {
	const made = await mkdtemp(path.join(tmpdir(), 'troupe-cli-'));
	t.teardown(() => rm(made, {recursive: true, force: true}));
	return made;
}

export type Surroundings = {readonly home: string; readonly input?: string; readonly cwd?: string; readonly env?: NodeJS.ProcessEnv};

/** Starts the command with nothing of the test's own environment but PATH; killed with the test. */
export function start(t: ExecutionContext, args: readonly string[], {home, input = '', cwd, env = {}}: Surroundings): Started {
	const child = spawn(process.execPath, [main, ...asProcesses(args)], {
		env: {PATH: process.env['PATH'], HOME: home, TROUPE_HOME: home, ...env},
		...(cwd === undefined ? {} : {cwd}),
	});
	t.teardown(() => child.kill('SIGKILL'));
	let out = '';
	let err = '';
	const listeners = new Set<() => void>();
	child.stdout.on('data', (chunk: Buffer) => {
		out += chunk.toString();
		for (const listener of listeners) listener();
	});
	child.stderr.on('data', (chunk: Buffer) => {
		err += chunk.toString();
		for (const listener of listeners) listener();
	});
	child.stdin.on('error', () => undefined); // The command may end without reading.
	child.stdin.end(input);
	const ended = new Promise<Ran>((resolve, reject) => {
		child.once('error', reject);
		child.once('close', code => resolve({code, out, err}));
	});
	const holds = (written: () => string, text: string) =>
		new Promise<void>((resolve, reject) => {
			const look = () => {
				if (!written().includes(text)) return;
				listeners.delete(look);
				resolve();
			};
			listeners.add(look);
			look();
			void ended.then(({code}) => reject(new Error(`ended with ${code} before it said ${JSON.stringify(text)}: ${out}${err}`)));
		});
	const [says, notes] = [(text: string) => holds(() => out, text), (text: string) => holds(() => err, text)];
	return {kill: signal => child.kill(signal), says, notes, closeStdout: () => child.stdout.destroy(), ended};
}

export const run = (t: ExecutionContext, args: readonly string[], surroundings: Surroundings): Promise<Ran> =>
	start(t, args, surroundings).ended;

/** Runs commands one by one: in this process, which is far cheaper, but for those that need a folder of their own to stand in. */
const typedIn =
	(t: ExecutionContext, home: string) =>
	(args: readonly string[], {cwd, input, env = {}}: Partial<Surroundings> = {}): Promise<Ran> => {
		const set = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
		if (cwd !== undefined) return run(t, args, {home, cwd, env, ...(input === undefined ? {} : {input})});
		return line(args, {home, env: set, ...(input === undefined ? {} : {input})});
	};

const token = 'secret-of-the-test';

async function homeFor(t: ExecutionContext, server: string, ca: string): Promise<string> {
	const home = await folder(t);
	await writeFile(path.join(home, 'kubeconfig'), kubeconfigText({server, ca, user: 'admin', token}), {mode: 0o600});
	return home;
}

const certificates = ensureCertificates(vaults(), {names: [], nowMs: Date.now()});

/** A cluster behind the real gateway over TLS, and the command that talks to it. */
export async function openCluster(t: ExecutionContext) {
	const {ca, cert, key} = await certificates;
	const cluster = testCluster(Date.now());
	const artifacts = keptArtifacts();
	const bugs: Error[] = [];
	const gateway = createGateway({
		upstream: () => ({
			type: 'serving',
			control: cluster.control,
			inspection: cluster.inspection,
			authenticate: given => (given === token ? {name: 'admin', role: 'admin'} : undefined),
			access: undefined,
			seals: sealsOf(new Uint8Array(32)),
			artifacts: artifacts.store,
		}),
		tls: {ca, cert, key},
		version: '0.1.0',
		clock: systemClock,
		onBug: error => bugs.push(error instanceof Error ? error : new Error(String(error))),
	});
	const {port} = await gateway.listen('127.0.0.1', 0);
	t.teardown(() => gateway.close());
	t.teardown(() => {
		if (bugs.length > 0) throw new AggregateError(bugs, 'the gateway met a bug');
	});
	const home = await homeFor(t, `https://127.0.0.1:${port}`, ca);
	return {
		cluster,
		artifacts,
		gateway,
		port,
		home,
		troupe: typedIn(t, home),
		start: (args: readonly string[], more: Partial<Surroundings> = {}) => start(t, args, {home, ...more}),
	};
}

export type Seen = {readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers']; readonly body: string};
export type Script = (seen: Seen, response: ServerResponse) => void;

/** A server that answers as the test says. */
export async function openScript(t: ExecutionContext, script: Script) {
	const {ca, cert, key} = await certificates;
	const requests: Seen[] = [];
	const server = https.createServer({cert, key}, (request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			const {method = '', url = '', headers} = request;
			const seen = {method, url, headers, body: Buffer.concat(chunks).toString()};
			requests.push(seen);
			script(seen, response);
		});
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	const home = await homeFor(t, `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca);
	return {requests, home, token, troupe: typedIn(t, home)};
}

export function answer(response: ServerResponse, status: number, body: unknown, type = 'application/json'): void {
	response.writeHead(status, {'content-type': type});
	response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** A Status as the API words failures. */
export const failure = (code: number, reason: string, message: string, details?: object) => ({
	kind: 'Status',
	apiVersion: 'v1',
	metadata: {},
	status: 'Failure',
	message,
	reason,
	code,
	...(details === undefined ? {} : {details}),
});

export const freePorts = ['--api=127.0.0.1:0', '--web=127.0.0.1:0', '--mqtt=127.0.0.1:0'];

/** A whole cluster in the background, on free ports; it and its pods end with the test. */
export async function detached(t: ExecutionContext, ...flags: readonly string[]) {
	const home = path.join(await folder(t), 'home');
	t.teardown(() => void spawnSync(process.execPath, [main, 'down', '--pods', `--home=${home}`]));
	const up = await run(t, ['up', '--detach', ...flags, ...freePorts], {home});
	return {home, up, troupe: (...args: readonly string[]) => run(t, args, {home})};
}
