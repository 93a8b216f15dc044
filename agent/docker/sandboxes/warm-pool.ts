// A few sandboxes that are ready before a pod asks for one.
//
// What it keeps true: a sandbox is taken once; none is made while pods are being started, nor in the moment after; of what a pool that was closed,
// or whose agent died, has left, nothing is used again.

import {limits} from '../../../api/limits.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import type {Random} from '../../../system/time/random.js';
import {explained} from '../../os/explained.js';
import {runs, type WarmSandbox} from './warm-sandbox.js';

export type WarmPool = {
	/** One that is ready and is the caller's now; undefined: there is none. */
	readonly take: () => WarmSandbox | undefined;
	/** Whether the container of that id and that name is its own. */
	readonly has: (id: string, name: string) => boolean;
	/** Runs what starts a pod. */
	readonly during: <Value>(work: () => Promise<Value>) => Promise<Value>;
	/** Sandboxes are wanted from now on. */
	readonly begin: () => void;
	/** The Engine may be another than it was: up, or not. */
	readonly look: () => void;
	/** These infra containers run. */
	readonly compare: (running: ReadonlySet<string>) => void;
	/** An infra container has died. */
	readonly hear: (id: string) => void;
	/** Removes what nobody took, as far as the Engine does that soon. Never rejects. */
	readonly close: () => Promise<void>;
};

export type WarmPoolOptions = {
	/** 0: there are never any. */
	readonly count: number;
	/** Makes one that is called so. May be asked again for the same one when it has rejected. */
	readonly make: (hostname: string) => Promise<WarmSandbox>;
	readonly remove: (id: string) => Promise<void>;
	readonly isUp: () => boolean;
	readonly clock: Clock;
	readonly random: Random;
	readonly onWarning: (message: string) => void;
};

type State = WarmPoolOptions & {
	/** The oldest first. */
	ready: readonly WarmSandbox[];
	/** What the next one is called. */
	hostname: string;
	making: Promise<void> | undefined;
	/** Pods that are being started. */
	starting: number;
	/** In a row. */
	failures: number;
	/** By the monotonic clock. */
	notBeforeMs: number;
	begun: boolean;
	closed: boolean;
	cancel: Cancel;
};

export function createWarmPool(options: WarmPoolOptions): WarmPool {
	const state: State = {
		...options,
		ready: [],
		hostname: hostnameOf(options.random),
		making: undefined,
		starting: 0,
		failures: 0,
		notBeforeMs: 0,
		begun: false,
		closed: false,
		cancel: () => undefined,
	};
	return {
		take() {
			keep(state, runs);
			const [first, ...rest] = state.ready;
			state.ready = rest;
			look(state);
			return first;
		},
		has: (id, name) => name.includes(state.hostname) || state.ready.some(warm => warm.id === id),
		async during(work) {
			state.starting++;
			state.cancel();
			try {
				return await work();
			} finally {
				state.starting--;
				look(state);
			}
		},
		begin() {
			state.begun = true;
			look(state);
		},
		look: () => look(state),
		compare(running) {
			keep(state, ({id}) => running.has(id));
		},
		hear(died) {
			keep(state, ({id}) => id !== died);
		},
		close: () => close(state),
	};
}

const hostnameOf = (random: Random): string => `warm-${random.uuid().slice(-12)}`;

function keep(state: State, isFine: (warm: WarmSandbox) => boolean): void {
	const lost = state.ready.filter(warm => !isFine(warm));
	state.ready = state.ready.filter(isFine);
	// Where the Engine does not do it now, they are of nobody when it is compared with.
	for (const {id} of lost) state.remove(id).catch(() => undefined);
	look(state);
}

/** Whatever has happened: one more is made after a moment of quiet if one is missing. */
function look(state: State): void {
	const {clock, notBeforeMs} = state;
	state.cancel();
	if (!isMissing(state)) return;
	const waitMs = Math.max(limits.warmQuietMs, notBeforeMs - clock.monotonicMs());
	state.cancel = clock.after(waitMs, () => {
		if (!isMissing(state)) return;
		state.making = fill(state).then(() => {
			state.making = undefined;
			look(state);
		});
	});
}

const isMissing = ({begun, closed, making, starting, ready, count, isUp}: State): boolean =>
	begun && !closed && making === undefined && starting === 0 && ready.length < count && isUp();

/** Never rejects. */
async function fill(state: State): Promise<void> {
	const {make, clock, random, onWarning} = state;
	try {
		const warm = await make(state.hostname);
		state.ready = [...state.ready, warm];
		state.hostname = hostnameOf(random);
		state.failures = 0;
	} catch (error) {
		if (state.failures === 0 && !state.closed) onWarning(`no sandbox could be made in advance: ${explained(error)}`);
		state.notBeforeMs = clock.monotonicMs() + Math.min(limits.warmAgainMaxMs, limits.warmAgainFirstMs * 2 ** state.failures);
		state.failures++;
	}
}

async function close(state: State): Promise<void> {
	const {remove, clock, isUp} = state;
	state.closed = true;
	state.cancel();
	let cancel: Cancel = () => undefined;
	const late = new Promise<void>(resolve => (cancel = clock.after(limits.warmCloseMs, resolve)));
	const emptied = async (): Promise<void> => {
		await state.making;
		const left = isUp() ? state.ready : [];
		state.ready = [];
		await Promise.allSettled(left.map(({id}) => remove(id)));
	};
	await Promise.race([emptied(), late]);
	cancel();
}
