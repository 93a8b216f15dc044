// The network of a node as its actors have it: a data plane beside the agent, started when there is something to serve, fed with what the node
// knows, and fed anew whenever it or the agent begins anew.
//
// What it keeps true: whatever ends or hangs, what serves is fed all there is before it is fed what changes; a data plane that does not come is
// tried again ever more slowly, and said.

import {failed, succeeded, type Outcome} from '../api/errors.js';
import {limits} from '../api/limits.js';
import type {Network, NetworkChange, NetworkCommand, NetworkStatus} from '../actors/node/runtime/network-port.js';
import type {OpenCertificate} from '../actors/node/runtime/secrets-port.js';
import type {NetworkObject, NetworkServers} from '../actors/protocol/network-object.js';
import type {NetworkInfo} from '../actors/protocol/runtime-info.js';
import {createDeferred} from '../system/time/deferred.js';
import type {Cancel} from '../system/time/clock.js';
import type {OwnedPlace} from './functions/runner-place.js';
import {createNodeCertificates} from './network/feed/certificates.js';
import {createOwnObjects} from './network/feed/own-objects.js';
import {isRunning, reachDataPlane, type DataPlaneOptions} from './network/feed/data-plane-process.js';
import type {FeedClient} from './network/feed/feed-client.js';
import {isTooLong} from './network/feed/record.js';
import {createNetworkIndex} from './network/index/network-index.js';
import type {KernelServices} from './network/nftables/kernel-services.js';
import {createServiceTable, type ServiceTable} from './network/services/service-table.js';
import type {PodNetwork} from './pod-network/pod-network.js';
import {createWayCheck} from './way-check/way-check.js';
import {explained} from './os/explained.js';

export type NodeNetworkOptions = Omit<DataPlaneOptions, 'onNews'> & {
	readonly info: NetworkInfo;
	/** Undefined: no pod has a network of its own. */
	readonly podNetwork?: PodNetworkParts | undefined;
	/** How the certificates of routes are opened. Undefined: they are not. */
	readonly openCertificate?: OpenCertificate | undefined;
	/** Where an instance of a function is called on this node; undefined: it runs none. */
	readonly placeOf?: ((uid: string) => OwnedPlace | undefined) | undefined;
};

export type NodeNetwork = Network & {
	/** Where what serves traffic has functions called, and as whom: from now on, and until it is told otherwise, whatever becomes of the agent. */
	readonly callAt: (servers: Omit<NetworkServers, 'type' | 'name'>) => void;
};

export type PodNetworkParts = {
	/** It is told of nodes and policies, and asked for what its pods are in. */
	readonly network: Pick<PodNetwork, 'isRouted' | 'isUsed' | 'overlay' | 'learn' | 'enforce' | 'onProblem' | 'enter' | 'has'>;
	/** Leads clients of Services to their endpoints in the kernel. */
	readonly openServices: (table: ServiceTable, onProblem: (problem: string | undefined) => void) => Pick<KernelServices, 'close'>;
};

type Done = (outcome: Outcome<null>) => void;

export function createNodeNetwork({info, podNetwork, openCertificate, placeOf, ...options}: NodeNetworkOptions): NodeNetwork {
	const {settings, clock} = options;
	const index = createNetworkIndex();
	const listeners: ((status: NetworkStatus) => void)[] = [];
	let status: NetworkStatus = {pid: undefined, memoryBytes: undefined, problems: []};
	let ofAgent: string | undefined;
	let ofPods: string | undefined;
	let ofServices: string | undefined;
	let services: Pick<KernelServices, 'close'> | undefined;
	let theirs: readonly string[] = [];
	let client: FeedClient | undefined;
	/** Whoever asked while none served; answered when one is fed, or could not be had. */
	let waiting: Done[] = [];
	let isServed = false;
	let isClosed = false;
	let wake: Cancel = () => undefined;

	const tell = (changed: Partial<NetworkStatus>): void => {
		status = {...status, ...changed, problems: [ofAgent, ofPods, ofServices, ...theirs].filter(each => each !== undefined)};
		for (const listener of listeners) listener(status);
	};
	const answer = (outcome: Outcome<null>): void => {
		const asked = waiting;
		waiting = [];
		for (const done of asked) done(outcome);
	};
	const certificates =
		openCertificate &&
		createNodeCertificates({
			open: openCertificate,
			clock,
			// One that cannot be fed is told again with all there is.
			onOpened: change => void client?.feed(false, [change]).catch(() => undefined),
		});
	const fed = (change: NetworkChange): NetworkChange => certificates?.fed(change) ?? change;
	const own = createOwnObjects(placeOf);
	const all = (): readonly NetworkChange[] => [...index.keys().map(key => fed({key, object: index.get(key)})), ...own.all()];
	/** What cannot be fed is told again with all there is. */
	const feedOwn = (change: NetworkChange): void => void client?.feed(false, [change]).catch(() => undefined);
	const warn = (problem: string): void => {
		if (problem !== ofAgent) options.onWarning(problem);
		ofAgent = problem;
	};

	/** From its start or adoption to its end. Rejects with why none can be had. */
	const once = async (): Promise<string> => {
		const reached = await reachDataPlane({
			...options,
			onWarning: warn,
			onNews({memoryBytes, problems}) {
				theirs = problems ?? theirs;
				tell(memoryBytes === undefined ? {} : {memoryBytes});
			},
		});
		if (isClosed) reached.close();
		// What changes from here on goes behind this, on the same way.
		const taken = reached.feed(true, all());
		client = reached;
		const asked = waiting;
		waiting = [];
		const settled = taken.then(
			() => succeeded(null),
			(error: unknown) => failed('ERR_RUNTIME', {message: explained(error)}),
		);
		void settled.then(outcome => asked.forEach(done => done(outcome)));
		if (reached.identity === settings.identity) ofAgent = undefined;
		tell({pid: reached.pid});
		return reached.ended;
	};
	const serve = async (): Promise<void> => {
		for (let failures = 0; !isClosed; failures++) {
			const beganMs = clock.monotonicMs();
			const why = await once().then(
				ended => `the data plane is started again: ${ended}`,
				(error: unknown) => `no data plane: ${explained(error)}`,
			);
			client = undefined;
			theirs = [];
			if (isClosed) return;
			warn(why);
			tell({pid: undefined, memoryBytes: undefined});
			answer(failed('ERR_RUNTIME', {message: why}));
			if (clock.monotonicMs() - beganMs > limits.dataPlaneWellMs) failures = 0;
			await pause(failures);
		}
	};
	const pause = (failures: number): Promise<void> => {
		const {promise, resolve} = createDeferred();
		const delayMs = Math.min(limits.dataPlaneBackoffFirstMs * 2 ** failures, limits.dataPlaneBackoffMaxMs);
		const cancel = clock.after(delayMs, resolve);
		wake = () => {
			cancel();
			resolve();
		};
		return promise;
	};

	const keep = ({type, changes}: Extract<NetworkCommand, {readonly changes: unknown}>): void => {
		if (type !== 'network.replace') return index.change(changes);
		index.replace(changes);
		// Not before: what an earlier agent has written serves until it is known what there is.
		services ??= podNetwork?.openServices(createServiceTable(index, settings.node), problem => {
			if (problem === ofServices) return;
			ofServices = problem;
			sayOf(problem);
		});
	};
	const sayOf = (problem: string | undefined): void => {
		if (problem !== undefined) options.onWarning(problem);
		tell({});
	};
	podNetwork?.network.onProblem(problem => {
		ofPods = problem;
		sayOf(problem);
	});
	index.onChange(changed => {
		for (const {key, after} of changed) certificates?.set(key, after);
	});
	if (podNetwork !== undefined)
		index.onChange(changed => {
			if (changed.some(({before, after}) => (after ?? before)?.type === 'node')) podNetwork.network.learn([...index.all('node')]);
		});
	const ofPodsNetwork = podNetwork?.network;
	const wayCheck = createWayCheck({
		settings,
		index,
		info,
		clock,
		status: () => status,
		enter: uid => (ofPodsNetwork?.has(uid) === true ? ofPodsNetwork.enter(uid) : undefined),
		overlay: ofPodsNetwork?.isRouted === true ? ofPodsNetwork.overlay : undefined,
	});
	const begin = (): boolean => {
		if (isServed) return true;
		// Pods with a network of their own ask it for all names.
		const isAsked = podNetwork?.network.isUsed() === true && settings.dns !== undefined;
		if (!isAsked && !index.keys().some(key => isToServe(index.get(key))) && !isRunning(settings.folder)) return false;
		if (isTooLong(settings.folder)) {
			warn(`no data plane: the name of ${settings.folder} is too long for a socket in it (108 bytes, unix(7)): give --home a shorter path`);
			tell({});
			return false;
		}
		isServed = true;
		void serve();
		return true;
	};
	return {
		info: () => info,
		run(command, done) {
			if (command.type === 'network.enforce') {
				podNetwork?.network.enforce(command.policies);
				return done(succeeded(null));
			}
			if (command.type === 'network.instance') {
				feedOwn(own.instance(command.uid, command.instance));
				return done(succeeded(null));
			}
			keep(command);
			if (command.type === 'network.learn') return done(succeeded(null));
			if (isClosed || !begin()) return done(succeeded(null));
			if (client === undefined) return void waiting.push(done);
			client.feed(command.type === 'network.replace', command.changes.map(fed)).then(
				() => done(succeeded(null)),
				(error: unknown) => done(failed('ERR_RUNTIME', {message: explained(error)})),
			);
		},
		checkWay: wayCheck.run,
		callAt: servers => feedOwn(own.servers(servers)),
		onStatus: listener => void listeners.push(listener),
		close() {
			isClosed = true;
			wake();
			certificates?.close();
			client?.close();
			services?.close();
			wayCheck.close();
			answer(failed('ERR_RUNTIME', {message: 'the agent stops'}));
			return Promise.resolve();
		},
	};
}

/** What every cluster has needs no process of its own: it begins with the first of the others. */
const isToServe = (object: NetworkObject | undefined): boolean =>
	object !== undefined &&
	object.type !== 'node' &&
	object.type !== 'endpoints' &&
	object.type !== 'certificate' &&
	object.type !== 'servers' &&
	object.type !== 'instances' &&
	!(object.type === 'service' && everywhere.includes(`${object.namespace}/${object.name}`));

const everywhere: readonly string[] = ['kube-system/kube-dns', 'default/kubernetes'];
