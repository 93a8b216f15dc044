// What waits for one cell. Signals go first; what coalesces keeps its place and takes the newest message; what comes from
// outside is bounded, what the system itself owes the actor (outcomes, wakes, status) is bounded by its sender.

import type {Address} from '../../api/keys.js';
import type {Message, Signal} from './behavior.js';
import type {Cancel} from '../time/clock.js';

/** A named timer of a cell: armed until it fires, at that wall time; its own until its message is taken. */
export type Timer = {readonly name: string; readonly cancel: Cancel; readonly atMs: number};

/** The traced step that something follows from, in whatever system that was. */
export type Span = {
	readonly id: string;
	/** The traces that told of it. */
	readonly traces: readonly string[];
	/** How many steps it is away from one that a trace asked for. */
	readonly hops: number;
};

export type Envelope = {
	readonly message: Message;
	readonly from: Address;
	/** What set this going, worded where the chain began; copied to everything that follows from it. */
	readonly cause: string;
	/** Counted against the bound of the mailbox. */
	readonly outside: boolean;
	/** Nothing, unless that timer is still the one of its name when the message is taken. */
	readonly timer?: Timer;
	/** The step that sent it, while that is traced. */
	readonly span?: Span;
	/** When it came into the mailbox, by the monotonic clock, while an inspector looks. */
	readonly arrivedAtMs?: number;
};

/** What follows from a traced step; what has a span already keeps it. */
export const withSpan = (envelope: Envelope, span: Span | undefined): Envelope => (span === undefined ? envelope : {span, ...envelope});

/** A signal that waits; `span`: the step that it follows from, while that is traced. No actor is told that. */
export type WaitingSignal = Signal & {readonly span?: Span};

type Slot = {envelope: Envelope; key: string | undefined};

export class Mailbox {
	#signals: WaitingSignal[] = [];
	#slots: Slot[] = [];
	#head = 0;
	#byKey: Map<string, Slot> | undefined;
	#outside = 0;

	get length(): number {
		return this.#slots.length - this.#head;
	}

	get outside(): number {
		return this.#outside;
	}

	get isEmpty(): boolean {
		return this.length === 0 && this.#signals.length === 0;
	}

	signal(signal: Signal, span?: Span): void {
		this.#signals.push(span === undefined ? signal : {...signal, span});
	}

	/** What waits, oldest first; it stays where it is. Signals come before messages. */
	get signals(): readonly Signal[] {
		return this.#signals;
	}

	*messages(): Iterable<Envelope> {
		for (let at = this.#head; at < this.#slots.length; at++) {
			const slot = this.#slots[at];
			if (slot !== undefined) yield slot.envelope;
		}
	}

	takeSignal(): WaitingSignal | undefined {
		return this.#signals.shift();
	}

	/** Adds a message; one that shares the key of a waiting message takes its place. */
	put(envelope: Envelope, key: string | undefined): void {
		if (key !== undefined) {
			const waiting = this.#byKey?.get(key);
			if (waiting !== undefined) {
				this.#outside += Number(envelope.outside) - Number(waiting.envelope.outside);
				// It stands for both, so it stays when one of them was a timer that is cancelled.
				waiting.envelope = envelope.timer === undefined ? envelope : withoutTimer(envelope);
				return;
			}
		}
		const slot: Slot = {envelope, key};
		if (key !== undefined) (this.#byKey ??= new Map()).set(key, slot);
		if (envelope.outside) this.#outside++;
		this.#slots.push(slot);
	}

	take(): Envelope | undefined {
		const slot = this.#slots[this.#head];
		if (slot === undefined) return undefined;
		this.#head++;
		if (this.#head === this.#slots.length) {
			this.#slots = [];
			this.#head = 0;
		} else if (this.#head > 1024) {
			this.#slots = this.#slots.slice(this.#head);
			this.#head = 0;
		}
		if (slot.key !== undefined) this.#byKey?.delete(slot.key);
		if (slot.envelope.outside) this.#outside--;
		return slot.envelope;
	}

	/** Forgets the waiting signals of which `stale` says so. */
	forgetSignals(stale: (signal: Signal) => boolean): void {
		this.#signals = this.#signals.filter(signal => !stale(signal));
	}

	/** Forgets what was meant for an instance that is gone: its signals, and the messages of which `stale` says so. */
	forget(stale: (envelope: Envelope) => boolean): void {
		this.#signals = [];
		const slots = this.#slots.slice(this.#head);
		this.#slots = [];
		this.#head = 0;
		this.#outside = 0;
		this.#byKey = undefined;
		for (const {envelope, key} of slots) if (!stale(envelope)) this.put(envelope, key);
	}

	/** Everything that still waits, oldest first; the mailbox is empty afterwards. */
	drain(): Envelope[] {
		const rest: Envelope[] = [];
		for (let envelope = this.take(); envelope !== undefined; envelope = this.take()) rest.push(envelope);
		this.#signals = [];
		return rest;
	}
}

const withoutTimer = ({timer: _timer, ...envelope}: Envelope): Envelope => envelope;
