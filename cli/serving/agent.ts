// `troupe agent`: this host as a node. It joins once, then needs no token, and boots and serves from its cache also while no server
// answers. What it runs outlives it.

import {limits} from '../../api/limits.js';
import {isLoopback} from '../../api/loopback.js';
import type {NodeSystem} from '../../actors/node/start.js';
import {credentialWriter, isServers, type Credential} from '../../agent/credential.js';
import {createArtifactFetch} from '../../agent/functions/artifact-fetch.js';
import {createSecretFetch} from '../../agent/secret-fetch.js';
import {identifierRejected, openUplink, type Uplink} from '../../system/presence/uplink.js';
import {mqttUrl} from '../cluster/broker-login.js';
import {cachePlaceOf} from './node/cache-place.js';
import {readyText, type Endpoints} from '../files/endpoints.js';
import {homeFlag} from '../files/home-flag.js';
import {loginFor} from './node/joining.js';
import {engineNotes, findEngine, hasEngine, podsText} from './node/engine.js';
import {openLocalNode, openNodeArtifacts, openNodeSecrets, openRuntime} from './node/local-node.js';
import {openNodeMetrics} from './node/metrics.js';
import {addressOf, openNetwork} from './node/network.js';
import {networkText, openPodNetwork, type OpenPodNetwork} from './node/pod-network.js';
import {openRelay} from './node/relay.js';
import type {Log} from './process/log.js';
import {isRedis, openNodeCache} from './node/node-cache.js';
import {stopped} from './process/opened.js';
import {faultNotes, serve, type ServeContext} from './process/serve.js';
import {openReadiness, type Readiness} from './node/readiness.js';
import type {AgentOptions} from './serving-options.js';

/** Runs until it is told to stop; the exit code. Throws when it cannot start, with nothing left open. */
export function runAgent(options: AgentOptions): Promise<number> {
	return serve('agent', options, async context => {
		const {credential, isNew, notes: ofLogin} = await loginFor(options, context.home.credential);
		const started = await startNode(options, {credential, followsAny: isNew || options.isNew}, context);
		const engine = await findEngine(options, context.processParts.clock);
		const notes = [...ofLogin, ...started.notes, ...faultNotes(options), ...engineNotes(options, engine)];
		for (const note of notes) context.log.warn(note);
		const place = {api: credential.servers[0] ?? '', web: '', mqtt: ''};
		const network = started.pods === undefined ? undefined : networkText(options, hasEngine(engine), started.pods);
		const ofNetwork = network === undefined ? {} : {network};
		const {metrics} = started;
		const ofMetrics = metrics === undefined ? {} : {metrics};
		const pods = podsText(options, engine);
		const endpoints: Endpoints = {command: 'agent', ...place, pid: process.pid, pods, ...ofNetwork, ...ofMetrics, notes};
		const farewell = `the agent has stopped; its pods run on (troupe down --pods${homeFlag(options.home)} stops them)`;
		return {endpoints, text: readyText(options.home, endpoints, false), farewell};
	});
}

/** Resolves when it is in step with control, or control does not answer; with what is to be told. */
async function startNode(
	options: AgentOptions,
	{credential, followsAny}: {readonly credential: Credential; readonly followsAny: boolean},
	context: ServeContext,
): Promise<{readonly notes: readonly string[]; readonly pods: OpenPodNetwork | undefined; readonly metrics: string | undefined}> {
	const {home, log, closers, processParts} = context;
	// The cache first: the process that has it may use the runtime's folder.
	const {place: placeOfCache, keep} = cachePlaceOf(home, options.cache);
	const driver = await openNodeCache(placeOfCache, credential.node, processParts.clock, log);
	closers.add(driver.close);
	const notes = await keep();
	const servers = serversOf(credential, home.credential, log);
	const ofControl = {...credential, servers: servers.https, clock: processParts.clock};
	const secrets = await openNodeSecrets(createSecretFetch(ofControl), createSecretFetch({...ofControl, part: 'certificate'}), context);
	const artifacts = openNodeArtifacts(createArtifactFetch(ofControl), context);
	const hostPaths = options.hostPaths ?? (credential.servers.every(isHere) ? 'all' : []);
	const ofRuntime: string[] = [];
	const onNote = (note: string): void => void ofRuntime.push(note);
	const cache = isRedis(placeOfCache) ? undefined : placeOfCache;
	const place = {node: credential.node, towards: hostOf(credential), onNote};
	const pods = options.runtime === 'simulated' ? undefined : await openPodNetwork(options, place, context);
	if (pods?.network !== undefined) closers.add(pods.network.close);
	const address = await addressOf(options, place, pods);
	const ofPods = {podNetwork: pods?.network, sharedBecause: pods?.sharedBecause, hostIP: address};
	const runtime = await openRuntime({...options, cache, secrets, artifacts, hostPaths, onNote, ...ofPods}, context);
	closers.add(runtime.close);
	const network =
		pods === undefined
			? undefined
			: openNetwork(credential.node, {...options, openCertificate: secrets.openCertificate, placeOf: runtime.functionPlace}, context, {
					address,
					pods,
					isBehindNat: options.isBehindNat,
				});
	if (network !== undefined) closers.add(network.close);
	const {node: name, credential: login, ca} = credential;
	const callAt = (): void => network?.callAt({node: name, credential: login, ca, servers: servers.https()});
	callAt();
	const relay = network === undefined ? undefined : openRelay(runtime, context);
	if (relay !== undefined) closers.add(relay.close);
	const boot = processParts.random.uuid();
	const readiness = openReadiness(processParts.clock);
	let isConnected = false;
	const uplink = dial(credential, servers.urls, boot, context, {...readiness, connected: now => void (isConnected = now)});
	closers.add(uplink.close);
	const node: NodeSystem = await openLocalNode({
		context,
		name: credential.node,
		links: uplink.links,
		boot,
		driver,
		runtime,
		network,
		relay,
		secrets,
		measure: true,
		onServers(told, graceMs) {
			servers.keep(told);
			callAt();
			if (graceMs !== undefined) uplink.hurry(graceMs);
		},
		onInStep: readiness.inStep,
		onLifecycle: () => undefined,
		onPartition: uplink.silence,
		followsAny,
		thresholds: options.thresholds,
	});
	closers.add(async () => {
		uplink.announceRestart();
		await stopped(node);
	});
	const metrics = await openNodeMetrics({options, system: node.system, isConnected: () => isConnected}, context);
	node.begin();
	return {metrics, notes: [...notes, ...ofRuntime, ...(await readiness.known)], pods};
}

/** A server that listens on this host only. */
const isHere = (server: string): boolean => isLoopback(hostIn(server));

const hostIn = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '');

/** That of a server; other nodes are most often reached the same way. */
const hostOf = ({servers: [first]}: Credential): string | undefined => (first === undefined ? undefined : hostIn(first));

/** The servers to dial, in the order in which they were heard of; what control tells is kept for the next start. */
function serversOf(credential: Credential, file: string, log: Log) {
	let current = credential;
	const write = credentialWriter(file);
	return {
		https: (): readonly string[] => current.servers,
		urls: (): readonly [string, ...string[]] => {
			const [first = '', ...rest] =
				current.broker === undefined ? current.servers.map(server => mqttUrl(new URL(server))) : [current.broker];
			return [first, ...rest];
		},
		keep: (told: readonly string[]): void => {
			if (!isServers(told)) return;
			// One that is away now may be the only one that is there at the next start.
			const servers = [...new Set([...told, ...current.servers])].slice(0, limits.serversKept);
			if (servers.join() === current.servers.join()) return;
			current = {...current, servers};
			log.info({servers}, 'the servers of the cluster are others now');
			write(current).catch((error: unknown) => log.warn(error, 'the list of servers could not be kept'));
		},
	};
}

function dial(
	{node, credential, ca, broker}: Credential,
	servers: () => readonly [string, ...string[]],
	boot: string,
	{log, fail, processParts: {clock}}: ServeContext,
	readiness: Readiness & {readonly connected: (isConnected: boolean) => void},
): Uplink {
	let quietUntilMs = 0;
	return openUplink({
		servers,
		node,
		password: credential,
		boot,
		// A broker elsewhere shows a certificate that the cluster's authority did not sign.
		...(broker === undefined ? {ca} : {}),
		onConnected() {
			readiness.connected(true);
			log.info('connected to the control plane');
		},
		onDisconnected() {
			readiness.connected(false);
			log.warn('the connection to the control plane is lost; pods run on, and it is tried again');
		},
		onProblem(problem, code) {
			if (code === identifierRejected) readiness.refused();
			const line = isRefusal(code) ? unknownLogin(node, problem) : `the control plane cannot be reached: ${problem}`;
			readiness.problem(isRefusal(code) ? line : problem);
			const nowMs = clock.monotonicMs();
			if (nowMs < quietUntilMs) return;
			quietUntilMs = nowMs + limits.repeatedLogMs;
			log.warn(line);
		},
		onRefused: fail,
	});
}

/** CONNACK: bad user name or password, not authorized (MQTT 3.1.1, table 3.1). */
const isRefusal = (code: number | undefined): boolean => code === 4 || code === 5;

const unknownLogin = (node: string, problem: string): string =>
	`the control plane does not know the login of node "${node}" (${problem}): its token or its Node was deleted; troupe agent --token with a new join token makes it a node again`;
