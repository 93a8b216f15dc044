// What a client sends, on its way to the broker's parser: in whole turns, each of a bounded amount of work, as its login's allowance and
// the turns of the others let it. Meanwhile its socket is not read, so that TCP tells the client to wait. A login with an allowance whose
// packets were more than a turn's work, or had to wait for the allowance, for too long, is cut.

import {limits} from '../../api/limits.js';
import type {Clock} from '../time/clock.js';
import {unbounded, type Allowance} from './allowance.js';
import type {Pace, Rank} from './pace.js';
import {createPacketGuard, type GuardProblem} from './packet-guard.js';

/** What a connection may ask for; until its login nobody knows whose it is. */
export type IntakeQuota = {readonly rank: Rank; readonly allowance: Allowance; readonly packetBytes: number};

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

export type Intake = {
	readonly take: (chunk: Buffer) => void;
	/** The parser has taken what it was handed. */
	readonly want: () => void;
	/** The client has said everything. */
	readonly end: () => void;
	readonly login: (quota: IntakeQuota) => void;
	/** The list of filters that was handed over last is carried out. */
	readonly listDone: () => void;
	/** Whether something waits, or is looked at. */
	readonly isBusy: () => boolean;
	/** Forgets what waits. */
	readonly close: () => void;
};

/** Of one connection in one turn. */
const workPerTurn: Readonly<Record<Rank, number>> = {node: limits.brokerNodeTurnWork, tool: limits.brokerToolTurnWork};

export function createIntake({clock, pace, hand, onEnd, onProblem, onReading}: IntakeOptions): Intake {
	const guard = createPacketGuard(limits.brokerLoginPacketBytes);
	let quota: IntakeQuota = {rank: 'tool', allowance: unbounded, packetBytes: limits.brokerLoginPacketBytes};
	/** One packet until the login. */
	let turnWork = 1;
	/**
	 * What follows CONNECT waits for the login. What follows SUBSCRIBE or UNSUBSCRIBE waits until that is carried out: aedes handles all packets
	 * of a chunk at once, and loses the listener of a filter that is asked for while it is being taken back.
	 */
	let isHeld = false;
	let isKnown = false;
	let chunks: Buffer[] = [];
	let from = 0;
	let isWanted = false;
	let isAsking = false;
	let isEnded = false;
	let isClosed = false;
	/** How long it has asked for more than it may, less the time in which it asked for nothing. */
	let overMs = 0;
	/** Since when it does. */
	let overSinceMs: number | undefined;
	let restMs = clock.monotonicMs();

	const ask = (): void => {
		if (isAsking || isHeld || !isWanted || chunks.length === 0) return;
		isAsking = true;
		let isLeft = false;
		quota.allowance.whenLeft(() => {
			isLeft = true;
			pace(turn, quota.rank);
		});
		if (!isLeft) overSinceMs ??= clock.monotonicMs();
	};

	const isGreedy = (): boolean => {
		if (overSinceMs !== undefined) overMs += clock.monotonicMs() - overSinceMs;
		overSinceMs = undefined;
		return overMs > limits.brokerGreedyMs && quota.allowance !== unbounded;
	};

	const turn = (): void => {
		isAsking = false;
		const [chunk] = chunks;
		if (isClosed || chunk === undefined) return;
		if (isGreedy()) return onProblem('greedy');
		const {end, work, isWhole, isList, problem} = guard.pass(chunk, from, turnWork);
		if (problem !== undefined) return onProblem(problem);
		isHeld = isKnown ? isList : isWhole;
		quota.allowance.spend(work);
		isWanted = false;
		const bytes = chunk.subarray(from, end);
		from = end;
		if (end === chunk.length) shift();
		else overSinceMs = clock.monotonicMs();
		hand(bytes);
		if (chunks.length === 0 && isEnded) onEnd();
	};

	const shift = (): void => {
		chunks = chunks.slice(1);
		from = 0;
		if (chunks.length > 0) return;
		restMs = clock.monotonicMs();
		onReading(true);
	};

	return {
		take(chunk) {
			if (isClosed || chunk.length === 0) return;
			if (chunks.length === 0) overMs = Math.max(0, overMs - (clock.monotonicMs() - restMs));
			chunks.push(chunk);
			onReading(false);
			ask();
		},
		want() {
			isWanted = true;
			ask();
		},
		end() {
			isEnded = true;
			if (chunks.length === 0) onEnd();
		},
		login(next) {
			quota = next;
			turnWork = workPerTurn[next.rank];
			guard.allow(next.packetBytes);
			isKnown = true;
			isHeld = false;
			ask();
		},
		listDone() {
			isHeld &&= !isKnown;
			ask();
		},
		isBusy: () => chunks.length > 0,
		close() {
			isClosed = true;
			chunks = [];
		},
	};
}
