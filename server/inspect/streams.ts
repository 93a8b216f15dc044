// One stream of an inspector out of those of several systems: pulled from each, merged, handed on in portions.
//
// Of no system more is asked for before the last portion was handed on, so that what waits here is bounded. One that goes is told of and the
// others go on; when the stream ends, it ends everywhere.

import {failed, type Outcome} from '../../api/errors.js';
import type {StreamEnd, StreamEntry, StreamOpened, StreamPortion, StreamRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import type {Systems} from './systems.js';

export type StreamOptions = {
	readonly systems: Systems;
	readonly clock: Pick<Clock, 'after'>;
	/** Those that are asked. */
	readonly names: readonly string[];
	readonly request: StreamRequest;
	readonly cause: string;
	/** The last portion says `ended`. */
	readonly onPortion: (portion: StreamPortion) => void;
	/** No system could begin. */
	readonly onFailed: (outcome: Outcome<never>) => void;
};

export type Stream = {
	/** Ends it, wherever it is on; its last portion says so. */
	readonly end: (why: StreamEnd) => void;
};

type State = {
	readonly options: StreamOptions;
	/** The streams that are on, by system. */
	readonly open: Map<string, string>;
	pending: StreamEntry[];
	dropped: number;
	/** Entries that may still be told. */
	left: number;
	isOver: boolean;
	cancelFlush: Cancel | undefined;
	cancelEnd: Cancel;
	readonly onFlushed: (() => void)[];
};

/** Opens the stream in every system; the first portion is told as soon as each has answered. */
export function openStream(options: StreamOptions): Stream {
	const {request, clock} = options;
	const whole = {...request, forMs: request.forMs ?? limits.inspectUsualMs, count: request.count ?? limits.inspectUsualEntries};
	const state: State = {
		options: {...options, request: whole},
		open: new Map(),
		pending: [],
		dropped: 0,
		left: whole.count,
		isOver: false,
		cancelFlush: undefined,
		// Each system ends by itself; this is for those that do not.
		cancelEnd: clock.after(whole.forMs + limits.inspectReadMs, () => end(state, 'time')),
		onFlushed: [],
	};
	void begin(state);
	return {end: why => end(state, why)};
}

async function begin(state: State): Promise<void> {
	const {names, onFailed} = state.options;
	const refusals: Outcome<never>[] = [];
	await Promise.all(
		names.map(async system => {
			const outcome = await ask(state, system, state.options.request);
			if (!outcome.ok) {
				refusals.push(outcome);
				note(state, system, outcome.error.message);
				return;
			}
			const {stream} = outcome.value as StreamOpened;
			// It ended while this system began.
			if (state.isOver) return void ask(state, system, {verb: 'close', stream});
			state.open.set(system, stream);
			void pull(state, system, stream);
		}),
	);
	if (state.isOver) return;
	if (refusals.length < names.length) return flush(state);
	state.isOver = true;
	state.cancelEnd();
	state.cancelFlush?.();
	onFailed(refusals[0] ?? failed('ERR_NOT_FOUND', {resource: 'systems', name: ''}));
}

const ask = (
	{options: {systems, cause}}: State,
	system: string,
	request: Parameters<Systems['ask']>[1],
	waitMs = 0,
): Promise<Outcome<Json>> => systems.ask(system, request, {deadlineMs: limits.inspectSystemMs + waitMs, cause});

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
	state.pending.push(...taken);
	state.dropped += dropped;
	if (state.left === 0) end(state, 'count');
	else if (taken.length > 0 || dropped > 0) flushSoon(state);
}

/** The stream of one system is over; that of all is with the last one. */
function left(state: State, system: string, why: StreamEnd, problem?: string): void {
	if (state.isOver) return;
	state.open.delete(system);
	if (state.open.size === 0) return end(state, why);
	if (problem !== undefined) note(state, system, problem);
}

function note(state: State, system: string, problem: string): void {
	state.pending.push({type: 'system', system, problem});
	flushSoon(state);
}

function flushSoon(state: State): void {
	state.cancelFlush ??= state.options.clock.after(limits.inspectFlushMs, () => flush(state));
}

function flush(state: State, ended?: StreamEnd): void {
	state.cancelFlush?.();
	state.cancelFlush = undefined;
	const {pending: entries, dropped} = state;
	[state.pending, state.dropped] = [[], 0];
	state.options.onPortion({entries, dropped, ...(ended === undefined ? {} : {ended})});
	for (const resolve of state.onFlushed.splice(0)) resolve();
}

function end(state: State, why: StreamEnd): void {
	if (state.isOver) return;
	state.isOver = true;
	state.cancelEnd();
	for (const [system, stream] of state.open) void ask(state, system, {verb: 'close', stream});
	flush(state, why);
}
