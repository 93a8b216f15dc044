// The process runtime: containers are plain processes of the host, each under a small shim that outlives the agent.
//
// All state is in files under one directory, so any later agent adopts what runs. `agent/process/` has the parts, the highest first:
//
//   exec        programs beside a container's own: sessions, probes, hooks
//   containers  what runs, what ended, what an earlier agent left; input; removal
//   leases      watchdogs that kill exclusive pods when their lease ends
//   start       from a spec to a shim that runs
//   host        what this host can do: namespaces, mounts, terminals
//   mounts      what a program sees of the node's files
//   volumes     folders and files of pods, host paths, memory
//   logs        reading, rotation, times of lines
//   sandboxes   pods, their addresses and homes
//   cgroups     limits, and finding every process of a container
//   attempts    the files of an attempt: state, lifeline, FIFOs
//   users       who programs run as
//   os          processes, descriptors and files of the kernel

import {existsSync, realpathSync} from 'node:fs';
import path from 'node:path';
import {failed, succeeded, type Outcome} from '../api/errors.js';
import {limits} from '../api/limits.js';
import type {ContainerSpec, ExitListener, Runtime, RuntimeCommand} from '../actors/node/runtime/runtime-port.js';
import {noSecrets, type NodeSecrets} from '../actors/node/runtime/secrets-port.js';
import type {Clock} from '../system/time/clock.js';
import {defaultSubnet} from './process/sandboxes/addresses.js';
import {attemptFolder, stdinEndFile} from './process/attempts/attempts.js';
import {noGroups, openContainerGroups} from './process/cgroups/container-groups.js';
import {createContainers} from './process/containers/containers.js';
import {createExec} from './process/exec/exec.js';
import {explained} from './process/os/explained.js';
import {placesOf} from './process/mounts/hidden.js';
import {homesFolder, openHomes} from './process/sandboxes/homes.js';
import {hostOf, infoOf} from './process/host/host.js';
import type {HostPaths} from './process/volumes/host-paths.js';
import {createLeases} from './process/leases/leases.js';
import {createLogReader} from './process/logs/log-reader.js';
import {createLogWatch} from './process/logs/log-watch.js';
import {openMemory} from './process/volumes/memory.js';
import {planOf, type Start} from './process/start/plan.js';
import {defaultUserRange, openPodUsers, type UserRange} from './process/users/pod-users.js';
import type {Dropper} from './process/users/privileges.js';
import {createRemovals} from './process/containers/removal.js';
import {foldersIn, isFolderName, openSandboxes, privateRootName, tableName, type SandboxRecord} from './process/sandboxes/sandboxes.js';
import {createInput} from './process/containers/stdin.js';
import {startNotes} from './process/host/start-notes.js';
import {createStock} from './process/attempts/stock.js';
import {createVolumes} from './process/volumes/volumes.js';
import {handle, type Handlers} from './handlers.js';
import {noLease, noSandbox} from './refusals.js';
import {openSpec} from './secret-env.js';

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
	readonly logFileBytes?: number | undefined;
	/** How many folders of each sort are made in advance. */
	readonly stockFolders?: number | undefined;
	/** What of the host pods may have as volumes; undefined: nothing. Never this directory. */
	readonly hostPaths?: HostPaths | undefined;
};

/** Throws errno exceptions when the directory cannot be used or there is no /proc, and a RangeError for a wrong subnet. */
export function createProcessRuntime(options: ProcessRuntimeOptions): Runtime {
	const {clock, hostIP = '127.0.0.1', onWarning = () => undefined, secrets = noSecrets} = options;
	const directory = path.resolve(options.directory);
	const stock = createStock(path.join(directory, '.stock'), options.stockFolders ?? limits.stockFolders, clock, onWarning);
	const realDirectory = realpathSync(directory);
	const host = hostOf({
		path: options.path,
		dropper: options.dropper,
		namespaces: options.namespaces,
		folder: path.join(realDirectory, '.stock'),
		onWarning,
	});
	const range = host.agent.uid === 0 ? (options.users ?? defaultUserRange(realDirectory)) : undefined;
	const users = range === undefined ? undefined : openPodUsers(directory, range, onWarning);
	const sandboxes = openSandboxes(directory, options.subnet ?? defaultSubnet, stock, onWarning, users);
	let listener: ExitListener = () => undefined;
	const tell: ExitListener = (container, exit) => listener(container, exit);
	const processes = options.processes ?? limits.containerProcesses;
	// A shim that runs as its container's user cannot join.
	const mayJoin = host.agent.uid !== 0 || host.dropper !== undefined;
	const groups =
		options.controlGroups === null || !mayJoin ? noGroups : openContainerGroups(directory, clock, onWarning, undefined, processes);
	for (const note of startNotes(options, range, groups.enforces('pids'))) options.onNote?.(note);
	const growth = createLogWatch(clock, options.logFileBytes ?? limits.logFileBytes, onWarning);
	const containers = createContainers({sandboxes, stock, groups, logs: growth, bootId: host.bootId, clock, tell, onWarning});
	groups.sweep((id, attempt) => existsSync(attemptFolder(path.join(sandboxes.folderOf(id.uid), id.container), attempt)));
	const memory = host.mountTools === undefined || host.agent.uid !== 0 ? undefined : openMemory(realDirectory);
	const {allowed = [], never = []} = options.hostPaths ?? {};
	const hostPaths: HostPaths = {allowed, never: [...never, directory]};
	const isRoot = host.agent.uid === 0;
	const podHomes = options.homes ?? homesFolder(realDirectory, isRoot);
	/** Root's pods are other users, to whom these folders are closed. */
	const hidden = (): readonly string[] => (isRoot || host.mountTools === undefined ? [] : placesOf([...hostPaths.never, podHomes]));
	const volumes = createVolumes({
		folderOf: sandboxes.folderOf,
		find: sandboxes.find,
		memory,
		secrets,
		hostPaths,
		isRoot,
	});
	const input = createInput();
	const {folderOf} = sandboxes;
	const kill = (uid: string): void => {
		for (const container of foldersIn(folderOf(uid))) containers.stop({uid, container}, 0, () => undefined);
	};
	const leases = createLeases({folderOf, kill, bootId: host.bootId, clock, onWarning});
	const homes = openHomes({
		folder: podHomes,
		isRoot,
		isThere: uid => sandboxes.find(uid) !== undefined,
		onWarning,
	});
	const removals = createRemovals(sandboxes, containers, [homes, volumes], leases);
	const logs = createLogReader(containers, clock);
	const exec = createExec({containers, groups, stock, host, clock});

	/** Runs with the pod of a command; otherwise answers why there is none to be used. */
	function withPod<Value>(uid: string, done: (outcome: Outcome<Value>) => void, run: (pod: SandboxRecord) => void): void {
		const pod = sandboxes.find(uid);
		if (removals.isRemoving(uid)) done(failed('ERR_RUNTIME', {message: `the sandbox "${uid}" is being removed`}));
		else if (pod === undefined) done(noSandbox(uid));
		else run(pod);
	}

	/** What any start of the container is given now. */
	function startOf(spec: ContainerSpec): Omit<Start, 'deadline' | 'own'> {
		const {id, memoryLimitBytes} = spec;
		const {uid, container} = id;
		const places = hidden();
		return {
			startedAtMs: Math.trunc(clock.nowMs()),
			cgroups: groups.doors(id, spec.attempt, spec),
			dataKib: memoryLimitBytes === undefined || groups.enforces('memory') ? undefined : Math.ceil(memoryLimitBytes / 1_024),
			inputEnd: spec.stdin ? stdinEndFile(path.join(folderOf(uid), container)) : undefined,
			around: {
				root: path.join(realDirectory, uid, privateRootName),
				table: path.join(realDirectory, uid, tableName(container)),
				find: volume => volumes.find(uid, volume),
				hostPaths: {...hostPaths, never: [...hostPaths.never, ...places]},
				hidden: places,
			},
			userProcesses: groups.enforces('pids') ? undefined : processes,
			homeOf: user => homes.homeOf(uid, user),
			memory: memory?.isMounted() === true ? memory.folder : undefined,
		};
	}

	const handlers: Handlers = {
		'sandbox.ensure'({spec}, done) {
			if (removals.isRemoving(spec.uid)) withPod(spec.uid, done, () => undefined);
			else done(succeeded({podIP: sandboxes.ensure(spec).podIP, hostIP}));
		},
		'sandbox.remove'({uid}, done) {
			removals.remove(uid, done);
		},
		'sandbox.list': (_command, done) => done(succeeded(sandboxes.list())),
		'container.start': ({spec}, done) =>
			openSpec(spec, secrets, opened => {
				if (!opened.ok) return done(opened);
				// Secrets may have been waited for: whoever called for the command does not catch any more.
				answering(done, answer =>
					withPod(spec.id.uid, answer, ({owner}) => {
						const deadline = leases.deadlineOf(spec.id.uid);
						if (spec.exclusive === true && deadline === undefined) return answer(noLease(spec.id));
						const plan = planOf(opened.value, host, {...startOf(spec), deadline, own: owner?.user});
						if (plan.ok) containers.start(spec, plan.value, answer);
						else answer(plan);
					}),
				);
			}),
		'container.inspect'({id}, done) {
			if (sandboxes.find(id.uid) !== undefined) withPod(id.uid, done, () => containers.inspect(id, done));
			else done(succeeded({running: undefined, lastExit: undefined, nextAttempt: 0}));
		},
		'container.stop'({id, graceMs}, done) {
			if (removals.isRemoving(id.uid)) removals.remove(id.uid, done);
			else containers.stop(id, graceMs, done);
		},
		'volumes.ensure': (command, done) => withPod(command.uid, done, () => volumes.ensure(command, done)),
		'container.act': (command, done) => withPod(command.id.uid, done, () => exec['container.act'](command, done)),
		'exec.open': (command, done) => withPod(command.request.id.uid, done, () => exec['exec.open'](command, done)),
		'exec.write': exec['exec.write'],
		'exec.read': exec['exec.read'],
		'exec.resize': exec['exec.resize'],
		'exec.close': exec['exec.close'],
		'stdin.write': ({id, data, isLast}, done) =>
			withPod(id.uid, done, () => input.write(containers.find(id), Buffer.from(data, 'base64'), isLast, done)),
		'lease.extend': ({uid, untilMs}, done) =>
			withPod(uid, done, () => {
				leases.extend(uid, untilMs);
				done(succeeded(null));
			}),
		'logs.read': ({request}, done) => withPod(request.id.uid, done, pod => logs.read(request, pod, done)),
	};

	for (const uid of sandboxes.list()) leases.adopt(uid);

	return {
		info: () => infoOf(host, hostIP, groups, options.maxPods),
		run(command, done) {
			const problem = wrongName(command);
			if (problem !== undefined) done(failed('ERR_BAD_REQUEST', {message: problem}));
			else answering(done, answer => handle(handlers, command, answer));
		},
		onExit(next) {
			listener = next;
		},
		close() {
			leases.close();
			exec.end();
			input.close();
			logs.close();
			growth.close();
			containers.close();
			return Promise.all([stock.close(), groups.close()]).then(() => undefined);
		},
	};
}

/** What is thrown before there is an answer becomes one; what comes after it is the caller's. */
function answering<Value>(done: (outcome: Outcome<Value>) => void, run: (answer: (outcome: Outcome<Value>) => void) => void): void {
	let answered = false;
	try {
		run(outcome => {
			answered = true;
			done(outcome);
		});
	} catch (error) {
		if (answered) throw error;
		done(failed('ERR_RUNTIME', {message: explained(error)}));
	}
}

/** Names become folders, so nothing else than a plain name may reach the disk. */
function wrongName(command: RuntimeCommand): string | undefined {
	const wrong = namesIn(command).find(name => !isFolderName(name));
	return wrong === undefined ? undefined : `${JSON.stringify(wrong)} is no name of a pod or a container: letters, digits, ".", "_", "-"`;
}

function namesIn(command: RuntimeCommand): readonly string[] {
	switch (command.type) {
		case 'sandbox.ensure':
			return [command.spec.uid];
		case 'sandbox.remove':
		case 'lease.extend':
			return [command.uid];
		case 'volumes.ensure':
			return [command.uid, ...command.volumes.map(({name}) => name)];
		case 'exec.open':
			return [command.request.id.uid, command.request.id.container];
		case 'exec.write':
		case 'exec.read':
		case 'exec.resize':
		case 'exec.close':
			return [];
		case 'sandbox.list':
			return [];
		case 'container.start':
			return [command.spec.id.uid, command.spec.id.container];
		case 'logs.read':
			return [command.request.id.uid, command.request.id.container];
		case 'container.inspect':
		case 'container.stop':
		case 'container.act':
		case 'stdin.write':
			return [command.id.uid, command.id.container];
	}
}
