// The simulated runtime: the same port with nothing behind it but a clock, chance and a script. It runs in virtual time: every
// answer comes by the clock, nothing else is awaited.

import {failed, succeeded} from '../api/errors.js';
import {nodeFeatures} from '../api/features.js';
import {limits} from '../api/limits.js';
import {runtimeClasses} from '../api/runtime-class.js';
import type {
	ContainerExit,
	ContainerId,
	ContainerObservation,
	ContainerSpec,
	ExitListener,
	LogChunk,
	LogRequest,
	RunningContainer,
	Runtime,
	RuntimeEvent,
	RuntimeCommand,
	UsageSample,
} from '../actors/node/runtime/runtime-port.js';
import type {RuntimeInfo} from '../actors/protocol/runtime-info.js';
import {noSecrets, type NodeSecrets} from '../actors/node/runtime/secrets-port.js';
import type {Random} from '../system/time/random.js';
import type {Cancel, Clock} from '../system/time/clock.js';
import {createSessions, sessionHandlers} from './exec-sessions.js';
import {handle, type Done, type Handlers} from './handlers.js';
import {
	anotherAttemptRuns,
	attemptIsOver,
	lostSandbox,
	noImages,
	noInstance,
	noLease,
	noSandbox,
	noSuchLog,
	notRunning,
	wrongLogRequest,
} from './refusals.js';
import {openSpec} from './secret-env.js';
import {openConnection, openSession} from './simulated/exec.js';
import {createSimulatedHost, handleOf, type SimulatedContainer, type SimulatedHost, type SimulatedNetwork} from './simulated/host.js';
import {ensureImage, listImages} from './simulated/images.js';
import {actByWords, answersAtOnce, programByWords, type SimulatedScript} from './simulated/script.js';

export type SimulatedRuntimeOptions = {
	readonly clock: Clock;
	readonly random: Random;
	readonly script?: SimulatedScript | undefined;
	/** How containers come by Secrets; without it those that name some do not start. */
	readonly secrets?: NodeSecrets | undefined;
	/** What survives the agent; a new host when there is none. */
	readonly host?: SimulatedHost | undefined;
	/** Of a new host: where its pods get their addresses. */
	readonly network?: SimulatedNetwork | undefined;
	readonly hostIP?: string | undefined;
	readonly cpuMillis?: number | undefined;
	readonly memoryBytes?: number | undefined;
	readonly maxPods?: number | undefined;
};

/** Where volumes of claims would be. */
const simulatedVolumes = '/simulated/volumes';

const gibibyte = 1_073_741_824;

type State = Pick<SimulatedRuntimeOptions, 'clock' | 'random'> & {
	readonly options: SimulatedRuntimeOptions;
	readonly script: SimulatedScript;
	readonly hostIP: string;
	readonly host: SimulatedHost;
	/** Stands for this agent: what another one started is not heard of before it is adopted. */
	readonly agent: object;
	hear: (event: RuntimeEvent) => void;
	closed: boolean;
};

export function createSimulatedRuntime(options: SimulatedRuntimeOptions): Runtime {
	const {clock, random, script = {}, hostIP = '127.0.0.1', network, host = createSimulatedHost(clock, network)} = options;
	const state: State = {options, clock, random, script, hostIP, host, agent: {}, hear: () => undefined, closed: false};
	const handlers = handlersOf(state);
	let listener: ExitListener = () => undefined;
	host.attend(
		state.agent,
		(container, exit) => listener(container, exit),
		event => state.hear(event),
	);
	return {
		info: () => infoOf(state),
		run: (command, done) => run(state, handlers, command, done),
		onExit(next) {
			listener = next;
		},
		onEvent(next) {
			state.hear = next;
		},
		close() {
			state.closed = true;
			host.attend(
				undefined,
				() => undefined,
				() => undefined,
			);
			// A machine of its own goes with it: no program's clock may keep the process.
			if (options.host === undefined) host.reboot();
			return Promise.resolve();
		},
	};
}

const infoOf = ({options, hostIP, host}: State): RuntimeInfo => ({
	name: 'simulated',
	version: '1',
	cpuMillis: options.cpuMillis ?? 64_000,
	memoryBytes: options.memoryBytes ?? 64 * gibibyte,
	maxPods: options.maxPods ?? limits.podsPerNode,
	features: nodeFeatures,
	localVolumes: simulatedVolumes,
	conditions: [],
	classes: runtimeClasses,
	hostIP,
	hostBootId: host.bootId(),
	os: 'simulated',
	kernel: 'simulated',
	architecture: 'simulated',
});

/** Does with a command what the script says: answers, fails, or keeps silent. */
function run(state: State, handlers: Handlers, command: RuntimeCommand, done: Done<never>): void {
	const treatment = state.script.treat?.(command, state.random) ?? answersAtOnce;
	switch (treatment.type) {
		case 'answers': {
			const {afterMs} = treatment;
			// Made when it is asked for, however late that is told: a removal that is asked for after that finds it.
			if (command.type === 'sandbox.ensure') handle(handlers, command, outcome => later(state, afterMs, () => done(outcome)));
			else later(state, afterMs, () => handle(handlers, command, outcome => void (state.closed || done(outcome))));
			break;
		}
		case 'fails':
			later(state, treatment.afterMs, () => done(failed('ERR_RUNTIME', {message: treatment.message})));
			break;
		case 'isSilent':
			if (treatment.acts) later(state, 0, () => handle(handlers, command, () => undefined));
	}
}

/** Nothing of an agent that is gone happens any more, nor is it told. */
const later = (state: State, delayMs: number, act: () => void): Cancel => state.clock.after(delayMs, () => void (state.closed || act()));

function handlersOf(state: State): Handlers {
	const {clock, random, script, hostIP, host} = state;
	const sessions = createSessions(clock);
	let opened = 0;
	return {
		'sandbox.ensure'({spec}, done) {
			const {podIP, isLost, firstAttempts} = host.ensurePod(spec);
			done(succeeded({podIP, hostIP, ...(isLost ? {isLost} : {}), ...(firstAttempts === undefined ? {} : {firstAttempts})}));
		},
		'sandbox.remove'({uid}, done) {
			host.removePod(uid);
			done(succeeded(null));
		},
		'sandbox.list': (_command, done) => done(succeeded([...host.pods.keys()])),
		'container.start': ({spec}, done) => start(state, spec, done),
		'container.inspect': ({id}, done) => done(succeeded(observationOf(adopted(state, id)))),
		'container.stop': ({id, graceMs}, done) => stop(state, id, graceMs, done),
		'logs.read': ({request}, done) => readLog(state, request, done),
		'volumes.ensure'({uid, volumes}, done) {
			if (!host.keepVolumes(uid, volumes)) return done(noSandbox(uid));
			for (const {source} of volumes) if (source.type === 'local') host.localVolumes.add(source.volume);
			done(succeeded(null));
		},
		'image.ensure'(command, done) {
			const {pull} = script;
			if (pull === undefined) return done(succeeded({imageId: undefined}));
			const around = {
				images: host.images,
				pull: (image: string) => pull(image, random),
				nowMs: () => clock.nowMs(),
				later: (delayMs: number, act: () => void) => void later(state, delayMs, act),
				hear: (event: RuntimeEvent) => state.hear(event),
			};
			ensureImage(around, command, done);
		},
		'image.list': (_command, done) => done(succeeded({images: listImages(host.images, imagesIn(host))})),
		'image.open': (_command, done) => done(noImages),
		'volume.remove'({volume, onlyCheck = false}, done) {
			for (const [uid, pod] of host.pods)
				if (pod.volumes?.some(({source}) => source.type === 'local' && source.volume === volume) === true)
					return done(failed('ERR_RUNTIME', {message: `volume "${volume}" is still used by the pod with uid ${uid}`}));
			if (!onlyCheck) host.localVolumes.delete(volume);
			done(succeeded(null));
		},
		'volume.measure'({volume}, done) {
			if (host.localVolumes.has(volume)) done(succeeded({usedBytes: 0}));
			else done(failed('ERR_RUNTIME', {message: `there is no volume "${volume}"`}));
		},
		'usage.read': (_command, done) => done(succeeded(usageOf(state))),
		'container.act'({id, action}, done) {
			const container = running(host, id);
			if (container === undefined) return done(notRunning(id));
			const {spec, startedAtMs} = container;
			done(succeeded((script.act ?? actByWords)({spec, action, startedAtMs, nowMs: clock.nowMs()}, random)));
		},
		'exec.open'({request}, done) {
			if (running(host, request.id) === undefined) return done(notRunning(request.id));
			const session = `exec-${++opened}`;
			openSession(sessions, session, request);
			done(succeeded({session}));
		},
		'forward.open'({request}, done) {
			const {uid} = request;
			const pod = host.pods.get(uid);
			if (pod === undefined) return done(noSandbox(uid));
			const runs = pod.containers.flatMap(container => running(host, {uid, container}) ?? []);
			if (request.port === 'function' && !runs.some(({spec}) => spec.function !== undefined)) return done(noInstance(uid));
			if (runs.length === 0)
				return done(failed('ERR_NOT_REACHABLE', {message: `port ${request.port} of the pod cannot be reached: connection refused`}));
			const session = `forward-${++opened}`;
			openConnection(sessions, session, request.relayedFor);
			done(succeeded({session}));
		},
		...sessionHandlers(sessions),
		'stdin.write': ({id}, done) => done(running(host, id) === undefined ? notRunning(id) : succeeded(null)),
		// Whose devices are whose the node knows for all of its runtimes: agent/devices.
		'devices.release': (_command, done) => done(succeeded(null)),
		'lease.extend'({uid, untilMs}, done) {
			host.killAfter(uid, untilMs - clock.monotonicMs());
			done(succeeded(null));
		},
	};
}

function start(state: State, spec: ContainerSpec, done: Done<RunningContainer>): void {
	const {options, random, script, host, agent} = state;
	const {id, attempt} = spec;
	const there = adopted(state, id);
	if (!host.pods.has(id.uid)) return done(noSandbox(id.uid));
	if (there !== undefined && there.exit === undefined) {
		return done(there.spec.attempt === attempt ? succeeded(runningOf(there)) : anotherAttemptRuns(id, attempt, there.spec.attempt));
	}
	if (there !== undefined && attempt <= there.spec.attempt) return done(attemptIsOver(id, attempt, there.spec.attempt + 1));
	openSpec(spec, options.secrets ?? noSecrets, opened => {
		if (!opened.ok) done(opened);
		else if (host.pods.get(id.uid)?.isLost !== false) done(lostSandbox(id.uid));
		else if (spec.exclusive === true && !host.isWatched(id.uid)) done(noLease(id));
		// The container is the spec as it was asked for: what is secret stays with its program.
		else done(succeeded(runningOf(host.start(spec, (script.program ?? programByWords)(opened.value, random), agent))));
	});
}

/** The first of: its answer to SIGTERM, SIGKILL after the grace. */
function stop(state: State, id: ContainerId, graceMs: number, done: Done<ContainerExit | null>): void {
	const container = adopted(state, id);
	if (container === undefined || container.exit !== undefined) return done(succeeded(container?.exit ?? null));
	whenEnded(container, () => done(succeeded(container.exit ?? null)));
	const answer = container.program.terminates;
	const isInTime = graceMs > 0 && answer !== undefined && answer.afterMs <= graceMs;
	const [afterMs, code] = isInTime ? [answer.afterMs, answer.code] : [Math.max(0, graceMs), 137];
	const cancel = state.clock.after(afterMs, () => {
		forget();
		state.host.end(container, code);
	});
	const forget = whenEnded(container, cancel);
}

/** The container, whose end this agent hears from now on. */
function adopted({host, agent}: State, id: ContainerId): SimulatedContainer | undefined {
	const container = host.find(id);
	if (container !== undefined) container.watcher = agent;
	return container;
}

/** What a container pretends to use, and the host of its processors too. */
const pretended = {cpuShare: 0.1, memoryBytes: 16 * 1_048_576};

function usageOf({clock, host}: State): UsageSample {
	const [atMs, readAtMs] = [Math.round(clock.nowMs()), clock.monotonicMs()];
	const ids = [...host.pods].flatMap(([uid, {containers}]) => containers.map(container => ({uid, container})));
	const containers = ids.flatMap(id => {
		const found = running(host, id);
		if (found === undefined) return [];
		const cpuNanos = Math.round(Math.max(0, atMs - found.startedAtMs) * pretended.cpuShare * 1_000_000);
		return [{id, attempt: found.spec.attempt, readAtMs, cpuNanos, memoryBytes: pretended.memoryBytes}];
	});
	const cpuNanos = Math.round(readAtMs * pretended.cpuShare * 1_000_000);
	return {atMs, node: {readAtMs, cpuNanos, memoryBytes: containers.length * pretended.memoryBytes}, containers};
}

function imagesIn(host: SimulatedHost): ReadonlySet<string> {
	const ids = [...host.pods].flatMap(([uid, {containers}]) => containers.map(container => ({uid, container})));
	return new Set(ids.flatMap(id => host.find(id)?.spec.image ?? []));
}

function running(host: SimulatedHost, id: ContainerId): SimulatedContainer | undefined {
	const container = host.find(id);
	return container?.exit === undefined ? container : undefined;
}

function runningOf(container: SimulatedContainer): RunningContainer {
	const {spec, pid, startedAtMs} = container;
	const {attempt, imageId} = spec;
	return {attempt, pid, startedAtMs, handle: handleOf(container), ...(imageId === undefined ? {} : {imageId})};
}

const observationOf = (container: SimulatedContainer | undefined): ContainerObservation => ({
	running: container === undefined || container.exit !== undefined ? undefined : runningOf(container),
	lastExit: container?.exit ?? container?.previous,
	nextAttempt: container === undefined ? 0 : container.spec.attempt + 1,
});

function whenEnded(container: SimulatedContainer, callback: () => void): Cancel {
	container.waiting ??= new Set();
	container.waiting.add(callback);
	return () => void container.waiting?.delete(callback);
}

function readLog({clock, host}: State, request: LogRequest, done: Done<LogChunk>): void {
	const refusal = wrongLogRequest(request);
	if (refusal !== undefined) return done(refusal);
	const pod = host.pods.get(request.id.uid);
	if (pod === undefined) return done(noSandbox(request.id.uid));
	const container = host.find(request.id);
	const attempt = request.previous ? container?.previous?.attempt : container?.spec.attempt;
	if (container === undefined || attempt === undefined) return done(noSuchLog(request, pod.name));
	const isOver = (): boolean => request.previous || container.exit !== undefined;
	const writtenAtMs = (request.previous ? container.previous?.startedAtMs : undefined) ?? container.startedAtMs;
	const look = (): LogChunk => chunkOf(request, {attempt, writtenAtMs, isOver: isOver()});
	const answer = (): void => done(succeeded(look()));
	const chunk = look();
	if (chunk.data !== '' || chunk.end || request.waitMs <= 0) return answer();
	const forget = whenEnded(container, () => {
		cancel();
		answer();
	});
	const cancel = clock.after(request.waitMs, () => {
		forget();
		answer();
	});
}

type Line = {readonly attempt: number; readonly writtenAtMs: number; readonly isOver: boolean};

/** One line a container, so that there is something to read. */
function chunkOf(request: LogRequest, {attempt, writtenAtMs, isOver}: Line): LogChunk {
	const {id, offset, endOffset, tailLines, maxBytes, sinceMs = 0, timestamps = false} = request;
	const text = Buffer.from(`attempt ${attempt} of ${id.container} started\n`);
	const isLeftOut = tailLines === 0 || sinceMs > writtenAtMs;
	const from = Math.min(text.length, offset ?? (isLeftOut ? text.length : 0));
	const part = text.subarray(from, Math.max(from, Math.min(from + maxBytes, endOffset ?? text.length)));
	const nextOffset = from + part.length;
	// Its own time is no part of what was written.
	const time = timestamps && from === 0 && part.length > 0 ? `${new Date(writtenAtMs).toISOString()} ` : '';
	const data = Buffer.concat([Buffer.from(time), part]).toString('base64');
	return {data, nextOffset, endOffset: endOffset ?? text.length, end: isOver && nextOffset === text.length, attempt};
}
