// A few runners of one language that wait for their functions, on a node where such functions are begun.
//
// What it keeps true: a runner is handed out once, and only to who would have started the same program; one is started at a time, in a quiet
// moment, and with a back-off when that fails; none is left when nobody has begun an instance for long, and when the pool is closed.

import {limits} from '../../../api/limits.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import {explained} from '../../os/explained.js';

export type WarmRunner = {
	readonly isAlive: () => boolean;
	/** When it is over, unless it was handed out before. */
	readonly ended: Promise<void>;
	/** Nobody is to have it. */
	readonly end: () => void;
};

export type WarmPool<Runner> = {
	/** An instance begins with this program: runners of it are wanted from now on. The first program is that of the pool. */
	readonly want: (program: string) => void;
	/** How many wait. */
	readonly ready: () => number;
	/** One that waits and is the caller's now; undefined: there is none of that program. */
	readonly take: (program: string) => Runner | undefined;
	/** Resolves when the last has ended. */
	readonly close: () => Promise<void>;
};

export type WarmPoolOptions<Runner> = {
	readonly count: number;
	/** Resolves when it waits; to undefined where that program never will. Rejects with Errors. */
	readonly start: (program: string) => Promise<Runner | undefined>;
	readonly clock: Clock;
	readonly onWarning: (message: string) => void;
};

type State<Runner> = WarmPoolOptions<Runner> & {
	program: string | undefined;
	/** The oldest first. */
	ready: readonly Runner[];
	starting: Promise<void> | undefined;
	/** Programs that never will, and until when that is not tried again, by the monotonic clock. */
	readonly hopeless: Map<string, number>;
	/** In a row. */
	failures: number;
	/** By the monotonic clock. */
	notBeforeMs: number;
	wantedMs: number;
	closed: boolean;
	readonly ending: Set<Promise<void>>;
	cancel: Cancel;
};

export function createWarmPool<Runner extends WarmRunner>(options: WarmPoolOptions<Runner>): WarmPool<Runner> {
	const state: State<Runner> = {
		...options,
		program: undefined,
		ready: [],
		starting: undefined,
		hopeless: new Map(),
		failures: 0,
		notBeforeMs: 0,
		wantedMs: 0,
		closed: false,
		ending: new Set(),
		cancel: () => undefined,
	};
	return {
		want(program) {
			if ((state.hopeless.get(program) ?? 0) > state.clock.monotonicMs()) return;
			state.program ??= program;
			if (state.program !== program) return;
			state.wantedMs = state.clock.monotonicMs();
			look(state);
		},
		ready: () => state.ready.filter(runner => runner.isAlive()).length,
		take(program) {
			if (state.program !== program) return undefined;
			state.wantedMs = state.clock.monotonicMs();
			const taken = state.ready.find(runner => runner.isAlive());
			state.ready = state.ready.filter(runner => runner !== taken);
			if (taken !== undefined) state.failures = 0;
			look(state);
			return taken;
		},
		async close() {
			state.closed = true;
			state.cancel();
			await state.starting;
			endAll(state);
			await Promise.all(state.ending);
		},
	};
}

function endAll<Runner extends WarmRunner>(state: State<Runner>): void {
	for (const runner of state.ready) end(state, runner);
	state.ready = [];
}

function end<Runner extends WarmRunner>({ending}: State<Runner>, runner: Runner): void {
	const ended = runner.ended.then(() => void ending.delete(ended));
	ending.add(ended);
	runner.end();
}

/** Whatever has happened: one more is started after a moment of quiet if one is missing; all end when none was wanted for long. */
function look<Runner extends WarmRunner>(state: State<Runner>): void {
	const {clock, notBeforeMs, wantedMs} = state;
	state.cancel();
	if (state.closed || state.starting !== undefined || state.program === undefined) return;
	const nowMs = clock.monotonicMs();
	const idleAtMs = wantedMs + limits.warmRunnerIdleMs;
	if (nowMs >= idleAtMs) return giveUp(state);
	const fillAtMs = isMissing(state) ? Math.max(nowMs + limits.warmQuietMs, notBeforeMs) : Number.POSITIVE_INFINITY;
	const isFill = fillAtMs < idleAtMs;
	state.cancel = clock.after(Math.min(fillAtMs, idleAtMs) - nowMs, () => void (isFill ? begin(state) : look(state)));
}

const isMissing = <Runner>({ready, count}: State<Runner>): boolean => ready.length < count;

/** The next instance may have another program. */
function giveUp<Runner extends WarmRunner>(state: State<Runner>): void {
	endAll(state);
	state.program = undefined;
	state.failures = 0;
}

function begin<Runner extends WarmRunner>(state: State<Runner>): void {
	const {program} = state;
	if (program === undefined) return;
	state.starting = fill(state, program).then(() => {
		state.starting = undefined;
		look(state);
	});
}

/** Another program may take its place. */
function isHopeless<Runner extends WarmRunner>(state: State<Runner>, program: string): void {
	const {hopeless, clock} = state;
	const [oldest] = hopeless.keys();
	if (hopeless.size >= limits.warmPrograms && oldest !== undefined) hopeless.delete(oldest);
	hopeless.delete(program);
	hopeless.set(program, clock.monotonicMs() + limits.warmRunnerIdleMs);
	giveUp(state);
}

/** Never rejects. */
async function fill<Runner extends WarmRunner>(state: State<Runner>, program: string): Promise<void> {
	try {
		const runner = await state.start(program);
		if (runner === undefined) return isHopeless(state, program);
		if (state.closed) return end(state, runner);
		state.ready = [...state.ready, runner];
		void runner.ended.then(() => lose(state, runner));
	} catch (error) {
		fail(state, explained(error));
	}
}

/** It has ended while it waited. */
function lose<Runner extends WarmRunner>(state: State<Runner>, runner: Runner): void {
	if (!state.ready.includes(runner)) return;
	state.ready = state.ready.filter(other => other !== runner);
	fail(state, 'it has ended while it waited');
	look(state);
}

function fail<Runner>(state: State<Runner>, why: string): void {
	const {clock, failures, closed, onWarning} = state;
	if (failures === 0 && !closed) onWarning(`no runner of functions could be kept ready: ${why}`);
	state.notBeforeMs = clock.monotonicMs() + Math.min(limits.warmAgainMaxMs, limits.warmAgainFirstMs * 2 ** failures);
	state.failures++;
}
