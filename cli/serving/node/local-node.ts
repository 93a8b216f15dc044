// A node of this process: its runtime, its Secrets, its tree.

import {homedir} from 'node:os';
import {kubernetesArchitecture} from '../../../api/architecture.js';
import {limits} from '../../../api/limits.js';
import type {Labels} from '../../../api/object.js';
import {dockerNotReady} from '../../../api/runtime-class.js';
import {openNode, type NodeSystem, type NodeOptions} from '../../../actors/node/start.js';
import type {Runtime} from '../../../actors/node/runtime/runtime-port.js';
import type {FetchSecret, NodeSecrets} from '../../../actors/node/runtime/secrets-port.js';
import type {SimulatedNetwork} from '../../../agent/simulated/host.js';
import type {PodNetwork} from '../../../agent/pod-network/pod-network.js';
import {openDevices} from '../../../agent/devices/devices.js';
import {withDevices} from '../../../agent/devices/with-devices.js';
import {createArtifactCache, type ArtifactCache, type FetchArtifact} from '../../../agent/functions/artifact-cache.js';
import {joinRuntimes, type NodeRuntime} from '../../../agent/runtimes.js';
import {findTool} from '../../../agent/os/tools.js';
import {createProcessRuntime} from '../../../agent/process-runtime.js';
import {createSecretCache, type SecretCache} from '../../../agent/secret-cache.js';
import type {LifecycleEvent} from '../../../system/kernel/observer.js';
import type {Clock} from '../../../system/time/clock.js';
import {readOrMakeKey} from '../../../system/files/key-file.js';
import type {MetaOutcome} from '../../../system/store/store.js';
import {observerOf} from '../process/process-parts.js';
import {usualHomes} from '../../files/home.js';
import {opened} from '../process/opened.js';
import type {ServeContext} from '../process/serve.js';
import {engineOf, keepEngine} from './engine-place.js';
import type {EngineChoice, HostOptions, HostPathsChoice} from '../serving-options.js';

export type LocalNodeOptions = Pick<
	NodeOptions,
	| 'name'
	| 'links'
	| 'boot'
	| 'driver'
	| 'runtime'
	| 'network'
	| 'relay'
	| 'measure'
	| 'secrets'
	| 'onServers'
	| 'onInStep'
	| 'followsAny'
	| 'thresholds'
> &
	Pick<Partial<NodeOptions>, 'onPartition'> & {
		readonly context: ServeContext;
		readonly onLifecycle: (event: LifecycleEvent) => void;
	};

/** Loads the cache; the tree begins with `begin`. */
export function openLocalNode({context, onLifecycle, name, ...rest}: LocalNodeOptions): Promise<NodeSystem> {
	const {processParts, log, fail, actorEvents} = context;
	return opened<NodeSystem>(done =>
		openNode(
			{
				...processParts,
				...rest,
				name,
				labels: labelsOf(name),
				measuresAlways: rest.runtime.info().name !== 'simulated',
				observer: observerOf(log, actorEvents('node'), onLifecycle),
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

export type RuntimeOptions = Omit<HostOptions, 'podNetwork' | 'dns'> & {
	/** Where the node's cache is, if that is a folder. */
	readonly cache: string | undefined;
	readonly secrets: NodeSecrets;
	/** The code of functions; undefined: this node runs none. */
	readonly artifacts?: ArtifactCache | undefined;
	readonly hostPaths: HostPathsChoice;
	/** What the person who starts this is to be told. */
	readonly onNote: (note: string) => void;
	/** Where simulated nodes of one process get the addresses of their pods. */
	readonly network?: SimulatedNetwork;
	/** Undefined: pods share that of the node. */
	readonly podNetwork?: PodNetwork | undefined;
	/** Of this host, as others reach it; undefined: it has none. */
	readonly hostIP?: string | undefined;
	/** Why, for people. */
	readonly sharedBecause?: string | undefined;
};

export async function openRuntime(options: RuntimeOptions, context: ServeContext): Promise<NodeRuntime> {
	const runtime = await openRuntimes(options, context);
	// Both have told it by now which pods there are. What fails is tried again by whoever needs it.
	await options.podNetwork?.begin().catch((error: unknown) => context.log.warn(error, 'the network of pods could not be begun'));
	return runtime;
}

async function openRuntimes(options: RuntimeOptions, context: ServeContext): Promise<NodeRuntime> {
	const {runtime, secrets, network, gpus = {folder: '/dev', program: findTool('nvidia-smi')}} = options;
	const {processParts, home} = context;
	if (runtime === 'simulated') {
		const {clock, random} = processParts;
		return (await import('../../../agent/simulated-runtime.js')).createSimulatedRuntime({clock, random, secrets, network});
	}
	const devices = openDevices({...gpus, record: home.gpus, clock: processParts.clock});
	return withDevices(await joined(options, context), devices);
}

async function joined(options: RuntimeOptions, context: ServeContext): Promise<NodeRuntime> {
	const {runtime, docker} = options;
	const {processParts, home, log} = context;
	const processes = runtime === 'docker' ? {} : {process: openProcesses(options, context)};
	if (docker === undefined) return joinRuntimes({runtimes: processes});
	const ofDocker = await openDocker(docker, options, context);
	await heard(ofDocker, processParts.clock);
	return joinRuntimes({
		runtimes: {...processes, docker: ofDocker},
		isDockerOptional: runtime === 'auto' && !docker.isAsked && engineOf(home) === undefined,
		onDocker() {
			try {
				keepEngine(home, docker.url);
			} catch (error) {
				log.warn(error, 'where the Docker Engine is could not be kept: troupe down --pods will not find its pods');
			}
		},
	});
}

/** The first hello is to tell what the Engine says, not that nobody knows yet. */
const heard = (runtime: Runtime, clock: Clock): Promise<void> =>
	new Promise(resolve => {
		const look = (): void => {
			if (runtime.info().conditions.some(({type, reason}) => type === dockerNotReady && reason === 'Connecting')) return;
			cancel();
			resolve();
		};
		const cancel = clock.after(limits.engineProbeMs, resolve);
		runtime.onEvent(look);
		look();
	});

/** What both runtimes may use of the host. */
function shared(
	{secrets, artifacts, hostPaths, volumes, maxProcesses, allowPrivileged, cache, podNetwork, hostIP}: RuntimeOptions,
	{processParts, home, log}: ServeContext,
) {
	return {
		clock: processParts.clock,
		secrets,
		artifacts,
		// Each may be a link to somewhere else, and beside an agent there may be its cluster.
		hostPaths: {allowed: hostPaths, never: [home.root, home.data, ...(cache === undefined ? [] : [cache]), ...usualHomes(homedir())]},
		localVolumes: volumes ?? home.volumes,
		processes: maxProcesses,
		allowPrivileged,
		network: podNetwork,
		hostIP,
		onWarning: (message: string) => log.warn(message),
	};
}

const openProcesses = (options: RuntimeOptions, context: ServeContext): NodeRuntime =>
	createProcessRuntime({
		...shared(options, context),
		directory: context.home.runtime,
		sharedBecause: options.sharedBecause,
		path: searchPathOf(process.env['PATH']),
		users: options.podUsers,
		onNote: options.onNote,
	});

async function openDocker({address}: EngineChoice, options: RuntimeOptions, context: ServeContext): Promise<NodeRuntime> {
	const {createDockerRuntime} = await import('../../../agent/docker-runtime.js');
	const {warmSandboxes} = options;
	// Who asks for them wants them at once.
	const warm = {count: warmSandboxes ?? limits.warmSandboxes, fromStart: warmSandboxes !== undefined};
	return createDockerRuntime({...shared(options, context), directory: context.home.docker, address, warm});
}

/**
 * The Secrets of a node: asked for where they are needed, and kept sealed with a key of the home. Throws where the key's file holds no key,
 * and errno exceptions.
 */
export async function openNodeSecrets(fetch: FetchSecret, fetchCertificate: FetchSecret, {home, log}: ServeContext): Promise<SecretCache> {
	return createSecretCache({
		directory: home.secrets,
		key: await readOrMakeKey(home.nodeKey),
		fetch,
		fetchCertificate,
		onWarning: message => log.warn(message),
	});
}

/** The code of functions of a node, kept in its home. Throws errno exceptions. */
export const openNodeArtifacts = (fetch: FetchArtifact, {home, processParts: {clock}}: ServeContext): ArtifactCache =>
	createArtifactCache({folder: home.artifacts, fetch, clock});

/** Where programs of pods are looked up by default, given this process' PATH: without what npm puts in front for its scripts. */
export function searchPathOf(own: string | undefined): string | undefined {
	const folders = (own ?? '').split(':').filter(folder => !/\/(?:node_modules\/\.bin|node-gyp-bin)$/.test(folder));
	return folders.length === 0 || folders.every(folder => folder === '') ? undefined : folders.join(':');
}
