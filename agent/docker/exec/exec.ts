// Programs beside those of containers, through the Engine: for people who open a session, and for probes and hooks.

import {failed, succeeded, type Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {ContainerId, ExecRequest, RuntimeCommand, RuntimeResults} from '../../../actors/node/runtime/runtime-port.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import {systemRandom} from '../../../system/time/random.js';
import {tooManyActions} from '../../action-words.js';
import {runNetworkAction} from '../../actions.js';
import type {Sessions} from '../../exec-sessions.js';
import {awaitCalls, type CallsEnd} from '../../functions/when-listens.js';
import type {Done, Handlers} from '../../handlers.js';
import {systemFailure} from '../../os/explained.js';
import {notRunning} from '../../refusals.js';
import {sizeOf} from '../../terminal-size.js';
import {EngineError, type Engine} from '../engine/engine.js';
import {runActionProgram} from './exec-actions.js';
import {startProgram, type Beside} from './exec-program.js';
import {createInputs, type Inputs} from './inputs.js';

/** As much of a container as a program beside it needs. */
export type ExecContainer = {
	readonly live:
		{readonly engineId: string | undefined; readonly started: object | undefined; readonly onEnded: Set<() => void>} | undefined;
};

export type ExecOptions = {
	readonly engine: Engine;
	readonly clock: Clock;
	/** Where sessions are kept; all of them end with this. */
	readonly sessions: Sessions;
	/** May throw errno exceptions. */
	readonly find: (id: ContainerId) => ExecContainer;
	/** `NAME=VALUE`: what the Engine does not know of the environment of a container that runs. */
	readonly environmentOf: (id: ContainerId) => readonly string[];
	/** Where a pod takes calls, if it is an instance of a function that runs. */
	readonly callsEndOf: (uid: string) => Outcome<CallsEnd>;
};

export type Exec = {
	readonly handlers: Pick<Handlers, 'container.act' | 'exec.open' | 'stdin.write'>;
	/** Kills what runs beside containers. Resolves when that is done, or cannot be done now. */
	readonly end: () => Promise<void>;
};

type State = ExecOptions & {
	readonly inputs: Inputs;
	readonly beside: Beside;
	/** What ends actions that run. */
	readonly actions: Set<() => void>;
	/** What ends waits for instances. */
	readonly waiting: Set<Cancel>;
	readonly tracked: Set<Promise<unknown>>;
	/** Aborted: no program is started any more. */
	readonly closing: AbortController;
	requests: number;
	/** Sessions whose programs are being started. */
	opening: number;
};

export function createExec(options: ExecOptions): Exec {
	const {engine, clock} = options;
	const tracked = new Set<Promise<unknown>>();
	const track = (work: Promise<unknown>): void => {
		tracked.add(work);
		void work.finally(() => tracked.delete(work));
	};
	const state: State = {
		...options,
		inputs: createInputs(engine),
		beside: {engine, clock, track},
		actions: new Set(),
		waiting: new Set(),
		tracked,
		closing: new AbortController(),
		requests: 0,
		opening: 0,
	};
	return {
		handlers: {
			'container.act': (command, done) => act(state, command, done),
			'exec.open': ({request}, done) => open(state, request, done),
			'stdin.write'({id, data, isLast}, done) {
				const engineId = runningId(state, id);
				if (engineId === undefined) done(notRunning(id));
				else
					state.inputs.write(
						{id, engineId, whenEnded: forget => state.find(id).live?.onEnded.add(forget)},
						Buffer.from(data, 'base64'),
						isLast,
						done,
					);
			},
		},
		end: () => end(state),
	};
}

async function end({sessions, inputs, actions, waiting, tracked, closing, clock}: State): Promise<void> {
	closing.abort();
	sessions.closeAll();
	inputs.close();
	for (const stop of [...actions, ...waiting]) stop();
	await atMost(limits.beginMs, clock, Promise.all(tracked));
}

/** Waits for it, but no longer than that. */
async function atMost(ms: number, clock: Clock, work: Promise<unknown>): Promise<void> {
	let cancel = (): void => undefined;
	const late = new Promise<void>(resolve => (cancel = clock.after(ms, resolve)));
	await Promise.race([work, late]);
	cancel();
}

/** Undefined: it does not run. */
function runningId({find}: State, id: ContainerId): string | undefined {
	const {live} = find(id);
	return live?.started === undefined ? undefined : live.engineId;
}

type Act = Extract<RuntimeCommand, {type: 'container.act'}>;

function act(state: State, {id, action, timeoutMs}: Act, done: Done<RuntimeResults['container.act']>): void {
	const {actions, beside, clock} = state;
	const engineId = runningId(state, id);
	if (engineId === undefined) return done(notRunning(id));
	const forMs = Math.max(0, timeoutMs);
	if (action.type === 'exec') {
		if (actions.size >= limits.execActions) return done(tooManyActions(actions.size));
		const finish = runActionProgram(beside, {engineId, argv: action.argv, env: state.environmentOf(id), timeoutMs: forMs}, outcome => {
			actions.delete(stop);
			done(outcome);
		});
		const stop = (): void => finish(notRunning(id));
		actions.add(stop);
		return;
	}
	const requests = state.requests + state.waiting.size;
	if (requests >= limits.networkActions) return done(tooManyActions(requests));
	if (action.type === 'runnerListens') return awaitRunner(state, id, forMs, done);
	state.requests++;
	runNetworkAction(action, forMs, clock, result => {
		state.requests--;
		done(succeeded(result));
	});
}

function awaitRunner(
	{find, callsEndOf, waiting, clock}: State,
	id: ContainerId,
	timeoutMs: number,
	done: Done<RuntimeResults['container.act']>,
): void {
	const end = callsEndOf(id.uid);
	if (!end.ok) return done(end);
	const whenEnded = (callback: () => void): Cancel => {
		const {live} = find(id);
		if (live === undefined) callback();
		else live.onEnded.add(callback);
		return () => void live?.onEnded.delete(callback);
	};
	awaitCalls(end.value, waiting, {timeoutMs, clock, whenEnded}, done);
}

function open(state: State, request: ExecRequest, done: Done<{readonly session: string}>): void {
	const {id, argv} = request;
	if (argv.length === 0 || argv.some(word => word.includes('\0'))) {
		return done(failed('ERR_BAD_REQUEST', {message: 'command must name a program, and must not hold NUL characters'}));
	}
	const count = state.sessions.count() + state.opening;
	if (count >= limits.execSessions) return done(failed('ERR_BUSY', {address: 'exec', waiting: count}));
	const engineId = runningId(state, id);
	if (engineId === undefined) return done(notRunning(id));
	state.opening++;
	begin(state, engineId, request)
		.then(
			session => done(succeeded({session})),
			(error: unknown) => done(hasEnded(error) ? notRunning(id) : systemFailure(error)),
		)
		.finally(() => state.opening--);
}

/** In between. */
const hasEnded = (error: unknown): boolean => error instanceof EngineError && (error.fault === 'notFound' || error.fault === 'conflict');

/** Starts the program of a session. Rejects with an EngineError. */
async function begin(state: State, engineId: string, request: ExecRequest): Promise<string> {
	const {sessions, beside, closing, clock} = state;
	const {argv, tty, stdin} = request;
	const id = systemRandom.uuid();
	const terminal = tty ? sizeOf(request) : undefined;
	const wanted = {engineId, argv, env: state.environmentOf(request.id), stdin: stdin || tty, terminal};
	const program = await startProgram(beside, wanted, closing.signal);
	const feed = sessions.add({
		id,
		program,
		stdin: stdin ? program.stdin : undefined,
		resize: tty ? (rows, columns, answer) => program.resize(rows, columns, answer) : undefined,
		onGone: () => undefined,
	});
	program.listen({onOutput: feed.output, onEnd: feed.end});
	// Known before its client has it: an Engine that hangs after that cannot keep it alive.
	await atMost(limits.execEndMs, clock, program.learn());
	if (terminal !== undefined) program.resize(terminal.rows, terminal.columns, () => undefined);
	if (closing.signal.aborted) sessions.close(id);
	return id;
}
