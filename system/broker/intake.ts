// What a client sends, on its way to the broker's parser: in whole turns, each of a bounded amount of work, as its login's allowance and
// the turns of the others let it. Meanwhile its socket is not read, so that TCP tells the client to wait. A login with an allowance whose
// packets were more than a turn's work, or had to wait for the allowance, for too long, is cut.

import {limits} from '../../api/limits.js';
import type {Clock} from '../time/clock.js';
import {unbounded, type Allowance} from './allowance.js';
import type {Pace, Rank} from './pace.js';
import {unlimited, type PublishRate} from './publish-rate.js';
import {PacketGuard, type GuardProblem} from './packet-guard.js';

/** What a connection may ask for; until its login the broker does not know whose it is. */
export type IntakeQuota = {readonly rank: Rank; readonly allowance: Allowance; readonly packetBytes: number; readonly rate?: PublishRate};

export type IntakeOptions = {
	readonly clock: Pick<Clock, 'monotonicMs'>;
	readonly pace: Pace;
	/** To the parser, which asks for more by `want`. */
	readonly hand: (bytes: Buffer) => void;
	/** All is handed over, and nothing more will come. */
	readonly onEnd: () => void;
	readonly onProblem: (problem: GuardProblem | 'greedy') => void;
	/** Whether the socket is to be read. */
	readonly onReading: (isReading: boolean) => void;
};

/** Of one connection in one turn. */
const workPerTurn: Readonly<Record<Rank, number>> = {node: limits.brokerNodeTurnWork, tool: limits.brokerToolTurnWork};

/** Of one connection. */
export class Intake {
	readonly #options: IntakeOptions;
	readonly #guard = new PacketGuard(limits.brokerLoginPacketBytes);
	#quota: IntakeQuota = {rank: 'tool', allowance: unbounded, packetBytes: limits.brokerLoginPacketBytes};
	/** One packet until the login. */
	#turnWork = 1;
	/**
	 * What follows CONNECT waits for the login. What follows SUBSCRIBE or UNSUBSCRIBE waits until that is carried out: aedes handles all packets
	 * of a chunk at once, and loses the listener of a filter that is asked for while it is being taken back.
	 */
	#isHeld = false;
	#isKnown = false;
	#chunks: Buffer[] = [];
	#from = 0;
	#isWanted = false;
	#isAsking = false;
	#isEnded = false;
	#isClosed = false;
	/** How long it has asked for more than it may, less the time in which it asked for nothing. */
	#overMs = 0;
	/** Since when it does. */
	#overSinceMs: number | undefined;
	/** Since when it is held back by its rate. */
	#heldSinceMs: number | undefined;
	/** Since when nothing waits. */
	#restMs: number;

	constructor(options: IntakeOptions) {
		this.#options = options;
		this.#restMs = options.clock.monotonicMs();
	}

	take(chunk: Buffer): void {
		if (this.#isClosed || chunk.length === 0) return;
		if (this.#chunks.length === 0) this.#overMs = Math.max(0, this.#overMs - (this.#options.clock.monotonicMs() - this.#restMs));
		this.#chunks.push(chunk);
		this.#options.onReading(false);
		this.#ask();
	}

	/** The parser has taken what it was handed. */
	want(): void {
		this.#isWanted = true;
		this.#ask();
	}

	/** The client has said everything. */
	end(): void {
		this.#isEnded = true;
		if (this.#chunks.length === 0) this.#options.onEnd();
	}

	login(next: IntakeQuota): void {
		this.#quota = next;
		this.#turnWork = Math.min(workPerTurn[next.rank], next.rate?.turnWork ?? Infinity);
		this.#guard.allow(next.packetBytes);
		this.#isKnown = true;
		this.#isHeld = false;
		this.#ask();
	}

	/** The list of filters that was handed over last is carried out. */
	listDone(): void {
		this.#isHeld &&= !this.#isKnown;
		this.#ask();
	}

	/** Whether something waits, or is looked at. */
	isBusy(): boolean {
		return this.#chunks.length > 0;
	}

	/** Forgets what waits. */
	close(): void {
		this.#isClosed = true;
		this.#chunks = [];
	}

	#ask(): void {
		if (this.#isAsking || this.#isHeld || !this.#isWanted || this.#chunks.length === 0) return;
		this.#isAsking = true;
		let isDue = false;
		const rate = this.#quota.rate ?? unlimited;
		rate.whenLeft(() => {
			isDue = true;
			this.#goOn();
			this.#askForWork();
		});
		if (!isDue) this.#holdBack();
	}

	/** It has published more than is due: while it waits for that it asks for nothing. */
	#holdBack(): void {
		this.#countOver();
		this.#heldSinceMs = this.#options.clock.monotonicMs();
	}

	#goOn(): void {
		if (this.#heldSinceMs === undefined) return;
		this.#overMs = Math.max(0, this.#overMs - (this.#options.clock.monotonicMs() - this.#heldSinceMs));
		this.#heldSinceMs = undefined;
	}

	#askForWork(): void {
		let isLeft = false;
		// What was more than a turn's work waits from now on; how long the part before was handled is not its fault.
		if (this.#from > 0) this.#overSinceMs ??= this.#options.clock.monotonicMs();
		this.#quota.allowance.whenLeft(() => {
			isLeft = true;
			this.#options.pace(() => this.#turn(), this.#quota.rank);
		});
		if (!isLeft) this.#overSinceMs ??= this.#options.clock.monotonicMs();
	}

	#countOver(): number {
		if (this.#overSinceMs !== undefined) this.#overMs += this.#options.clock.monotonicMs() - this.#overSinceMs;
		this.#overSinceMs = undefined;
		return this.#overMs;
	}

	#isGreedy(): boolean {
		return this.#countOver() > limits.brokerGreedyMs && this.#quota.allowance !== unbounded;
	}

	#turn(): void {
		this.#isAsking = false;
		const [chunk] = this.#chunks;
		if (this.#isClosed || chunk === undefined) return;
		if (this.#isGreedy()) return this.#options.onProblem('greedy');
		const {end, work, isWhole, isList, problem} = this.#guard.pass(chunk, this.#from, this.#turnWork);
		if (problem !== undefined) return this.#options.onProblem(problem);
		this.#isHeld = this.#isKnown ? isList : isWhole;
		this.#quota.allowance.spend(work);
		this.#isWanted = false;
		const bytes = chunk.subarray(this.#from, end);
		this.#from = end;
		if (end === chunk.length) this.#shift();
		this.#options.hand(bytes);
		if (this.#chunks.length === 0 && this.#isEnded) this.#options.onEnd();
	}

	#shift(): void {
		this.#chunks = this.#chunks.slice(1);
		this.#from = 0;
		if (this.#chunks.length > 0) return;
		this.#restMs = this.#options.clock.monotonicMs();
		this.#options.onReading(true);
	}
}
