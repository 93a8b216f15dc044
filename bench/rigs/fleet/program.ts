// `node program.js TASK`: started on the server's host; runs a server and an agent on each other host, disturbs them, and tells each
// run in a line of JSON. What is left at its end is killed by whoever started it.

import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import path from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {isConditionTrue} from '../../../api/conditions.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject} from '../../../api/object.js';
import {clientOf, type Client} from '../../../cli/client.js';
import {homeOf} from '../../../cli/files/home.js';
import {readConnection} from '../../../cli/cluster/kubeconfig.js';
import {containerOf, isReady, pidOf} from '../cluster/pods.js';
import {setOf} from '../cluster/manifests.js';
import {kill as killProcess, processesOf, programsOf} from '../cluster/processes.js';
import {asProcesses} from '../as-processes.js';
import {main} from '../main-file.js';
import {eventually, followObjects, type Following} from '../cluster/waiting.js';
import {busyMs} from './busy-on-signal.js';
import {networkOf} from './network.js';
import {relayHost, serverHost, type DisturbanceName, type LinkQuality, type Run, type Task} from './run.js';

const task = JSON.parse(process.argv[2] ?? '{}') as Task;
const network = networkOf(task.prefix, task.hosts);
const nodes = task.hosts.filter(host => host !== serverHost && host !== relayHost);
const api = `https://${network.addressOf(serverHost)}:6443`;
const replicas = 3 * nodes.length;
const patienceMs = 60_000;
const shortMs = 3_000;
const longMs = 15_000;
const loadMs = 10_000;

const homes = (host: string): string => path.join(task.folder, host);
const running = new Map<string, ChildProcess>();

/** Starts a part of the cluster on a host and waits for the line that says it is ready. */
async function start(host: string, ...words: readonly string[]): Promise<void> {
	const busy = path.join(import.meta.dirname, 'busy-on-signal.js');
	const env = {HOME: task.folder, TROUPE_HOME: homes(host), NODE_OPTIONS: `--import=${busy}`};
	await ready(host, [process.execPath, main, ...asProcesses(words)], env);
}

async function ready(host: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
	const [command = '', ...enter] = network.on(host);
	const child = spawn(command, [...enter, ...words], {env: {PATH: process.env['PATH'], ...env}, stdio: ['ignore', 'pipe', 'pipe']});
	running.set(host, child);
	let said = '';
	const listen = (chunk: Buffer): void => void (said += chunk.toString());
	child.stdout.on('data', listen);
	child.stderr.on('data', listen);
	await eventually(
		`${host} is ready`,
		() => /is ready/.test(said) || child.exitCode !== null,
		() => said,
		patienceMs,
	);
	if (child.exitCode !== null) throw new Error(`${host} ended: ${said}`);
}

const startServer = (): Promise<void> => {
	const advertised = task.link === undefined ? [] : [`--advertise=${network.addressOf(relayHost)}`];
	return start(serverHost, 'server', `--api=${new URL(api).host}`, ...advertised, '--web=127.0.0.1:0', '--mqtt=127.0.0.1:0');
};

/** From now on agents reach the server by the relay alone. */
async function worsen({lossPercent, delayMs}: LinkQuality): Promise<void> {
	network.losePart(lossPercent);
	const relay = path.join(import.meta.dirname, 'delaying-relay.js');
	const words = [network.addressOf(relayHost), network.addressOf(serverHost), '6443', String(delayMs)];
	await ready(relayHost, [process.execPath, relay, ...words], {});
}

async function run(...words: readonly string[]): Promise<string> {
	const env = {PATH: process.env['PATH'], HOME: task.folder, TROUPE_HOME: homes(serverHost)};
	const child = spawn(process.execPath, [main, ...words], {env, stdio: ['ignore', 'pipe', 'inherit']});
	let out = '';
	child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
	await once(child, 'close');
	if (child.exitCode !== 0) throw new Error(`troupe ${words.join(' ')} ended with ${String(child.exitCode)}`);
	return out.trim();
}

function processOf(host: string): ChildProcess {
	const child = running.get(host);
	if (child === undefined) throw new Error(`nothing runs on ${host}`);
	return child;
}

async function kill(host: string): Promise<void> {
	const child = processOf(host);
	const ended = once(child, 'exit');
	child.kill('SIGKILL');
	await ended;
}

const startAgent = (host: string): Promise<void> => start(host, 'agent');

// ---- what the API says -----------------------------------------------------------------------------------------------------

type View = {readonly client: Client; readonly pods: Following; readonly nodes: Following};

async function openView(): Promise<View> {
	const client = clientOf(
		await readConnection({flag: undefined, fromEnvironment: undefined, ofHome: homeOf(homes(serverHost)).kubeconfig}),
	);
	return {client, pods: await followObjects(client, 'pods'), nodes: await followObjects(client, 'nodes')};
}

function closeView({client, pods, nodes: followed}: View): void {
	pods.close();
	followed.close();
	client.close();
}

const isNodeReady = (view: View, host: string): boolean =>
	isConditionTrue((view.nodes.objects.get(host) as NodeObject | undefined)?.status?.conditions, 'Ready');

const placeOf = (pod: ApiObject): string => (pod as Pod).spec?.nodeName ?? '';

/** By uid: where it runs and as which process. */
type Standing = ReadonlyMap<string, {readonly name: string; readonly node: string; readonly pid: number | undefined}>;

const standing = (view: View): Standing =>
	new Map(
		[...view.pods.objects.values()]
			.filter(pod => isReady(pod) && pod.metadata.deletionTimestamp === undefined && isNodeReady(view, placeOf(pod)))
			.map(pod => [pod.metadata.uid, {name: pod.metadata.name, node: placeOf(pod), pid: pidOf(pod)}]),
	);

const settled = (view: View): Promise<void> =>
	eventually(
		'everything is as it should be',
		() => nodes.every(host => isNodeReady(view, host)) && view.pods.objects.size === replicas && standing(view).size === replicas,
		() => JSON.stringify([...view.pods.objects.values()].map(pod => [pod.metadata.name, placeOf(pod), containerOf(pod)?.state])),
		patienceMs,
	);

// ---- disturbances -----------------------------------------------------------------------------------------------------------

type Deed = {
	/** Whether pods of the victim have to be replaced. */
	readonly replaces: boolean;
	readonly begin: (victim: string) => void | Promise<void>;
	readonly end: (victim: string) => void | Promise<void>;
	/** Whoever is evicted late shows in the next run. */
	readonly isShort?: true;
};

const stopped = (durationMs: number, replaces: boolean): Deed => ({
	replaces,
	begin: victim => void processOf(victim).kill('SIGSTOP'),
	async end(victim) {
		if (!replaces) await pause(durationMs);
		processOf(victim).kill('SIGCONT');
	},
});

const cut = (durationMs: number, replaces: boolean): Deed => ({
	replaces,
	begin: victim => network.cut(victim),
	async end(victim) {
		if (!replaces) await pause(durationMs);
		network.heal(victim);
	},
});

const between = (from: number, to: number): number => from + Math.random() * (to - from);
const flapsMs = 8_000;

/** One cable at a time is out for 50 to 550 ms; then all are in for up to 300 ms. */
async function flap(hostOf: () => string, cut: (host: string) => void, heal: (host: string) => void): Promise<void> {
	const untilMs = performance.now() + flapsMs;
	while (performance.now() < untilMs) {
		const host = hostOf();
		cut(host);
		await pause(between(50, 550));
		heal(host);
		await pause(between(0, 300));
	}
}

const flapping = (hostOf: (victim: string) => string, {cut, heal} = network): Deed => ({
	replaces: false,
	begin: () => undefined,
	end: victim => flap(() => hostOf(victim), cut, heal),
	isShort: true,
});

/** A counter of TCP in a host's namespace (`Tcp:` in /proc/net/snmp). */
function tcpCount(host: string, name: 'ActiveOpens' | 'PassiveOpens'): number {
	const lines = readFileSync(`/proc/${processOf(host).pid ?? 0}/net/snmp`, 'utf8').split('\n');
	const [names = [], values = []] = lines.filter(line => line.startsWith('Tcp:')).map(line => line.split(' '));
	return Number(values[names.indexOf(name)] ?? 0);
}

const dialled = (): number => nodes.reduce((sum, host) => sum + tcpCount(host, 'ActiveOpens'), 0);

const deeds: Readonly<Record<DisturbanceName, Deed>> = {
	'host dies': {
		replaces: true,
		async begin(victim) {
			const dying = kill(victim);
			for (const {pid} of processesOf(homes(victim))) killProcess(pid);
			await dying;
		},
		end: startAgent,
	},
	'agent is killed': {replaces: false, begin: kill, end: startAgent},
	'agent stops for 3 s': stopped(shortMs, false),
	'link is cut for 3 s': cut(shortMs, false),
	'agent is busy for 10 s': {
		replaces: false,
		begin: victim => void processOf(victim).kill('SIGUSR2'),
		end: () => pause(busyMs),
	},
	'control plane is killed': {replaces: false, begin: () => kill(serverHost), end: startServer},
	'machine is under full load for 10 s': {
		replaces: false,
		begin: () => undefined,
		async end() {
			const spinners = Array.from({length: 4 * availableParallelism()}, () =>
				spawn(process.execPath, ['-e', 'for (;;);'], {stdio: 'ignore'}),
			);
			await pause(loadMs);
			for (const spinner of spinners) spinner.kill('SIGKILL');
		},
	},
	'link is cut for 15 s': cut(longMs, true),
	'agent stops for 15 s': stopped(longMs, true),
	'address changes': {
		replaces: false,
		begin: victim => network.readdress(victim),
		// For longer than a grace: whoever is not heard from the new one is given up.
		async end(victim) {
			await pause(2 * limits.nodeGraceMs);
			network.readdress(victim);
		},
	},
	'links flap in turn for 8 s': flapping(() => nodes[Math.floor(Math.random() * nodes.length)] ?? ''),
	'one link flaps for 8 s': flapping(victim => victim),
	'one link flaps unseen for 8 s': flapping(victim => victim, {...network, cut: network.lose, heal: network.pass}),
};

/** The node with the most pods: something has to be replaced there. */
function victimOf(before: Standing): string {
	const counts = new Map(nodes.map(host => [host, 0]));
	for (const {node} of before.values()) counts.set(node, (counts.get(node) ?? 0) + 1);
	return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? '';
}

async function disturb(view: View, disturbance: DisturbanceName, number: number): Promise<{readonly run: Run; readonly view: View}> {
	const deed = deeds[disturbance];
	await settled(view);
	const before = standing(view);
	const victim = victimOf(before);
	const lost = [...before].filter(([, {node}]) => node === victim).map(([uid]) => uid);
	const startedAt = performance.now();
	const dialledBefore = dialled();
	const acceptedBefore = tcpCount(serverHost, 'PassiveOpens');
	let suspectedMs: number | undefined;
	let replacedMs: number | undefined;
	await deed.begin(victim);
	if (deed.replaces) {
		await eventually(`${victim} is suspected`, () => !isNodeReady(view, victim), undefined, patienceMs);
		suspectedMs = performance.now() - startedAt;
		await eventually(
			'what ran there runs elsewhere',
			() => [...standing(view).values()].filter(({node}) => node !== victim).length === replicas,
			undefined,
			patienceMs,
		);
		replacedMs = performance.now() - startedAt;
	}
	await deed.end(victim);
	const isRestart = disturbance === 'control plane is killed';
	if (isRestart) closeView(view);
	const now = isRestart ? await openView() : view;
	await settled(now);
	if (deed.isShort !== true) {
		// Whoever is evicted late is evicted within a grace from now.
		await pause(limits.nodeGraceMs / 2);
		await settled(now);
	}
	await eventually(
		'nothing runs that should not',
		() => nodes.every(host => programsOf(homes(host)).length === wantedOn(now, host)),
		undefined,
		patienceMs,
	);
	const after = standing(now);
	const harmed = [...before].filter(([uid, {pid}]) => {
		if (deed.replaces && lost.includes(uid)) return false;
		return after.get(uid)?.pid !== pid;
	});
	return {
		run: {
			disturbance,
			run: number,
			suspectedMs,
			replacedMs,
			lost: deed.replaces ? lost.length : 0,
			harmed: harmed.map(([, {name, node}]) => `${name} on ${node}`),
			dialled: dialled() - dialledBefore,
			accepted: tcpCount(serverHost, 'PassiveOpens') - acceptedBefore,
		},
		view: now,
	};
}

const wantedOn = (view: View, host: string): number => [...view.pods.objects.values()].filter(pod => placeOf(pod) === host).length;

if (task.link !== undefined) await worsen(task.link);
await startServer();
const token = await run('token', 'create', '--join');
const door = task.link === undefined ? api : `https://${network.addressOf(relayHost)}:6443`;
await Promise.all(nodes.map(host => start(host, 'agent', `--join=${door}`, `--token=${token}`, `--node=${host}`)));
let view = await openView();
const manifest = setOf('web', replicas);
await view.client.json({method: 'POST', path: '/apis/apps/v1/namespaces/default/replicasets', body: manifest});
for (const disturbance of task.disturbances) {
	for (let number = 1; number <= task.runs; number++) {
		const done = await disturb(view, disturbance, number);
		view = done.view;
		process.stdout.write(`${JSON.stringify(done.run)}\n`);
	}
}
process.exit(0);
