// The simulated runtime: the same port with nothing behind it but a clock, chance and a script. It runs in virtual time: every
// answer comes by the clock, nothing else is awaited.

import {failed, succeeded} from '../api/errors.js';
import {nodeFeatures} from '../api/features.js';
import {limits} from '../api/limits.js';
import type {
	ContainerId,
	ContainerObservation,
	ExitListener,
	LogChunk,
	LogRequest,
	RunningContainer,
	Runtime,
} from '../actors/node/runtime/runtime-port.js';
import {noSecrets, type NodeSecrets} from '../actors/node/runtime/secrets-port.js';
import type {Random} from '../system/time/random.js';
import type {Cancel, Clock} from '../system/time/clock.js';
import {handle, type Done, type Handlers} from './handlers.js';
import {anotherAttemptRuns, attemptIsOver, noLease, noSandbox, noSuchLog, notRunning, wrongLogRequest} from './refusals.js';
import {openSpec} from './secret-env.js';
import {createExecSessions} from './simulated/exec.js';
import {createSimulatedHost, type SimulatedContainer, type SimulatedHost, type SimulatedNetwork} from './simulated/host.js';
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

const gibibyte = 1_073_741_824;

export function createSimulatedRuntime(options: SimulatedRuntimeOptions): Runtime {
	const {
		clock,
		random,
		script = {},
		secrets = noSecrets,
		hostIP = '127.0.0.1',
		network,
		host = createSimulatedHost(clock, network),
	} = options;
	/** Stands for this agent: what another one started is not heard of before it is adopted. */
	const agent = {};
	const sessions = createExecSessions(clock);
	let listener: ExitListener = () => undefined;
	let closed = false;
	host.attend(agent, (container, exit) => listener(container, exit));

	const handlers: Handlers = {
		'sandbox.ensure'({spec}, done) {
			const pod = host.pods.get(spec.uid) ?? {podIP: host.network.nextAddress(), name: spec.name, containers: [], volumes: undefined};
			host.pods.set(spec.uid, pod);
			done(succeeded({podIP: pod.podIP, hostIP}));
		},
		'sandbox.remove'({uid}, done) {
			host.removePod(uid);
			done(succeeded(null));
		},
		'sandbox.list': (_command, done) => done(succeeded([...host.pods.keys()])),
		'container.start'({spec}, done) {
			const there = adopted(host.find(spec.id));
			if (!host.pods.has(spec.id.uid)) return done(noSandbox(spec.id.uid));
			if (there !== undefined && there.exit === undefined) {
				if (there.spec.attempt === spec.attempt) return done(succeeded(runningOf(there)));
				return done(anotherAttemptRuns(spec.id, spec.attempt, there.spec.attempt));
			}
			if (there !== undefined && spec.attempt <= there.spec.attempt) {
				return done(attemptIsOver(spec.id, spec.attempt, there.spec.attempt + 1));
			}
			openSpec(spec, secrets, opened => {
				if (!opened.ok) done(opened);
				else if (spec.exclusive === true && !host.isWatched(spec.id.uid)) done(noLease(spec.id));
				// The container is the spec as it was asked for: what is secret stays with its program.
				else done(succeeded(runningOf(host.start(spec, (script.program ?? programByWords)(opened.value, random), agent))));
			});
		},
		'container.inspect': ({id}, done) => done(succeeded(observationOf(adopted(host.find(id))))),
		'container.stop'({id, graceMs}, done) {
			const container = adopted(host.find(id));
			if (container === undefined || container.exit !== undefined) return done(succeeded(container?.exit ?? null));
			whenEnded(container, () => done(succeeded(container.exit ?? null)));
			stop(container, graceMs);
		},
		'logs.read': ({request}, done) => readLog(request, done),
		'volumes.ensure'({uid, volumes}, done) {
			const pod = host.pods.get(uid);
			if (pod === undefined) return done(noSandbox(uid));
			pod.volumes = volumes;
			done(succeeded(null));
		},
		'container.act'({id, action}, done) {
			const container = running(id);
			if (container === undefined) return done(notRunning(id));
			const {spec, startedAtMs} = container;
			done(succeeded((script.act ?? actByWords)({spec, action, startedAtMs, nowMs: clock.nowMs()}, random)));
		},
		'exec.open': ({request}, done) =>
			done(running(request.id) === undefined ? notRunning(request.id) : succeeded({session: sessions.open(request)})),
		'exec.write': ({session, data, isLast}, done) => sessions.write(session, data, isLast, done),
		'exec.read': ({session, waitMs}, done) => sessions.read(session, waitMs, done),
		'exec.resize': ({session}, done) => sessions.resize(session, done),
		'exec.close'({session}, done) {
			sessions.close(session);
			done(succeeded(null));
		},
		'stdin.write': ({id}, done) => done(running(id) === undefined ? notRunning(id) : succeeded(null)),
		'lease.extend'({uid, untilMs}, done) {
			host.killAfter(uid, untilMs - clock.monotonicMs());
			done(succeeded(null));
		},
	};

	function adopted(container: SimulatedContainer | undefined): SimulatedContainer | undefined {
		if (container !== undefined) container.watcher = agent;
		return container;
	}

	function running(id: ContainerId): SimulatedContainer | undefined {
		const container = host.find(id);
		return container?.exit === undefined ? container : undefined;
	}

	const runningOf = ({spec, pid, startedAtMs}: SimulatedContainer): RunningContainer => ({
		attempt: spec.attempt,
		pid,
		startedAtMs,
		handle: `${pid}.${startedAtMs}`,
	});

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

	/** The first of: its answer to SIGTERM, SIGKILL after the grace. */
	function stop(container: SimulatedContainer, graceMs: number): void {
		const answer = container.program.terminates;
		const isInTime = graceMs > 0 && answer !== undefined && answer.afterMs <= graceMs;
		const [afterMs, code] = isInTime ? [answer.afterMs, answer.code] : [Math.max(0, graceMs), 137];
		const cancel = clock.after(afterMs, () => {
			forget();
			host.end(container, code);
		});
		const forget = whenEnded(container, cancel);
	}

	function readLog(request: LogRequest, done: Done<LogChunk>): void {
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

	/** Nothing of an agent that is gone happens any more, and nobody hears of it. */
	const later = (delayMs: number, run: () => void): Cancel => clock.after(delayMs, () => void (closed || run()));

	return {
		info: () => ({
			name: 'simulated',
			version: '1',
			cpuMillis: options.cpuMillis ?? 64_000,
			memoryBytes: options.memoryBytes ?? 64 * gibibyte,
			maxPods: options.maxPods ?? limits.podsPerNode,
			features: nodeFeatures,
			conditions: [],
			hostIP,
			hostBootId: host.bootId(),
			os: 'simulated',
			kernel: 'simulated',
			architecture: 'simulated',
		}),
		run(command, done) {
			const treatment = script.treat?.(command, random) ?? answersAtOnce;
			switch (treatment.type) {
				case 'answers': {
					const {afterMs} = treatment;
					// Made when it is asked for, however late that is told: whoever removes it after that finds it.
					if (command.type === 'sandbox.ensure') handle(handlers, command, outcome => later(afterMs, () => done(outcome)));
					else later(afterMs, () => handle(handlers, command, outcome => void (closed || done(outcome))));
					break;
				}
				case 'fails':
					later(treatment.afterMs, () => done(failed('ERR_RUNTIME', {message: treatment.message})));
					break;
				case 'isSilent':
					if (treatment.acts) later(0, () => handle(handlers, command, () => undefined));
			}
		},
		onExit(next) {
			listener = next;
		},
		close() {
			closed = true;
			host.attend(undefined, () => undefined);
			// A machine of its own goes with it: no program's clock may keep the process.
			if (options.host === undefined) host.reboot();
			return Promise.resolve();
		},
	};
}

type Line = {readonly attempt: number; readonly writtenAtMs: number; readonly isOver: boolean};

/** One line a container, so that there is something to read. */
function chunkOf(request: LogRequest, {attempt, writtenAtMs, isOver}: Line): LogChunk {
	const {id, offset, tailLines, maxBytes, sinceMs = 0, timestamps = false} = request;
	const text = Buffer.from(`attempt ${attempt} of ${id.container} started\n`);
	const isLeftOut = tailLines === 0 || sinceMs > writtenAtMs;
	const from = Math.min(text.length, offset ?? (isLeftOut ? text.length : 0));
	const part = text.subarray(from, from + maxBytes);
	const nextOffset = from + part.length;
	// Its own time is no part of what was written.
	const time = timestamps && from === 0 && part.length > 0 ? `${new Date(writtenAtMs).toISOString()} ` : '';
	const data = Buffer.concat([Buffer.from(time), part]).toString('base64');
	return {data, nextOffset, end: isOver && nextOffset === text.length, attempt};
}
