// `troupe up`: a whole cluster in this process, a control plane and a node, to which others may join. Stops in good order on SIGINT,
// SIGTERM and SIGHUP; pods run on.

import {readFileSync} from 'node:fs';
import path from 'node:path';
import type {ControlOptions} from '../../actors/control/start.js';
import type {NodeSystem} from '../../actors/node/start.js';
import type {NodeRuntime} from '../../agent/runtimes.js';
import {uncachedSecrets} from '../../agent/secret-cache.js';
import {createSimulatedNetwork, type SimulatedNetwork} from '../../agent/simulated/host.js';
import {createMemoryStore} from '../../system/store/memory-store.js';
import type {StoreDriver} from '../../system/store/store.js';
import {createClosers, type Closers} from './process/closers.js';
import {graceSetting} from './serving-options.js';
import {readyText, type Endpoints} from '../files/endpoints.js';
import {homeFlag, kubeconfigNotes} from '../files/home-flag.js';
import {advertisedHost} from './control/addresses.js';
import {openControlServer} from './control/control-server.js';
import {engineNotes, findEngine, firstClass, hasEngine, podsText} from './node/engine.js';
import {openLocalNode, openNodeArtifacts, openNodeSecrets, openRuntime} from './node/local-node.js';
import {addressOf, openNetwork} from './node/network.js';
import {networkText, openPodNetwork, type OpenPodNetwork} from './node/pod-network.js';
import {openRelay} from './node/relay.js';
import {stopped} from './process/opened.js';
import {faultNotes, serve, type ServeContext} from './process/serve.js';
import {openLevelCache} from './node/sound-cache.js';
import type {TermParts} from './control/term-parts.js';
import type {UpOptions} from './serving-options.js';
import {failedError} from '../command.js';

/**
 * Runs until it is told to stop; the exit code. Throws when it cannot start, with nothing left open. `design` is the control
 * system's, for tests that plant a bug in it.
 */
export function runUp(options: UpOptions, design?: ControlOptions['design']): Promise<number> {
	return serve('up', options, async context => {
		const nodes = new Map<string, OpenedNode>();
		const behindNodes = createClosers();
		// After the doors and the control plane: these are opened before the nodes, and close before them.
		context.closers.add(async () => {
			await Promise.all([...nodes.values()].map(({node}) => stopped(node)));
			await behindNodes.closeAll();
		});
		const engine = await findEngine(options, context.processParts.clock);
		const names = [options.node, ...Array.from({length: options.simulatedNodes}, (_, index) => `sim-${index + 1}`)];
		const {url, here, doors, term, otherLeader} = await openControlServer({
			context,
			options,
			settings: {runtime: {default: firstClass(options, engine)}, ...graceSetting(options)},
			ownNodes: new Map(names.map(name => [name, () => nodes.get(name)?.node.system])),
			connectHere: name => nodes.get(name)?.connectFunction,
			onStandby: reason => context.fail(`the store is lost: ${reason}`),
			...(design === undefined ? {} : {design}),
		});
		const current = term();
		if (current === undefined)
			throw failedError(`${otherLeader()?.api ?? 'another server'} leads over ${options.store}; troupe server stands by it`);
		const notes = [...kubeconfigNotes(), ...faultNotes(options), ...engineNotes(options, engine)];
		const onNote = (note: string): void => {
			context.log.warn(note);
			notes.push(note);
		};
		const around: NodeContext = {
			options,
			context,
			closers: behindNodes,
			term: current,
			// Of what it advertises a host may know nothing itself.
			servers: [...new Set([here, url])],
			ca: readFileSync(context.home.ca, 'utf8'),
			network: createSimulatedNetwork(),
			onNote,
		};
		let network: string | undefined;
		for (const name of names) {
			const opened = await openNodeOf(name, around);
			nodes.set(name, opened);
			if (opened.pods !== undefined) network = networkText(options, hasEngine(engine), opened.pods);
		}
		for (const {node} of nodes.values()) node.begin();
		const pods = podsText(options, engine);
		const endpoints: Endpoints = {
			command: 'up',
			api: url,
			...doors,
			pid: process.pid,
			pods,
			...(network === undefined ? {} : {network}),
			notes,
		};
		const farewell = `the cluster has stopped; its pods run on (troupe down --pods${homeFlag(options.home)} stops them)`;
		return {endpoints, text: readyText(options.home, endpoints, false), farewell};
	});
}

type NodeContext = {
	readonly options: UpOptions;
	readonly context: ServeContext;
	readonly closers: Closers;
	readonly term: TermParts;
	/** Where this process is reached as a server. */
	readonly servers: readonly string[];
	readonly ca: string;
	readonly network: SimulatedNetwork;
	readonly onNote: (note: string) => void;
};

type OpenedNode = Pick<NodeRuntime, 'connectFunction'> & {readonly node: NodeSystem; readonly pods: OpenPodNetwork | undefined};

async function openNodeOf(name: string, {options, context, closers, term, servers, ca, network, onNote}: NodeContext): Promise<OpenedNode> {
	const {processParts, home} = context;
	const isOwn = name === options.node;
	// The cache first: the process that has it may use the runtime's folder.
	const driver = await cacheOf(isOwn && options.store !== 'memory' ? path.join(home.data, 'node') : undefined, context);
	closers.add(driver.close);
	const fetch = term.secretsFor(name);
	const cached = isOwn ? await openNodeSecrets(fetch, term.fetchCertificate, context) : undefined;
	const secrets = cached ?? uncachedSecrets(fetch);
	const artifacts = isOwn ? openNodeArtifacts(term.artifactsFor(name), context) : undefined;
	const choice = isOwn ? options.runtime : 'simulated';
	const place = {node: name, towards: advertisedHost(options.api, options.advertise), onNote};
	const pods = choice === 'simulated' ? undefined : await openPodNetwork(options, place, context);
	if (pods?.network !== undefined) closers.add(pods.network.close);
	const address = await addressOf(options, place, pods);
	const runtime = await openRuntime(
		{
			...options,
			runtime: choice,
			cache: undefined,
			secrets,
			artifacts,
			onNote,
			network,
			podNetwork: pods?.network,
			sharedBecause: pods?.sharedBecause,
			hostIP: address,
		},
		context,
	);
	closers.add(runtime.close);
	const served =
		pods === undefined
			? undefined
			: openNetwork(name, {...options, openCertificate: cached?.openCertificate, placeOf: runtime.functionPlace}, context, {address, pods});
	served?.callAt({node: name, credential: term.loginOf(name), ca, servers});
	if (served !== undefined) closers.add(served.close);
	const relay = served === undefined ? undefined : openRelay(runtime, context);
	if (relay !== undefined) closers.add(relay.close);
	const links = processParts.linksOf(name);
	const boot = processParts.random.uuid();
	const node = await openLocalNode({
		context,
		name,
		links,
		boot,
		driver,
		runtime,
		network: served,
		relay,
		secrets,
		measure: () => false,
		onLifecycle: term.onLifecycle,
		followsAny: options.isNew,
		thresholds: options.thresholds,
	});
	const {connectFunction} = runtime;
	return {node, pods, ...(connectFunction === undefined ? {} : {connectFunction})};
}

function cacheOf(directory: string | undefined, {processParts, log}: ServeContext): Promise<StoreDriver> {
	if (directory === undefined) return Promise.resolve(createMemoryStore(processParts.executor.defer));
	return openLevelCache(directory, log);
}
