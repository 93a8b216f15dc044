// One stream of an inspector out of those of several systems: pulled from each, merged, handed on in portions.
//
// Of no system more is asked for before the last portion was handed on, so that what waits here is bounded. One that goes is told of and the
// others go on; a trace takes it in again when it is back, and systems that are new as well, and says from when on. When the stream ends, it ends
// everywhere.

import {failure, type Failure, type Outcome} from '../../api/errors.js';
import type {StreamEnd, StreamEntry, StreamOpened, StreamPortion, StreamRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import {jsonBytes} from './json-bytes.js';
import {someAtATime} from './some-at-a-time.js';
import type {Behalf, Systems} from './systems.js';

export type StreamOptions = {
	readonly systems: Systems;
	readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
	/** Those that are asked, as of now. */
	readonly names: () => readonly string[];
	readonly request: StreamRequest;
	readonly behalf: Behalf;
	/** The last portion says `ended`. */
	readonly onPortion: (portion: StreamPortion) => void;
	/** No system could begin, or it failed later. */
	readonly onFailed: (error: Failure) => void;
};

export type Stream = {
	/** Ends it, wherever it is on; its last portion says so. */
	readonly end: (why: StreamEnd) => void;
	/** The same, and its tool is told a failure. */
	readonly fail: (error: Failure) => void;
};

type State = {
	readonly options: StreamOptions;
	/** The streams that are on, by system. */
	readonly open: Map<string, string>;
	/** Systems where it is on, is being begun, or has ended by itself: no others are asked once more. */
	readonly joined: Set<string>;
	/** On the clock: when its time is over. */
	readonly untilMs: number;
	/** Not handed on yet, each with the bytes of its JSON. */
	readonly pending: {readonly entry: StreamEntry; readonly bytes: number}[];
	dropped: number;
	/** Entries that may still be told. */
	left: number;
	isOver: boolean;
	cancelFlush: Cancel | undefined;
	cancelEnd: Cancel;
	cancelJoin: Cancel | undefined;
	readonly onFlushed: (() => void)[];
};

/** Opens the stream in every system; the first portion is told as soon as each has answered. */
export function openStream(options: StreamOptions): Stream {
	const {request, clock} = options;
	const whole = {...request, forMs: request.forMs ?? limits.inspectUsualMs, count: request.count ?? limits.inspectUsualEntries};
	const state: State = {
		options: {...options, request: whole},
		open: new Map(),
		joined: new Set(),
		untilMs: clock.monotonicMs() + whole.forMs,
		pending: [],
		dropped: 0,
		left: whole.count,
		isOver: false,
		cancelFlush: undefined,
		// Each system ends by itself; this is for those that do not.
		cancelEnd: clock.after(whole.forMs + limits.inspectReadMs, () => end(state, 'time')),
		cancelJoin: undefined,
		onFlushed: [],
	};
	void begin(state);
	return {end: why => end(state, why), fail: error => fail(state, error)};
}

async function begin(state: State): Promise<void> {
	const refusals: Failure[] = [];
	const names = state.options.names();
	await someAtATime(names, async system => {
		if (state.isOver) return;
		const outcome = await join(state, system);
		if (outcome.ok) return;
		refusals.push(outcome.error);
		note(state, system, outcome.error.message);
	});
	if (state.isOver) return;
	if (refusals.length === names.length) return fail(state, refusals[0] ?? failure('ERR_NOT_FOUND', {resource: 'systems', name: ''}));
	flush(state);
	if (state.options.request.verb === 'trace') joinLater(state);
}

/** Opens the stream in one system, for what is left of it, and reads it from then on. */
async function join(state: State, system: string): Promise<Outcome<Json>> {
	const {request, clock} = state.options;
	const forMs = Math.max(1, Math.round(state.untilMs - clock.monotonicMs()));
	state.joined.add(system);
	const outcome = await ask(state, system, {...request, forMs, count: state.left});
	if (!outcome.ok) {
		state.joined.delete(system);
		return outcome;
	}
	const {stream} = outcome.value as StreamOpened;
	// It ended while this system began.
	if (state.isOver) void ask(state, system, {verb: 'close', stream});
	else {
		state.open.set(system, stream);
		void pull(state, system, stream);
	}
	return outcome;
}

function joinLater(state: State): void {
	state.cancelJoin = state.options.clock.after(limits.inspectJoinMs, () => void joinMissing(state));
}

/** Those that are away keep nobody waiting but themselves. */
async function joinMissing(state: State): Promise<void> {
	const {clock, names} = state.options;
	const missing = names().filter(system => !state.joined.has(system));
	await someAtATime(missing, async system => {
		if (state.isOver) return;
		const {ok} = await join(state, system);
		if (ok) note(state, system, `${JSON.stringify(system)} is traced from now on; what it did before is not told`);
	});
	if (!state.isOver && clock.monotonicMs() < state.untilMs) joinLater(state);
}

const ask = (
	{options: {systems, behalf}}: State,
	system: string,
	request: Parameters<Systems['ask']>[1],
	waitMs = 0,
): Promise<Outcome<Json>> => systems.ask(system, request, behalf, limits.inspectSystemMs + waitMs);

/** Until this system's stream, or all of it, is over. */
async function pull(state: State, system: string, stream: string): Promise<void> {
	const read = {verb: 'read', stream, waitMs: limits.inspectReadMs, count: limits.inspectReadEntries} as const;
	while (!state.isOver) {
		const outcome = await ask(state, system, read, limits.inspectReadMs);
		if (state.isOver) return;
		if (!outcome.ok) return left(state, system, 'gone', outcome.error.message);
		const portion = outcome.value as StreamPortion;
		take(state, portion);
		if (portion.ended !== undefined) return left(state, system, portion.ended);
		if (state.cancelFlush !== undefined) await new Promise<void>(resolve => state.onFlushed.push(resolve));
	}
}

function take(state: State, {entries, dropped}: StreamPortion): void {
	if (state.isOver) return;
	const taken = entries.slice(0, state.left);
	state.left -= taken.length;
	state.dropped += dropped;
	for (const entry of taken) add(state, entry);
	if (state.left === 0) end(state, 'count');
	else if (taken.length > 0 || dropped > 0) flushSoon(state);
}

/** What is too large for a message is left out, and counted as such. */
function add(state: State, entry: StreamEntry): void {
	const bytes = jsonBytes(entry);
	if (bytes <= limits.inspectAnswerBytes) state.pending.push({entry, bytes});
	else state.dropped += 1;
}

/** The stream of one system is over; that of all is with the last one. */
function left(state: State, system: string, why: StreamEnd, problem?: string): void {
	if (state.isOver) return;
	state.open.delete(system);
	if (why === 'gone' || why === 'unread') state.joined.delete(system);
	if (state.open.size === 0) return end(state, why);
	if (problem !== undefined) note(state, system, problem);
}

function note(state: State, system: string, problem: string): void {
	if (state.isOver) return;
	add(state, {type: 'system', system, problem});
	flushSoon(state);
}

function flushSoon(state: State): void {
	state.cancelFlush ??= state.options.clock.after(limits.inspectFlushMs, () => flush(state));
}

/** Hands on what goes into one message; what is left then soon after, or, where it has ended, at once. */
function flush(state: State, ended?: StreamEnd): void {
	state.cancelFlush?.();
	state.cancelFlush = undefined;
	const entries = nextEntries(state.pending);
	const {dropped} = state;
	state.dropped = 0;
	const isAll = state.pending.length === 0;
	state.options.onPortion({entries, dropped, ...(ended === undefined || !isAll ? {} : {ended})});
	if (isAll) for (const resolve of state.onFlushed.splice(0)) resolve();
	else if (ended !== undefined) flush(state, ended);
	else if (!state.isOver) flushSoon(state);
}

/** The first ones, as many as are no more than `limits.inspectAnswerBytes`; takes them out. */
function nextEntries(pending: State['pending']): readonly StreamEntry[] {
	let total = 0;
	const rest = pending.findIndex(({bytes}) => (total += bytes) > limits.inspectAnswerBytes);
	return pending.splice(0, rest < 0 ? pending.length : rest).map(({entry}) => entry);
}

function end(state: State, why: StreamEnd): void {
	if (close(state)) flush(state, why);
}

function fail(state: State, error: Failure): void {
	if (close(state)) state.options.onFailed(error);
}

/** Ends it in every system; false: it is over already. */
function close(state: State): boolean {
	if (state.isOver) return false;
	state.isOver = true;
	for (const cancel of [state.cancelEnd, state.cancelJoin, state.cancelFlush]) cancel?.();
	for (const [system, stream] of state.open) void ask(state, system, {verb: 'close', stream});
	for (const resolve of state.onFlushed.splice(0)) resolve();
	return true;
}
