// Hosts and the wires between them. A wire never loses, repeats or reorders what is on it, as TCP does not; it may be slow, and it
// may be cut: then what is on it is sent again, ever more rarely, until that gets through or an end gives up; the sender is not told when the
// cut is mended. Or it is held up on the way: then all of it arrives when it is let go on.

import type {ManualClock} from '../time/manual-clock.js';
import type {Sequencer} from './sequencer.js';

/** A machine with clocks of its own. */
export type WorldHost = {
	readonly name: string;
	/** How wrong its wall clock is; it may jump. */
	wallOffsetMs: number;
	readonly bootedAtMs: number;
	/** How fast its clocks run, to the world's time. */
	readonly rate: number;
	/** How slow its wires are: for each message, and one after another. */
	latencyMs: number;
	perMessageMs: number;
};

/** What the monotonic clock of the host shows at a time of the world. */
export const monotonicMs = ({bootedAtMs, rate}: WorldHost, atMs: number): number => (atMs - bootedAtMs) * rate;

/** The time of the world when that clock shows so much. */
export const worldMs = ({bootedAtMs, rate}: WorldHost, shownMs: number): number => bootedAtMs + shownMs / rate;

/** How long a delay by the host's clock is in the world's time, rounded up. */
export const worldDelayMs = ({rate}: WorldHost, delayMs: number): number => (rate === 1 ? delayMs : Math.ceil(delayMs / rate));

/** One direction of a connection. */
export type Wire<Item> = {
	readonly send: (item: Item) => void;
	/** Since when it is cut, in the world's time; undefined while it is whole. */
	readonly cutSinceMs: () => number | undefined;
	readonly close: () => void;
};

/** When TCP sends again what was not acknowledged: on Linux, where the way is short; doubled each time. */
const retransmitFirstMs = 200;
const retransmitMaxMs = 120_000;

export class Network {
	readonly #clock: ManualClock;
	readonly #sequencer: Sequencer;
	/** Directions that are cut, as `from>to`, and those of them that hold up what is on them. */
	readonly #cuts = new Map<string, number>();
	readonly #held = new Set<string>();
	readonly #wires = new Set<() => void>();

	constructor(clock: ManualClock, sequencer: Sequencer) {
		this.#clock = clock;
		this.#sequencer = sequencer;
	}

	/** Cuts one direction between two hosts. */
	cut(from: WorldHost, to: WorldHost, holds = false): void {
		const way = `${from.name}>${to.name}`;
		if (holds) this.#held.add(way);
		if (!this.#cuts.has(way)) this.#cuts.set(way, this.#clock.nowMs());
		this.#tellAll();
	}

	mend(from: WorldHost, to: WorldHost): void {
		this.#cuts.delete(`${from.name}>${to.name}`);
		this.#held.delete(`${from.name}>${to.name}`);
		this.#tellAll();
	}

	mendAll(): void {
		this.#cuts.clear();
		this.#held.clear();
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
		let againMs = retransmitFirstMs;
		const cutSinceMs = (): number | undefined => this.cutSinceMs(from, to);
		const arm = (delayMs: number): void => {
			armed = true;
			if (delayMs <= 0) this.#sequencer.defer(run);
			else this.#clock.after(delayMs, () => this.#sequencer.defer(run));
		};
		const armHead = (): void => {
			const head = queue[0];
			if (!armed && !closed && head !== undefined) arm(head.dueMs - this.#clock.nowMs());
		};
		const run = (): void => {
			armed = false;
			if (closed || this.#held.has(`${from.name}>${to.name}`)) return;
			if (cutSinceMs() !== undefined) {
				arm(againMs);
				againMs = Math.min(2 * againMs, retransmitMaxMs);
				return;
			}
			againMs = retransmitFirstMs;
			const head = queue.shift();
			if (head !== undefined) deliver(head.item);
			armHead();
		};
		const changed = (): void => {
			armHead();
			onChange();
		};
		if (from !== to) this.#wires.add(changed);
		return {
			send: item => {
				if (closed) return;
				const nowMs = this.#clock.nowMs();
				lastDueMs = from === to ? nowMs : Math.max(nowMs + from.latencyMs + to.latencyMs, lastDueMs + from.perMessageMs + to.perMessageMs);
				queue.push({item, dueMs: lastDueMs});
				armHead();
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
