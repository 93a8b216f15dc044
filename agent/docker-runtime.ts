// The Docker runtime: a pod is an infra container, which owns its namespaces, and containers that are joined to it.
//
// What there is stands in files under one directory and in the Engine, where containers of ours are known by their labels, so any later agent
// adopts what runs. `agent/docker/` has the parts:
//
//   containers  what a container is made with, its start and its end, adoption, removal
//   images      there before a container starts: pulls, credentials
//   sandboxes   infra containers and what belongs to whom
//   programs    the two programs that are not the user's
//   engine      calls that end in time, events, whether the Engine answers
//
// Volumes, leases, logs and what is asked of the kernel are beside it, in `agent/`: every runtime has them.

import {realpathSync} from 'node:fs';
import type {Socket} from 'node:net';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {kubernetesArchitecture} from '../api/architecture.js';
import {failed, succeeded, type Outcome} from '../api/errors.js';
import type {NodeFeature} from '../api/features.js';
import {functionContainer, functionPort, type FunctionInstance} from '../api/function-instance.js';
import {limits} from '../api/limits.js';
import type {
	ContainerSpec,
	ExitListener,
	OpenedSpec,
	RunningContainer,
	Runtime,
	RuntimeEvent,
} from '../actors/node/runtime/runtime-port.js';
import {noSecrets, type NodeSecrets} from '../actors/node/runtime/secrets-port.js';
import type {RuntimeInfo} from '../actors/protocol/runtime-info.js';
import type {Clock} from '../system/time/clock.js';
import {systemRandom} from '../system/time/random.js';
import {wrongName} from './command-names.js';
import {openContainerUsage} from './docker/cgroups/container-usage.js';
import {createPodGroups} from './docker/cgroups/pod-groups.js';
import {begin} from './docker/containers/begin.js';
import {readEnvironment} from './docker/containers/container-files.js';
import {beginWaiting} from './docker/runners/begin-waiting.js';
import {canWait} from './docker/runners/told.js';
import {createWarmRunners} from './docker/runners/warm-runners.js';
import {bindsOf, openHolds} from './docker/containers/binds.js';
import {containerOptions, type Bind, type ContainerPlace} from './docker/containers/container-options.js';
import {createContainers, type Containers} from './docker/containers/containers.js';
import type {Gate} from './docker/containers/gated.js';
import {identityOf, needsImage} from './docker/containers/identity.js';
import {createImageUsers} from './docker/containers/image-users.js';
import {
	instanceContainer,
	instanceFolder,
	instanceHome,
	interpreters,
	makePlaces,
	socketFolder,
} from './docker/containers/instance-binds.js';
import {createRemovals} from './docker/containers/removal.js';
import {obstacleToNamespaces, obstacleToRights} from './docker/containers/rights.js';
import {listOurs, remove, removeAll, type Inspected, type Listed} from './docker/engine/calls.js';
import {openConnection, type EngineEvent, type EngineState} from './docker/engine/connection.js';
import {openEnginePlaces} from './docker/engine/engine-places.js';
import type {EngineAddress} from './docker/engine/engine-url.js';
import {EngineError, openEngine} from './docker/engine/engine.js';
import {labels, wasRunner} from './docker/engine/names.js';
import {askVersion, type EngineVersion} from './docker/engine/version.js';
import {createExec} from './docker/exec/exec.js';
import {openGates} from './docker/gates/gates.js';
import {createImages} from './docker/images/images.js';
import {createLogFollowers, type LogFollowers} from './docker/logs/log-followers.js';
import {ownerOf} from './docker/owner.js';
import {openInfraImage} from './docker/programs/infra-image.js';
import type {PodNetwork} from './pod-network/pod-network.js';
import {openSandboxes, type Inmate, type SandboxRecord} from './docker/sandboxes/sandboxes.js';
import {createWarmPool} from './docker/sandboxes/warm-pool.js';
import {makeWarm, takesNames} from './docker/sandboxes/warm-sandbox.js';
import {createSessions, sessionHandlers} from './exec-sessions.js';
import {connectToPort, createConnections} from './forward/connections.js';
import {isInstanceAt} from './functions/instance-code.js';
import {connectInstance, forwardToInstance} from './functions/instance-ways.js';
import {portIn, programEnd, writePort} from './functions/program-port.js';
import {runnerEnd} from './functions/runner-socket.js';
import type {CallsEnd} from './functions/when-listens.js';
import {answering, handle, type Done, type Handlers} from './handlers.js';
import {createLogReader, type LoggedContainers} from './logs/log-reader.js';
import {explained, systemFailure} from './os/explained.js';
import {foldersIn} from './os/folders.js';
import {readBootId} from './os/identity.js';
import {removeTree} from './os/trees.js';
import {createLanes, createTurns} from './os/turns.js';
import {createInstances, type Artifacts} from './process/start/instances.js';
import {lostSandbox, noInstance, noLease, noSandbox} from './refusals.js';
import {openSpec} from './secret-env.js';
import {openHostRoom} from './usage/host-room.js';
import {takeSample, type Links} from './usage/sample.js';
import {openFolderUsage} from './volumes/folder-usage.js';
import type {HostPaths} from './volumes/host-paths.js';
import {openLocalVolumes} from './volumes/local-volumes.js';
import {openMemory} from './volumes/memory.js';
import {createVolumes} from './volumes/volumes.js';

export type DockerRuntimeOptions = {
	/** Where everything is kept. One agent at a time. */
	readonly directory: string;
	readonly clock: Clock;
	/** Of an Engine on this host. */
	readonly address: EngineAddress;
	readonly hostIP?: string | undefined;
	readonly onWarning?: ((message: string) => void) | undefined;
	/** How containers come by Secrets; without it those that name some do not start. */
	readonly secrets?: NodeSecrets | undefined;
	readonly maxPods?: number | undefined;
	/** The most processes of a container. */
	readonly processes?: number | undefined;
	/** Whether pods may have what gives them the host: privileged containers, namespaces of the host, more capabilities than Docker gives. */
	readonly allowPrivileged?: boolean | undefined;
	readonly logFileBytes?: number | undefined;
	/**
	 * How many sandboxes are kept ready for pods to come: from the start, or from the first pod on. None without it, nor where this agent cannot give a
	 * name to what runs.
	 */
	readonly warm?: {readonly count: number; readonly fromStart: boolean} | undefined;
	/** How many runners of functions wait for each of the images that were used last, where sandboxes are kept ready; without it the usual number. */
	readonly warmRunners?: number | undefined;
	/** What of the host pods may have as volumes; undefined: nothing. Never this directory. */
	readonly hostPaths?: HostPaths | undefined;
	/** Where volumes of class `local` are, absolute; undefined: there are none. */
	readonly localVolumes?: string | undefined;
	/** Undefined: pods have the Engine's network. */
	readonly network?: PodNetwork | undefined;
	/** How the node comes by the code of functions; without it no instance that has some starts. */
	readonly artifacts?: Artifacts | undefined;
};

export type DockerRuntime = Runtime & {
	/** A connection of this process to an instance of a function; each direction ends by itself. Rejects with Errors for people. */
	readonly connectFunction: (uid: string) => Promise<Socket>;
	/** How many runners of functions wait. */
	readonly warmRunners: () => number;
};

/** Throws errno exceptions when the directory cannot be used or there is no /proc. The Engine need not be there. */
export function createDockerRuntime(options: DockerRuntimeOptions): DockerRuntime {
	let tellEnd: ExitListener = () => undefined;
	let tell: (event: RuntimeEvent) => void = () => undefined;
	const parts = openParts(
		options,
		(container, exit) => tellEnd(container, exit),
		event => tell(event),
	);
	const {connection, containers, exec, images, logs, reader, usage} = parts;
	const handlers = handlersOf(parts);
	return {
		info: () => infoOf(parts, options),
		run(command, done) {
			const problem = wrongName(command);
			if (problem !== undefined) done(failed('ERR_BAD_REQUEST', {message: problem}));
			else answering(done, answer => handle(handlers, command, answer));
		},
		onExit: next => void (tellEnd = next),
		onEvent: next => void (tell = next),
		connectFunction: uid => connectInstance(parts, uid),
		warmRunners: () => parts.runners.ready(),
		async close() {
			const isSaved = images.close();
			reader.close();
			containers.close();
			usage.close();
			parts.connections.end();
			await Promise.all([exec.end(), logs.close(), parts.warm.close(), parts.runners.close()]);
			await connection.close();
			await isSaved;
			await parts.holds?.swept;
			await parts.groups.close();
		},
	};
}

type Parts = ReturnType<typeof openParts>;

function openParts(options: DockerRuntimeOptions, tellEnd: ExitListener, tell: (event: RuntimeEvent) => void) {
	const {clock, address, hostIP = '127.0.0.1', onWarning = () => undefined, secrets = noSecrets} = options;
	const sessions = createSessions(clock);
	const owner = ownerOf(path.resolve(options.directory));
	const directory = realpathSync(options.directory);
	const engine = openEngine(address, clock);
	const bootId = readBootId();
	const inLane = createLanes(limits.engineStarts);
	const inmatesOf = (uid: string): readonly Inmate[] =>
		foldersIn(sandboxes.folderOf(uid)).map(container => {
			const {live, highest} = containers.find({uid, container});
			return {name: container, runs: live !== undefined, highest};
		});
	const gates = openGates(directory, clock);
	const infraImage = openInfraImage(engine);
	const said: {engine: EngineVersion; takesNames: boolean} = {engine: {name: 'Docker', version: ''}, takesNames: false};
	const isRouted = options.network?.isRouted === true;
	// Pods with a network of their own that ask the resolver of their host have what the Engine makes of that.
	const isResolved = !isRouted || options.network?.resolver('routed') !== undefined;
	const hasWarm = gates !== undefined && isResolved && (options.warm?.count ?? 0) > 0;
	const warm = createWarmPool({
		count: hasWarm ? (options.warm?.count ?? 0) : 0,
		make: hostname => makeWarm({engine, infraImage, owner, isRouted, cgroupParentOf: () => groups.infraParent()}, hostname),
		remove: id => remove(engine, id),
		isUp: () => connection.state().is === 'up' && said.takesNames,
		clock,
		random: systemRandom,
		onWarning,
	});
	const runners = createWarmRunners({
		// They wait in such sandboxes.
		count: hasWarm ? (options.warmRunners ?? limits.warmRunners) : 0,
		directory,
		folderOf: uid => sandboxes.folderOf(uid),
		canBe: () => said.takesNames,
		engine,
		infraImage,
		owner,
		isRouted,
		cgroupParentOf: () => groups.infraParent(),
		clock,
		random: systemRandom,
		onWarning,
	});
	const sandboxes = openSandboxes({
		directory,
		engine,
		owner,
		hostIP,
		infraImage,
		warm,
		runners,
		network: options.network,
		cgroupParentOf: () => groups.infraParent(),
		inmatesOf,
		inLane,
		tell,
		onWarning,
	});
	const isRoot = process.getuid?.() === 0;
	const groups = createPodGroups({owner, isRoot, folderOf: sandboxes.folderOf, bootId, clock, onWarning});
	for (const uid of sandboxes.list()) groups.leases.adopt(uid);
	const doubt = (): void => connection.doubt();
	const logs = createLogFollowers({engine, clock, limitBytes: options.logFileBytes ?? limits.logFileBytes, onWarning});
	const containers = createContainers({sandboxes, engine, logs, bootId, clock, tell: tellEnd, doubt, onWarning});
	const {allowed = [], never = []} = options.hostPaths ?? {};
	const local = options.localVolumes === undefined ? undefined : openLocalVolumes(options.localVolumes);
	const places = openEnginePlaces(address);
	const hostPaths: HostPaths = {
		allowed,
		never: [...never, directory, ...(local === undefined ? [] : [local.folder])],
		// Who may run privileged containers has the host without them.
		...(options.allowPrivileged === true ? {} : {ofEngine: places.all}),
	};
	const usage = openFolderUsage(clock);
	const volumes = createVolumes({
		folderOf: sandboxes.folderOf,
		// Users are the images'.
		find: uid => (sandboxes.find(uid) === undefined ? undefined : {owner: undefined}),
		list: sandboxes.list,
		memory: isRoot ? openMemory(directory, true) : undefined,
		local,
		usage,
		secrets,
		hostPaths,
		hasNfs: false,
		isRoot,
	});
	const imageUsers = createImageUsers(engine, owner);
	const instances = createInstances(options.artifacts, {remove: uid => removeTree(instanceFolder(sandboxes.folderOf(uid)))});
	const callsEndOf = (uid: string): Outcome<CallsEnd> => {
		const folder = sandboxes.folderOf(uid);
		const home = instanceHome(folder);
		if (!isInstanceAt(home)) return noInstance(uid);
		if (containers.find({uid, container: functionContainer}).live?.started === undefined)
			return failed('ERR_NOT_REACHABLE', {message: `container "${functionContainer}" does not run`});
		const port = portIn(home);
		if (port === undefined) return succeeded(runnerEnd({home: socketFolder(folder), owner: undefined}));
		const podIP = sandboxes.infraOf(uid)?.podIP;
		if (podIP === undefined) return lostSandbox(uid);
		return succeeded(programEnd(port, () => connectToPort(port, () => Promise.resolve([podIP]), clock), clock));
	};
	const connection = openConnection({
		engine,
		clock,
		owner,
		async compare() {
			said.engine = await askVersion(engine, limits.engineAnswerMs);
			const info: unknown = await engine.call('ask how it is', limits.engineAnswerMs, docker => docker.info());
			said.takesNames = takesNames(said.engine.name, info);
			groups.learn(info);
			places.learn(info);
			const listed = await listOurs(engine, owner);
			// Pods that have lost their sandbox first: their containers are not to be started again in it.
			const strays = new Set([...sandboxes.compare(listed), ...(await containers.compare(listed))]);
			await removeAll(
				engine,
				listed.filter(each => (strays.has(each.Id) && !runners.has(each.Id, each.Names[0] ?? '')) || isOfNothing(each, imageUsers.mark)),
			);
		},
		hear(event: EngineEvent) {
			sandboxes.hear(event);
			containers.hear(event);
		},
		changed() {
			warm.look();
			tell({type: 'infoChanged'});
		},
	});
	// Where nobody uses Docker nothing strange is to be found in it.
	if (options.warm?.fromStart === true || sandboxes.list().length > 0) warm.begin();
	return {
		clock,
		hostIP,
		secrets,
		owner,
		engine,
		bootId,
		inLane,
		groups,
		gates,
		warm,
		runners,
		onWarning,
		sandboxes,
		containers,
		volumes,
		usage,
		connection,
		said,
		measured: openContainerUsage(),
		room: openHostRoom(directory),
		links: () => options.network?.links() ?? noLinks,
		sessions,
		connections: createConnections(sessions, clock),
		images: createImages({
			...{engine, clock, secrets, directory, onWarning, sessions},
			onEvent: tell,
			engineProblem: () => problemOf(connection.state()),
		}),
		hostPaths,
		holds: isRoot ? openHolds(directory, onWarning) : undefined,
		imageUsers,
		instances,
		callsEndOf,
		allowPrivileged: options.allowPrivileged ?? false,
		processes: options.processes ?? limits.containerProcesses,
		turns: createTurns(),
		removals: createRemovals(sandboxes, containers, [
			{remove: uid => logs.drop(sandboxes.folderOf(uid))},
			volumes,
			instances,
			groups,
			...(options.network === undefined ? [] : [options.network]),
		]),
		logs,
		reader: createLogReader(loggedContainers(containers, logs), clock),
		exec: createExec({
			...{engine, clock, sessions, find: containers.find, callsEndOf},
			environmentOf(id) {
				const {folder, live} = containers.find(id);
				return live === undefined ? [] : readEnvironment(folder, live.attempt);
			},
		}),
	};
}

/** A log is not over while its last lines are still being copied, even where the end of its container was told. */
const loggedContainers = (containers: Containers, logs: LogFollowers): LoggedContainers => ({
	find(id) {
		const container = containers.find(id);
		return container.live === undefined ? {folder: container.folder, live: logs.copying(container.folder)} : container;
	},
	whenEnded: (container, callback) => containers.whenEnded(container, callback),
});

/** Made by an agent that is gone, to look into an image. */
const isOfNothing = ({Labels}: Listed, mark: string): boolean =>
	Labels[labels.podUid] === undefined && Labels[labels.sandbox] !== 'warm' && !wasRunner(Labels) && Labels[labels.sandbox] !== mark;

function handlersOf(parts: Parts): Handlers {
	const {exec, groups, images, sandboxes, warm, removals, containers, volumes, reader, turns} = parts;
	return {
		...exec.handlers,
		...sessionHandlers(parts.sessions),
		'sandbox.ensure': ({spec}, done) =>
			withEngine(parts, done, answer => {
				const obstacle = parts.allowPrivileged ? undefined : obstacleToNamespaces(spec);
				if (obstacle !== undefined) return answer(failed('ERR_RUNTIME', {message: `the pod cannot start: ${obstacle}`}));
				warm.begin();
				const made = turns.run(spec.uid, () => warm.during(() => sandboxes.ensure(spec)));
				made.then(sandbox => answer(succeeded(sandbox)), failing(answer));
			}),
		// In turn with what makes it: a removal that is asked for after it comes after it.
		'sandbox.remove': ({uid}, done) =>
			withEngine(parts, done, answer => {
				void turns.run(uid, () => new Promise<void>(resolve => removals.remove(uid, outcome => resolve(answer(outcome)))));
			}),
		'sandbox.list': (_command, done) => done(succeeded(sandboxes.list())),
		'container.start': ({spec}, done) => withEngine(parts, done, answer => start(parts, spec, answer)),
		'container.inspect'({id}, done) {
			if (sandboxes.find(id.uid) === undefined) done(succeeded({running: undefined, lastExit: undefined, nextAttempt: 0}));
			else withContainers(parts, done, answer => withPod(parts, id.uid, answer, () => containers.inspect(id, answer)));
		},
		'container.stop'({id, graceMs}, done) {
			if (sandboxes.find(id.uid) === undefined) done(succeeded(null));
			else withEngine(parts, done, answer => containers.stop(id, graceMs, answer));
		},
		'volumes.ensure': (command, done) => withPod(parts, command.uid, done, () => volumes.ensure(command, done)),
		'volume.remove': (command, done) => volumes.removeLocal(command, done),
		'volume.measure': ({volume}, done) => volumes.measureLocal(volume, done),
		'logs.read': ({request}, done) =>
			withPod(parts, request.id.uid, done, pod => withContainers(parts, done, answer => reader.read(request, pod, answer))),
		'usage.read'(_command, done) {
			const running = [...containers.running()].flatMap(({id, live}) =>
				live?.started === undefined || live.engineId === undefined ? [] : [{id, engineId: live.engineId, started: live.started}],
			);
			const links = new Map([...parts.links()].filter(([uid]) => sandboxes.find(uid) !== undefined));
			takeSample(parts.measured(running), parts.clock, {links, room: parts.room}).then(sample => done(succeeded(sample)), failing(done));
		},
		'container.act': (command, done) => withPod(parts, command.id.uid, done, () => exec.handlers['container.act'](command, done)),
		'image.ensure': (command, done) => withEngine(parts, done, answer => images.handlers['image.ensure'](command, answer)),
		'image.list': (command, done) => withEngine(parts, done, answer => images.handlers['image.list'](command, answer)),
		'image.open': (command, done) => withEngine(parts, done, answer => images.handlers['image.open'](command, answer)),
		// A person waits for it.
		'exec.open': (command, done) =>
			withPod(parts, command.request.id.uid, done, () =>
				withEngine(parts, done, answer => exec.handlers['exec.open'](command, answer), limits.execOpenWaitMs),
			),
		'forward.open': ({request}, done) =>
			withPod(parts, request.uid, done, () => {
				if (request.port === 'function') return forwardToInstance(parts, request, done);
				const podIP = sandboxes.infraOf(request.uid)?.podIP;
				if (podIP === undefined) done(lostSandbox(request.uid));
				else parts.connections.open(request, () => Promise.resolve([podIP]), done);
			}),
		'stdin.write': (command, done) => withPod(parts, command.id.uid, done, () => exec.handlers['stdin.write'](command, done)),
		// Whose devices are whose the node knows for all of its runtimes: agent/devices.
		'devices.release': (_command, done) => done(succeeded(null)),
		'lease.extend': ({uid, untilMs}, done) =>
			withPod(parts, uid, done, () => {
				groups.leases.extend(uid, untilMs);
				done(succeeded(null));
			}),
	};
}

const noLinks: Links = new Map();

const failing =
	<Value>(done: Done<Value>) =>
	(error: unknown): void =>
		done(systemFailure(error));

/** Runs once the Engine answers; after a while without it says why it does not. */
function withEngine<Value>(
	{connection}: Parts,
	done: Done<Value>,
	run: (answer: Done<Value>) => void,
	waitMs: number = limits.engineWaitMs,
): void {
	connection.whenUp(waitMs).then(() => answering(done, run), failing(done));
}

/** Runs once it is known what runs: then that is known by what the Engine tells, also while it does not answer. */
function withContainers<Value>(parts: Parts, done: Done<Value>, run: (answer: Done<Value>) => void): void {
	if (parts.connection.wasUp()) run(done);
	else withEngine(parts, done, run);
}

/** Runs with the pod of a command; otherwise answers why there is none to be used. */
function withPod<Value>({sandboxes, removals}: Parts, uid: string, done: Done<Value>, run: (pod: SandboxRecord) => void): void {
	const pod = sandboxes.find(uid);
	if (removals.isRemoving(uid)) done(failed('ERR_RUNTIME', {message: `the sandbox "${uid}" is being removed`}));
	else if (pod === undefined) done(noSandbox(uid));
	else run(pod);
}

const startRefused = ({container}: ContainerSpec['id'], reason: string): ReturnType<typeof failed> =>
	failed('ERR_RUNTIME', {message: `container "${container}" cannot start: ${reason}`});

function start(parts: Parts, spec: ContainerSpec, done: Done<RunningContainer>): void {
	const {secrets, allowPrivileged} = parts;
	const obstacle = allowPrivileged ? undefined : obstacleToRights(spec);
	if (obstacle !== undefined) return done(startRefused(spec.id, obstacle));
	openSpec(spec, secrets, opened => {
		if (!opened.ok) return done(opened);
		// Secrets may have been waited for: the caller of the command does not catch any more.
		answering(done, answer => {
			if (spec.function === undefined) beginContainer(parts, opened.value, [], answer);
			else startInstance(parts, opened.value, spec.function, answer);
		});
	});
}

/** `more`: what it has of the node beside its volumes. */
function beginContainer(parts: Parts, spec: OpenedSpec, more: readonly Bind[], done: Done<RunningContainer>): void {
	const {uid} = spec.id;
	withPod(parts, uid, done, pod => {
		if (spec.exclusive === true && parts.groups.leases.deadlineOf(uid) === undefined) return done(noLease(spec.id));
		parts.containers.start(spec, folder => parts.warm.during(() => beginIn(parts, pod, spec, more, folder)), done);
	});
}

/** With the code of the function, and its runner, in the folder of the pod. */
function startInstance(parts: Parts, spec: OpenedSpec, instance: FunctionInstance, done: Done<RunningContainer>): void {
	const {sandboxes, removals, containers, instances, runners} = parts;
	const {uid} = spec.id;
	withPod(parts, uid, done, () => {
		const folder = sandboxes.folderOf(uid);
		const home = instanceHome(folder);
		const waiting = canWait(spec) ? runners.find(uid) : undefined;
		const isSeen = waiting?.giveFolder(instanceFolder(folder)) ?? false;
		makePlaces(instanceFolder(folder));
		const attempt = {
			uid,
			home,
			socketFolder: socketFolder(folder),
			instance,
			isSeen,
			isWanted: () => sandboxes.find(uid) !== undefined && !removals.isRemoving(uid),
			isRunning: () => containers.find(spec.id).live !== undefined,
		};
		let hasBegun = false;
		const begin = (): void => {
			hasBegun = true;
			answering(done, answer => {
				if (instance.runtime === 'program') writePort(home, functionPort);
				const container = instanceContainer(spec, instance, folder);
				beginContainer(parts, container.spec, container.binds, answer);
			});
		};
		// One that waits is begun where its container would be made.
		instances.start(attempt, {beginWarm: () => false, begin}).catch((error: unknown) => {
			if (hasBegun) throw error;
			done(startRefused(spec.id, explained(error)));
		});
	});
}

/** Finds all that the container is made with, and begins it. Rejects with EngineErrors, Refusals and errno exceptions. */
async function beginIn(
	parts: Parts,
	{uid, spec: sandbox}: SandboxRecord,
	spec: OpenedSpec,
	more: readonly Bind[],
	folder: string,
): Promise<Inspected> {
	const {owner, processes, volumes, hostPaths, holds, imageUsers, sandboxes, groups, said} = parts;
	const image = needsImage(spec) ? await imageUsers.read(spec.imageId ?? spec.image) : undefined;
	const identified = identityOf(spec, image);
	if (!identified.ok) throw new EngineError('refused', identified.reason);
	const infra = sandboxes.infraOf(uid);
	if (infra === undefined) throw new EngineError('refused', 'the infra container of its pod does not run');
	const gate = gateOf(parts, spec, infra.wasWarm ? sandbox.hostname : undefined);
	if (typeof gate === 'string') throw new EngineError('refused', gate);
	const bound = await bindsOf(spec.mounts, volume => volumes.find(uid, volume), hostPaths, holds);
	const binds = [...more, ...bound.binds];
	try {
		const cgroupParent = groups.parentOf(uid);
		const place = {owner, infra: infra.id, sandbox, cgroupParent, processes, ...identified.identity, binds, engine: said.engine.name};
		return (await beginInWaiting(parts, spec, place, folder)) ?? (await beginAnew(parts, spec, place, folder, gate));
	} catch (error) {
		if (error instanceof EngineError) throw new EngineError(error.fault, withImage(spec, bound.told(error.message)));
		// Behind a gate it is the agent that looks for the program.
		const told = error instanceof Error ? withImage(spec, error.message) : '';
		throw error instanceof Error && told !== error.message ? new Error(told, {cause: error}) : error;
	} finally {
		await bound.release();
	}
}

/** In the container of a runner that was given to the pod with its sandbox; undefined: there is none, or it cannot be used and goes. */
async function beginInWaiting(parts: Parts, spec: OpenedSpec, place: ContainerPlace, folder: string): Promise<Inspected | undefined> {
	const {runners, clock, onWarning} = parts;
	const {uid} = spec.id;
	const runner = runners.find(uid);
	if (runner === undefined || spec.function === undefined) return undefined;
	let begun: Inspected | undefined;
	try {
		begun = await beginWaiting(parts, spec, place, folder, {runner, instance: spec.function, clock, onWarning});
	} finally {
		runners.finish(uid, begun !== undefined);
	}
	if (begun !== undefined) wantRunners(parts, spec, place);
	return begun;
}

async function beginAnew(
	parts: Parts,
	spec: OpenedSpec,
	place: ContainerPlace,
	folder: string,
	gate: Gate | undefined,
): Promise<Inspected> {
	const begun = await begin(parts, spec, place, folder, gate);
	wantRunners(parts, spec, place);
	return begun;
}

/** What has begun once may begin again: further instances of its image find a runner. */
function wantRunners({runners}: Parts, spec: OpenedSpec, place: ContainerPlace): void {
	const language = spec.function?.runtime ?? 'program';
	if (language === 'program' || !canWait(spec) || place.sandbox.shareProcessNamespace) return;
	runners.want({language, image: spec.image, memoryLimitBytes: spec.memoryLimitBytes}, containerOptions(spec, place));
}

/** Where the interpreter of a function is not in its image, that is what there is to know. */
function withImage({function: instance, image}: OpenedSpec, message: string): string {
	if (instance === undefined || instance.runtime === 'program') return message;
	const [program] = interpreters[instance.runtime];
	if (!message.includes(program) || !/not found|no such file/.test(message)) return message;
	return `its image "${image}" has no ${program} in its PATH, which runs functions of runtime ${instance.runtime}: spec.image has to be one that does (${message})`;
}

/** Undefined: its program begins with the container. A text: why it cannot begin at all. `hostname`: the Engine calls it something else. */
function gateOf(
	{gates, groups, said}: Parts,
	{id: {uid}, exclusive}: ContainerSpec,
	hostname: string | undefined,
): Gate | string | undefined {
	if (exclusive !== true && hostname === undefined) return undefined;
	// What is killed with the pod's control group would be conmon as well, which alone knows how a container has ended.
	if (exclusive === true && said.engine.name === 'Podman')
		return 'exclusive pods do not run on Podman, whose own programs are in the control group of the pod';
	if (gates === undefined) {
		const what = exclusive === true ? 'exclusive pods on Docker need' : 'its sandbox was made before its pod, and to name it needs';
		return `${what} an agent that is root, and the programs nsenter and mkfifo`;
	}
	if (exclusive !== true) return {gates, hostname, mayRun: () => undefined};
	groups.open(uid);
	return {
		gates,
		hostname,
		mayRun(pid) {
			if (!groups.has(uid, pid)) throw new Error("Docker's Engine has put it into a control group that this node does not see");
			if (groups.leases.deadlineOf(uid) === undefined) throw new Error('the lease of its pod has ended');
		},
	};
}

function infoOf(
	{connection, said, hostIP, bootId, allowPrivileged}: Parts,
	{maxPods = limits.podsPerNode, localVolumes}: DockerRuntimeOptions,
): RuntimeInfo {
	const state = connection.state();
	return {
		name: 'docker',
		version: said.engine.version,
		cpuMillis: os.availableParallelism() * 1_000,
		memoryBytes: os.totalmem(),
		maxPods,
		features: [
			...features,
			...(localVolumes === undefined ? [] : ['claims' as const]),
			...(allowPrivileged ? ['privileged' as const] : []),
		],
		...(localVolumes === undefined ? {} : {localVolumes}),
		classes: state.is === 'up' ? ['docker'] : [],
		conditions: conditionsOf(state),
		hostIP,
		hostBootId: bootId,
		os: os.type(),
		kernel: os.release(),
		architecture: kubernetesArchitecture(os.arch()),
	};
}

const features: readonly NodeFeature[] = ['hostPorts', 'limits', 'terminal', 'users', 'volumes'];

const reasons = {hangs: 'EngineHangs', gone: 'EngineGone'} as const;

/** While it connects it may answer the next moment. */
const problemOf = (state: EngineState): string | undefined => ('message' in state ? state.message : undefined);

function conditionsOf(state: EngineState): RuntimeInfo['conditions'] {
	if (state.is === 'up') return [];
	if (state.is === 'connecting')
		return [{type: 'DockerNotReady', reason: 'Connecting', message: "Docker's Engine has not answered yet; it is asked until it does"}];
	return [{type: 'DockerNotReady', reason: reasons[state.is], message: state.message}];
}
