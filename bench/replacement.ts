// Three hosts, one of which dies: when what ran there runs elsewhere and is in the endpoints of all nodes that are left, beside Docker Swarm on hosts
// of the same sort; and when no rule of any node leads to a pod that ends. Needs root.

import type {ApiObject} from '../api/object.js';
import type {Pod} from '../api/kinds/pod.js';
import type {Benchmark} from './harness/benchmark.js';
import {programsFound} from './harness/programs.js';
import type {Scope} from './harness/scope.js';
import {percentile, type Goal, type Row} from './harness/table.js';
import {isReady, pidOf} from './rigs/cluster/pods.js';
import {kill, processesOf} from './rigs/cluster/processes.js';
import {eventually, within} from './rigs/cluster/waiting.js';
import {openRoutedHosts, type RoutedHost, type RoutedHosts} from './rigs/fleet/routed-hosts.js';
import {resolverFlag, sharedNowMs, watchEndpoints, watchRules, type EndpointsSeen} from './rigs/network/endpoints-seen.js';
import {startSwarm} from './rigs/network/swarm.js';

const defaultRounds = 5;
const replicas = 2;
/** The first one has the control plane, and none of the pods that are to be replaced. */
const names = ['a', 'b', 'c'] as const;
const endsARound = 20;
const patienceMs = 120_000;

export const replacementBenchmark: Benchmark = {
	name: 'replacement',
	about: 'three hosts: one dies, beside Docker Swarm; pods end',
	async run({rounds = defaultRounds}, scope) {
		programsFound({
			ip: 'iproute2',
			nft: 'nftables',
			dockerd: 'docker.io iptables',
			docker: 'docker.io iptables',
			busybox: 'busybox-static',
		});
		const hosts = await openRoutedHosts({teardown: scope.defer}, names, resolverFlag);
		const seen = watchersOf(scope, hosts);
		const ends = await endsOf(scope, hosts, rounds);
		const byDefault = await deathsOf(hosts, seen, rounds);
		await hosts.first.fine('config', 'set', 'nodes.grace', '1s');
		const short = await deathsOf(hosts, seen, rounds);
		await Promise.all(hosts.all.map(host => host.troupe(['down', '--pods'])));
		const swarm = await deathsInSwarm(scope, rounds);
		return [
			...rowsOf('a host dies, the default grace of 5 s', byDefault, {atMost: 8}),
			...rowsOf('a host dies, a grace of 1 s', short, {atMost: 3}),
			...rowsOf('a host dies, Docker Swarm', swarm, undefined, 'until containers start: nothing is asked of its endpoints'),
			{
				what: 'a pod is killed: p50 until no rule of any node leads to it',
				values: [percentile(ends, 0.5)],
				unit: 'ms',
				note: `of ${ends.length}`,
			},
			{
				what: 'a pod is killed: p99 until no rule of any node leads to it',
				values: [percentile(ends, 0.99)],
				unit: 'ms',
				goal: {atMost: 100},
				note: `${Math.round(Math.min(...ends))} - ${Math.round(Math.max(...ends))}`,
			},
		];
	},
};

/** Of each run in seconds: judged are the percentiles, not the median. */
function rowsOf(what: string, seconds: readonly number[], goal: Goal | undefined, note?: string): readonly Row[] {
	const range = `of ${seconds.length}, ${Math.min(...seconds).toFixed(1)} - ${Math.max(...seconds).toFixed(1)}`;
	return [
		{what: `${what}: p50 until replaced`, values: [percentile(seconds, 0.5)], unit: 's', ...(note === undefined ? {} : {note})},
		{
			what: `${what}: p95 until replaced`,
			values: [percentile(seconds, 0.95)],
			unit: 's',
			...(goal === undefined ? {} : {goal}),
			note: range,
		},
	];
}

// ---- pods and what nodes have of them ----------------------------------------------------------------------------------------------

type Watchers = (service: string) => ReadonlyMap<string, EndpointsSeen>;

const watchersOf =
	(scope: Scope, {network}: RoutedHosts): Watchers =>
	service =>
		new Map(names.map(name => [name, watchEndpoints({teardown: scope.defer}, network.on(name), service)]));

const headless = (name: string) => ({
	apiVersion: 'v1',
	kind: 'Service',
	metadata: {name},
	spec: {clusterIP: 'None', selector: {app: name}, ports: [{port: 8000}]},
});

/** The cheapest server there is; Swarm runs the same. */
const serving = {
	terminationGracePeriodSeconds: 0,
	containers: [{name: 'main', image: 'busybox', command: ['/bin/busybox', 'httpd', '-f', '-p', '8000', '-h', '/']}],
};

async function podsOf({first}: RoutedHosts, app: string): Promise<readonly Pod[]> {
	const {items} = JSON.parse(await first.fine('get', 'pods', '-l', `app=${app}`, '-o', 'json')) as {items: readonly ApiObject[]};
	return items as readonly Pod[];
}

/** All that are there, once these many are ready and there are no others. */
async function readyPods(hosts: RoutedHosts, app: string, count: number): Promise<readonly Pod[]> {
	let pods: readonly Pod[] = [];
	await eventually(
		`${count} pods of ${app} are ready`,
		async () => {
			pods = await podsOf(hosts, app);
			return pods.length === count && pods.every(isReady);
		},
		() => JSON.stringify(pods.map(({status}) => status)),
		patienceMs,
	);
	return pods;
}

const addressOf = ({status}: Pod): string => status?.podIP ?? '';

// ---- a host dies -------------------------------------------------------------------------------------------------------------

const web = {
	apiVersion: 'apps/v1',
	kind: 'Deployment',
	metadata: {name: 'web'},
	spec: {
		replicas,
		selector: {matchLabels: {app: 'web'}},
		template: {
			metadata: {labels: {app: 'web'}},
			spec: {...serving, nodeSelector: {work: 'yes'}},
		},
	},
};

/** In seconds. */
async function deathsOf(hosts: RoutedHosts, watch: Watchers, runs: number): Promise<readonly number[]> {
	for (const name of names.slice(1)) await hosts.first.fine('label', 'node', name, 'work=yes', '--overwrite');
	await hosts.apply(headless('web'), web);
	const seen = watch('web');
	const took: number[] = [];
	for (let run = 0; run < runs; run++) {
		const pods = await readyPods(hosts, 'web', replicas);
		const addresses = new Set(pods.map(addressOf));
		await Promise.all([...seen].map(([name, each]) => each.since(`${name} has all`, isSame(addresses))));
		const victim = hosts.all.find(({name}) => name === busiest(pods));
		if (victim === undefined) throw new Error('no pod has a node');
		const lost = pods.filter(({spec}) => spec?.nodeName === victim.name).map(addressOf);
		const isReplaced = (now: ReadonlySet<string>): boolean => now.size === replicas && lost.every(address => !now.has(address));
		const startedAt = sharedNowMs();
		killHost(hosts, victim);
		const left = [...seen].filter(([name]) => name !== victim.name);
		const ends = await Promise.all(left.map(([name, each]) => each.since(`${name} has what was replaced`, isReplaced)));
		took.push((Math.max(...ends) - startedAt) / 1_000);
		hosts.network.heal(victim.name);
		await victim.begin();
		await hosts.first.fine('wait', `node/${victim.name}`, '--for', 'condition=Ready', '--timeout', '60s');
	}
	return took;
}

const isSame =
	(wanted: ReadonlySet<string>) =>
	(addresses: ReadonlySet<string>): boolean =>
		addresses.size === wanted.size && [...wanted].every(address => addresses.has(address));

function busiest(pods: readonly Pod[]): string | undefined {
	const counted = (node: string | undefined): number => pods.filter(({spec}) => spec?.nodeName === node).length;
	return pods.map(({spec}) => spec?.nodeName).toSorted((one, other) => counted(other) - counted(one))[0];
}

/** Its cable is out, and of agent, data plane and pods nothing is left. */
function killHost({network}: RoutedHosts, {name, home}: RoutedHost): void {
	network.cut(name);
	for (const {pid} of processesOf(home.home)) kill(pid);
}

async function deathsInSwarm(scope: Scope, runs: number): Promise<readonly number[]> {
	const swarm = await startSwarm({teardown: scope.defer}, `ts${process.pid}`, names, replicas);
	const took: number[] = [];
	for (let run = 0; run < runs; run++) {
		const counts = new Map<string, number>();
		for (const name of swarm.workers) counts.set(name, await swarm.tasksOn(name));
		const [victim = '', lost = 0] = [...counts].toSorted(([, one], [, other]) => other - one)[0] ?? [];
		const started = swarm.started(
			names.filter(name => name !== victim),
			lost,
		);
		const startedAt = sharedNowMs();
		await swarm.kill(victim);
		took.push(((await within('the tasks run elsewhere', started, undefined, patienceMs)) - startedAt) / 1_000);
		await swarm.revive(victim);
	}
	return took;
}

// ---- pods end ----------------------------------------------------------------------------------------------------------------

/** Of pods that are killed one after the other, the milliseconds until the kernel of none of the nodes leads to them, as is seen by reading its rules. */
async function endsOf(scope: Scope, hosts: RoutedHosts, rounds: number): Promise<readonly number[]> {
	await hosts.apply({
		apiVersion: 'v1',
		kind: 'Service',
		metadata: {name: 'ends'},
		spec: {selector: {app: 'ends'}, ports: [{port: 8000}]},
	});
	const seen = new Map(names.map(name => [name, watchRules({teardown: scope.defer}, hosts.network.on(name))]));
	const took: number[] = [];
	for (let round = 0; round < rounds; round++) {
		await hosts.apply(...Array.from({length: endsARound}, (_, index) => endingPod(`ends-${index}`, names[index % names.length] ?? '')));
		const pods = await readyPods(hosts, 'ends', endsARound);
		await Promise.all([...seen].map(([name, each]) => each.since(`${name} has all`, isSame(new Set(pods.map(addressOf))))));
		for (const pod of pods) {
			const pid = pidOf(pod);
			if (pid === undefined) throw new Error(`${pod.metadata.name} does not run`);
			const killedAt = sharedNowMs();
			process.kill(pid, 'SIGKILL');
			const isOut = (addresses: ReadonlySet<string>): boolean => !addresses.has(addressOf(pod));
			const ends = await Promise.all([...seen].map(([name, each]) => each.since(`${name} has it no more`, isOut)));
			took.push(Math.max(...ends) - killedAt);
		}
		await hosts.first.fine('delete', 'pods', '-l', 'app=ends');
	}
	return took;
}

/** It is not started again. */
const endingPod = (name: string, nodeName: string) => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name, labels: {app: 'ends'}},
	spec: {...serving, nodeName, restartPolicy: 'Never'},
});
