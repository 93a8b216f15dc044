// `troupe up`: a whole cluster in this process. Opens what it needs in an order that leaves nothing half started, says that it
// is ready, and stops in good order on SIGINT and SIGTERM. Pods run on.

import {rmSync} from 'node:fs';
import path from 'node:path';
import {AppError} from '../api/errors.js';
import {parseAddress} from '../api/keys.js';
import {limits} from '../api/limits.js';
import type {Mutable} from '../api/object.js';
import {may, type Identity} from '../api/roles.js';
import type {Runtime} from '../actors/node/runtime-port.js';
import {closeInheritedDescriptors} from '../agent/process/descriptors.js';
import {createProcessRuntime} from '../agent/process-runtime.js';
import {ensureCertificates} from '../server/certificates.js';
import {createGateway} from '../server/gateway.js';
import {writeKubeconfig} from '../server/kubeconfig.js';
import {createMqttSockets} from '../server/mqtt-socket.js';
import {ensureAdminToken, openTokens} from '../server/tokens.js';
import {createTopics, retainedObjects, type Topics} from '../server/topics.js';
import {openVault} from '../server/vault.js';
import {createWeb} from '../server/web.js';
import {writeFileAtomic} from '../system/atomic-file.js';
import {createBroker, type BrokerCounter} from '../system/broker.js';
import {systemClock} from '../system/clock.js';
import type {SystemDesign} from '../system/durable-system.js';
import {systemRandom} from '../system/random.js';
import {openCluster, type Cluster} from './cluster.js';
import {readyText, type Endpoints} from './endpoints.js';
import {homeOf, type Home} from './home.js';
import {holderOf} from './port-holder.js';
import {openLog, type Log} from './log.js';
import {makeFolder} from './make-folder.js';
import {runningCluster} from './processes.js';
import {formatHostPort, type HostPort, type UpOptions} from './up-options.js';
import {failedError} from './usage.js';
import {programVersion} from './version.js';

/** What was opened, in the order of its opening; closed in reverse. */
type Closers = (() => Promise<void>)[];

/**
 * Runs until it is told to stop; the exit code. Throws when it cannot start, with nothing left open. `design` is the control
 * system's, for tests that plant a bug in it.
 */
export async function runUp(options: UpOptions, design?: SystemDesign): Promise<number> {
	closeInheritedDescriptors();
	const home = homeOf(options.home);
	const running = runningCluster(options.home);
	if (running !== undefined) throw failedError(`a cluster runs in ${options.home} already (process ${running.pid}); troupe down stops it`);
	refusePlainDoors(options);
	makeFolder(home.data);
	const log = openLog(home.log);
	const closers: Closers = [];
	const ending = endOf(log);
	try {
		const endpoints = await open(options, design, home, log, closers, ending.fail);
		await writeFileAtomic(home.endpoints, `${JSON.stringify(endpoints)}\n`, 0o600);
		closers.push(() => Promise.resolve(rmSync(home.endpoints, {force: true})));
		log.info(endpoints, 'the cluster is ready');
		process.stdout.write(readyText(options.home, endpoints, false));
	} catch (error) {
		log.error(error instanceof Error ? error.message : String(error));
		await closeAll(closers);
		// In the foreground and in the background the same: what could not start has failed, whatever it was that failed.
		throw error instanceof AppError ? failedError(error.message) : error;
	}
	const {code, reason} = await ending.promise;
	log.info(reason);
	process.stdout.write(`\n${reason}\n`);
	await closeAll(closers);
	process.stdout.write('the cluster has stopped; its pods run on (troupe down --pods stops them)\n');
	return code;
}

/** Off loopback a door without TLS would show tokens to whoever listens on the way. */
function refusePlainDoors({web, mqtt}: UpOptions): void {
	for (const [flag, {host}] of Object.entries({web, mqtt})) {
		if (isLoopback(host)) continue;
		throw failedError(`--${flag} ${host}: this door has no TLS yet, so it listens on loopback only (127.0.0.0/8, ::1, localhost)`);
	}
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

async function closeAll(closers: Closers): Promise<void> {
	for (const close of closers.splice(0).reverse()) await close();
}

type Ending = {readonly code: number; readonly reason: string};

/** The first signal stops in good order; whoever cannot wait may send a second. */
function endOf(log: Log): {readonly promise: Promise<Ending>; readonly fail: (message: string) => void} {
	let settle: (ending: Ending) => void = () => undefined;
	const promise = new Promise<Ending>(resolve => {
		settle = resolve;
	});
	for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => settle({code: 0, reason: `stopping (${signal})`}));
	return {
		promise,
		fail(message) {
			// A system that failed for good must not linger half alive: whoever watches this process starts it again.
			log.fatal(message);
			process.stderr.write(`error: ${message}\n`);
			process.exit(1);
		},
	};
}

async function open(
	options: UpOptions,
	design: SystemDesign | undefined,
	home: Home,
	log: Log,
	closers: Closers,
	fail: (message: string) => void,
): Promise<Endpoints> {
	const clock = systemClock;
	const published: {topics?: Topics} = {};
	const cluster = await openCluster({
		store: options.store,
		node: options.node,
		data: home.data,
		clock,
		log,
		version: programVersion,
		openRuntime: () => runtimeOf(options, home, log),
		simulated: await simulatedNodes(options),
		labels: {'kubernetes.io/os': 'linux', 'kubernetes.io/arch': process.arch},
		onChange: change => published.topics?.onChange(change),
		onEvent: (key, event) => published.topics?.onEvent(key, event),
		onLifecycle: ({address, ...event}) => {
			const {system = '', path: actor = ''} = parseAddress(address) ?? {};
			published.topics?.onLifecycle(
				system,
				actor === '' ? 'root' : actor,
				JSON.parse(JSON.stringify({...event, address})) as Record<string, string>,
			);
		},
		...(design === undefined ? {} : {design}),
		onFatal: fail,
	});
	closers.push(() => cluster.stop());
	const doors = await openDoors(options, home, cluster, closers, log);
	published.topics = doors.topics;
	cluster.begin();
	return doors.endpoints;
}

async function runtimeOf({runtime}: UpOptions, home: Home, log: Log): Promise<Runtime> {
	if (runtime !== 'simulated') {
		return createProcessRuntime({
			directory: home.runtime,
			clock: systemClock,
			path: process.env['PATH'],
			onWarning: message => log.warn(message),
		});
	}
	return simulated((await import('../agent/simulated-runtime.js')).createSimulatedRuntime);
}

async function simulatedNodes({simulatedNodes: count}: UpOptions): Promise<ReadonlyMap<string, Runtime>> {
	if (count === 0) return new Map();
	const {createSimulatedRuntime} = await import('../agent/simulated-runtime.js');
	return new Map(Array.from({length: count}, (_, index) => [`sim-${index + 1}`, simulated(createSimulatedRuntime)]));
}

type CreateSimulated = (options: {clock: typeof systemClock; random: typeof systemRandom}) => Runtime;

const simulated = (create: CreateSimulated): Runtime => create({clock: systemClock, random: systemRandom});

type Doors = {readonly endpoints: Endpoints; readonly topics: Topics};

/** Everything that listens. A door that cannot be opened throws, and what was opened before is closed by the caller. */
async function openDoors(options: UpOptions, home: Home, cluster: Cluster, closers: Closers, log: Log): Promise<Doors> {
	const clock = systemClock;
	const {control, controlPlane, kept} = cluster;
	const vault = await openVault(path.join(home.data, 'cluster.key'), kept);
	const tokens = openTokens(vault, clock.nowMs);
	const certificate = await ensureCertificates(vault, {names: [options.api.host], nowMs: clock.nowMs()});

	const broker = await createBroker<Identity>({
		clock,
		authenticate(user, password) {
			const identity = tokens.authenticate(password);
			return identity !== undefined && identity.name === user ? identity : undefined;
		},
		may,
		retainedSource: retainedObjects(control.index, controlPlane.epoch),
		stallMs: ({role}) => (role === 'node' ? limits.nodeStallMs : limits.toolStallMs),
		onCounter: brokerLog(log),
	});
	closers.push(() => broker.close());
	const mqtt = await named('mqtt', options.mqtt, () => broker.listen(options.mqtt.host, options.mqtt.port));

	const gateway = createGateway({
		control: controlPlane,
		authenticate: tokens.authenticate,
		tls: {cert: certificate.cert, key: certificate.key},
		version: programVersion,
		clock,
		onBug: (error, about) => log.error(error, `a request failed: ${about}`),
	});
	closers.push(() => gateway.close());
	const api = await named('api', options.api, () => gateway.listen(options.api.host, options.api.port));

	const sockets = createMqttSockets({onStream: (stream, request) => broker.attach(stream, `ws ${request.socket.remoteAddress ?? ''}`)});
	const endpoints: Mutable<Endpoints> = {
		api: `https://${formatHostPort({...options.api, port: api.port})}`,
		web: '',
		mqtt: `mqtt://${formatHostPort({...options.mqtt, port: mqtt.port})}`,
		pid: process.pid,
	};
	const web = createWeb({
		about: () => ({version: programVersion, api: endpoints.api, mqtt: endpoints.mqtt}),
		onMqttUpgrade: sockets.upgrade,
		clock,
	});
	closers.push(() => {
		sockets.close();
		return web.close();
	});
	const opened = await named('web', options.web, () => web.listen(options.web.host, options.web.port));
	endpoints.web = `http://${formatHostPort({...options.web, port: opened.port})}`;

	const {token, made} = await ensureAdminToken(tokens, home.adminToken);
	if (made !== undefined) log.info(`a token for admin was made: ${made}`);
	await writeKubeconfig(options.home, {server: endpoints.api, ca: certificate.ca, user: 'admin', token});
	return {endpoints, topics: createTopics({broker, epoch: controlPlane.epoch})};
}

/** What the broker refuses or cuts, each sort at most once in ten seconds: a client that floods must not flood the log. */
function brokerLog(log: Log): (counter: BrokerCounter, about: string) => void {
	const quietUntilMs = new Map<BrokerCounter, number>();
	return (counter, about) => {
		const nowMs = systemClock.monotonicMs();
		if (counter === 'connections' || nowMs < (quietUntilMs.get(counter) ?? 0)) return;
		quietUntilMs.set(counter, nowMs + limits.repeatedLogMs);
		log.warn({counter, about}, `broker: ${counter}`);
	};
}

/** Says which flag chooses another place when a door cannot be opened, and who has this one. */
async function named(flag: string, place: HostPort, listen: () => Promise<{readonly port: number}>): Promise<{readonly port: number}> {
	try {
		return await listen();
	} catch (error) {
		throw new AppError('ERR_NOT_REACHABLE', {message: `${whyNot(place, error)}; --${flag} ${place.host}:0 picks a free port`}, error);
	}
}

function whyNot(place: HostPort, error: unknown): string {
	const {code, message} = error as NodeJS.ErrnoException;
	if (code !== 'EADDRINUSE') return message;
	const holder = holderOf(place.port);
	return `${formatHostPort(place)} is in use${holder === undefined ? '' : ` by "${holder.name}" (process ${holder.pid})`}`;
}
