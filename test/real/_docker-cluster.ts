// A cluster of one node in the network namespace of its Engine, where pods of class docker have their addresses.
//
// Commands run in this process where they only talk to the API: a relay leads them into the namespace.

import {spawn} from 'node:child_process';
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import path from 'node:path';
import type {ExecutionContext, TestFn} from 'ava';
import {main} from '../../bench/rigs/main-file.js';
import {line} from '../../bench/rigs/command-line.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {readOwner} from '../../agent/docker/owner.js';
import {clientOf, type Client} from '../../cli/client.js';
import {readConnection} from '../../cli/cluster/kubeconfig.js';
import {homeOf} from '../../cli/files/home.js';
import {freePorts, nodeName, openHome, type Ran, type Started} from '../e2e/_rig.js';
import type {Dockerd} from '../../bench/rigs/servers/dockerd.js';

export type DockerCluster = ReturnType<typeof dockerCluster>;

/** One home for all tests of a file, gone before its Engine is; `up` starts it. */
export function dockerCluster(test: TestFn, dockerd: () => Dockerd) {
	const cleanings: (() => void | Promise<void>)[] = [];
	const owner = {teardown: (clean: () => void | Promise<void>) => void cleanings.unshift(clean)};
	const home = openHome(owner);
	const kubeconfig = path.join(home.folder, 'relayed');
	// A serial hook comes before the others: the Engine is still there.
	test.serial.after.always('the cluster ends', async () => {
		// Their mounts and control groups go with the pods, whatever has become of the cluster. Where it never was up, it says so.
		await troupe(['down', '--pods']);
		for (const clean of cleanings) await clean();
	});

	const inside = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, input?: string): Started =>
		home.startProgram('nsenter', [`--net=/var/run/netns/${dockerd().namespace}`, program, ...args], env, input);
	const start = (args: readonly string[], input?: string): Started =>
		inside(process.execPath, [main, ...args], {TROUPE_HOME: home.home, NO_COLOR: '1'}, input);
	const troupe = (args: readonly string[], input?: string): Promise<Ran> => start(args, input).ended;
	/** A command that only talks to the API. */
	const asked = (args: readonly string[], input?: string): Promise<Ran> =>
		line([...args, '--kubeconfig', kubeconfig], {home: home.home, ...(input === undefined ? {} : {input})});
	const output = async (ran: Promise<Ran>, args: readonly string[]): Promise<string> => {
		const {code, out, err} = await ran;
		if (code !== 0) throw new Error(`troupe ${args.join(' ')} ended with ${code}: ${err}${out}`);
		return out;
	};

	return {
		home,
		owner,
		inside,
		/** Starts a command in the namespace. */
		start,
		troupe,
		asked,
		/** A command that must succeed; its output. */
		fine: (...args: readonly string[]): Promise<string> => output(troupe(args), args),
		ask: (...args: readonly string[]): Promise<string> => output(asked(args), args),
		up: async (...flags: readonly string[]): Promise<string> => {
			const words = ['up', '--detach', `--node=${nodeName}`, '--docker', dockerd().url, ...freePorts, ...flags];
			const said = await output(troupe(words), words);
			const {port} = new URL(home.endpoints().api);
			const relayed = await relayInto(dockerd().namespace, port, owner);
			writeFileSync(
				kubeconfig,
				readFileSync(path.join(home.home, 'kubeconfig'), 'utf8').replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${relayed}`),
			);
			return said;
		},
		client: async (): Promise<Client> => {
			const client = clientOf(await readConnection({flag: kubeconfig, ofHome: kubeconfig, fromEnvironment: undefined}));
			owner.teardown(() => client.close());
			return client;
		},
		apply: async (...objects: readonly object[]): Promise<void> => {
			await output(asked(['apply', '-f', '-'], objects.map(object => JSON.stringify(object)).join('\n---\n')), ['apply']);
		},
		/** What a command says once it says so; within half a minute. */
		says: async (wanted: RegExp, ...args: readonly string[]): Promise<string> => {
			let said = '';
			const look = async (): Promise<boolean> => {
				const {out, err} = await asked(args);
				said = out + err;
				return wanted.test(said);
			};
			await eventually(`troupe ${args.join(' ')} says ${wanted.source}`, look, () => said, 30_000);
			return said;
		},
		/** Takes the cluster down with its pods: no container, process, mount or control group of it is left. */
		leavesNothing: async (t: ExecutionContext): Promise<void> => {
			const owned = readOwner(homeOf(home.home).docker) ?? '';
			t.not(owned, '');
			await output(troupe(['down', '--pods']), ['down', '--pods']);
			t.is(await dockerd().docker('ps', '-aq', '--filter', `label=troupe.dev/owner=${owned}`), '');
			t.deepEqual(home.processes(), []);
			const mounts = readFileSync('/proc/self/mounts', 'utf8');
			t.notRegex(mounts, new RegExp(home.home));
			const trees = mounts.split('\n').filter(each => /^\S+ \S+ cgroup2? /.test(each));
			const groups = trees.map(each => path.join(each.split(' ')[1] ?? '', `troupe-${owned}`)).filter(group => existsSync(group));
			t.deepEqual(
				groups.flatMap(group => readdirSync(group, {withFileTypes: true}).filter(entry => entry.isDirectory())),
				[],
			);
		},
	};
}

/** A port here that leads to one of the loopback of a namespace. */
async function relayInto(namespace: string, port: string, owner: {readonly teardown: (clean: () => void) => void}): Promise<number> {
	const relay = createServer({allowHalfOpen: true}, socket => {
		const child = spawn('nsenter', [`--net=/var/run/netns/${namespace}`, 'busybox', 'nc', '127.0.0.1', port], {
			stdio: ['pipe', 'pipe', 'ignore'],
		});
		socket.on('error', () => child.kill('SIGKILL'));
		socket.on('close', () => child.kill('SIGKILL'));
		child.stdin.on('error', () => undefined);
		child.on('close', () => socket.destroy());
		socket.pipe(child.stdin);
		child.stdout.pipe(socket);
	});
	owner.teardown(() => void relay.close());
	await new Promise<void>(resolve => relay.listen(0, '127.0.0.1', resolve));
	const address = relay.address();
	return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A container of busybox's shell. */
export const shell = (name: string, script: string, rest: object = {}): object => ({
	name,
	image: 'busybox',
	imagePullPolicy: 'IfNotPresent',
	command: ['sh', '-c', script],
	...rest,
});

/** A script that says one thing and waits to be stopped. */
export const waits = (said: string): string => `trap "exit 0" TERM; echo ${said}; sleep infinity & wait`;

export const dockerPod = (name: string, spec: object, metadata: object = {}): object => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name, ...metadata},
	spec: {runtimeClassName: 'docker', terminationGracePeriodSeconds: 1, ...spec},
});
