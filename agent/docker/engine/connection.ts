// The connection to an Engine: what it tells, and whether it answers.
//
// What it keeps true: events are heard only after what the Engine has was compared with what the agent knows, and the stream of them was
// open before that, so that nothing is missed in between. Silence is asked about; an Engine that hangs or is gone is looked for until it is
// there again, and then everything is compared anew.

import type {Readable} from 'node:stream';
import {limits} from '../../../api/limits.js';
import {valueOr} from '../../../api/value-or.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import {explained} from '../../os/explained.js';
import {EngineError, type Engine} from './engine.js';
import {labels} from './names.js';
import {openStream} from './streams.js';

export type EngineState =
	/** Nobody knows yet. */
	| {readonly is: 'connecting'}
	| {readonly is: 'up'}
	/** `hangs`: it takes calls and does not answer them. */
	| {readonly is: 'hangs' | 'gone'; readonly message: string};

/** Of a container of ours. */
export type EngineEvent = {
	/** `create`, `start`, `die`, `oom`, `destroy`, ... */
	readonly action: string;
	readonly id: string;
	readonly labels: Readonly<Record<string, string>>;
	/** Of `die`. */
	readonly exitCode: number | undefined;
	readonly atMs: number;
};

export type Connection = {
	readonly state: () => EngineState;
	/** Whether the Engine was ever compared with. */
	readonly wasUp: () => boolean;
	/** Rejects with an EngineError that says why when it is not up after so long. */
	readonly whenUp: (waitMs: number) => Promise<void>;
	/** A call was not answered in time, or an end not told: connects and compares anew. */
	readonly doubt: () => void;
	readonly close: () => Promise<void>;
};

export type ConnectionOptions = {
	readonly engine: Engine;
	readonly clock: Clock;
	readonly owner: string;
	/** Brings what is known to what the Engine has. Rejects with EngineErrors. */
	readonly compare: () => Promise<void>;
	readonly hear: (event: EngineEvent) => void;
	/** Its state is another one. */
	readonly changed: (state: EngineState) => void;
};

type State = ConnectionOptions & {
	is: EngineState;
	wasUp: boolean;
	closed: boolean;
	/** Aborted when it is closed. */
	readonly over: AbortController;
	/** Ends what is listened to, or the pause before the next try. */
	again: () => void;
	readonly waiting: Set<() => void>;
};

export function openConnection(options: ConnectionOptions): Connection {
	const state: State = {
		...options,
		is: {is: 'connecting'},
		wasUp: false,
		closed: false,
		over: new AbortController(),
		again: () => undefined,
		waiting: new Set(),
	};
	const ended = attend(state);
	return {
		state: () => state.is,
		wasUp: () => state.wasUp,
		whenUp: waitMs => whenUp(state, waitMs),
		doubt() {
			if (state.is.is !== 'up') return;
			turn(state, {is: 'connecting'});
			state.again();
		},
		close() {
			state.closed = true;
			state.over.abort();
			state.again();
			wake(state);
			return ended;
		},
	};
}

async function attend(state: State): Promise<void> {
	let waitMs: number = limits.engineAgainFirstMs;
	while (!state.closed) {
		try {
			await listen(state, () => (waitMs = limits.engineAgainFirstMs));
		} catch (error) {
			// Closed by `doubt` it says so by being `connecting`.
			if (!state.closed) turn(state, downBy(error));
		}
		if (state.closed) return;
		await pause(state, waitMs);
		waitMs = Math.min(2 * waitMs, limits.engineAgainMaxMs);
	}
}

function pause(state: State, waitMs: number): Promise<void> {
	return new Promise(resolve => {
		const cancel = state.clock.after(waitMs, resolve);
		state.again = () => {
			cancel();
			resolve();
		};
	});
}

function downBy(error: unknown): EngineState {
	const message = explained(error);
	if (!(error instanceof EngineError && error.fault === 'late')) return {is: 'gone', message};
	return {is: 'hangs', message: `${message}; its log may say why (journalctl -u docker), and it may have to be restarted`};
}

function turn(state: State, is: EngineState): void {
	const before = state.is;
	state.is = is;
	if (is.is === 'up') state.wasUp = true;
	if (is.is === 'up') wake(state);
	if (before.is !== is.is) state.changed(is);
}

function wake({waiting}: State): void {
	for (const resolve of [...waiting]) resolve();
}

function whenUp(state: State, waitMs: number): Promise<void> {
	if (state.is.is === 'up') return Promise.resolve();
	return new Promise((resolve, reject) => {
		const look = (): void => {
			cancel();
			state.waiting.delete(look);
			if (state.is.is === 'up') resolve();
			else reject(downError(state));
		};
		const cancel = state.clock.after(waitMs, look);
		state.waiting.add(look);
	});
}

function downError({is, closed}: State): EngineError {
	if (closed) return new EngineError('unreachable', 'this agent ends');
	if (is.is === 'hangs') return new EngineError('late', is.message);
	return new EngineError('unreachable', 'message' in is ? is.message : "Docker's Engine has not answered yet; it is asked until it does");
}

/** Returns or throws when the stream is over. */
async function listen(state: State, hasComeUp: () => void): Promise<void> {
	const {engine, owner, compare} = state;
	const filters = JSON.stringify({type: ['container'], label: [`${labels.owner}=${owner}`]});
	const stream = await openStream(engine, {
		what: 'follow events',
		timeoutMs: limits.engineAnswerMs,
		signal: state.over.signal,
		// Its types know no signal. What an Engine that hung opens later has to end, too.
		open: (docker, abortSignal) =>
			(docker.getEvents as (options: object) => Promise<unknown>).call(docker, {filters, abortSignal}) as Promise<Readable>,
	});
	const over = endOf(stream);
	let unwatch: Cancel = () => undefined;
	state.again = () => stream.destroy();
	try {
		if (state.closed) return;
		await Promise.race([compare(), over]);
		hasComeUp();
		const heard = hearing(state, stream);
		unwatch = watchSilence(state, stream, heard);
		turn(state, {is: 'up'});
		await over;
	} finally {
		unwatch();
		stream.destroy();
	}
}

/** Rejects always; with the EngineError that it was destroyed with, if there is one. */
function endOf(stream: Readable): Promise<never> {
	const over = new Promise<never>((_resolve, reject) => {
		const closed = new EngineError('unreachable', "Docker's Engine closed the connection: look whether it runs (systemctl status docker)");
		// What node:http says of a connection that broke is "aborted".
		stream.once('error', error => reject(error instanceof EngineError ? error : closed));
		stream.once('close', () => reject(closed));
	});
	over.catch(() => undefined); // Also when nobody waits yet.
	return over;
}

/** When something came last, by the monotonic clock. */
type Heard = {atMs: number};

function hearing({clock, hear}: State, stream: Readable): Heard {
	const heard: Heard = {atMs: clock.monotonicMs()};
	let rest = '';
	stream.setEncoding('utf8');
	stream.on('data', (text: string) => {
		heard.atMs = clock.monotonicMs();
		const lines = (rest + text).split('\n');
		rest = lines.pop() ?? '';
		if (rest.length > limits.engineEventCharacters) stream.destroy(new EngineError('refused', 'an event was too long'));
		for (const line of lines) {
			const event = eventOf(line);
			if (event !== undefined) hear(event);
		}
	});
	return heard;
}

function eventOf(line: string): EngineEvent | undefined {
	const said = valueOr(undefined, () => JSON.parse(line) as unknown);
	const {Action: action, Actor: actor, timeNano} = Object(said) as Record<string, unknown>;
	const {ID: id, Attributes: attributes} = Object(actor) as Record<string, unknown>;
	if (typeof action !== 'string' || typeof id !== 'string') return undefined;
	const texts = Object.entries(Object(attributes) as Record<string, unknown>).filter(
		(entry): entry is [string, string] => typeof entry[1] === 'string',
	);
	const all = Object.fromEntries(texts);
	const exitCode = Number(all['exitCode']);
	return {
		action,
		id,
		labels: all,
		exitCode: Number.isInteger(exitCode) ? exitCode : undefined,
		atMs: Math.trunc(Number(timeNano) / 1e6),
	};
}

/** An Engine that says nothing is asked whether it still answers. */
function watchSilence({engine, clock}: State, stream: Readable, heard: Heard): Cancel {
	let isOver = false;
	let cancel: Cancel = () => undefined;
	const look = (): void => {
		const silentMs = clock.monotonicMs() - heard.atMs;
		if (silentMs < limits.enginePingMs) return wait(limits.enginePingMs - silentMs);
		engine
			.call('ping', limits.engineAnswerMs, (docker, abortSignal) => (docker.ping as (options: object) => Promise<unknown>)({abortSignal}))
			.then(
				() => {
					if (!isOver) wait(limits.enginePingMs);
				},
				(error: unknown) => void stream.destroy(error instanceof Error ? error : undefined),
			);
	};
	const wait = (ms: number): void => void (cancel = clock.after(ms, look));
	wait(limits.enginePingMs);
	return () => {
		isOver = true;
		cancel();
	};
}
