// The containers of a node: what runs, what ended, who waits for what. Their files are the truth and this is the view of it.
//
// What it keeps true: an end is told once, after the start it belongs to; it is told when the shim is gone, so nothing of the
// attempt holds a port any more; one attempt of a container runs at a time; no signal reaches a process that is not ours.

import {rm, rmSync} from 'node:fs';
import path from 'node:path';
import {failed, succeeded} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {
	ContainerExit,
	ContainerId,
	ContainerObservation,
	ContainerSpec,
	ExitListener,
	RunningContainer,
} from '../../../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import type {Done} from '../../handlers.js';
import {anotherAttemptRuns, attemptIsOver} from '../../refusals.js';
import {attemptFolder, attemptsIn, logFile, stateFile} from '../../attempts.js';
import {watchLifeline} from '../attempts/lifelines.js';
import {refusalIn} from '../attempts/refused.js';
import {handleOf, readStateFile, shownBeginning, type LookUp, type StartRecord} from '../attempts/state-file.js';
import type {Stock} from '../attempts/stock.js';
import type {ContainerGroups} from '../cgroups/container-groups.js';
import type {LogWatch} from '../../logs/log-watch.js';
import {explained} from '../../os/explained.js';
import {signalGroup, signalProcess, statOf} from '../../os/identity.js';
import type {Sandboxes} from '../sandboxes/sandboxes.js';
import {spawnShim, type SpawnPlan} from '../start/spawn.js';
import type {WarmShim} from '../start/warm-shim.js';
import {findContainer, settle} from './adoption.js';

/** An attempt whose shim lives. */
type Live = {
	readonly attempt: number;
	readonly close: () => void;
	/** Undefined until the shim has written down the process. */
	started: StartRecord | undefined;
	/** Why the shim itself could not be spawned. */
	spawnError: Error | undefined;
	/** Undefined: an earlier agent has spawned it. */
	killShim: (() => void) | undefined;
	/** What begins the attempt in another way where this one has come to nothing. */
	otherwise: ((done: Done<RunningContainer>) => void) | undefined;
	readonly onStarted: Done<RunningContainer>[];
	readonly onEnded: Set<() => void>;
	kill: {readonly atMs: number; readonly cancel: Cancel} | undefined;
};

export type Container = {
	readonly id: ContainerId;
	readonly folder: string;
	live: Live | undefined;
	lastExit: ContainerExit | undefined;
	/** -1: there was no attempt. */
	highest: number;
};

export type Containers = {
	/** The container as it is; what an earlier agent started is adopted. Throws errno exceptions. */
	readonly find: (id: ContainerId) => Container;
	readonly start: (spec: ContainerSpec, plan: StartPlan, done: Done<RunningContainer>, warm?: WarmStart) => void;
	readonly inspect: (id: ContainerId, done: Done<ContainerObservation>) => void;
	readonly stop: (id: ContainerId, graceMs: number, done: Done<ContainerExit | null>) => void;
	/** All containers that run as far as this agent knows. */
	readonly running: () => Iterable<Container>;
	/** Calls back when the attempt that lives now is over; at once when none does. */
	readonly whenEnded: (container: {readonly live: Pick<Live, 'onEnded'> | undefined}, callback: () => void) => Cancel;
	readonly forget: (id: ContainerId) => void;
	/** Containers run on; nothing is told any more. */
	readonly close: () => void;
};

export type StartPlan = Omit<SpawnPlan, 'folder' | 'attempt'>;

/** A start by a shim that is there already. */
export type WarmStart = {
	readonly shim: WarmShim;
	/** What its program is told. */
	readonly line: string;
	/** What begins the attempt in the other way where it does not begin so: nothing of it is left then. */
	readonly otherwise: (done: Done<RunningContainer>) => void;
};

export type ContainersOptions = {
	readonly sandboxes: Sandboxes;
	readonly stock: Stock;
	readonly groups: ContainerGroups;
	readonly logs: LogWatch;
	readonly bootId: string;
	readonly clock: Clock;
	readonly tell: ExitListener;
	readonly onWarning: (message: string) => void;
};

const keyOf = (id: ContainerId): string => `${id.uid}/${id.container}`;

const runningOf = (attempt: number, started: StartRecord): RunningContainer => ({
	attempt,
	pid: started.process.pid,
	startedAtMs: started.startedAtMs,
	handle: handleOf(started),
	...shownBeginning(started),
});

type State = ContainersOptions & {readonly known: Map<string, Container>};

export function createContainers(options: ContainersOptions): Containers {
	const state: State = {...options, known: new Map()};
	return {
		find: id => find(state, id),
		start: (spec, plan, done, warm) => start(state, spec, plan, done, warm),
		inspect: (id, done) => inspect(state, id, done),
		stop: (id, graceMs, done) => stop(state, id, graceMs, done),
		*running() {
			for (const container of state.known.values()) if (container.live !== undefined) yield container;
		},
		whenEnded({live}, callback) {
			if (live === undefined) callback();
			else live.onEnded.add(callback);
			return () => void live?.onEnded.delete(callback);
		},
		forget: id => void state.known.delete(keyOf(id)),
		close() {
			for (const {live} of state.known.values()) {
				live?.kill?.cancel();
				live?.close();
			}
			state.known.clear();
		},
	};
}

function find(state: State, id: ContainerId): Container {
	const there = state.known.get(keyOf(id));
	if (there !== undefined) return there;
	const folder = path.join(state.sandboxes.folderOf(id.uid), id.container);
	const {alive, lastExit, highest} = findContainer(folder, state.bootId, attempt => state.groups.wasOomKilled(id, attempt));
	const container: Container = {id, folder, live: undefined, lastExit, highest};
	if (highest >= 0) state.known.set(keyOf(id), container);
	if (alive !== undefined) watch(state, container, alive.attempt, alive.lifeline, alive.started);
	else if (highest >= 0) state.groups.end(id, highest, () => undefined); // What has left the process group may have outlived its shim.
	return container;
}

function watch(state: State, container: Container, attempt: number, lifeline: number, started: StartRecord | undefined): Live {
	const {close} = watchLifeline(
		lifeline,
		() => hearNews(state, container, live, statOf),
		() => hearEnd(state, container, live),
	);
	const live: Live = {
		attempt,
		close,
		started,
		spawnError: undefined,
		killShim: undefined,
		otherwise: undefined,
		onStarted: [],
		onEnded: new Set(),
		kill: undefined,
	};
	if (started !== undefined) accompany(state, container, attempt, started);
	container.live = live;
	state.known.set(keyOf(container.id), container);
	return live;
}

/** The shim has written something down. */
function hearNews(state: State, container: Container, live: Live, lookUp?: LookUp): void {
	if (live.started !== undefined) return;
	live.started = reading(state, () => readStateFile(stateFile(container.folder, live.attempt), live.attempt, lookUp).started);
	if (live.started === undefined) return;
	container.highest = live.attempt;
	const running = runningOf(live.attempt, live.started);
	for (const done of live.onStarted.splice(0)) done(succeeded(running));
	accompany(state, container, live.attempt, live.started);
	dropOutdated(state, container, live.attempt);
}

/** What goes on beside a program that runs. */
function accompany({groups, logs}: State, {id, folder}: Container, attempt: number, {process}: StartRecord): void {
	groups.collect(id, attempt, process);
	logs.follow(logFile(folder, attempt));
}

/** The shim is gone: what it wrote last is how the attempt ended. That is told when nothing of the attempt is left. */
function hearEnd(state: State, container: Container, live: Live): void {
	live.kill?.cancel();
	hearNews(state, container, live);
	const wasOomKilled = state.groups.wasOomKilled(container.id, live.attempt);
	state.groups.end(container.id, live.attempt, () => tellEnd(state, container, live, wasOomKilled));
}

function tellEnd(state: State, container: Container, live: Live, wasOomKilled: boolean): void {
	container.live = undefined;
	state.logs.finish(logFile(container.folder, live.attempt));
	if (live.started === undefined) failStart(state, container, live);
	else {
		const {started} = live;
		const exit =
			reading(state, () => settle(container.folder, live.attempt, state.bootId, {started, wasOomKilled}).exit) ??
			unreadable(state, live.attempt, started);
		container.lastExit = exit;
		const pod = state.sandboxes.find(container.id.uid);
		state.tell({namespace: pod?.namespace ?? '', podName: pod?.name ?? '', id: container.id}, exit);
	}
	for (const callback of live.onEnded) callback();
}

/** An attempt whose program never ran is no attempt. */
function failStart(state: State, container: Container, live: Live): void {
	const why = refusalIn(stateFile(container.folder, live.attempt)) ?? 'its shim ended before the program ran';
	reading(state, () => rmSync(attemptFolder(container.folder, live.attempt), {recursive: true, force: true}));
	const message = `container "${container.id.container}" was not started: ${live.spawnError === undefined ? why : explained(live.spawnError)}`;
	const waiting = live.onStarted.splice(0);
	const answer: Done<RunningContainer> = outcome => {
		for (const done of waiting) done(outcome);
	};
	// Who waits for its end wants it to be over.
	if (live.otherwise === undefined || live.onEnded.size > 0) return answer(failed('ERR_RUNTIME', {message}));
	state.onWarning(`a runner that was kept ready could not be used: ${why}`);
	live.otherwise(answer);
}

/** Reads while no command waits that could be answered with a failure. */
function reading<Value>({onWarning}: State, read: () => Value): Value | undefined {
	try {
		return read();
	} catch (error) {
		onWarning(explained(error));
		return undefined;
	}
}

function unreadable({clock}: State, attempt: number, started: StartRecord): ContainerExit {
	signalGroup(started.process, 'SIGKILL');
	return {
		attempt,
		exitCode: undefined,
		signal: undefined,
		startedAtMs: started.startedAtMs,
		finishedAtMs: clock.nowMs(),
		reason: 'Unknown',
		handle: handleOf(started),
		...shownBeginning(started),
	};
}

/** Off the path of a restart, which does not wait for it. */
function dropOutdated(state: State, {folder}: Container, attempt: number): void {
	if (attempt === 0) return;
	for (const old of reading(state, () => attemptsIn(folder).slice(limits.attemptsKept)) ?? []) {
		rm(attemptFolder(folder, old), {recursive: true, force: true}, error => error !== null && state.onWarning(explained(error)));
	}
}

function start(state: State, spec: ContainerSpec, plan: StartPlan, done: Done<RunningContainer>, warm?: WarmStart): void {
	const {id, attempt} = spec;
	const container = find(state, id);
	const {live} = container;
	if (live !== undefined) return join(container, live, attempt, done);
	if (attempt <= container.highest) return done(attemptIsOver(id, attempt, container.highest + 1));
	state.groups.make(id, attempt, spec);
	if (warm !== undefined) return startWarm(state, container, {...plan, folder: container.folder, attempt}, done, warm);
	// The error comes in a later turn than the spawn, and before the end of the lifeline.
	const shim = spawnShim({...plan, folder: container.folder, attempt}, state.stock, error => void (started.spawnError = error));
	const started = watch(state, container, attempt, shim.lifeline, undefined);
	started.killShim = shim.kill;
	started.onStarted.push(done);
}

/** The shim is there; what has not become the program in time is killed, and so has not begun. */
function startWarm(
	state: State,
	container: Container,
	plan: SpawnPlan,
	done: Done<RunningContainer>,
	{shim, line, otherwise}: WarmStart,
): void {
	const begun = reading(state, () => shim.become(plan, line));
	if (begun === undefined) return otherwise(done);
	const {lifeline, kill} = begun;
	const live = watch(state, container, plan.attempt, lifeline, undefined);
	const cancel = state.clock.after(limits.warmRunnerBeginMs, () => live.started ?? kill());
	live.killShim = kill;
	live.otherwise = otherwise;
	live.onStarted.push(outcome => {
		cancel();
		done(outcome);
	});
}

function join({id}: Container, live: Live, attempt: number, done: Done<RunningContainer>): void {
	if (live.attempt !== attempt) done(anotherAttemptRuns(id, attempt, live.attempt));
	else if (live.started === undefined) live.onStarted.push(done);
	else done(succeeded(runningOf(live.attempt, live.started)));
}

function inspect(state: State, id: ContainerId, done: Done<ContainerObservation>): void {
	const container = find(state, id);
	const {live} = container;
	if (live !== undefined && live.started === undefined) live.onStarted.push(() => answer());
	else answer();

	function answer(): void {
		const now = container.live;
		done(
			succeeded({
				running: now?.started === undefined ? undefined : runningOf(now.attempt, now.started),
				lastExit: container.lastExit,
				nextAttempt: container.highest + 1,
			}),
		);
	}
}

function stop(state: State, id: ContainerId, graceMs: number, done: Done<ContainerExit | null>): void {
	const container = find(state, id);
	const {live} = container;
	if (live === undefined) return done(succeeded(container.lastExit ?? null));
	live.onEnded.add(() => done(succeeded(container.lastExit ?? null)));
	if (live.started !== undefined) return end(state, live, graceMs);
	live.onStarted.push(() => end(state, live, graceMs));
	// The way to its working directory may be one that never answers.
	const cancel = state.clock.after(Math.max(graceMs, limits.beginMs), () => live.started ?? live.killShim?.());
	live.onEnded.add(cancel);
}

/** SIGTERM now, SIGKILL after the grace; of several wishes the earliest SIGKILL counts. */
function end({clock}: State, live: Live, graceMs: number): void {
	const {started, kill} = live;
	if (started === undefined) return;
	const atMs = clock.monotonicMs() + Math.max(0, graceMs);
	if (kill !== undefined && kill.atMs <= atMs) return;
	kill?.cancel();
	if (graceMs <= 0) {
		live.kill = {atMs, cancel: () => undefined};
		return killNow(started);
	}
	if (kill === undefined) signalProcess(started.process, 'SIGTERM');
	live.kill = {atMs, cancel: clock.after(graceMs, () => killNow(started))};
}

/** The shim kills the rest of the group; a program may have stopped it together with itself. */
function killNow({process}: StartRecord): void {
	signalProcess(process, 'SIGKILL');
	signalGroup(process, 'SIGCONT');
}
