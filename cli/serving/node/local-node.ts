// A node of this process: its runtime, its Secrets, its tree.

import {homedir} from 'node:os';
import {kubernetesArchitecture} from '../../../api/architecture.js';
import type {Labels} from '../../../api/object.js';
import {openNode, type NodeSystem, type NodeOptions} from '../../../actors/node/start.js';
import type {Runtime} from '../../../actors/node/runtime/runtime-port.js';
import type {FetchSecret, NodeSecrets} from '../../../actors/node/runtime/secrets-port.js';
import type {SimulatedNetwork} from '../../../agent/simulated/host.js';
import {createProcessRuntime} from '../../../agent/process-runtime.js';
import {createSecretCache} from '../../../agent/secret-cache.js';
import type {LifecycleEvent} from '../../../system/kernel/observer.js';
import {readOrMakeKey} from '../../../system/files/key-file.js';
import type {MetaOutcome} from '../../../system/store/store.js';
import {observerOf} from '../process/process-parts.js';
import {usualHomes} from '../../files/home.js';
import {opened} from '../process/opened.js';
import type {ServeContext} from '../process/serve.js';
import type {HostOptions, HostPathsChoice} from '../serving-options.js';

export type LocalNodeOptions = Pick<
	NodeOptions,
	'name' | 'links' | 'boot' | 'driver' | 'runtime' | 'measure' | 'secrets' | 'onServers' | 'onInStep' | 'followsAny'
> &
	Pick<Partial<NodeOptions>, 'onPartition'> & {
		readonly context: ServeContext;
		readonly onLifecycle: (event: LifecycleEvent) => void;
	};

/** Loads the cache; the tree begins with `begin`. */
export function openLocalNode({context, onLifecycle, name, ...rest}: LocalNodeOptions): Promise<NodeSystem> {
	const {processParts, log, fail} = context;
	return opened<NodeSystem>(done =>
		openNode(
			{
				...processParts,
				...rest,
				name,
				labels: labelsOf(name),
				observer: observerOf(log, onLifecycle),
				onSyncRefused: why => log.error(why),
				onEscalation: error => fail(`the actor system of node "${name}" failed for good: ${error.message}`),
				onFenced: message => rest.driver.readMeta(found => fail(lostCache(name, message, found))),
			},
			done,
		),
	);
}

/** One that is empty was lost where it is kept, and costs nothing: a server tells again what was in it. */
function lostCache(name: string, message: string, found: MetaOutcome): string {
	if (found.ok && found.meta === undefined)
		return `the cache of node "${name}" was emptied; start the agent again: it is told again what it had`;
	return `the cache of node "${name}" is lost: ${message}`;
}

const labelsOf = (name: string): Labels => ({
	'kubernetes.io/os': 'linux',
	'kubernetes.io/arch': kubernetesArchitecture(process.arch),
	'kubernetes.io/hostname': name,
});

export type RuntimeOptions = HostOptions & {
	/** Where the node's cache is, if that is a folder. */
	readonly cache: string | undefined;
	readonly secrets: NodeSecrets;
	readonly hostPaths: HostPathsChoice;
	/** What the person who starts this is to be told. */
	readonly onNote: (note: string) => void;
	/** Where simulated nodes of one process get the addresses of their pods. */
	readonly network?: SimulatedNetwork;
};

export async function openRuntime(options: RuntimeOptions, {processParts, home, log}: ServeContext): Promise<Runtime> {
	const {clock, random} = processParts;
	const {runtime, cache, secrets, hostPaths, podUsers, maxProcesses, volumes, onNote, network} = options;
	if (runtime === 'simulated')
		return (await import('../../../agent/simulated-runtime.js')).createSimulatedRuntime({clock, random, secrets, network});
	return createProcessRuntime({
		directory: home.runtime,
		clock,
		secrets,
		path: searchPathOf(process.env['PATH']),
		// Each may be a link to somewhere else, and beside an agent there may be its cluster.
		hostPaths: {allowed: hostPaths, never: [home.root, home.data, ...(cache === undefined ? [] : [cache]), ...usualHomes(homedir())]},
		localVolumes: volumes ?? home.volumes,
		users: podUsers,
		processes: maxProcesses,
		onWarning: message => log.warn(message),
		onNote,
	});
}

/**
 * The Secrets of a node: asked for where they are needed, and kept sealed with a key of the home. Throws where the key's file holds no key,
 * and errno exceptions.
 */
export async function openNodeSecrets(fetch: FetchSecret, {home, log}: ServeContext): Promise<NodeSecrets> {
	return createSecretCache({
		directory: home.secrets,
		key: await readOrMakeKey(home.nodeKey),
		fetch,
		onWarning: message => log.warn(message),
	});
}

/** Where programs of pods are looked up by default, given this process' PATH: without what npm puts in front for its scripts. */
export function searchPathOf(own: string | undefined): string | undefined {
	const folders = (own ?? '').split(':').filter(folder => !/\/(?:node_modules\/\.bin|node-gyp-bin)$/.test(folder));
	return folders.length === 0 || folders.every(folder => folder === '') ? undefined : folders.join(':');
}
