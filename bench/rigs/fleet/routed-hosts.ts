// Several hosts whose pods have networks of their own: a cluster on the first, agents on the others, each in a network namespace.

import {execFileSync, spawn, type ChildProcess} from 'node:child_process';
import {createInterface} from 'node:readline';
import {layNetwork, type Network} from './network.js';
import {main} from '../main-file.js';
import type {Owner} from '../owner.js';
import {eventually} from '../cluster/waiting.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {Service} from '../../../api/kinds/service.js';
import {openHome, type Home} from '../cluster/home.js';
import type {Ran} from '../command-line.js';

export type RoutedHost = {
	readonly name: string;
	readonly address: string;
	readonly home: Home;
	/** A command on that host, with its home. */
	readonly troupe: (args: readonly string[], input?: string) => Promise<Ran>;
	/** One that must succeed; its output. */
	readonly fine: (...args: readonly string[]) => Promise<string>;
	/** What a program of the host's network prints. */
	readonly run: (program: string, ...args: readonly string[]) => string;
	/** The agent or cluster, in the background. */
	readonly begin: () => Promise<void>;
};

export type RoutedHosts = {
	readonly network: Network;
	readonly first: RoutedHost;
	readonly all: readonly RoutedHost[];
	readonly apply: (...objects: readonly object[]) => Promise<void>;
	/** The addresses of pods, once all of these names are ready. */
	readonly addresses: (...pods: readonly string[]) => Promise<ReadonlyMap<string, string>>;
};

/** In PATH there may be a package of that name. */
export const nft = '/usr/sbin/nft';

let count = 0;

/** `flags` are of each. Everything goes with the owner. */
export async function openRoutedHosts(
	owner: Owner,
	names: readonly [string, ...string[]],
	...flags: readonly string[]
): Promise<RoutedHosts> {
	const prefix = `tn${process.pid}${count++}`;
	const network = layNetwork(owner, prefix, names);
	const serverUrl = `https://${network.addressOf(names[0])}:6443`;
	const hosts = names.map((name): RoutedHost => hostOf(owner, network, name));
	const [first, ...others] = hosts as [RoutedHost, ...RoutedHost[]];
	const common = ['--detach', '--network=routed', '--runtime=process', ...flags];
	const up = ['up', ...common, `--node=${first.name}`, `--api=${first.address}:6443`, '--web=127.0.0.1:0', '--mqtt=127.0.0.1:0'];
	await first.fine(...up);
	const token = (await first.fine('token', 'create', '--join')).trim();
	for (const host of others) await host.fine('agent', ...common, `--join=${serverUrl}`, `--token=${token}`, `--node=${host.name}`);
	const all = hosts.map(host => ({
		...host,
		begin: async () => void (await host.fine(...(host.name === first.name ? up : ['agent', ...common]))),
	}));
	return {
		network,
		first,
		all,
		async apply(...objects) {
			const {code, err} = await first.troupe(['apply', '-f', '-'], objects.map(object => JSON.stringify(object)).join('\n---\n'));
			if (code !== 0) throw new Error(err);
		},
		async addresses(...pods) {
			await first.fine('wait', ...pods.map(pod => `pod/${pod}`), '--for', 'condition=Ready', '--timeout', '40s');
			const found = await Promise.all(pods.map(async pod => [pod, (await podOf(first, pod)).status?.podIP ?? ''] as const));
			return new Map(found);
		},
	};
}

export const podOf = async ({fine}: Pick<RoutedHost, 'fine'>, name: string): Promise<Pod> =>
	JSON.parse(await fine('get', 'pod', name, '-o', 'json')) as Pod;

export const clusterIPOf = async ({fine}: Pick<RoutedHost, 'fine'>, name: string): Promise<string> =>
	(JSON.parse(await fine('get', 'service', name, '-o', 'json')) as Service).spec?.clusterIP ?? '';

/** With an empty home of its own: several may be on one host. Nothing runs there yet. */
export function hostOf(owner: Owner, network: Network, name: string, home = openHome(owner)): RoutedHost {
	const [enter = '', ...words] = network.on(name);
	const troupe = (args: readonly string[], input?: string): Promise<Ran> =>
		home.startProgram(enter, [...words, process.execPath, main, ...args], {TROUPE_HOME: home.home, NO_COLOR: '1'}, input).ended;
	// What is in the host's network ends before that does.
	owner.teardown(async () => void (await troupe(['down', '--pods'])));
	return {
		name,
		address: network.addressOf(name),
		home,
		troupe,
		async fine(...args) {
			const {code, out, err} = await troupe(args);
			if (code !== 0) throw new Error(`troupe ${args.join(' ')} on ${name} ended with ${code}: ${err}${out}`);
			return out;
		},
		run: (program, ...args) => execFileSync(enter, [...words, program, ...args], {encoding: 'utf8'}),
		begin: () => Promise.resolve(),
	};
}

/** A program that answers who it is and who has asked, at port 8000. */
const answering = `require('http').createServer((asked, answer) => answer.end(process.env.POD_NAME + ' ' + asked.socket.remoteAddress)).listen(8000)`;

export const answeringPod = (name: string, node: string, rest: object = {}, metadata: object = {}): object => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name, labels: {app: 'answers'}, ...metadata},
	spec: {
		runtimeClassName: 'process',
		nodeName: node,
		terminationGracePeriodSeconds: 0,
		containers: [
			{
				name: 'c',
				image: 'node',
				command: [process.execPath, '-e', answering],
				ports: [{containerPort: 8000, ...rest}],
				readinessProbe: {httpGet: {port: 8000}, periodSeconds: 1},
			},
		],
	},
});

/** For `node -e`: says what an address answers. */
export const asking = `fetch(process.argv[1], {signal: AbortSignal.timeout(4000)}).then(answer => answer.text()).then(text => console.log(text), problem => console.log('none: ' + (problem.cause?.code ?? problem.name)))`;

/** What is answered to a program of a pod; `none: …` where nothing is. */
export const askedFrom = async ({first}: Pick<RoutedHosts, 'first'>, pod: string, url: string): Promise<string> =>
	(await first.fine('exec', pod, '--', process.execPath, '-e', asking, url)).trim();

/** The same of a program of the host itself. */
export const askedOn = (host: RoutedHost, url: string): string => host.run(process.execPath, '-e', asking, url).trim();

/** A server of that host that is no pod, at that address and port; it answers with who has asked. */
export async function strangerOn(owner: Owner, network: Network, host: string, address: string, port: number): Promise<ChildProcess> {
	const [enter = '', ...words] = network.on(host);
	const text = `require('http').createServer((asked, answer) => answer.end('stranger ' + asked.socket.remoteAddress)).listen(${port}, '${address}', () => console.log('listens'))`;
	const child = spawn(enter, [...words, process.execPath, '-e', text], {stdio: ['ignore', 'pipe', 'ignore']});
	owner.teardown(() => void child.kill('SIGKILL'));
	await new Promise<void>(resolve => createInterface({input: child.stdout}).once('line', () => resolve()));
	return child;
}

/** Of a host in which nothing of pods is left; for people where something is. */
export function leftOn(host: RoutedHost): readonly string[] {
	const links = host
		.run('ip', '-brief', 'link')
		.split('\n')
		.filter(line => /^troupe/.test(line));
	const routes = host
		.run('ip', 'route')
		.split('\n')
		.filter(line => / proto \d+/.test(line));
	const tables = host
		.run(nft, 'list', 'tables')
		.split('\n')
		.filter(line => line.includes('troupe'));
	const own = host.run('ip', '-brief', 'address', 'show', 'dev', 'lo').includes('10.244') ? ['an address on lo'] : [];
	return [...links, ...routes, ...tables, ...own];
}

export const untilAnswered = (label: string, ask: () => Promise<string>, wanted: RegExp): Promise<void> => {
	let said = '';
	return eventually(
		label,
		async () => wanted.test((said = await ask())),
		() => said,
		20_000,
	);
};
