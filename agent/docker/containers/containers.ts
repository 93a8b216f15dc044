// The containers of a node on Docker: what runs, what ended, who waits for what. The files of their attempts and the Engine are the truth,
// this is the view of both.
//
// What it keeps true: an end is told once, after the start it belongs to, and once its log is copied; one attempt of a container runs at a
// time; what nobody has heard of, because the Engine did not answer, is found out when it does.

import {rmSync} from 'node:fs';
import path from 'node:path';
import {AppError, failed, succeeded} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import {valueOr} from '../../../api/value-or.js';
import type {
	ContainerExit,
	ContainerId,
	ContainerObservation,
	ExitListener,
	OpenedSpec,
	RunningContainer,
} from '../../../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import {attemptFolder, attemptsIn, logFile} from '../../attempts.js';
import type {Done} from '../../handlers.js';
import {lastLinesOf} from '../../logs/last-lines.js';
import {explained, systemFailure} from '../../os/explained.js';
import {foldersIn} from '../../os/folders.js';
import {anotherAttemptRuns, attemptIsOver} from '../../refusals.js';
import {inspect, kill, lookAt, remove, type Inspected, type Listed} from '../engine/calls.js';
import type {EngineEvent} from '../engine/connection.js';
import {EngineError, type Engine} from '../engine/engine.js';
import {infraName, labels, madeOf, wasRunner} from '../engine/names.js';
import {waits} from '../gates/gates.js';
import type {Sandboxes} from '../sandboxes/sandboxes.js';
import {hasExit, readAttempt, readExit, writeExit, type AttemptRecord} from './container-files.js';
import {exitOf, startedAt, timeOf, type Ended} from './endings.js';

/** An attempt that runs, or is being started. */
export type Live = {
	readonly attempt: number;
	/** Undefined until the Engine has answered that it has started, as the next two. */
	engineId: string | undefined;
	started: RunningContainer | undefined;
	stopSignal: string;
	readonly tty: boolean;
	/** It has ended, and what it wrote is still being copied. */
	isEnding: boolean;
	/** The Engine has told that the kernel killed in it for want of memory. */
	isOutOfMemory: boolean;
	readonly onStarted: Done<RunningContainer>[];
	readonly onEnded: Set<() => void>;
	readonly stopping: Set<Done<ContainerExit | null>>;
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

/** One attempt as the copy of its log knows it. */
export type LoggedAttempt = {
	readonly id: ContainerId;
	/** Of the container: `logFile(folder, attempt)` is the copy. */
	readonly folder: string;
	readonly attempt: number;
	readonly engineId: string;
	readonly tty: boolean;
};

/** What copies the logs of containers into their files. */
export type ContainerLogs = {
	/** It runs: copies what it writes, from where an earlier copy ended. Also when the Engine is there again; joins a copy that is under way. */
	readonly follow: (attempt: LoggedAttempt) => void;
	/** It has ended: resolves once all that it wrote is there, or could not be had in time. Never rejects. */
	readonly finish: (attempt: LoggedAttempt) => Promise<void>;
	/** Resolves once the Engine need not keep what it wrote any more. Never rejects. */
	readonly rest: (attempt: LoggedAttempt) => Promise<void>;
};

export type Containers = {
	/** The container as it is known. Throws errno exceptions. */
	readonly find: (id: ContainerId) => Container;
	/** `begin` makes and starts the container, and rejects when its program does not run. */
	readonly start: (spec: OpenedSpec, begin: (folder: string) => Promise<Inspected>, done: Done<RunningContainer>) => void;
	readonly inspect: (id: ContainerId, done: Done<ContainerObservation>) => void;
	readonly stop: (id: ContainerId, graceMs: number, done: Done<ContainerExit | null>) => void;
	/** Those that run as far as is known. */
	readonly running: () => Iterable<Container>;
	/** Calls back when the attempt that lives now is over; at once when none does. */
	readonly whenEnded: (container: {readonly live: Pick<Live, 'onEnded'> | undefined}, callback: () => void) => Cancel;
	/** Brings what is known to what the Engine has; answers with the containers that are of no use. Rejects with EngineErrors. */
	readonly compare: (listed: readonly Listed[]) => Promise<readonly string[]>;
	readonly hear: (event: EngineEvent) => void;
	readonly forget: (id: ContainerId) => void;
	/** Containers run on; nothing is told any more. */
	readonly close: () => void;
};

export type ContainersOptions = {
	readonly sandboxes: Pick<Sandboxes, 'find' | 'list' | 'folderOf'>;
	readonly engine: Engine;
	readonly logs: ContainerLogs;
	readonly bootId: string;
	readonly clock: Clock;
	readonly tell: ExitListener;
	/** A call was not answered, or an end not told. */
	readonly doubt: () => void;
	readonly onWarning: (message: string) => void;
};

type State = ContainersOptions & {readonly known: Map<string, Container>; isFirst: boolean; closed: boolean};

const keyOf = (id: ContainerId): string => `${id.uid}/${id.container}`;

export function createContainers(options: ContainersOptions): Containers {
	const state: State = {...options, known: new Map(), isFirst: true, closed: false};
	return {
		find: id => find(state, id),
		start: (spec, begin, done) => start(state, spec, begin, done),
		inspect(id, done) {
			const container = find(state, id);
			const {live} = container;
			if (live !== undefined && live.started === undefined) live.onStarted.push(() => done(succeeded(observed(container))));
			else done(succeeded(observed(container)));
		},
		stop: (id, graceMs, done) => stop(state, id, graceMs, done),
		*running() {
			for (const container of state.known.values()) if (container.live?.started !== undefined) yield container;
		},
		whenEnded({live}, callback) {
			if (live === undefined) callback();
			else live.onEnded.add(callback);
			return () => void live?.onEnded.delete(callback);
		},
		compare: listed => compare(state, listed),
		hear: event => hear(state, event),
		forget: id => void state.known.delete(keyOf(id)),
		close() {
			state.closed = true;
			for (const {live} of state.known.values()) live?.kill?.cancel();
			state.known.clear();
		},
	};
}

const observed = ({live, lastExit, highest}: Container): ContainerObservation => ({
	running: live?.started,
	lastExit,
	nextAttempt: highest + 1,
});

function find(state: State, id: ContainerId): Container {
	const there = state.known.get(keyOf(id));
	if (there !== undefined) return there;
	const folder = path.join(state.sandboxes.folderOf(id.uid), id.container);
	const attempts = attemptsIn(folder);
	const ended = attempts.find(attempt => hasExit(folder, attempt));
	const lastExit = ended === undefined ? undefined : readExit(folder, ended);
	const container: Container = {id, folder, live: undefined, lastExit, highest: attempts[0] ?? -1};
	if (container.highest >= 0) state.known.set(keyOf(id), container);
	return container;
}

const newLive = (attempt: number, tty: boolean): Live => ({
	attempt,
	engineId: undefined,
	started: undefined,
	stopSignal: 'SIGTERM',
	tty,
	isEnding: false,
	isOutOfMemory: false,
	onStarted: [],
	onEnded: new Set(),
	stopping: new Set(),
	kill: undefined,
});

// ---- starts ----------------------------------------------------------------------------------------------------------------

function start(state: State, spec: OpenedSpec, begin: (folder: string) => Promise<Inspected>, done: Done<RunningContainer>): void {
	const {id, attempt} = spec;
	const container = find(state, id);
	const {live} = container;
	if (live !== undefined) return join(container, live, attempt, done);
	if (attempt <= container.highest) return done(attemptIsOver(id, attempt, container.highest + 1));
	const started = newLive(attempt, spec.tty);
	started.onStarted.push(done);
	container.live = started;
	state.known.set(keyOf(id), container);
	begin(container.folder).then(
		inspected => hasStarted(state, container, started, inspected),
		(error: unknown) => hasNotStarted(state, container, started, error),
	);
}

function join({id}: Container, live: Live, attempt: number, done: Done<RunningContainer>): void {
	if (live.attempt !== attempt) done(anotherAttemptRuns(id, attempt, live.attempt));
	else if (live.started === undefined) live.onStarted.push(done);
	else done(succeeded(live.started));
}

const handleOf = (engineId: string): string => `docker://${engineId}`;

const runningOf = (attempt: number, {Id, Image, State: {Pid, StartedAt}}: Inspected): RunningContainer => ({
	attempt,
	pid: Pid,
	startedAtMs: timeOf(StartedAt) ?? 0,
	handle: handleOf(Id),
	imageId: Image,
});

/** dockerode's types do not know it. */
function stopSignalOf({Config}: Inspected): string {
	const {StopSignal: signal} = Config as {StopSignal?: unknown};
	return typeof signal === 'string' && signal !== '' ? signal : 'SIGTERM';
}

function hasStarted(state: State, container: Container, live: Live, inspected: Inspected): void {
	if (state.closed) return;
	live.engineId = inspected.Id;
	live.stopSignal = stopSignalOf(inspected);
	live.started = runningOf(live.attempt, inspected);
	container.highest = live.attempt;
	container.live = live;
	state.known.set(keyOf(container.id), container);
	state.logs.follow(loggedOf(container, live, inspected.Id));
	for (const done of live.onStarted.splice(0)) done(succeeded(live.started));
	dropOutdated(state, container, live.attempt);
	if (!inspected.State.Running) void hearEnd(state, container, live, inspected.Id);
}

/** An attempt whose program never ran is no attempt; where nobody knows, the Engine is asked when it answers again. */
function hasNotStarted(state: State, container: Container, live: Live, error: unknown): void {
	container.live = undefined;
	const isUnknown = error instanceof EngineError && (error.fault === 'late' || error.fault === 'unreachable');
	if (isUnknown)
		container.highest = Math.max(
			container.highest,
			valueOr(-1, () => attemptsIn(container.folder)[0] ?? -1),
		);
	if (container.highest < 0) state.known.delete(keyOf(container.id));
	for (const done of live.onStarted.splice(0)) done(refused(container, error));
	for (const done of live.stopping) done(succeeded(container.lastExit ?? null));
	for (const callback of live.onEnded) callback();
	if (isUnknown) state.doubt();
}

function refused({id}: Container, error: unknown): ReturnType<typeof failed> {
	if (error instanceof AppError) return {ok: false, error: error.failure};
	const message = `container "${id.container}" was not started: ${explained(error).slice(0, limits.engineWordsCharacters)}`;
	return failed('ERR_RUNTIME', {message});
}

const loggedOf = ({id, folder}: Container, {attempt, tty}: Live, engineId: string): LoggedAttempt => ({id, folder, attempt, engineId, tty});

function dropOutdated(state: State, {folder}: Container, attempt: number): void {
	if (attempt === 0) return;
	reading(state, () => {
		for (const old of attemptsIn(folder).slice(limits.attemptsKept)) rmSync(attemptFolder(folder, old), {recursive: true, force: true});
	});
}

/** While no command waits that could be answered with a failure. */
function reading<Value>({onWarning}: State, read: () => Value): Value | undefined {
	try {
		return read();
	} catch (error) {
		onWarning(explained(error));
		return undefined;
	}
}

// ---- ends ------------------------------------------------------------------------------------------------------------------

function hear(state: State, {action, id: engineId, labels: said, exitCode, atMs}: EngineEvent): void {
	if (action !== 'die' && action !== 'oom') return;
	const container = heardOf(state, engineId, said);
	// One that is not known to have started is looked at then.
	if (container?.live?.engineId !== engineId) return;
	if (action === 'oom') {
		container.live.isOutOfMemory = true;
		return;
	}
	void hearEnd(state, container, container.live, engineId, {exitCode, atMs});
}

/** By its labels; one that was made before its pod was known has none of it. */
function heardOf({known}: State, engineId: string, said: EngineEvent['labels']): Container | undefined {
	if (wasRunner(said)) return [...known.values()].find(({live}) => live?.engineId === engineId);
	const made = madeOf(said);
	return made === undefined ? undefined : known.get(keyOf(made.id));
}

type Heard = {readonly exitCode: number | undefined; readonly atMs: number};

/** It does not run any more: how it ended is asked, and told when its log is there. */
async function hearEnd(state: State, container: Container, live: Live, engineId: string, heard?: Heard): Promise<void> {
	if (live.isEnding) return;
	live.isEnding = true;
	try {
		const ended = await endOf(state, live, engineId, heard);
		if (ended === undefined) {
			live.isEnding = false;
			return;
		}
		const logged = loggedOf(container, live, engineId);
		await state.logs.finish(logged);
		if (!state.closed) tellEnd(state, container, live, withLastLines(container, ended));
		await state.logs.rest(logged);
		await remove(state.engine, engineId);
	} catch (error) {
		// Whatever was not done is found when the Engine is compared with.
		live.isEnding = false;
		if (!state.closed) state.onWarning(`the end of container "${container.id.container}" is not known yet: ${explained(error)}`);
		state.doubt();
	}
}

/** containerd tells of it on a way of its own, sometimes after the end: what the Engine keeps of the container does not say it then, its events do. */
async function wasOomKilled({clock}: State, live: Live, {State: is, HostConfig}: Inspected): Promise<boolean> {
	if (is.OOMKilled) return true;
	if (is.ExitCode !== killedCode || live.kill !== undefined || (HostConfig.Memory ?? 0) === 0) return false;
	if (!live.isOutOfMemory) await new Promise<void>(resolve => void clock.after(limits.engineOomMs, resolve));
	return live.isOutOfMemory;
}

/** Of SIGKILL. */
const killedCode = 137;

/** Undefined: it runs. */
async function endOf(state: State, live: Live, engineId: string, heard: Heard | undefined): Promise<ContainerExit | undefined> {
	const {attempt, started} = live;
	const startedAtMs = started?.startedAtMs ?? 0;
	try {
		const inspected = await inspect(state.engine, engineId);
		const {State: is} = inspected;
		if (is.Running) return undefined;
		const finishedAtMs = timeOf(is.FinishedAt) ?? heard?.atMs ?? startedAtMs;
		return exitOf({
			attempt,
			exitCode: is.ExitCode,
			wasOomKilled: await wasOomKilled(state, live, inspected),
			startedAtMs,
			finishedAtMs,
			ran: started,
		});
	} catch (error) {
		// Somebody has removed it.
		if (!(error instanceof EngineError && error.fault === 'notFound')) throw error;
		return exitOf({
			attempt,
			exitCode: heard?.exitCode,
			wasOomKilled: false,
			startedAtMs,
			finishedAtMs: heard?.atMs ?? startedAtMs,
			ran: started,
		});
	}
}

function withLastLines({folder}: Container, exit: ContainerExit): ContainerExit {
	if (exit.exitCode === 0) return exit;
	const lastLines = valueOr('', () => lastLinesOf(logFile(folder, exit.attempt)));
	return lastLines === '' ? exit : {...exit, lastLines};
}

function tellEnd(state: State, container: Container, live: Live, exit: ContainerExit): void {
	reading(state, () => writeExit(container.folder, live.attempt, exit));
	live.kill?.cancel();
	container.live = undefined;
	container.lastExit = exit;
	const pod = state.sandboxes.find(container.id.uid);
	state.tell({namespace: pod?.namespace ?? '', podName: pod?.name ?? '', id: container.id}, exit);
	for (const done of live.stopping) done(succeeded(exit));
	for (const callback of live.onEnded) callback();
}

// ---- stops -----------------------------------------------------------------------------------------------------------------

function stop(state: State, id: ContainerId, graceMs: number, done: Done<ContainerExit | null>): void {
	const container = find(state, id);
	const {live} = container;
	if (live === undefined) return done(succeeded(container.lastExit ?? null));
	live.stopping.add(done);
	if (live.started !== undefined) end(state, container, live, graceMs);
	else live.onStarted.push(outcome => void (outcome.ok && end(state, container, live, graceMs)));
}

/** The image's signal (SIGTERM where it names none) now, SIGKILL after the grace; of several wishes the earliest SIGKILL counts. */
function end(state: State, container: Container, live: Live, graceMs: number): void {
	const {clock} = state;
	const atMs = clock.monotonicMs() + Math.max(0, graceMs);
	if (live.kill !== undefined && live.kill.atMs <= atMs) return;
	const isFirst = live.kill === undefined;
	live.kill?.cancel();
	if (graceMs <= 0) {
		live.kill = {atMs, cancel: () => undefined};
		return signal(state, container, live, 'SIGKILL');
	}
	live.kill = {atMs, cancel: clock.after(graceMs, () => signal(state, container, live, 'SIGKILL'))};
	if (isFirst) signal(state, container, live, live.stopSignal);
}

function signal(state: State, container: Container, live: Live, name: string): void {
	const {engine, clock, doubt} = state;
	kill(engine, live.engineId ?? '', name).then(
		() => {
			if (name !== 'SIGKILL' || container.live !== live || live.kill === undefined) return;
			const cancel = clock.after(limits.engineEndMs, () => {
				failStops(live, new Error(`container "${container.id.container}" has not ended ${limits.engineEndMs} ms after SIGKILL`));
				doubt();
			});
			live.kill = {atMs: live.kill.atMs, cancel};
		},
		(error: unknown) => {
			failStops(live, error);
			doubt();
		},
	);
}

/** They may ask again. */
function failStops(live: Live, error: unknown): void {
	live.kill?.cancel();
	live.kill = undefined;
	const stopping = [...live.stopping];
	live.stopping.clear();
	for (const done of stopping) done(systemFailure(error));
}

// ---- what the Engine has ---------------------------------------------------------------------------------------------------

async function compare(state: State, listed: readonly Listed[]): Promise<readonly string[]> {
	const all = listed.filter(({Labels}) => Labels[labels.container] !== infraName && Labels[labels.podUid] !== undefined);
	const byAttempt = new Map(all.map(each => [attemptKey(each), each]));
	const runners = new Map(listed.filter(({Labels}) => wasRunner(Labels)).map(each => [each.Id, each]));
	const kept = new Set<string>();
	const ids = state.sandboxes.list().flatMap(uid => foldersIn(state.sandboxes.folderOf(uid)).map(container => ({uid, container})));
	await Promise.all(
		ids.map(async id => {
			const container = find(state, id);
			if (container.highest < 0) return;
			const attempt = container.live?.attempt ?? container.highest;
			const there = byAttempt.get(`${keyOf(id)}/${attempt}`) ?? runnerOf(container, attempt, runners);
			if (there !== undefined) kept.add(there.Id);
			await compareOne(state, container, there);
		}),
	);
	return [...all.map(({Id}) => Id), ...runners.keys()].filter(id => !kept.has(id));
}

/** What was made before its pod was known is found by what was written when it became this attempt. */
function runnerOf({folder, live}: Container, attempt: number, runners: ReadonlyMap<string, Listed>): Listed | undefined {
	if (runners.size === 0) return undefined;
	const {wasWarm, started} = readAttempt(folder, attempt) ?? {};
	const engineId = live?.engineId ?? (wasWarm === true ? started?.engineId : undefined);
	return engineId === undefined ? undefined : runners.get(engineId);
}

function attemptKey({Labels}: Listed): string {
	const made = madeOf(Labels);
	return made === undefined ? '' : `${keyOf(made.id)}/${made.attempt}`;
}

const isRunning = (listed: Listed | undefined): boolean => listed?.State === 'running' || listed?.State === 'paused';

async function compareOne(state: State, container: Container, there: Listed | undefined): Promise<void> {
	const {live, folder, highest} = container;
	if (live?.started !== undefined) {
		const engineId = live.engineId ?? '';
		if (isRunning(there)) state.logs.follow(loggedOf(container, live, engineId));
		// Not waited for: its log may take its time.
		else void hearEnd(state, container, live, engineId);
		return;
	}
	// One that is being started now is looked at by its start.
	if (live !== undefined) return;
	if (hasExit(folder, highest)) {
		if (there !== undefined) await remove(state.engine, there.Id);
		return;
	}
	await settle(state, container, there);
}

/** Takes up an attempt that this agent has not heard of before, or whose start it has not heard of; it is not told. */
async function settle(state: State, container: Container, there: Listed | undefined): Promise<void> {
	const {folder, highest: attempt, id} = container;
	const record = readAttempt(folder, attempt);
	const looked = there === undefined ? undefined : await lookAt(state.engine, there.Id);
	const inspected = looked === undefined ? undefined : asStarted(looked, record);
	const startedAtMs = inspected === undefined ? record?.started?.startedAtMs : timeOf(inspected.State.StartedAt);
	// It was made and never started, or not even made.
	if (startedAtMs === undefined || isBehindGate(record, inspected)) {
		if (there !== undefined) await remove(state.engine, there.Id);
		rmSync(attemptFolder(folder, attempt), {recursive: true, force: true});
		state.known.delete(keyOf(id));
		return;
	}
	const isOfThisBoot = record === undefined || record.bootId === state.bootId;
	if (inspected?.State.Running === true && isOfThisBoot)
		return hasStarted(state, container, newLive(attempt, inspected.Config.Tty), inspected);
	const nowMs = state.clock.nowMs();
	const ran = ranOf(record, inspected);
	const ended = isOfThisBoot ? foundEnd(attempt, startedAtMs, inspected, nowMs, ran) : lost(attempt, startedAtMs, nowMs, ran);
	if (inspected !== undefined) {
		await state.logs.finish({id, folder, attempt, engineId: inspected.Id, tty: inspected.Config.Tty});
	}
	const exit = withLastLines(container, ended);
	writeExit(folder, attempt, exit);
	container.lastExit = exit;
	if (there !== undefined) await remove(state.engine, there.Id);
}

/** One that was made before its pod was known has begun for it later than the Engine says. */
function asStarted(inspected: Inspected, record: AttemptRecord | undefined): Inspected {
	if (record?.wasWarm !== true || record.started === undefined) return inspected;
	return startedAt(inspected, record.started.startedAtMs);
}

/** Its program has never run, and never will: the agent that would have let it through is gone. */
const isBehindGate = (record: AttemptRecord | undefined, inspected: Inspected | undefined): boolean =>
	record?.isGated === true && (record.started === undefined || (inspected?.State.Running === true && waits(inspected.State.Pid)));

/** The Engine may not have it any more. */
function ranOf(record: AttemptRecord | undefined, inspected: Inspected | undefined): Ended['ran'] {
	if (inspected !== undefined) return {handle: handleOf(inspected.Id), imageId: inspected.Image};
	return record?.started === undefined ? undefined : {handle: handleOf(record.started.engineId)};
}

function foundEnd(attempt: number, startedAtMs: number, inspected: Inspected | undefined, nowMs: number, ran: Ended['ran']): ContainerExit {
	if (inspected === undefined) return exitOf({attempt, exitCode: undefined, wasOomKilled: false, startedAtMs, finishedAtMs: nowMs, ran});
	const {ExitCode: exitCode, OOMKilled: wasOomKilled, FinishedAt} = inspected.State;
	return exitOf({attempt, exitCode, wasOomKilled, startedAtMs, finishedAtMs: timeOf(FinishedAt) ?? nowMs, ran});
}

/** How it ended at the reboot nobody has seen. */
const lost = (attempt: number, startedAtMs: number, nowMs: number, ran: Ended['ran']): ContainerExit => ({
	...exitOf({attempt, exitCode: undefined, wasOomKilled: false, startedAtMs, finishedAtMs: nowMs, ran}),
	reason: 'LostOnReboot',
});
