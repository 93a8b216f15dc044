// The virtual world: several hosts and processes on one time that only moves when nothing else can happen, one source of chance, and
// faults. What runs in it is the real runtime; the same seed gives the same history.
//
// `system/world/` has the parts: processes that can be stopped and killed, wires that can be cut, the fake bus, a store in trouble.

import {ManualClock} from '../time/manual-clock.js';
import {emptyMemoryStore} from '../store/memory-store.js';
import {seededRandom, type Random} from '../time/random.js';
import {createSequencer, type Sequencer} from './sequencer.js';
import {Network, type WorldHost} from './network.js';
import {createProcess, type WorldProcess} from './process.js';

/** What becomes of packets below the stream, shares from 0 to 1; those that are late overtake and are overtaken. */
export type PacketFaults = {
	readonly drop: number;
	readonly repeat: number;
	readonly delay: number;
	readonly delayMs: number;
	/** Of what agents say of themselves, beats and presences, so much is lost without a trace. */
	readonly words?: number;
};

export const noPacketFaults: PacketFaults = {drop: 0, repeat: 0, delay: 0, delayMs: 0};

/** Something goes on for ever. */
export class EndlessWorld extends Error {}

export class World {
	readonly clock = new ManualClock();
	readonly random: Random;
	readonly network: Network;
	packets: PacketFaults = noPacketFaults;
	/** What a system sends another one is made anew on the way, as the real bus does: nothing is shared by reference. */
	serialises = false;
	/** Whether processes have a run queue. */
	hasRunQueue = false;
	/** Turns, deliveries and timers so far. */
	steps = 0;
	/** More are an endless loop. */
	readonly #mostSteps: number;
	readonly #sequencer: Sequencer;

	constructor(seed: number, mostSteps = Number.POSITIVE_INFINITY) {
		this.#mostSteps = mostSteps;
		this.random = seededRandom(seed);
		this.#sequencer = createSequencer(this.random);
		this.network = new Network(this.clock, this.#sequencer);
	}

	chance(share: number): boolean {
		return share > 0 && this.random.next() < share;
	}

	/** A whole number below `end`. */
	pick(end: number): number {
		return Math.floor(this.random.next() * end);
	}

	host(name: string, wallOffsetMs = 0, rate = 1): WorldHost {
		return {name, wallOffsetMs, bootedAtMs: this.clock.nowMs() - this.pick(1_000_000), rate, latencyMs: 0, perMessageMs: 0};
	}

	process(host: WorldHost): WorldProcess {
		return createProcess({clock: this.clock, sequencer: this.#sequencer, random: this.random, hasRunQueue: this.hasRunQueue}, host);
	}

	/** Runs whatever can happen until this much time has passed. */
	run(ms: number): void {
		const untilMs = this.clock.nowMs() + ms;
		for (;;) {
			if (this.steps > this.#mostSteps) throw new EndlessWorld(`the world took more than ${this.#mostSteps} steps`);
			// Now and then time moves although something could still be done: no host is infinitely fast.
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
}

/** Disks of the world: what a process wrote is there for the next. */
export const emptyDisk = emptyMemoryStore;
