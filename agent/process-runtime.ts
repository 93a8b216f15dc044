// The process runtime: containers are plain processes of the host, each under a small shim that outlives the agent.
//
// All state is in files under one directory, so any later agent adopts what runs. `agent/process/` has the parts, the highest first:
//
//   exec        programs beside a container's own: sessions, probes, hooks
//   containers  what runs, what ended, what an earlier agent left; input; removal
//   start       from a spec to a shim that runs
//   host        what this host can do: namespaces, mounts, terminals
//   mounts      what a program sees of the node's files
//   sandboxes   pods, their addresses and homes
//   cgroups     limits, and finding every process of a container
//   attempts    the files of an attempt: state, lifeline, FIFOs
//   users       who programs run as
//
// Leases, volumes, logs and what is asked of the kernel are beside it, in `agent/`: every runtime has them.

import {existsSync, realpathSync} from 'node:fs';
import path from 'node:path';
import type {Socket} from 'node:net';
import {failed, succeeded, type Outcome} from '../api/errors.js';
import {functionContainer, type FunctionInstance} from '../api/function-instance.js';
import {limits} from '../api/limits.js';
import type {
	ContainerSpec,
	ExitListener,
	ForwardRequest,
	OpenedSpec,
	RunningContainer,
	Runtime,
	SandboxSpec,
} from '../actors/node/runtime/runtime-port.js';
import {noSecrets, type NodeSecrets} from '../actors/node/runtime/secrets-port.js';
import type {Clock} from '../system/time/clock.js';
import {defaultSubnet} from './process/sandboxes/addresses.js';
import {attemptFolder, stdinEndFile} from './attempts.js';
import {wrongName} from './command-names.js';
import {noGroups, openContainerGroups, type ContainerGroups} from './process/cgroups/container-groups.js';
import {createContainers, type StartPlan, type WarmStart} from './process/containers/containers.js';
import {createExec} from './process/exec/exec.js';
import {placesOf} from './process/mounts/hidden.js';
import {homesFolder, openHomes} from './process/sandboxes/homes.js';
import {hostOf, infoOf, type Host} from './process/host/host.js';
import type {HostPaths} from './volumes/host-paths.js';
import {createLeases} from './leases/leases.js';
import {createLogReader} from './logs/log-reader.js';
import {openFolderUsage} from './volumes/folder-usage.js';
import {explained, systemFailure} from './os/explained.js';
import {openHostRoom} from './usage/host-room.js';
import {allFiguresOfProcesses} from './usage/process-figures.js';
import {processesOf, readProcessTable} from './usage/process-table.js';
import {takeSample, type Links, type Measured} from './usage/sample.js';
import {openLocalVolumes} from './volumes/local-volumes.js';
import {createLogWatch} from './logs/log-watch.js';
import {openMemory} from './volumes/memory.js';
import type {PodNetwork} from './pod-network/pod-network.js';
import type {NetworkOfProcess} from './os/network-namespace.js';
import {createTurns} from './os/turns.js';
import type {NfsTools} from './volumes/nfs.js';
import {createInstances, runnerPlaceOf, type Artifacts} from './process/start/instances.js';
import {planOf, type Start} from './process/start/plan.js';
import {createWarmRunners} from './process/start/warm-runners.js';
import {defaultUserRange, openPodUsers, type UserRange} from './process/users/pod-users.js';
import {chooseUser, type Dropper} from './process/users/privileges.js';
import {createRemovals} from './process/containers/removal.js';
import {foldersIn} from './os/folders.js';
import {namesIn} from './process/sandboxes/names.js';
import {addressOf, adoptNetworks, ensureIn, ensureRouted, isRouted, obstacleTo} from './process/sandboxes/networks.js';
import {openSandboxes, privateRootName, tableName, type SandboxRecord} from './process/sandboxes/sandboxes.js';
import {createInput} from './process/containers/stdin.js';
import {startNotes} from './process/host/start-notes.js';
import {createStock} from './process/attempts/stock.js';
import {createVolumes} from './volumes/volumes.js';
import {answering, handle, type Done, type Handlers} from './handlers.js';
import {noImages, noLease, noSandbox} from './refusals.js';
import {openSpec} from './secret-env.js';
import {createSessions} from './exec-sessions.js';
import {connectToPort, createConnections} from './forward/connections.js';
import {connectInstance, forwardToInstance} from './functions/instance-ways.js';
import {createLookups, type Lookups} from './forward/lookups.js';
import {codeOf, type OwnedPlace, type RunnerPlace} from './functions/runner-place.js';
import {pathsIn, runnerConfigOf, runnerWords, type Programs} from './functions/runner-files.js';
import {choosePort, portIn, programEnd, withPort, writePort} from './functions/program-port.js';
import {runnerEnd} from './functions/runner-socket.js';
import type {CallsEnd} from './functions/when-listens.js';
import {listeningAt} from './os/listening.js';
import {processesOfPod} from './process/containers/pod-processes.js';

export type ProcessRuntimeOptions = {
	/** Where everything is kept. One agent at a time. */
	readonly directory: string;
	readonly clock: Clock;
	readonly hostIP?: string | undefined;
	readonly onWarning?: ((message: string) => void) | undefined;
	/** Told at the start alone: what holds otherwise than an operator may think. */
	readonly onNote?: ((note: string) => void) | undefined;
	/** How containers come by Secrets; without it those that name some do not start. */
	readonly secrets?: NodeSecrets | undefined;
	readonly maxPods?: number | undefined;
	/** Of 127.0.0.0/8: where this node's pods get their addresses. */
	readonly subnet?: string | undefined;
	/** The users that pods get, where the agent is root. */
	readonly users?: UserRange | undefined;
	/** The most processes of a container. */
	readonly processes?: number | undefined;
	/** Runners of functions that wait for their pods, where that can be. */
	readonly warmRunners?: number | undefined;
	/** Where pods have folders of their own. */
	readonly homes?: string | undefined;
	/** PATH of the node, for containers whose environment has none. */
	readonly path?: string | undefined;
	/** How root becomes another user. Undefined: whatever works here; null: nothing does, so shims run as their users. */
	readonly dropper?: Dropper | null | undefined;
	/** Undefined: whatever works here; null: none, so that limits hold as far as the shell can set them. */
	readonly controlGroups?: null | undefined;
	/** Undefined: whatever works here; null: none, so that containers see the processes of the node. */
	readonly namespaces?: null | undefined;
	/** What mounts NFS. Undefined: whatever works here; null: nothing does. */
	readonly nfs?: NfsTools | null | undefined;
	readonly logFileBytes?: number | undefined;
	/** How many folders of each sort are made in advance. */
	readonly stockFolders?: number | undefined;
	/** What of the host pods may have as volumes; undefined: nothing. Never this directory. */
	readonly hostPaths?: HostPaths | undefined;
	/** Where volumes of class `local` are, absolute; undefined: there are none. */
	readonly localVolumes?: string | undefined;
	/** Whether pods may have the network of this node where others have networks of their own. */
	readonly allowPrivileged?: boolean | undefined;
	/** Why new pods share the network of this node, for people. */
	readonly sharedBecause?: string | undefined;
	/** Undefined: all pods share the network of this node. */
	readonly network?: PodNetwork | undefined;
	/** How the node comes by the code of functions; without it no instance of one starts. */
	readonly artifacts?: Artifacts | undefined;
};

export type ProcessRuntime = Runtime & {
	/** A connection of this process to an instance of a function; each direction ends by itself. Rejects with Errors for people. */
	readonly connectFunction: (uid: string) => Promise<Socket>;
	/** Where the runner of an instance that runs takes connections; undefined: there is none, or it is a program at a port. */
	readonly functionPlace: (uid: string) => OwnedPlace | undefined;
	/** How many runners of functions wait for their pods. */
	readonly warmRunners: () => number;
};

/** Throws errno exceptions when the directory cannot be used or there is no /proc, and a RangeError for a wrong subnet. */
export function createProcessRuntime(options: ProcessRuntimeOptions): ProcessRuntime {
	let listener: ExitListener = () => undefined;
	const parts = openParts(options, (container, exit) => listener(container, exit));
	const {host, hostIP, groups, sandboxes, leases, exec, input, logs, growth, containers, stock, usage} = parts;
	const handlers = handlersOf(parts);
	for (const uid of sandboxes.list()) leases.adopt(uid);
	if (parts.network !== undefined) adoptNetworks(sandboxes, parts.network);
	return {
		info: () => infoOf(host, hostIP, groups, {...options, isRouted: parts.network?.isRouted === true}),
		run(command, done) {
			const problem = wrongName(command);
			if (problem !== undefined) done(failed('ERR_BAD_REQUEST', {message: problem}));
			else answering(done, answer => handle(handlers, command, answer));
		},
		onExit(next) {
			listener = next;
		},
		// A pod is folders and an address here: nothing of it dies by itself, nothing is pulled, and the host stays as it was found.
		onEvent: () => undefined,
		connectFunction: uid => connectInstance(parts, uid),
		functionPlace(uid) {
			const place = parts.runnerPlaceOf(uid);
			if (!place.ok || portIn(place.value.home) !== undefined) return undefined;
			const {home, owner} = place.value;
			return owner === undefined ? undefined : {home, owner};
		},
		warmRunners: () => parts.warm.ready(),
		close() {
			leases.close();
			parts.connections.end();
			exec.end();
			input.close();
			logs.close();
			growth.close();
			containers.close();
			usage.close();
			// What waits has groups that are removed with it.
			return Promise.all([stock.close(), parts.warm.close().then(groups.close)]).then(() => undefined);
		},
	};
}

type Parts = ReturnType<typeof openParts>;

function openParts(options: ProcessRuntimeOptions, tell: ExitListener) {
	const {clock, hostIP = '127.0.0.1', onWarning = () => undefined, secrets = noSecrets} = options;
	const directory = path.resolve(options.directory);
	const stock = createStock(path.join(directory, '.stock'), options.stockFolders ?? limits.stockFolders, clock, onWarning);
	const realDirectory = realpathSync(directory);
	const {path: searchPath, dropper, namespaces, nfs} = options;
	const host = hostOf({path: searchPath, dropper, namespaces, nfs, folder: path.join(realDirectory, '.stock'), onWarning});
	const isRoot = host.agent.uid === 0;
	const range = isRoot ? (options.users ?? defaultUserRange(realDirectory)) : undefined;
	const users = range === undefined ? undefined : openPodUsers(directory, range, onWarning);
	const sandboxes = openSandboxes(directory, options.subnet ?? defaultSubnet, stock, onWarning, users);
	const {folderOf, find} = sandboxes;
	const processes = options.processes ?? limits.containerProcesses;
	const groups = openGroups(options, directory, host, processes);
	for (const note of startNotes(options, range, groups.enforces('pids'))) options.onNote?.(note);
	const growth = createLogWatch(clock, options.logFileBytes ?? limits.logFileBytes, onWarning);
	const containers = createContainers({sandboxes, stock, groups, logs: growth, bootId: host.bootId, clock, tell, onWarning});
	groups.sweep((id, attempt) => existsSync(attemptFolder(path.join(folderOf(id.uid), id.container), attempt)));
	const memory = host.mountTools === undefined || !isRoot ? undefined : openMemory(realDirectory);
	const {allowed = [], never = []} = options.hostPaths ?? {};
	const local = options.localVolumes === undefined ? undefined : openLocalVolumes(options.localVolumes);
	const hostPaths: HostPaths = {allowed, never: [...never, directory, ...(local === undefined ? [] : [local.folder])]};
	const podHomes = options.homes ?? homesFolder(realDirectory, isRoot);
	const usage = openFolderUsage(clock);
	const sessions = createSessions(clock);
	const volumes = createVolumes({
		folderOf,
		find,
		list: sandboxes.list,
		memory,
		local,
		usage,
		secrets,
		hostPaths,
		hasNfs: host.nfs !== undefined,
		isRoot,
	});
	const kill = (uid: string): void => {
		for (const container of foldersIn(folderOf(uid))) containers.stop({uid, container}, 0, () => undefined);
	};
	const leases = createLeases({folderOf, kill, bootId: host.bootId, clock, onWarning});
	const {network} = options;
	const enterNetwork = (uid: string): readonly string[] => (isRouted(find(uid)) ? (network?.enter(uid) ?? []) : []);
	const count = options.warmRunners ?? limits.warmRunners;
	const warm = createWarmRunners({directory, count, isRouted: network?.isRouted === true, host, groups, stock, clock, onWarning});
	const homes = openHomes({folder: podHomes, isRoot, isThere: uid => find(uid) !== undefined, onWarning});
	const instances = createInstances(options.artifacts, homes);
	const lookups = createLookups(clock);
	const addressesOf = (pod: SandboxRecord, port: number) => addressesAt({containers, groups, lookups, hostIP}, pod, port);
	const placeOf = (uid: string): Outcome<RunnerPlace> => {
		const {highest, live} = containers.find({uid, container: functionContainer});
		return runnerPlaceOf(uid, {highest, started: live?.started}, user => homes.placeOf(uid, user));
	};
	const callsEndOf = (uid: string): Outcome<CallsEnd> => {
		const place = placeOf(uid);
		if (!place.ok) return place;
		const port = portIn(place.value.home);
		const pod = find(uid);
		if (port === undefined || pod === undefined) return succeeded(runnerEnd(place.value));
		return succeeded(programEnd(port, () => connectToPort(port, addressesOf(pod, port), clock), clock));
	};
	return {
		clock,
		hostIP,
		allowPrivileged: options.allowPrivileged === true,
		secrets,
		realDirectory,
		processes,
		stock,
		host,
		sandboxes,
		groups,
		growth,
		containers,
		memory,
		hostPaths,
		podHomes,
		usage,
		room: openHostRoom(directory),
		volumes,
		leases,
		homes,
		instances,
		runnerPlaceOf: placeOf,
		callsEndOf,
		addressesOf,
		network,
		enterNetwork,
		warm,
		turns: createTurns(),
		removals: createRemovals(sandboxes, containers, [...(network === undefined ? [] : [network]), instances, volumes], leases),
		input: createInput(),
		logs: createLogReader(containers, clock),
		exec: createExec({containers, groups, stock, host, clock, enterNetwork, callsEndOf}, sessions),
		connections: createConnections(sessions, clock),
	};
}

/** A shim that runs as its container's user cannot join any. */
function openGroups(
	{controlGroups, clock, onWarning = () => undefined}: ProcessRuntimeOptions,
	directory: string,
	{agent, dropper}: Host,
	processes: number,
): ContainerGroups {
	const mayJoin = agent.uid !== 0 || dropper !== undefined;
	return controlGroups === null || !mayJoin ? noGroups : openContainerGroups(directory, clock, onWarning, undefined, processes);
}

function handlersOf(parts: Parts): Handlers {
	const {sandboxes, removals, containers, hostIP, volumes, exec, input, leases, logs} = parts;
	return {
		...exec.handlers,
		'sandbox.ensure'({spec}, done) {
			const {turns, host, allowPrivileged, network} = parts;
			const answer = (record: SandboxRecord): void =>
				done(succeeded({podIP: addressOf(record, hostIP), hostIP, ...(isRouted(record) ? {isRouted: true} : {})}));
			if (removals.isRemoving(spec.uid)) return withPod(parts, spec.uid, done, () => undefined);
			// What is there keeps what it was given.
			const means = {isRoot: host.agent.uid === 0, mayMount: host.mountTools !== undefined, network, allowPrivileged};
			const obstacle = sandboxes.find(spec.uid) === undefined ? obstacleTo(spec, means) : undefined;
			if (obstacle !== undefined) return done(failed('ERR_RUNTIME', {message: `the pod cannot start: ${obstacle}`}));
			if (network === undefined) return answer(ensureIn(sandboxes, hostIP, spec));
			turns
				.run(spec.uid, () => ensureRouted(sandboxes, network, hostIP, spec, () => keepWarm(parts, spec)))
				.then(answer, (error: unknown) => {
					parts.warm.release(spec.uid);
					done(systemFailure(error));
				});
		},
		'sandbox.remove': ({uid}, done) => removeSandbox(parts, uid, done),
		'sandbox.list': (_command, done) => done(succeeded(sandboxes.list())),
		'container.start': ({spec}, done) => start(parts, spec, done),
		'container.inspect'({id}, done) {
			if (sandboxes.find(id.uid) !== undefined) withPod(parts, id.uid, done, () => containers.inspect(id, done));
			else done(succeeded({running: undefined, lastExit: undefined, nextAttempt: 0}));
		},
		'container.stop'({id, graceMs}, done) {
			if (removals.isRemoving(id.uid)) removals.remove(id.uid, done);
			else containers.stop(id, graceMs, done);
		},
		'volumes.ensure': (command, done) => withPod(parts, command.uid, done, () => volumes.ensure(command, done)),
		'image.ensure': (_command, done) => done(succeeded({imageId: undefined})),
		'image.list': (_command, done) => done(succeeded({images: []})),
		'image.open': (_command, done) => done(noImages),
		'volume.remove': (command, done) => volumes.removeLocal(command, done),
		'volume.measure': ({volume}, done) => volumes.measureLocal(volume, done),
		'container.act': (command, done) => withPod(parts, command.id.uid, done, () => exec.handlers['container.act'](command, done)),
		'exec.open': (command, done) => withPod(parts, command.request.id.uid, done, () => exec.handlers['exec.open'](command, done)),
		'forward.open': ({request}, done) => withPod(parts, request.uid, done, pod => forward(parts, pod, request, done)),
		'stdin.write': ({id, data, isLast}, done) =>
			withPod(parts, id.uid, done, () => input.write(containers.find(id), Buffer.from(data, 'base64'), isLast, done)),
		'lease.extend': ({uid, untilMs}, done) =>
			withPod(parts, uid, done, () => {
				leases.extend(uid, untilMs);
				done(succeeded(null));
			}),
		// Whose devices are whose the node knows for all of its runtimes: agent/devices.
		'devices.release': (_command, done) => done(succeeded(null)),
		'usage.read'(_command, done) {
			measuredOf(parts)
				.then(measured => takeSample(measured, parts.clock, {links: linksOf(parts), room: parts.room}))
				.then(
					sample => done(succeeded(sample)),
					(error: unknown) => done(systemFailure(error)),
				);
		},
		'logs.read': ({request}, done) => withPod(parts, request.id.uid, done, pod => logs.read(request, pod, done)),
	};
}

/** By their control groups, and where a host has none by their processes. */
async function measuredOf({containers, groups, clock}: Parts): Promise<readonly Measured[]> {
	const table = groups === noGroups ? await readProcessTable(clock) : undefined;
	return [...containers.running()].flatMap(({id, live}): Measured[] => {
		if (live === undefined) return [];
		const {attempt, started} = live;
		if (table === undefined) return [{id, attempt, read: () => groups.figures(id, attempt)}];
		return started === undefined ? [] : [{id, attempt, read: () => allFiguresOfProcesses(processesOf(started.process, table))}];
	});
}

/** In turn with what makes it. Its address is another pod's to have once nothing says any more that it is this one's. */
function removeSandbox({sandboxes, removals, network, turns, warm}: Parts, uid: string, done: Done<null>): void {
	if (network === undefined) return removals.remove(uid, done);
	const removed = (): Promise<void> =>
		new Promise(resolve => {
			const pod = sandboxes.find(uid);
			warm.release(uid);
			removals.remove(uid, outcome => {
				if (outcome.ok && isRouted(pod)) network.free(pod.podIP);
				resolve(done(outcome));
			});
		});
	void turns.run(uid, removed);
}

function forward(parts: Parts, pod: SandboxRecord, request: ForwardRequest, done: Done<{readonly session: string}>): void {
	const {port} = request;
	if (port === 'function') forwardToInstance(parts, request, done);
	else parts.connections.open(request, parts.addressesOf(pod, port), done);
}

/**
 * Where a port of the pod is. Where pods share the network of their node, an address of the pod, or of its loopback, is used only where a program of the pod
 * would answer there. Its own address first.
 */
function addressesAt(
	parts: Pick<Parts, 'containers' | 'groups' | 'hostIP'> & {readonly lookups: Lookups},
	pod: SandboxRecord,
	port: number,
): () => Promise<readonly string[]> {
	const {uid} = pod;
	const podIP = addressOf(pod, parts.hostIP);
	if (isRouted(pod)) return () => Promise.resolve([podIP]);
	const addresses = [podIP, '127.0.0.1', '::1'];
	const look = async (): Promise<readonly string[]> => listeningAt(await processesOfPod(parts, uid), addresses, port);
	return () => parts.lookups(`${uid}:${port}`, look);
}

/** Runs with the pod of a command; otherwise answers why there is none to be used. */
function withPod<Value>({sandboxes, removals}: Parts, uid: string, done: Done<Value>, run: (pod: SandboxRecord) => void): void {
	const pod = sandboxes.find(uid);
	if (removals.isRemoving(uid)) done(failed('ERR_RUNTIME', {message: `the sandbox "${uid}" is being removed`}));
	else if (pod === undefined) done(noSandbox(uid));
	else run(pod);
}

function start(parts: Parts, spec: ContainerSpec, done: Done<RunningContainer>): void {
	const {id, image, argv, function: instance} = spec;
	if (argv.length === 0 && instance === undefined) return done(failed('ERR_NO_COMMAND', {container: id.container, image}));
	openSpec(spec, parts.secrets, opened => {
		if (!opened.ok) return done(opened);
		// Secrets may have been waited for: the caller of the command does not catch any more.
		answering(done, answer => {
			if (instance === undefined) begin(parts, opened.value, [argv], answer);
			else startInstance(parts, opened.value, instance, answer);
		});
	});
}

/** The network of a new pod may be one in which its runner waits. */
function keepWarm({warm}: Parts, {uid, controller, runner}: SandboxSpec): NetworkOfProcess | undefined {
	if (runner === undefined) return undefined;
	return warm.keepFor({uid, controller}, {language: runner.language, memoryBytes: runner.memoryLimitBytes});
}

const orElse = <Value>(refusal: Outcome<Value>, other: Outcome<Value>): Outcome<Value> => (other.ok ? other : refusal);

/** `programs`: each of the words that may begin it; the first that can is taken. */
function begin(parts: Parts, spec: OpenedSpec, programs: Programs, done: Done<RunningContainer>): void {
	withPod(parts, spec.id.uid, done, pod => {
		const plan = planFor(parts, spec, pod, programs);
		if (!plan.ok) return done(plan);
		const {assignable} = plan.value;
		if (assignable !== undefined) parts.warm.want(assignable.wish);
		parts.warm.refuse(spec.id.uid);
		parts.containers.start(spec, plan.value, done);
	});
}

function planFor(parts: Parts, spec: OpenedSpec, {uid, owner}: SandboxRecord, programs: Programs): Outcome<StartPlan> {
	const {host, leases} = parts;
	const deadline = leases.deadlineOf(uid);
	if (spec.exclusive === true && deadline === undefined) return noLease(spec.id);
	const around = {...startOf(parts, spec), deadline, own: owner?.user};
	const [first, ...others] = programs;
	const planWith = (argv: readonly string[]): Outcome<StartPlan> => planOf({...spec, argv}, host, around);
	let plan = planWith(first);
	for (const argv of others) plan = plan.ok ? plan : orElse(plan, planWith(argv));
	return plan;
}

/** By a runner that waits already; false: there is none that can become it. Where it does not become it after all, `otherwise` begins. */
function beginWarm(
	parts: Parts,
	spec: OpenedSpec,
	instance: FunctionInstance,
	done: Done<RunningContainer>,
	otherwise: WarmStart['otherwise'],
): boolean {
	const {warm, containers, sandboxes} = parts;
	const pod = sandboxes.find(spec.id.uid);
	const itself = {uid: spec.id.uid, networkFile: networkFileOf(parts, spec.id.uid)};
	const {live, highest} = containers.find(spec.id);
	const {workingDir: home} = spec;
	const {runtime} = instance;
	if (
		runtime === 'program' ||
		pod === undefined ||
		!warm.mayHave(runtime, itself) ||
		home === undefined ||
		live !== undefined ||
		spec.attempt <= highest
	)
		return false;
	const plan = planFor(parts, spec, pod, runnerWords(runtime, instance, home));
	const assignable = plan.ok ? plan.value.assignable : undefined;
	const line = assignable?.line(runnerConfigOf(instance, pathsIn(home)));
	const shim = line === undefined || assignable === undefined ? undefined : warm.take(assignable.wish, itself);
	if (!plan.ok || line === undefined || shim === undefined) return false;
	try {
		containers.start(spec, plan.value, done, {shim, line, otherwise});
	} catch (error) {
		shim.end();
		throw error;
	}
	return true;
}

/** With the code of the function in the pod's folder for its user: its runner begins in that folder, a program of its own in the code's. */
function startInstance(parts: Parts, spec: OpenedSpec, instance: FunctionInstance, done: Done<RunningContainer>, mayBeWarm = true): void {
	const {host, sandboxes, removals, containers, homes, instances} = parts;
	const {uid, container} = spec.id;
	const refused = (reason: string): void => done(failed('ERR_RUNTIME', {message: `container "${container}" cannot start: ${reason}`}));
	withPod(parts, uid, done, pod => {
		const {owner} = pod;
		const wanted = {own: owner?.user, uid: spec.runAsUser, gid: spec.runAsGroup, isNonRoot: spec.runAsNonRoot};
		const choice = chooseUser(host.agent, wanted);
		if (!choice.ok) return refused(choice.reason);
		const home = homes.homeOf(uid, choice.user);
		if (home === undefined) return refused('its pod has no folder of its own, in which its code would be');
		const attempt = {
			uid,
			home,
			instance,
			isWanted: () => sandboxes.find(uid) !== undefined && !removals.isRemoving(uid),
			isRunning: () => containers.find(spec.id).live !== undefined,
		};
		let hasBegun = false;
		const inHome = {...spec, workingDir: home};
		const otherwise: WarmStart['otherwise'] = answer => startInstance(parts, spec, instance, answer, false);
		const start = (port: number | undefined): void => {
			hasBegun = true;
			answering(done, answer => {
				const {runtime} = instance;
				if (runtime !== 'program') return begin(parts, inHome, runnerWords(runtime, instance, home), answer);
				if (port !== undefined && !attempt.isRunning()) writePort(home, port);
				const env = port === undefined ? spec.env : withPort(spec.env, port);
				begin(parts, {...spec, workingDir: codeOf(home), env}, [spec.argv], answer);
			});
		};
		const choosing = instance.runtime === 'program' ? choosePort(!isRouted(pod)) : Promise.resolve(undefined);
		choosing
			.then(port =>
				instances.start(attempt, {
					beginWarm: () => mayBeWarm && (hasBegun = beginWarm(parts, inHome, instance, done, otherwise)),
					begin: () => start(port),
				}),
			)
			.catch((error: unknown) => {
				if (hasBegun) throw error;
				refused(explained(error));
			});
	});
}

/** Both runtimes have one network: each tells of its own pods. */
const linksOf = ({sandboxes, network}: Parts): Links =>
	new Map([...(network?.links() ?? [])].filter(([uid]) => sandboxes.find(uid) !== undefined));

/** Undefined: the pod has no network of its own, or is not there. */
const networkFileOf = ({sandboxes, network}: Parts, uid: string): string | undefined =>
	isRouted(sandboxes.find(uid)) ? network?.fileOf(uid) : undefined;

/** What any start of the container is given now. */
function startOf(parts: Parts, spec: ContainerSpec): Omit<Start, 'deadline' | 'own'> {
	const {clock, realDirectory, processes, host, sandboxes, groups, memory, hostPaths, podHomes, volumes, homes, enterNetwork} = parts;
	const {id, memoryLimitBytes} = spec;
	const {uid, container} = id;
	// Root's pods are other users, to whom these folders are closed.
	const hidden = host.agent.uid === 0 || host.mountTools === undefined ? [] : placesOf([...hostPaths.never, podHomes]);
	return {
		startedAtMs: Math.trunc(clock.nowMs()),
		enterNetwork: enterNetwork(uid),
		networkFile: networkFileOf(parts, uid),
		cgroups: groups.procsFiles(id, spec.attempt, spec),
		dataKib: memoryLimitBytes === undefined || groups.enforces('memory') ? undefined : Math.ceil(memoryLimitBytes / 1_024),
		inputEnd: spec.stdin ? stdinEndFile(path.join(sandboxes.folderOf(uid), container)) : undefined,
		around: {
			root: path.join(realDirectory, uid, privateRootName),
			table: path.join(realDirectory, uid, tableName(container)),
			find: volume => volumes.find(uid, volume),
			hostPaths: {...hostPaths, never: [...hostPaths.never, ...hidden]},
			hidden,
			nfs: host.nfs,
			ownFiles: host.mountTools === undefined ? [] : namesIn(sandboxes.find(uid), parts.network, path.join(realDirectory, uid)),
		},
		userProcesses: groups.enforces('pids') ? undefined : processes,
		homeOf: user => homes.homeOf(uid, user),
		memory: memory?.isMounted() === true ? memory.folder : undefined,
	};
}
