// Who is dialled for a beat, and when, until a connection works.
//
// A link that comes and goes swallows the first packet of a connection as any other, and TCP sends it again only after a second, then
// after three. So while the node is not taken for dead yet, attempts overlap: each lives for a second, and the next begins long before
// that. Such a packet costs a server nothing. What follows it (TLS, a login) does: as soon as a host is reached there is one attempt,
// and the next only after a second, two, four; those before it go on, for a server that is merely slow takes them in their order.

import {limits} from '../../api/limits.js';
import {aboutMs} from '../links/reconnect-pace.js';
import {redialOf} from './beat.js';
import type {Random} from '../time/random.js';
import type {Cancel, Clock} from '../time/clock.js';

/** A connection that is being made, or stands. */
export type BeatConnection = {
	/** Says it, and asks for an answer. To be called only once the connection stands. */
	readonly say: (topic: string, payload: string) => void;
	/** Says goodbye. No event comes after it. */
	readonly close: () => void;
	/** The same without a word, and what was not acknowledged is not sent again. */
	readonly abandon: () => void;
};

/** None is told before the dial has returned. */
export type BeatConnectionEvents = {
	/** The host answers: what follows costs a server. */
	readonly reached: () => void;
	/** The broker has taken the login. */
	readonly ready: () => void;
	/** Anything came after that. */
	readonly heard: () => void;
	/** Refused, or lost. */
	readonly closed: () => void;
};

/** `lane` is the last part of the client id: no two connections of an agent that are there together have the same. */
export type BeatDial = (url: string, lane: string, on: BeatConnectionEvents) => BeatConnection;

/** A connection that works, and how long that took. */
export type BeatFound = {readonly connection: BeatConnection; readonly lane: string; readonly tookMs: number};

export type BeatDiallerOptions = {
	/** Asked before each attempt. */
	readonly servers: () => readonly string[];
	readonly dial: BeatDial;
	readonly clock: Clock;
	readonly random: Pick<Random, 'next'>;
	/** Nothing is dialled meanwhile. */
	readonly isStill: () => boolean;
	/**
	 * The network of this host is away as far as the host can tell. What is sent then makes it worse: the kernel looks for the way once a
	 * second, and until it has found it nothing goes out, be the network back or not. In haste that is waited for.
	 */
	readonly isAway?: (() => boolean) | undefined;
	/** The lane of the connection that stands. */
	readonly takenLane: () => string | undefined;
	/** The beat line takes it, and hears of it from now on; all other attempts are over. */
	readonly onFound: (found: BeatFound) => Pick<BeatConnectionEvents, 'heard' | 'closed'>;
};

type Attempt = {readonly url: string; readonly lane: string; isReached: boolean; cancelDeadline: Cancel; end: () => void};

export class BeatDialler {
	readonly #options: BeatDiallerOptions;
	readonly #underWay = new Set<Attempt>();
	#isOn = false;
	#sinceMs = 0;
	#cancelNext: Cancel = () => undefined;
	/** Which server is next; where the beat was taken last, and how many attempts there were since dialling began. */
	#aim = 0;
	#home: string | undefined;
	#attempts = 0;
	#failures = 0;
	#reached = 0;

	constructor(options: BeatDiallerOptions) {
		this.#options = options;
	}

	get isOn(): boolean {
		return this.#isOn;
	}

	/** Nothing was heard since then; a grace from there on it is in haste. */
	start(sinceMs: number, delayMs = 0): void {
		if (this.#isOn) return;
		this.#isOn = true;
		this.#sinceMs = sinceMs;
		this.#attempts = 0;
		this.#failures = 0;
		this.#reached = 0;
		if (delayMs === 0) this.#attempt();
		else this.#next(delayMs);
	}

	stop(): void {
		this.#isOn = false;
		this.#cancelNext();
		for (const attempt of [...this.#underWay]) attempt.end();
	}

	get #isUrgent(): boolean {
		return this.#options.clock.monotonicMs() - this.#sinceMs < limits.nodeGraceMs;
	}

	/** About then: nodes that have lost the same switch do not act as one. */
	#next(delayMs: number): void {
		const {clock, random} = this.#options;
		this.#cancelNext();
		this.#cancelNext = clock.after(aboutMs(delayMs, random), () => this.#attempt());
	}

	#attempt(): void {
		const url = this.#aimed();
		if (url === undefined || this.#options.isStill()) return this.#next(limits.movementMs);
		if (this.#isUrgent && this.#options.isAway?.() === true) return this.#next(limits.beatAwayMs);
		if (this.#isUrgent) this.#next(limits.beatDialMs);
		if (this.#underWay.size < limits.beatDials) this.#dial(url);
	}

	/** Every other attempt goes where the beat was taken last: mostly it is the way there that is in trouble. */
	#aimed(): string | undefined {
		const servers = this.#options.servers();
		const isHome = this.#attempts++ % 2 === 0 && this.#home !== undefined && servers.includes(this.#home);
		return isHome ? this.#home : servers[this.#aim++ % servers.length];
	}

	#dial(url: string): void {
		const {dial, clock} = this.#options;
		const lane = this.#freeLane();
		const startedMs = clock.monotonicMs();
		let taker: Pick<BeatConnectionEvents, 'heard' | 'closed'> | undefined;
		const connection = dial(url, lane, {
			reached: () => this.#reach(attempt),
			ready: () => {
				this.#underWay.delete(attempt);
				attempt.cancelDeadline();
				this.#home = url;
				this.stop();
				taker = this.#options.onFound({connection, lane, tookMs: clock.monotonicMs() - startedMs});
			},
			heard: () => taker?.heard(),
			closed: () => (taker === undefined ? this.#fail(attempt) : taker.closed()),
		});
		const attempt: Attempt = {
			url,
			lane,
			isReached: false,
			cancelDeadline: this.#deadline(redialOf(this.#isUrgent).connectMs, () => attempt),
			end: () => {
				this.#underWay.delete(attempt);
				attempt.cancelDeadline();
				connection.abandon();
			},
		};
		this.#underWay.add(attempt);
	}

	#deadline(ms: number, attempt: () => Attempt): Cancel {
		return this.#options.clock.after(ms, () => this.#fail(attempt()));
	}

	#freeLane(): string {
		const taken = new Set([this.#options.takenLane(), ...[...this.#underWay].map(({lane}) => lane)]);
		let number = 1;
		while (taken.has(laneOf(number))) number++;
		return laneOf(number);
	}

	#reach(attempt: Attempt): void {
		attempt.isReached = true;
		attempt.cancelDeadline();
		attempt.cancelDeadline = this.#deadline(limits.linkConnectMs, () => attempt);
		for (const other of [...this.#underWay]) if (other.url === attempt.url && !other.isReached) other.end();
		this.#next(Math.min(limits.beatConnectMs * 2 ** this.#reached, limits.linkConnectMs));
		this.#reached++;
	}

	#fail(attempt: Attempt): void {
		attempt.end();
		// The others go on, and so does the next.
		if (!attempt.isReached && this.#underWay.size > 0) return;
		this.#failures++;
		const rounds = Math.ceil(this.#failures / Math.max(1, this.#options.servers().length));
		this.#next(redialOf(this.#isUrgent, rounds).waitMs);
	}
}

const laneOf = (number: number): string => (number === 1 ? 'beat' : `beat${number}`);
