// Hosts and the wires between them. A wire never loses, repeats or reorders what is on it, as TCP does not; it may be slow, and it
// may be cut: then what is on it waits, until it is mended or an end gives up.

import type {ManualClock} from '../manual-clock.js';
import type {Sequencer} from '../sequencer.js';

/** A machine with clocks of its own. */
export type WorldHost = {
	readonly name: string;
	/** How wrong its wall clock is; it may jump. */
	wallOffsetMs: number;
	readonly bootedAtMs: number;
	/** How slow its wires are: for each message, and one after another. */
	latencyMs: number;
	perMessageMs: number;
};

/** One direction of a connection. */
export type Wire<Item> = {
	readonly send: (item: Item) => void;
	/** Since when it is cut, in the world's time; undefined while it is whole. */
	readonly cutSinceMs: () => number | undefined;
	readonly close: () => void;
};

export class Network {
	readonly #clock: ManualClock;
	readonly #sequencer: Sequencer;
	/** Directions that are cut, as `from>to`. */
	readonly #cuts = new Map<string, number>();
	readonly #wires = new Set<() => void>();

	constructor(clock: ManualClock, sequencer: Sequencer) {
		this.#clock = clock;
		this.#sequencer = sequencer;
	}

	/** Cuts one direction between two hosts. */
	cut(from: WorldHost, to: WorldHost): void {
		const way = `${from.name}>${to.name}`;
		if (!this.#cuts.has(way)) this.#cuts.set(way, this.#clock.nowMs());
		this.#tellAll();
	}

	mend(from: WorldHost, to: WorldHost): void {
		this.#cuts.delete(`${from.name}>${to.name}`);
		this.#tellAll();
	}

	mendAll(): void {
		this.#cuts.clear();
		this.#tellAll();
	}

	cutSinceMs(from: WorldHost, to: WorldHost): number | undefined {
		return this.#cuts.get(`${from.name}>${to.name}`);
	}

	isWhole(a: WorldHost, b: WorldHost): boolean {
		return this.cutSinceMs(a, b) === undefined && this.cutSinceMs(b, a) === undefined;
	}

	/** `deliver` is called once per item, in order; `onChange` when the wire may have been cut or mended. */
	wire<Item>(from: WorldHost, to: WorldHost, deliver: (item: Item) => void, onChange: () => void = () => undefined): Wire<Item> {
		const queue: {readonly item: Item; readonly dueMs: number}[] = [];
		let armed = false;
		let closed = false;
		let lastDueMs = 0;
		const cutSinceMs = (): number | undefined => this.cutSinceMs(from, to);
		const arm = (): void => {
			const head = queue[0];
			if (armed || closed || head === undefined || cutSinceMs() !== undefined) return;
			armed = true;
			const delayMs = head.dueMs - this.#clock.nowMs();
			if (delayMs <= 0) this.#sequencer.defer(run);
			else this.#clock.after(delayMs, () => this.#sequencer.defer(run));
		};
		const run = (): void => {
			armed = false;
			if (closed || cutSinceMs() !== undefined) return;
			const head = queue.shift();
			if (head !== undefined) deliver(head.item);
			arm();
		};
		const changed = (): void => {
			arm();
			onChange();
		};
		if (from !== to) this.#wires.add(changed);
		return {
			send: item => {
				if (closed) return;
				const nowMs = this.#clock.nowMs();
				lastDueMs = from === to ? nowMs : Math.max(nowMs + from.latencyMs + to.latencyMs, lastDueMs + from.perMessageMs + to.perMessageMs);
				queue.push({item, dueMs: lastDueMs});
				arm();
			},
			cutSinceMs,
			close: () => {
				closed = true;
				queue.length = 0;
				this.#wires.delete(changed);
			},
		};
	}

	#tellAll(): void {
		for (const changed of [...this.#wires]) changed();
	}
}
