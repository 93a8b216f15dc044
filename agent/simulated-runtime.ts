// The simulated runtime: the same port with nothing behind it but a clock, chance and a script. It runs in virtual time: every
// answer comes by the clock, nothing else is awaited.

import {failed, succeeded} from '../api/errors.js';
import {limits} from '../api/limits.js';
import type {ContainerObservation, ExitListener, LogChunk, LogRequest, RunningContainer, Runtime} from '../actors/node/runtime-port.js';
import {noSecrets, type NodeSecrets} from '../actors/node/secrets-port.js';
import type {Random} from '../system/behavior.js';
import type {Cancel, Clock} from '../system/clock.js';
import {handle, type Done, type Handlers} from './handlers.js';
import {anotherAttemptRuns, attemptIsOver, noSandbox, noSuchLog, wrongLogRequest, noLease} from './refusals.js';
import {openSpec} from './secret-env.js';
import {createSimulatedHost, type SimulatedContainer, type SimulatedHost} from './simulated/host.js';
import {answersAtOnce, programByWords, type SimulatedScript} from './simulated/script.js';

export type SimulatedRuntimeOptions = {
	readonly clock: Clock;
	readonly random: Random;
	readonly script?: SimulatedScript | undefined;
	/** How containers come by Secrets; without it those that name some do not start. */
	readonly secrets?: NodeSecrets | undefined;
	/** What survives the agent; a new host when there is none. */
	readonly host?: SimulatedHost | undefined;
	readonly hostIP?: string | undefined;
	readonly cpuMillis?: number | undefined;
	readonly memoryBytes?: number | undefined;
	readonly maxPods?: number | undefined;
};

const gibibyte = 1_073_741_824;

export function createSimulatedRuntime(options: SimulatedRuntimeOptions): Runtime {
	const {clock, random, script = {}, secrets = noSecrets, hostIP = '127.0.0.1', host = createSimulatedHost(clock)} = options;
	/** Stands for this agent: what another one started is not heard of before it is adopted. */
	const agent = {};
	let listener: ExitListener = () => undefined;
	let closed = false;
	host.attend(agent, (container, exit) => listener(container, exit));

	const handlers: Handlers = {
		'sandbox.ensure'({spec}, done) {
			const pod = host.pods.get(spec.uid) ?? {podIP: host.network.nextAddress(), name: spec.name, containers: []};
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
		'lease.extend'({uid, untilMs}, done) {
			host.killAfter(uid, untilMs - clock.monotonicMs());
			done(succeeded(null));
		},
	};

	function adopted(container: SimulatedContainer | undefined): SimulatedContainer | undefined {
		if (container !== undefined) container.watcher = agent;
		return container;
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

	function readLog(request: LogRequest, done: Done<'logs.read'>): void {
		const refusal = wrongLogRequest(request);
		if (refusal !== undefined) return done(refusal);
		const pod = host.pods.get(request.id.uid);
		if (pod === undefined) return done(noSandbox(request.id.uid));
		const container = host.find(request.id);
		const attempt = request.previous ? container?.previous?.attempt : container?.spec.attempt;
		if (container === undefined || attempt === undefined) return done(noSuchLog(request, pod.name));
		const isOver = (): boolean => request.previous || container.exit !== undefined;
		const answer = (): void => done(succeeded(chunkOf(request, attempt, isOver())));
		const chunk = chunkOf(request, attempt, isOver());
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
			features: [],
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
				case 'answers':
					later(treatment.afterMs, () => handle(handlers, command, outcome => void (closed || done(outcome))));
					break;
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
			return Promise.resolve();
		},
	};
}

/** One line a container, so that there is something to read. */
function chunkOf({id, offset, tailLines, maxBytes}: LogRequest, attempt: number, isOver: boolean): LogChunk {
	const text = Buffer.from(`attempt ${attempt} of ${id.container} started\n`);
	const from = Math.min(text.length, offset ?? (tailLines === 0 ? text.length : 0));
	const data = text.subarray(from, from + maxBytes);
	const nextOffset = from + data.length;
	return {data: data.toString('base64'), nextOffset, end: isOver && nextOffset === text.length, attempt};
}
