// A host that exists in memory only. Its containers live on while agents come and go; a reboot loses them all.
//
// It is small, so that thousands of hosts fit one process: one map entry a pod, one a container, and a timer only for what ends.

import type {
	ContainerExit,
	ContainerId,
	ContainerSpec,
	ExitListener,
	RuntimeEvent,
	Sandbox,
	SandboxSpec,
	VolumeSpec,
} from '../../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import type {SimulatedImages} from './images.js';
import type {Program} from './script.js';

/** Gives every pod of all hosts that share it an address of its own. */
export type SimulatedNetwork = {readonly nextAddress: () => string};

/** Addresses of 10.0.0.0/8 in turn; none comes back before all were used. */
export function createSimulatedNetwork(): SimulatedNetwork {
	let last = 0;
	return {
		nextAddress() {
			last = (last + 1) % 16_777_216;
			return `10.${last >>> 16}.${(last >>> 8) & 255}.${last & 255}`;
		},
	};
}

export type SimulatedPod = Pick<Sandbox, 'podIP' | 'firstAttempts'> & {
	readonly namespace: string;
	readonly name: string;
	readonly containers: readonly string[];
	/** What its containers share has died. */
	readonly isLost: boolean;
	/** As they were asked for last; undefined: never. */
	readonly volumes: readonly VolumeSpec[] | undefined;
};

export type SimulatedContainer = {
	readonly spec: ContainerSpec;
	readonly pid: number;
	readonly startedAtMs: number;
	readonly program: Program;
	/** How the attempt before this one ended. */
	readonly previous: ContainerExit | undefined;
	exit: ContainerExit | undefined;
	/** Which agent hears of the end. */
	watcher: object | undefined;
	timer: Cancel | undefined;
	waiting: Set<() => void> | undefined;
};

export type SimulatedHost = {
	readonly bootId: () => string;
	readonly pods: ReadonlyMap<string, SimulatedPod>;
	/** The pod there is, made where there is none, and made anew where it has died and nothing of it runs. */
	readonly ensurePod: (spec: SandboxSpec) => SimulatedPod;
	/** False: there is no such pod. */
	readonly keepVolumes: (uid: string, volumes: readonly VolumeSpec[]) => boolean;
	/** Names of the volumes of class `local` that it has. They are on its disk: a reboot loses none. */
	readonly localVolumes: Set<string>;
	readonly images: SimulatedImages;
	readonly network: SimulatedNetwork;
	readonly find: (id: ContainerId) => SimulatedContainer | undefined;
	readonly start: (spec: ContainerSpec, program: Program, watcher: object) => SimulatedContainer;
	/** Ends a container that runs: by itself, by a signal, by a test. */
	readonly end: (container: SimulatedContainer, code: number | undefined, reason?: string) => void;
	readonly removePod: (uid: string) => void;
	/** Kills what runs of a pod then, whatever has become of the agent; a later call takes the place of an earlier one. */
	readonly killAfter: (uid: string, delayMs: number) => void;
	/** Whether a kill stands by. */
	readonly isWatched: (uid: string) => boolean;
	/** The one agent that lives on this host; `undefined` when it is gone. */
	readonly attend: (watcher: object | undefined, listener: ExitListener, hear: EventListener) => void;
	/** For tests: the program of a container ends with a code. False: it does not run. */
	readonly crash: (uid: string, container: string, code: number) => boolean;
	/** For tests: what the containers of a pod share dies, and they run on. False: there is no such pod, or it is dead. */
	readonly loseSandbox: (uid: string) => boolean;
	/** For tests: all that ran is lost, and no agent hears of it. */
	readonly reboot: () => void;
};

type EventListener = (event: RuntimeEvent) => void;

/** How a program ended that its pod's lease held no more. */
export const leaseEnded = 'LeaseEnded';

type State = {
	readonly clock: Clock;
	readonly network: SimulatedNetwork;
	readonly pods: Map<string, SimulatedPod>;
	readonly containers: Map<string, SimulatedContainer>;
	readonly watchdogs: Map<string, Cancel>;
	boots: number;
	lastPid: number;
	agent: {readonly watcher: object | undefined; readonly listener: ExitListener; readonly hear: EventListener};
};

const noAgent: State['agent'] = {watcher: undefined, listener: () => undefined, hear: () => undefined};

export function createSimulatedHost(clock: Clock, network: SimulatedNetwork = createSimulatedNetwork()): SimulatedHost {
	const state: State = {
		clock,
		network,
		pods: new Map(),
		containers: new Map(),
		watchdogs: new Map(),
		boots: 1,
		lastPid: 1,
		agent: noAgent,
	};
	return {
		bootId: () => `simulated-boot-${state.boots}`,
		pods: state.pods,
		ensurePod: spec => ensurePod(state, spec),
		keepVolumes: (uid, volumes) => change(state, uid, {volumes}),
		localVolumes: new Set(),
		images: new Map(),
		network: state.network,
		find: id => state.containers.get(keyOf(id)),
		start: (spec, program, watcher) => start(state, spec, program, watcher),
		end: (container, code, reason) => end(state, container, code, reason),
		isWatched: uid => state.watchdogs.has(uid),
		killAfter(uid, delayMs) {
			state.watchdogs.get(uid)?.();
			state.watchdogs.set(
				uid,
				state.clock.after(delayMs, () => endPod(state, uid)),
			);
		},
		removePod(uid) {
			state.watchdogs.get(uid)?.();
			state.watchdogs.delete(uid);
			for (const name of state.pods.get(uid)?.containers ?? []) {
				const container = state.containers.get(keyOf({uid, container: name}));
				if (container !== undefined) end(state, container, 137);
				state.containers.delete(keyOf({uid, container: name}));
			}
			state.pods.delete(uid);
		},
		attend(watcher, listener, hear) {
			state.agent = {watcher, listener, hear};
		},
		crash(uid, container, code) {
			const found = state.containers.get(keyOf({uid, container}));
			if (found === undefined || found.exit !== undefined) return false;
			end(state, found, code);
			return true;
		},
		loseSandbox(uid) {
			const pod = state.pods.get(uid);
			if (pod === undefined || pod.isLost) return false;
			change(state, uid, {isLost: true});
			state.agent.hear({type: 'sandboxLost', uid, namespace: pod.namespace, podName: pod.name});
			return true;
		},
		reboot() {
			state.boots++;
			for (const callOff of state.watchdogs.values()) callOff();
			state.watchdogs.clear();
			state.agent = noAgent;
			for (const container of state.containers.values()) end(state, container, undefined, 'LostOnReboot');
		},
	};
}

function change(state: State, uid: string, to: Partial<SimulatedPod>): boolean {
	const pod = state.pods.get(uid);
	if (pod !== undefined) state.pods.set(uid, {...pod, ...to});
	return pod !== undefined;
}

function ensurePod(state: State, {uid, namespace, name}: SandboxSpec): SimulatedPod {
	const there = state.pods.get(uid);
	const containers = (there?.containers ?? []).flatMap(container => state.containers.get(keyOf({uid, container})) ?? []);
	if (there !== undefined && (!there.isLost || containers.some(({exit}) => exit === undefined))) return there;
	const pod: SimulatedPod = {
		...(there ?? {namespace, name, containers: [], volumes: undefined}),
		isLost: false,
		podIP: state.network.nextAddress(),
		...(there === undefined ? {} : {firstAttempts: Object.fromEntries(containers.map(({spec}) => [spec.id.container, spec.attempt + 1]))}),
	};
	state.pods.set(uid, pod);
	return pod;
}

/** What it is called outside. */
export const handleOf = ({pid, startedAtMs}: SimulatedContainer): string => `process://${pid}.${startedAtMs}`;

function end(state: State, container: SimulatedContainer, code: number | undefined, reason?: string): void {
	if (container.exit !== undefined) return;
	const {spec, startedAtMs, watcher} = container;
	const {imageId} = spec;
	container.timer?.();
	container.timer = undefined;
	container.exit = {
		attempt: spec.attempt,
		exitCode: code,
		signal: code !== undefined && code > 128 ? code - 128 : undefined,
		startedAtMs,
		finishedAtMs: state.clock.nowMs(),
		reason: reason ?? (code === undefined ? 'Unknown' : code === 0 ? 'Completed' : 'Error'),
		handle: handleOf(container),
		...(imageId === undefined ? {} : {imageId}),
	};
	if (watcher !== undefined && watcher === state.agent.watcher) {
		state.agent.listener({namespace: spec.namespace, podName: spec.podName, id: spec.id}, container.exit);
	}
	const {waiting} = container;
	container.waiting = undefined;
	for (const callback of waiting ?? []) callback();
}

function start(state: State, spec: ContainerSpec, program: Program, watcher: object): SimulatedContainer {
	const container: SimulatedContainer = {
		spec,
		pid: ++state.lastPid,
		startedAtMs: state.clock.nowMs(),
		program,
		previous: state.containers.get(keyOf(spec.id))?.exit,
		exit: undefined,
		watcher,
		timer: undefined,
		waiting: undefined,
	};
	const {uid, container: name} = spec.id;
	if (!state.containers.has(keyOf(spec.id))) change(state, uid, {containers: [...(state.pods.get(uid)?.containers ?? []), name]});
	state.containers.set(keyOf(spec.id), container);
	const {ends} = program;
	if (ends !== undefined) container.timer = state.clock.after(ends.afterMs, () => endByTimer(state, container, ends.code));
	return container;
}

function endByTimer(state: State, container: SimulatedContainer, code: number): void {
	container.timer = undefined;
	end(state, container, code);
}

function endPod(state: State, uid: string): void {
	state.watchdogs.delete(uid);
	for (const name of state.pods.get(uid)?.containers ?? []) {
		const container = state.containers.get(keyOf({uid, container: name}));
		if (container !== undefined) end(state, container, 137, leaseEnded);
	}
}

const keyOf = ({uid, container}: ContainerId): string => `${uid}/${container}`;
