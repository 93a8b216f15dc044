// The virtual world: several processes on one clock that only moves when nothing else can happen, one source of chance, and
// faults. What runs in it is the real runtime; the same seed gives the same history.

import type {Random} from './behavior.js';
import type {Cancel, Clock} from './clock.js';
import type {Executor} from './executor.js';
import {faultyStore} from './faulty-store.js';
import type {Link, Packet} from './link.js';
import {ManualClock} from './manual-clock.js';
import {createMemoryStore, emptyMemoryStore, type MemoryStoreData} from './memory-store.js';
import {seededRandom} from './random.js';
import {createSequencer, type Sequencer} from './sequencer.js';
import type {StoreDriver} from './store.js';

/** Shares from 0 to 1 of what goes wrong. */
export type Faults = {
	readonly dropPacket: number;
	readonly repeatPacket: number;
	/** Packets that take up to `delayMs`, and so overtake each other. */
	readonly delayPacket: number;
	readonly delayMs: number;
	readonly failCommit: number;
	/** The outcome of the commit is not told: it happened, or it did not. */
	readonly unknownCommit: number;
	readonly commitMs: number;
};

export const noFaults: Faults = {
	dropPacket: 0,
	repeatPacket: 0,
	delayPacket: 0,
	delayMs: 0,
	failCommit: 0,
	unknownCommit: 0,
	commitMs: 0,
};

/** One operating-system process: after `kill` nothing of it runs any more, whatever it had asked for. */
export type WorldProcess = {
	readonly executor: Executor;
	readonly clock: Clock;
	readonly random: Random;
	readonly link: (name: string) => Link;
	/** A driver over data that outlives the process. */
	readonly store: (data: MemoryStoreData) => StoreDriver;
	readonly kill: () => void;
};

export class World {
	readonly clock = new ManualClock();
	readonly random: Random;
	faults: Faults = noFaults;
	/** Turns, deliveries and timers so far. */
	steps = 0;
	readonly #sequencer: Sequencer;
	readonly #listeners = new Map<string, (from: string, packet: Packet) => void>();
	/** Pairs that do not hear each other, as `a|b`. */
	readonly #cuts = new Set<string>();

	constructor(seed: number) {
		this.random = seededRandom(seed);
		this.#sequencer = createSequencer(this.random);
	}

	chance(share: number): boolean {
		return share > 0 && this.random.next() < share;
	}

	/** A whole number below `end`. */
	pick(end: number): number {
		return Math.floor(this.random.next() * end);
	}

	/** Cuts the two off from each other, both ways, until `heal`. */
	cut(a: string, b: string): void {
		this.#cuts.add([a, b].sort().join('|'));
	}

	heal(): void {
		this.#cuts.clear();
	}

	process(): WorldProcess {
		let alive = true;
		const guarded =
			(callback: () => void): (() => void) =>
			() => {
				if (alive) callback();
			};
		const clock: Clock = {
			nowMs: this.clock.nowMs,
			monotonicMs: this.clock.monotonicMs,
			after: (delayMs, callback): Cancel => this.clock.after(delayMs, guarded(callback)),
		};
		const executor: Executor = {
			seat: turn => this.#sequencer.seat(() => alive && turn()),
			defer: callback => this.#sequencer.defer(guarded(callback)),
			close: () => undefined,
		};
		return {
			executor,
			clock,
			random: this.random,
			link: name => this.#link(name, () => alive),
			store: data => this.#store(createMemoryStore(executor.defer, data), clock),
			kill() {
				alive = false;
			},
		};
	}

	/** Runs whatever can happen until this much virtual time has passed. */
	run(ms: number): void {
		const untilMs = this.clock.nowMs() + ms;
		for (;;) {
			// Now and then time moves although something could still be done: nobody is infinitely fast.
			const hasty = this.chance(0.01) && this.#fireBefore(untilMs);
			if (hasty || this.#sequencer.runOne()) {
				this.steps++;
				continue;
			}
			if (!this.#fireBefore(untilMs)) break;
			this.steps++;
		}
		this.clock.advance(untilMs - this.clock.nowMs());
	}

	#fireBefore(untilMs: number): boolean {
		const atMs = this.clock.nextAtMs();
		return atMs !== undefined && atMs <= untilMs && this.clock.fireNext();
	}

	#store(driver: StoreDriver, clock: Clock): StoreDriver {
		const {failCommit: failRate, unknownCommit: unknownRate, commitMs: latencyMs} = this.faults;
		return failRate + unknownRate + latencyMs === 0
			? driver
			: faultyStore(driver, {random: this.random, clock, failRate, unknownRate, latencyMs});
	}

	#link(name: string, isAlive: () => boolean): Link {
		return {
			send: (to, packet) => {
				if (!isAlive() || this.#cuts.has([name, to].sort().join('|')) || this.chance(this.faults.dropPacket)) return;
				this.#deliver(name, to, packet);
				if (this.chance(this.faults.repeatPacket)) this.#deliver(name, to, packet);
			},
			onPacket: listener => {
				this.#listeners.set(name, (from, packet) => {
					if (isAlive()) listener(from, packet);
				});
			},
			close: () => {
				this.#listeners.delete(name);
				return Promise.resolve();
			},
		};
	}

	#deliver(from: string, to: string, packet: Packet): void {
		const arrive = (): void => this.#listeners.get(to)?.(from, packet);
		if (this.chance(this.faults.delayPacket))
			this.clock.after(this.random.next() * this.faults.delayMs, () => this.#sequencer.defer(arrive));
		else this.#sequencer.defer(arrive);
	}
}

/** Disks of the world: what a process wrote is there for the next. */
export const emptyDisk = emptyMemoryStore;
