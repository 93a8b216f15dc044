// One actor as the runtime holds it: a behaviour, its state, a mailbox, a place in the tree.

import type {Failure} from '../../api/errors.js';
import type {Fault} from '../../api/inspect.js';
import {address as addressOf, type Address, type ObjectKey} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import type {AnyBehavior, ChildSpec, Pending, Signal} from './behavior.js';
import type {Cancel} from '../time/clock.js';
import type {Seat} from './executor.js';
import {Mailbox, type Span, type Timer} from './mailbox.js';
import {SparseMap, SparseSet} from './sparse.js';
import type {RestartWindow} from './restart-policy.js';

/** An open question of this cell, by `as|id`. */
export type OpenAsk = {
	readonly as: string;
	readonly id: string;
	readonly cancel: Cancel;
	/** The system that owes the answer. */
	readonly system: string;
	readonly address: Address;
	readonly cause: string;
};

export type Parked = {readonly error: Failure; readonly retries: number; readonly cancelRetry: Cancel};

/** An actor of another system that is to be told of the end of an actor here. */
export type FarWatcher = {readonly system: string; readonly id: number; readonly address: Address};

/** An actor of another system that is watched from here, and by which actors. */
export type FarWatch = {readonly system: string; readonly id: number; readonly address: Address; readonly watchers: Set<Cell>};

/**
 * An inspector has paused it: it takes no message but so many, its signals aside, until that monotonic time. `isSlowed`: what lets it take one
 * after the other is a fault.
 */
export type Hold = {left: number; readonly untilMs: number; readonly cancel: Cancel; readonly isSlowed?: true};

/** A fault that an admin made here, until that monotonic time; `by`: that login. */
export type ActiveFault = {readonly fault: Fault; readonly untilMs: number; readonly by?: string | undefined};

/** A restart of one actor, or of several together: how many are still to begin, and the wait before it. */
export type Round = {left: number; cancelDelay: Cancel | undefined};

/** Most actors never crash: they share it. */
const noRestarts: RestartWindow = [];

export class Cell {
	readonly parent: Cell | undefined;
	/** What it was started with, and every restart begins with. */
	readonly spec: ChildSpec;
	readonly path: string;
	readonly address: Address;
	readonly behavior: AnyBehavior;
	readonly mailbox = new Mailbox();
	readonly children = new SparseMap<string, Cell>();
	readonly timers = new SparseMap<string, Timer>();
	readonly asks = new SparseMap<string, OpenAsk>();
	readonly pending = new SparseMap<string, Pending>();
	/** The actors that are told when it ends, and those of whose end it is told. */
	readonly watchers = new SparseSet<Cell | FarWatcher>();
	readonly watching = new SparseSet<Cell | FarWatch>();
	seat: Seat | undefined;
	/** Unknown until `init` ran; only the behaviour knows its shape. */
	state: unknown;
	/** The object as committed; undefined for an actor that keeps none. */
	object: ApiObject | undefined;
	/** Where its object is kept; it stays when the object is removed. */
	key: ObjectKey | undefined;
	status: 'running' | 'restarting' | 'stopping' | 'gone' = 'running';
	committing = false;
	/** What waits for the commit in flight: a stop, a crash of a child, a retry. */
	#afterCommit: (() => void) | undefined;
	readonly #whenGone = new SparseSet<() => void>();
	/** Another one after each restart, unique in the system. */
	instance: number;
	restarts = 0;
	/** Its own restarts that still count, and those of its children where they are restarted together. */
	window: RestartWindow = noRestarts;
	groupWindow: RestartWindow = noRestarts;
	/** Set while it is being restarted. */
	round: Round | undefined;
	parked: Parked | undefined;
	/** Long rests in a row after crashes past the intensity, and when the last crash was. */
	longRests = 0;
	crashedAtMs = 0;
	failure: Failure | undefined;
	/** Messages it has taken, and what its steps took in all, in microseconds: a small integer needs no memory of its own. */
	handled = 0;
	stepMicros = 0;
	held: Hold | undefined;
	faults: readonly ActiveFault[] | undefined;

	constructor(system: string, parent: Cell | undefined, spec: ChildSpec, behavior: AnyBehavior, instance: number) {
		this.parent = parent;
		this.spec = spec;
		this.path = parent === undefined || parent.path === '' ? spec.name : `${parent.path}/${spec.name}`;
		this.address = addressOf(system, this.path);
		this.behavior = behavior;
		this.instance = instance;
	}

	get isGone(): boolean {
		return this.status === 'gone';
	}

	/** Tells it what the runtime itself has to say. */
	signal(signal: Signal, span?: Span): void {
		if (this.isGone) return;
		this.mailbox.signal(signal, span);
		this.requestTurn();
	}

	/** Asks for a turn if something waits that it may take now. */
	requestTurn(): void {
		if (this.committing || this.status === 'restarting' || this.mailbox.isEmpty) return;
		this.seat?.request();
	}

	/** Puts off what must not overlap a commit; what was put off before comes first. At once when none is in flight. */
	onceCommitted(then: () => void): void {
		if (!this.committing) {
			then();
			return;
		}
		const earlier = this.#afterCommit;
		this.#afterCommit = () => {
			earlier?.();
			then();
		};
	}

	/** The commit is decided: what waited for it has its turn. */
	afterCommit(): void {
		const then = this.#afterCommit;
		this.#afterCommit = undefined;
		then?.();
		this.requestTurn();
	}

	/** Calls back once the actor is gone, unless cancelled; at once when it is. */
	whenGone(then: () => void): Cancel {
		if (this.isGone) {
			then();
			return () => undefined;
		}
		this.#whenGone.add(then);
		return () => void this.#whenGone.delete(then);
	}

	/** The actor is gone: what waited for that has its turn. */
	afterEnd(): void {
		for (const then of this.#whenGone) {
			this.#whenGone.delete(then);
			then();
		}
	}

	/** An actor that ends is not restarted with the others; when none is left to wait for, nothing waits. */
	leaveRound(): void {
		const {round} = this;
		if (round === undefined) return;
		this.round = undefined;
		if (--round.left === 0) round.cancelDelay?.();
	}
}
