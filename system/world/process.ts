// One operating-system process of the virtual world. It keeps true what holds for real ones: after a kill nothing of it runs any
// more; while it is stopped nothing of it runs, and then all of it comes late and in the order in which it came.

import type {Random} from '../time/random.js';
import type {Cancel, Clock} from '../time/clock.js';
import type {Executor, Seat} from '../kernel/executor.js';
import {RunQueue, type QueuedSeat} from '../kernel/run-queue.js';
import type {ManualClock} from '../time/manual-clock.js';
import type {Sequencer} from './sequencer.js';
import {monotonicMs, worldDelayMs, type WorldHost} from './network.js';

/** `frozen`: the main loop hangs and other threads go on. `stopped`: SIGSTOP. */
export type Liveness = 'running' | 'frozen' | 'stopped' | 'dead';

export type WorldProcess = {
	readonly host: WorldHost;
	readonly executor: Executor;
	readonly clock: Clock;
	readonly random: Random;
	/** The clock of another thread: it stands still with the process, not with its main loop. */
	readonly workerClock: Clock;
	/** Runs what came from outside: now, or when the process goes on; never after its death. */
	readonly enter: (callback: () => void) => void;
	readonly enterWorker: (callback: () => void) => void;
	readonly liveness: () => Liveness;
	/** How long the main loop has not moved. */
	readonly stillMs: () => number;
	readonly freeze: () => void;
	readonly stop: () => void;
	readonly goOn: () => void;
	/** SIGKILL. */
	readonly kill: () => void;
	/** What the kernel does when the process is gone, such as closing its sockets. */
	readonly onDeath: (callback: () => void) => void;
	/** The main loop, or all of it, stands still from now on. */
	readonly onStill: (callback: (now: 'frozen' | 'stopped') => void) => void;
};

export type ProcessParts = {
	readonly clock: ManualClock;
	readonly sequencer: Sequencer;
	readonly random: Random;
	/** Its actors wait for their turns in a run queue, as with nact; else chance alone says whose turn is next. */
	readonly hasRunQueue: boolean;
};

/** Few, so that actors have to wait. */
const ticksOut = 3;

function seatIn(queue: RunQueue<QueuedSeat>, run: () => boolean): Seat {
	const seat: QueuedSeat = {run, requested: false, ticking: false, gone: false};
	return {request: () => queue.request(seat), leave: () => void queue.leave(seat)};
}

/** What waits in front of a thread that does not run, in order. */
type Gate = {readonly enter: (callback: () => void) => void; readonly open: () => void};

function createGate(sequencer: Sequencer, isOpen: () => boolean, isDead: () => boolean): Gate {
	const waiting: (() => void)[] = [];
	let draining = false;
	const drain = (): void => {
		draining = false;
		if (isDead()) waiting.length = 0;
		if (!isOpen()) return;
		waiting.shift()?.();
		open();
	};
	const open = (): void => {
		if (draining || waiting.length === 0) return;
		draining = true;
		sequencer.defer(drain);
	};
	return {
		enter(callback) {
			if (isDead()) return;
			if (isOpen() && waiting.length === 0) callback();
			else waiting.push(callback);
		},
		open,
	};
}

export function createProcess({clock: world, sequencer, random, hasRunQueue}: ProcessParts, host: WorldHost): WorldProcess {
	let liveness: Liveness = 'running';
	let stillSinceMs = 0;
	const atDeath: (() => void)[] = [];
	const atStill: ((now: 'frozen' | 'stopped') => void)[] = [];
	const isDead = (): boolean => liveness === 'dead';
	const main = createGate(sequencer, () => liveness === 'running', isDead);
	const worker = createGate(sequencer, () => liveness === 'running' || liveness === 'frozen', isDead);
	const clockOf = (gate: Gate): Clock => ({
		nowMs: () => world.nowMs() + host.wallOffsetMs,
		monotonicMs: () => monotonicMs(host, world.monotonicMs()),
		after: (delayMs, callback): Cancel => {
			let cancelled = false;
			// It may be cancelled while it waits in front of the gate.
			const fire = (): void => void (cancelled || callback());
			const cancel = world.after(worldDelayMs(host, delayMs), () => gate.enter(fire));
			return () => {
				cancelled = true;
				cancel();
			};
		},
	});
	const suspend = (to: 'frozen' | 'stopped'): void => {
		if (isDead()) return;
		if (liveness === 'running') stillSinceMs = world.monotonicMs();
		liveness = to;
		for (const callback of atStill) callback(to);
	};
	const executor: Executor = {
		seat: turn => (queue === undefined ? seatAt(turn) : seatIn(queue, turn)),
		defer: callback => sequencer.defer(() => main.enter(callback)),
		close: () => undefined,
	};
	const seatAt = (turn: () => boolean): Seat => {
		let queued = false;
		const seat = sequencer.seat(() => {
			if (isDead() || queued) return false;
			let more = false;
			queued = true;
			main.enter(() => {
				queued = false;
				more = turn();
				if (more) seat.request();
			});
			return false;
		});
		return seat;
	};
	const queue = hasRunQueue
		? new RunQueue<QueuedSeat>({
				send: seat => executor.defer(() => queue?.ticked(seat)),
				soon: executor.defer,
				monotonicMs: () => monotonicMs(host, world.monotonicMs()),
				ticks: ticksOut,
			})
		: undefined;
	return {
		host,
		executor,
		random,
		clock: clockOf(main),
		workerClock: clockOf(worker),
		enter: callback => main.enter(callback),
		enterWorker: callback => worker.enter(callback),
		liveness: () => liveness,
		stillMs: () => (liveness === 'running' ? 0 : world.monotonicMs() - stillSinceMs),
		freeze: () => suspend('frozen'),
		stop: () => suspend('stopped'),
		goOn() {
			if (isDead()) return;
			liveness = 'running';
			main.open();
			worker.open();
		},
		kill() {
			if (isDead()) return;
			liveness = 'dead';
			for (const callback of atDeath.splice(0)) callback();
		},
		onDeath: callback => void atDeath.push(callback),
		onStill: callback => void atStill.push(callback),
	};
}
