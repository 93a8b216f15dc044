// The network of a node's pods: addresses of its subnet, a namespace and a cable each, and the ways to the pods of other nodes.
//
// What pods there are and which address each has is said by the records of their sandboxes, which runtimes tell before it begins; what other nodes
// there are is said by the node's cache. All in the kernel follows from these, is found by name, and is compared with them at each start and then
// every now and again.

import {isIPv4} from 'node:net';
import type {HostPort} from '../../api/host-port.js';
import {parseSubnet, subnetText, type Subnet} from '../../api/ipv4.js';
import {limits} from '../../api/limits.js';
import type {NetworkNode, NetworkPolicyOfNode} from '../../actors/protocol/network-object.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import {createDeferred} from '../../system/time/deferred.js';
import {explained} from '../os/explained.js';
import type {NetworkOfProcess} from '../os/network-namespace.js';
import {createTurns} from '../os/turns.js';
import {createAddressPool, type AddressPool} from './address-pool.js';
import {beginForwarding, hasTable, openForward, writeRules} from './host-rules.js';
import {gateway} from './link-commands.js';
import {linkOf, namespaceFile, nodeAddress, type Names} from './names.js';
import {subnetOf, type Overlay, type Peer} from './peers.js';
import {ensureLink, forgetConnections, removeLink} from './pod-link.js';
import {removePodNetwork, sweep} from './remove-everything.js';
import {dnsPort, type Door} from './rules.js';
import type {RoutedPod} from './routed-pod.js';
import {nodeSubnetAround, type Underlay} from './there.js';
import type {NetworkTools} from './tools.js';
import {ensureNodeAddress, ensureWays, mtuOf} from './ways.js';

export type PodNetworkOptions = {
	readonly names: Names;
	readonly tools: NetworkTools;
	/** Where it is kept that there is something; it is there. */
	readonly folder: string;
	/** This node. */
	readonly node: string;
	readonly overlay: Overlay;
	readonly underlay: Underlay | undefined;
	/** Resolver and router of the node, where it has them. */
	readonly doors: {readonly dns: HostPort | undefined; readonly router: HostPort | undefined; readonly routerTls?: HostPort | undefined};
	/** New pods get one. Otherwise only those that have one keep it. */
	readonly isRouted: boolean;
	readonly clock: Clock;
};

export type PodNetwork = {
	readonly isRouted: boolean;
	readonly overlay: Overlay;
	/** The address at which pods find the resolver of this node, those with a network of their own or those in the host's; undefined: they do not. */
	readonly resolver: (of: 'routed' | 'host') => string | undefined;
	/** Whether pods have one, or new ones get one. */
	readonly isUsed: () => boolean;
	/** The host passes on packets of others, which it did not before any pods had networks. */
	readonly forwards: () => boolean;
	/** Of this host, as others reach it; undefined: it has none. */
	readonly hostIP: string | undefined;
	/** A pod whose sandbox is written down. Before `begin`. */
	readonly adopt: (pod: RoutedPod) => void;
	/** Removes what is of no pod, once all of before are adopted. Rejects with Errors, and is tried again by what needs it. */
	readonly begin: () => Promise<void>;
	/** An address for a new pod. Rejects with an Error where there is none. */
	readonly take: () => Promise<string>;
	readonly free: (address: string) => void;
	/** Makes the network of a pod, or finds it; `process` has its namespace already. Rejects with Errors. */
	readonly ensure: (pod: RoutedPod, process?: NetworkOfProcess) => Promise<void>;
	/** Fine where there is none. Rejects with Errors. */
	readonly remove: (uid: string) => Promise<void>;
	/** The words before a program that is to be in the network of a pod. */
	readonly enter: (uid: string) => readonly string[];
	/** The namespace itself. */
	readonly fileOf: (uid: string) => string;
	/** Whether that pod has one. */
	readonly has: (uid: string) => boolean;
	/** The host's end of the cable of each pod, by uid. */
	readonly links: () => ReadonlyMap<string, string>;
	/** All nodes that there are. */
	readonly learn: (nodes: readonly NetworkNode[]) => void;
	/** All policies that there are: before `learn`, so that what is learned first opens nothing. */
	readonly enforce: (policies: readonly NetworkPolicyOfNode[]) => void;
	/** Told what is wrong, for people, whenever that is something else. */
	readonly onProblem: (listener: (problem: string | undefined) => void) => void;
	/** All in the kernel stays. */
	readonly close: () => void;
};

export function createPodNetwork(options: PodNetworkOptions): PodNetwork {
	const {names, tools, folder, overlay, underlay, isRouted, clock} = options;
	const doors = doorsOf(options.doors);
	const pods = new Map<string, RoutedPod>();
	const turns = createTurns();
	let begun: Promise<void> | undefined;
	const given = createDeferred<Subnet>();
	let place: Place = {own: undefined, peers: []};
	/** Undefined: nobody has said yet. */
	let policies: readonly NetworkPolicyOfNode[] | undefined;
	/** What was to be in the kernel last is not. */
	let isStale = false;
	/** Until this agent is told what there is, the rules of the one before stay: they know the pods of other nodes, and the policies. */
	let isTold = false;
	let pool: AddressPool | undefined;
	let isClosed = false;
	let forwards = false;
	let cancelLook: Cancel = () => undefined;
	let tell: (problem: string | undefined) => void = () => undefined;
	let problem: string | undefined;
	let waiting: Promise<void> | undefined;

	const settle = (next: string | undefined): void => {
		if (next === problem) return;
		problem = next;
		tell(problem);
	};
	const report = (error: unknown): void => settle(`the network of pods: ${explained(error)}`);
	/** What is asked for while one waits for its turn is in that one. */
	const write = (): Promise<void> =>
		(waiting ??= turns.run('rules', async () => {
			waiting = undefined;
			if (!isTold && (await hasTable(tools, names.table, 'own'))) return;
			const subnet = place.own === undefined ? undefined : subnetText(place.own);
			const subnets = [...(subnet === undefined ? [] : [subnet]), ...place.peers.map(peer => subnetText(peer.subnet))];
			isStale = true;
			return writeRules(tools, names, {subnet, subnets, pods: [...pods.values()], doors, policies: policies ?? []}).then(
				() => void (isStale = false),
			);
		}));
	const compare = (): Promise<void> =>
		turns.run('ways', async () => {
			if (isStale || !(await hasTable(tools, names.table, 'own'))) await write();
			await openForward(tools, names);
			const {own, peers} = place;
			if (own !== undefined) {
				await ensureNodeAddress(tools, names, own);
				given.resolve(own);
			}
			if (own !== undefined && isRouted) await ensureWays(tools, names, {overlay, underlay, own, peers});
		});
	const look = (): void => {
		cancelLook();
		if (isClosed) return;
		compare()
			.then(() => settle(undefined), report)
			.finally(() => {
				if (!isClosed) cancelLook = clock.after(limits.podNetworkLookMs, look);
			})
			.catch(() => undefined);
	};
	const isUsed = (): boolean => isRouted || pods.size > 0;
	const begin = async (): Promise<void> => {
		if (!isUsed()) return removePodNetwork(folder, names);
		forwards = await beginForwarding(tools, names, folder);
		const links = new Set([...pods.values()].map(({address}) => linkOf(names, address)));
		await sweep(tools, names, name => pods.has(name) || links.has(name) || (isRouted && name === names.overlay));
		await write();
		await openForward(tools, names);
		look();
	};
	/** Once. After it has failed it is tried again by the next that needs it. */
	const whenBegun = (): Promise<void> => {
		begun ??= begin().catch((error: unknown) => {
			begun = undefined;
			throw error;
		});
		return begun;
	};
	return {
		isRouted,
		overlay,
		isUsed,
		forwards: () => forwards,
		resolver(of) {
			if (!doors.some(({port}) => port === dnsPort)) return undefined;
			// Where no pod has a network of its own the rules need not be there.
			return of === 'routed' ? gateway : isRouted ? names.resolver : undefined;
		},
		hostIP: underlay?.address,
		adopt: pod => void pods.set(pod.uid, pod),
		begin: whenBegun,
		async take() {
			await inTime(given.promise, clock);
			const address = pool?.take();
			if (address === undefined) throw new Error(`no address is left for pods in ${place.own === undefined ? '' : subnetText(place.own)}`);
			return address;
		},
		free: address => pool?.free(address),
		async ensure(pod, process) {
			await whenBegun();
			await turns.run(`pod ${pod.uid}`, async () => {
				// What is known of this node may not be in the kernel yet.
				const own = isRouted ? await inTime(given.promise, clock) : undefined;
				const from = nodeAddress(place.own ?? own ?? subnetOfPod(pod));
				const isNew = !pods.has(pod.uid);
				pods.set(pod.uid, pod);
				const {uid, address} = pod;
				const mtu = underlay === undefined ? usualMtu : mtuOf(overlay, underlay);
				// Its rules are there before anything of it can send.
				if (isNew)
					await write().catch((error: unknown) => {
						pods.delete(uid);
						throw error;
					});
				await ensureLink(tools, names, {uid, address, mtu, process, from});
			});
		},
		async remove(uid) {
			const pod = pods.get(uid);
			if (pod === undefined) return;
			await whenBegun();
			await turns.run(`pod ${uid}`, async () => {
				await removeLink(tools, names, uid, pod.address);
				pods.delete(uid);
				await write();
				await forgetConnections(tools, pod.address);
			});
		},
		enter: uid => [tools.nsenter, `--net=${namespaceFile(names, uid)}`, '--'],
		fileOf: uid => namespaceFile(names, uid),
		has: uid => pods.has(uid),
		links: () => new Map([...pods.values()].map(({uid, address}) => [uid, linkOf(names, address)])),
		learn(nodes) {
			const next = placeOf(options.node, nodes);
			const isSamePlace = JSON.stringify(next) === JSON.stringify(place);
			if (isTold && isSamePlace) return;
			isTold = true;
			if (next.own !== undefined && (place.own === undefined || subnetText(place.own) !== subnetText(next.own))) {
				pool = createAddressPool(next.own);
				for (const {address} of pods.values()) pool.claim(address);
				// The node's own address is in the kernel before anything leads by it.
				const {own} = next;
				whenBegun()
					.then(() => ensureNodeAddress(tools, names, own))
					.then(() => given.resolve(own))
					.catch(report);
			}
			place = next;
			if (isUsed()) whenBegun().then(write).then(look, report);
		},
		enforce(next) {
			policies = next;
			if (isUsed()) whenBegun().then(write).catch(report);
		},
		onProblem: listener => void (tell = listener),
		close() {
			isClosed = true;
			cancelLook();
		},
	};
}

type Place = {readonly own: Subnet | undefined; readonly peers: readonly Peer[]};

/** Those that listen on IPv4. */
function doorsOf({dns, router, routerTls}: PodNetworkOptions['doors']): readonly Door[] {
	const placeOf = (place: HostPort | undefined): readonly HostPort[] => {
		const host = place?.host === '0.0.0.0' || place?.host === 'localhost' ? '127.0.0.1' : place?.host;
		return place === undefined || host === undefined || !isIPv4(host) || place.port === 0 ? [] : [{host, port: place.port}];
	};
	return [
		...placeOf(dns).flatMap(at => (['udp', 'tcp'] as const).map(protocol => ({protocol, port: dnsPort, at}))),
		...[router, routerTls].flatMap(placeOf).map(at => ({protocol: 'tcp' as const, port: at.port, at})),
	];
}

const usualMtu = 1_500;

/** Of other nodes only those whose pods have addresses that mean something here; none where this one, or that one, is behind NAT. */
function placeOf(node: string, nodes: readonly NetworkNode[]): Place {
	const own = subnetOf(nodes.find(({name}) => name === node)?.podCIDR);
	const isAlone = nodes.find(({name}) => name === node)?.reach === 'relayed';
	const peers = nodes.flatMap(({name, addresses, podCIDR, reach}): Peer[] => {
		if (isAlone || reach === 'relayed') return [];
		const subnet = podCIDR === undefined || name === node ? undefined : parseSubnet(podCIDR);
		const address = addresses.find(each => isIPv4(each) && !each.startsWith('127.'));
		return subnet === undefined ? [] : [{subnet, address}];
	});
	return {own, peers: peers.sort((a, b) => a.subnet.first - b.subnet.first)};
}

/** That which its node had when new pods got a network: it has the node's address to this day. */
const subnetOfPod = ({address}: RoutedPod): Subnet => nodeSubnetAround(address) ?? {first: 0, size: 1};

/** A node that begins has no subnet before the control plane has heard of it. */
function inTime<Value>(promise: Promise<Value>, clock: Clock): Promise<Value> {
	const waited = createDeferred<Value>();
	const cancel = clock.after(limits.podSubnetWaitMs, () =>
		waited.reject(new Error('the control plane has given this node no subnet for its pods yet')),
	);
	promise.then(value => {
		cancel();
		waited.resolve(value);
	}, waited.reject);
	return waited.promise;
}
