// A host that exists in memory only. Its containers live on while agents come and go; a reboot loses them all.
//
// It is small, so that thousands of hosts fit one process: one map entry a pod, one a container, and a timer only for what ends.

import type {ContainerExit, ContainerId, ContainerSpec, ExitListener, VolumeSpec} from '../../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
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

export type SimulatedPod = {
	readonly podIP: string;
	readonly name: string;
	readonly containers: string[];
	/** As they were asked for last; undefined: never. */
	volumes: readonly VolumeSpec[] | undefined;
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
	readonly pods: Map<string, SimulatedPod>;
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
	readonly attend: (watcher: object | undefined, listener: ExitListener) => void;
	/** For tests: the program of a container ends with a code. False: it does not run. */
	readonly crash: (uid: string, container: string, code: number) => boolean;
	/** For tests: all that ran is lost, and nobody hears of it. */
	readonly reboot: () => void;
};

/** How a program ended that its pod's lease held no more. */
export const leaseEnded = 'LeaseEnded';

export function createSimulatedHost(clock: Clock, network: SimulatedNetwork = createSimulatedNetwork()): SimulatedHost {
	const pods = new Map<string, SimulatedPod>();
	const containers = new Map<string, SimulatedContainer>();
	const watchdogs = new Map<string, Cancel>();
	let boots = 1;
	let lastPid = 1;
	let agent: {readonly watcher: object | undefined; readonly listener: ExitListener} = {watcher: undefined, listener: () => undefined};

	function end(container: SimulatedContainer, code: number | undefined, reason?: string): void {
		if (container.exit !== undefined) return;
		const {spec, startedAtMs, watcher} = container;
		container.timer?.();
		container.timer = undefined;
		container.exit = {
			attempt: spec.attempt,
			exitCode: code,
			signal: code !== undefined && code > 128 ? code - 128 : undefined,
			startedAtMs,
			finishedAtMs: clock.nowMs(),
			reason: reason ?? (code === undefined ? 'Unknown' : code === 0 ? 'Completed' : 'Error'),
		};
		if (watcher !== undefined && watcher === agent.watcher) {
			agent.listener({namespace: spec.namespace, podName: spec.podName, id: spec.id}, container.exit);
		}
		const {waiting} = container;
		container.waiting = undefined;
		for (const callback of waiting ?? []) callback();
	}

	function start(spec: ContainerSpec, program: Program, watcher: object): SimulatedContainer {
		const container: SimulatedContainer = {
			spec,
			pid: ++lastPid,
			startedAtMs: clock.nowMs(),
			program,
			previous: containers.get(keyOf(spec.id))?.exit,
			exit: undefined,
			watcher,
			timer: undefined,
			waiting: undefined,
		};
		if (!containers.has(keyOf(spec.id))) pods.get(spec.id.uid)?.containers.push(spec.id.container);
		containers.set(keyOf(spec.id), container);
		const {ends} = program;
		if (ends !== undefined) container.timer = clock.after(ends.afterMs, () => endByTimer(container, ends.code));
		return container;
	}

	function endByTimer(container: SimulatedContainer, code: number): void {
		container.timer = undefined;
		end(container, code);
	}

	function endPod(uid: string): void {
		watchdogs.delete(uid);
		for (const name of pods.get(uid)?.containers ?? []) {
			const container = containers.get(keyOf({uid, container: name}));
			if (container !== undefined) end(container, 137, leaseEnded);
		}
	}

	return {
		bootId: () => `simulated-boot-${boots}`,
		pods,
		network,
		find: id => containers.get(keyOf(id)),
		start,
		end,
		isWatched: uid => watchdogs.has(uid),
		killAfter(uid, delayMs) {
			watchdogs.get(uid)?.();
			watchdogs.set(
				uid,
				clock.after(delayMs, () => endPod(uid)),
			);
		},
		removePod(uid) {
			watchdogs.get(uid)?.();
			watchdogs.delete(uid);
			for (const name of pods.get(uid)?.containers ?? []) {
				const container = containers.get(keyOf({uid, container: name}));
				if (container !== undefined) end(container, 137);
				containers.delete(keyOf({uid, container: name}));
			}
			pods.delete(uid);
		},
		attend(watcher, listener) {
			agent = {watcher, listener};
		},
		crash(uid, container, code) {
			const found = containers.get(keyOf({uid, container}));
			if (found === undefined || found.exit !== undefined) return false;
			end(found, code);
			return true;
		},
		reboot() {
			boots++;
			for (const callOff of watchdogs.values()) callOff();
			watchdogs.clear();
			agent = {watcher: undefined, listener: () => undefined};
			for (const container of containers.values()) end(container, undefined, 'LostOnReboot');
		},
	};
}

const keyOf = ({uid, container}: ContainerId): string => `${uid}/${container}`;
