// A web app of six replicas behind a Service and a route, with clients on every host and in a pod of every host; and what must hold of it whenever
// a fault is over.

import {readFileSync} from 'node:fs';
import type {EndpointSlice} from '../../../api/kinds/endpointslice.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import type {Service} from '../../../api/kinds/service.js';
import {isConditionTrue} from '../../../api/conditions.js';
import {linkOf, namespaceOf} from '../../../agent/pod-network/names.js';
import {gateway} from '../../../agent/pod-network/link-commands.js';
import {containerOf, pidOf} from '../cluster/pods.js';
import {lives, programsOf} from '../cluster/processes.js';
import {eventually} from '../cluster/waiting.js';
import type {Owner} from '../owner.js';
import {clientIn, type Client, type Question, type Seen, type Way} from './load.js';
import {nft} from './routed-hosts.js';
import {networkNamesOf, podNamespacesOf, type ServedHost, type ServedHosts} from './served-hosts.js';

export const replicas = 6;
const routeHost = 'web.example.test';
const longMs = 150_000;

/** Answers with its pod's name; it ends at once when it is told to. */
const answering = `require('http').createServer((asked, answer) => answer.end(process.env.POD_NAME)).listen(8000)`;

/** What serves: one container, which listens at port 8000 and answers with its pod's name. */
export type Serving = {readonly runtimeClassName: string; readonly container: object};

const asProcess: Serving = {
	runtimeClassName: 'process',
	container: {image: 'node', command: [process.execPath, '--max-semi-space-size=1', '-e', answering]},
};

const deploymentOf = ({runtimeClassName, container}: Serving): object => ({
	apiVersion: 'apps/v1',
	kind: 'Deployment',
	metadata: {name: 'web'},
	spec: {
		replicas,
		selector: {matchLabels: {app: 'web'}},
		template: {
			metadata: {labels: {app: 'web'}},
			spec: {
				runtimeClassName,
				terminationGracePeriodSeconds: 5,
				containers: [
					{
						name: 'web',
						...container,
						ports: [{containerPort: 8000}],
						readinessProbe: {httpGet: {port: 8000}, periodSeconds: 1, timeoutSeconds: 5},
					},
				],
			},
		},
	},
});

const service = {
	apiVersion: 'v1',
	kind: 'Service',
	metadata: {name: 'web'},
	spec: {selector: {app: 'web'}, ports: [{port: 80, targetPort: 8000}]},
};

const route = {
	apiVersion: 'troupe.dev/v1',
	kind: 'Dns',
	metadata: {name: 'web'},
	spec: {host: routeHost, paths: [{subPath: '/', svcName: 'web', svcPort: 80}]},
};

/** Whose networks the clients in pods use. */
const clientPods = {
	apiVersion: 'apps/v1',
	kind: 'DaemonSet',
	metadata: {name: 'client'},
	spec: {
		selector: {matchLabels: {app: 'client'}},
		template: {
			metadata: {labels: {app: 'client'}},
			spec: {
				runtimeClassName: 'process',
				terminationGracePeriodSeconds: 0,
				containers: [{name: 'c', image: 'none', command: ['sleep', 'infinity']}],
			},
		},
	},
};

/** What the API says at one moment. */
export type View = {
	readonly pods: readonly Pod[];
	/** Those of the app. */
	readonly web: readonly Pod[];
	/** Addresses of endpoints of the app that get traffic. */
	readonly endpoints: readonly string[];
	readonly nodes: readonly NodeObject[];
};

/** By uid of each pod that is ready: which program it is, as its containerID says, and where. */
export type Standing = ReadonlyMap<string, {readonly name: string; readonly node: string; readonly program: string | undefined}>;

export type WebApp = {
	readonly view: () => Promise<View>;
	/** What stands now. */
	readonly standing: () => Promise<Standing>;
	/**
	 * Resolves when all is as it should be: every node but those that are away is ready, as many pods as wanted are, the EndpointSlices name them and
	 * no other, on each of those hosts all of them answer and nothing else does, and nothing is left of pods that are gone. Rejects with what is not.
	 */
	readonly settled: (...away: readonly string[]) => Promise<void>;
	/** What is lost while something is done: to clients of all hosts but those that are left out, in a host's network and in that of a pod. */
	readonly under: (act: () => Promise<void>, ...without: readonly string[]) => Promise<readonly Seen[]>;
	/** Who answers on a host, in turn. */
	readonly askedOn: (host: string, count: number) => Promise<readonly string[]>;
};

/** Each way is taken five times a second by each client. */
const everyMs = 200;
/** Longer than it takes to give up one endpoint that is silent. */
const serviceTimeoutMs = 5_000;
/** A route's answer may be late and is to come. */
const routeTimeoutMs = 30_000;

type Place = {readonly host: ServedHost; readonly client: Client; readonly ways: readonly Way[]};

/** Resolves when all of it answers. It goes with the owner. */
export async function openWebApp(owner: Owner, hosts: ServedHosts, serving = asProcess): Promise<WebApp> {
	const {nodes, api, apply} = hosts;
	await apply(service, route, deploymentOf(serving), clientPods);
	const list = async <Item>(path: string): Promise<readonly Item[]> => ((await api({path})) as {readonly items: readonly Item[]}).items;

	const view = async (): Promise<View> => {
		const [pods, slices, all] = [
			await list<Pod>('/api/v1/pods'),
			await list<EndpointSlice>('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'),
			await list<NodeObject>('/api/v1/nodes'),
		];
		const endpoints = slices
			.filter(({metadata}) => metadata.labels?.['kubernetes.io/service-name'] === 'web')
			.flatMap(slice => slice.endpoints)
			.filter(({conditions}) => conditions?.ready === true)
			.flatMap(({addresses}) => addresses);
		return {pods, web: pods.filter(({metadata}) => metadata.labels?.['app'] === 'web'), endpoints, nodes: all};
	};

	const wrongWith = async (away: readonly string[]): Promise<string | undefined> => {
		const {pods, web, endpoints, nodes: all} = await view();
		const missing = all.filter(({metadata, status}) => !away.includes(metadata.name) && !isConditionTrue(status?.conditions, 'Ready'));
		if (missing.length > 0) return `not ready: ${missing.map(({metadata}) => metadata.name).join(', ')}`;
		const staying = web.filter(
			pod => isReady(pod) && pod.metadata.deletionTimestamp === undefined && !away.includes(pod.spec?.nodeName ?? ''),
		);
		if (staying.length !== replicas || web.some(pod => !staying.includes(pod) && !away.includes(pod.spec?.nodeName ?? '')))
			return `pods of the app: ${web.map(told).join('; ')}`;
		const addresses = staying.map(({status}) => status?.podIP ?? '').toSorted();
		if (endpoints.toSorted().join() !== addresses.join()) return `endpoints are ${endpoints.join()}, pods are at ${addresses.join()}`;
		// Of containers of an Engine the answers below say it.
		const dead = serving.runtimeClassName === 'process' ? staying.find(pod => !lives(pidOf(pod) ?? 0)) : undefined;
		if (dead !== undefined) return `${told(dead)} has no process`;
		for (const host of nodes) {
			if (away.includes(host.name)) continue;
			const answers = await askedOn(host.name, thirty);
			const names = staying.map(({metadata}) => metadata.name);
			const strange = answers.filter(answer => !names.includes(answer));
			if (strange.length > 0) return `on ${host.name} there answers ${[...new Set(strange)].join(', ')}, and not only ${names.join(', ')}`;
			const silent = names.filter(name => !answers.includes(name));
			if (silent.length > 0) return `on ${host.name} nothing is heard of ${silent.join(', ')}`;
			const left = leftOf(host, pods, all);
			if (left.length > 0) return `on ${host.name} there is left: ${left.join('; ')}`;
		}
		return undefined;
	};
	const settled = async (...away: readonly string[]): Promise<void> => {
		let wrong: string | undefined = '';
		const isSo = async (): Promise<boolean> => {
			wrong = await wrongWith(away).catch((error: unknown) => String(error));
			return wrong === undefined;
		};
		await eventually('all is as it should be', isSo, () => wrong ?? '', longMs);
	};

	const clusterIP = await addressOf(api);
	const onHosts = nodes.map(host =>
		placeOf(
			host,
			clientIn(owner, `host ${host.name}`, () => host.words),
			clusterIP,
			'127.0.0.1',
		),
	);
	const hostClient = (name: string): Place => {
		const found = onHosts.find(({host}) => host.name === name);
		if (found === undefined) throw new Error(`there is no client on ${name}`);
		return found;
	};
	const askedOn = (name: string, count: number): Promise<readonly string[]> =>
		hostClient(name).client.ask({url: `http://${clusterIP}/`, timeoutMs: serviceTimeoutMs}, count);
	await settled();

	const podWords = async (host: ServedHost): Promise<readonly string[]> => {
		const {pods} = await view();
		const pod = pods.find(
			({metadata, spec}) =>
				metadata.labels?.['app'] === 'client' && metadata.deletionTimestamp === undefined && spec?.nodeName === host.name,
		);
		if (pod === undefined) throw new Error(`no client's pod is on ${host.name}`);
		return ['nsenter', `--net=/run/netns/${namespaceOf(networkNamesOf(host), pod.metadata.uid)}`];
	};
	const inPods = nodes.map(host =>
		placeOf(
			host,
			clientIn(owner, `pod on ${host.name}`, () => podWords(host)),
			clusterIP,
			gateway,
		),
	);
	const places = [...onHosts, ...inPods];
	return {
		view,
		async standing() {
			const {web} = await view();
			return new Map(
				web
					.filter(pod => isReady(pod) && pod.metadata.deletionTimestamp === undefined)
					.map(pod => [
						pod.metadata.uid,
						{name: pod.metadata.name, node: pod.spec?.nodeName ?? '', program: containerOf(pod)?.containerID},
					]),
			);
		},
		settled,
		async under(act, ...without) {
			const asking = places.filter(({host}) => !without.includes(host.name));
			for (const {client, ways} of asking) await client.begin(ways);
			let ended: readonly Seen[] = [];
			try {
				await act();
			} finally {
				ended = await Promise.all(asking.map(({client}) => client.end()));
			}
			return ended;
		},
		askedOn,
	};
}

const isReady = ({status}: Pod): boolean => isConditionTrue(status?.conditions, 'Ready');

const thirty = 30;

const told = ({metadata, spec, status}: Pod): string =>
	[
		`${metadata.name} on ${spec?.nodeName ?? 'no node'}: ${status?.phase ?? ''}`,
		metadata.deletionTimestamp === undefined ? '' : 'terminating',
		status?.podIP ?? '',
	].join(' ');

async function addressOf(api: ServedHosts['api']): Promise<string> {
	const {spec} = (await api({path: '/api/v1/namespaces/default/services/web'})) as Service;
	return spec?.clusterIP ?? '';
}

function placeOf(host: ServedHost, client: Client, clusterIP: string, router: string): Place {
	const byService: Question = {url: `http://${clusterIP}/`, timeoutMs: serviceTimeoutMs};
	const byRoute: Question = {url: `http://${router}:8080/`, host: routeHost, timeoutMs: routeTimeoutMs};
	const ways = [
		{...byService, name: 'Service, new connections', isKept: false, everyMs},
		{...byService, name: 'Service, kept connections', isKept: true, everyMs},
		{...byRoute, name: 'route, new connections', isKept: false, everyMs},
		{...byRoute, name: 'route, kept connections', isKept: true, everyMs},
	];
	return {host, client, ways};
}

/** What is in a host's kernel, or runs, of pods that are no more there; for people. */
export function leftOf(host: ServedHost, pods: readonly Pod[], nodes: readonly NodeObject[]): readonly string[] {
	const names = networkNamesOf(host);
	const here = pods.filter(({spec}) => spec?.nodeName === host.name);
	const uids = new Set(here.map(({metadata}) => metadata.uid));
	const addresses = new Set(here.map(({status}) => status?.podIP ?? ''));
	const everywhere = new Set(pods.map(({status}) => status?.podIP ?? ''));
	const namespaces = podNamespacesOf(host).filter(name => !uids.has(name.slice(names.namespaces.length)));
	const wanted = new Set([names.overlay, ...[...addresses].map(address => linkOf(names, address))]);
	const links = [...host.run('ip', '-brief', 'link').matchAll(/^(troupe[^\s@]*)/gm)]
		.map(([, name = '']) => name)
		.filter(name => !wanted.has(name));
	const subnets = new Set(nodes.map(({spec}) => spec?.podCIDR ?? ''));
	const routes = [...host.run('ip', 'route').matchAll(/^(10\.244\.\S+)/gm)]
		.map(([, to = '']) => to)
		.filter(to => !(to.includes('/') ? subnets : addresses).has(to));
	// Of single pods, and not of subnets and the nodes' own addresses.
	const rules = [...host.run(nft, 'list', 'ruleset').matchAll(/\b10\.244\.\d+\.\d+\b(?!\/)/g)]
		.map(([address]) => address)
		.filter(address => !/\.(0|255)$/.test(address) && !everywhere.has(address));
	const mounts = [...readFileSync('/proc/self/mountinfo', 'utf8').matchAll(/^(?:\S+ ){4}(\S+)/gm)]
		.map(([, point = '']) => point)
		.filter(point => point.startsWith(`${host.home.home}/`))
		.filter(point => !uids.has(/[0-9a-f]{8}-[0-9a-f-]{27}/.exec(point)?.[0] ?? ''));
	const programs = programsOf(host.home.home)
		.filter(({podUid = ''}) => !uids.has(podUid))
		.map(({pid, words}) => `process ${pid} ${words.join(' ')}`);
	return [
		...namespaces.map(name => `namespace ${name}`),
		...links.map(name => `link ${name}`),
		...routes.map(to => `route ${to}`),
		...[...new Set(rules)].map(address => `rule for ${address}`),
		...mounts.map(point => `mount ${point}`),
		...programs,
	];
}
