// The order in which deliveries are made: of each function its queues beside each other, of each queue one after the other; and what is counted of that.
//
// A function with much to do leaves room for the others: they take turns, and each has so many under way at most.

import type {DeliveryCounts} from '../../api/function-figures.js';
import {objectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import type {FunctionName} from './call.js';
import type {Kept} from './delivery-record.js';

export type Lanes = {
	/** Behind all of its queue. It begins now, or when its turn comes. */
	readonly add: (kept: Kept) => void;
	/** One that is under way comes back in the first place of its queue, and begins after that time. */
	readonly again: (kept: Kept, pauseMs: number) => void;
	/** The same of one that nobody could begin: until one could, its function has one under way at a time, after pauses that get longer. */
	readonly notBegun: (kept: Kept) => void;
	/** One that is under way is over. */
	readonly done: (kept: Kept) => void;
	/** Those that wait, are under way, or have a place reserved. */
	readonly waitingOf: (fn: FunctionName) => number;
	/** Keeps a place, until what comes back is called. */
	readonly reserve: (fn: FunctionName, bytes: number) => () => void;
	/** What they take together. */
	readonly bytesOf: (fn: FunctionName) => number;
	readonly count: (of: {readonly function: FunctionName; readonly trigger: string}, what: Counted) => void;
	/** Sorted by trigger. */
	readonly countsOf: (fn: FunctionName) => readonly DeliveryCounts[];
	/** Nothing begins before this. */
	readonly begin: () => void;
	/** Nothing begins any more. */
	readonly close: () => void;
};

type Counted = Exclude<keyof DeliveryCounts, 'trigger' | 'waiting'>;

/** Of one function. */
type Lane = {
	/** By the name of a queue; what has none is a queue of its own. What is under way is in the first place. */
	readonly queues: Map<string, Kept[]>;
	/** Queues whose first one may begin. */
	readonly ready: Set<string>;
	underWay: number;
	waiting: number;
	bytes: number;
	/** How often in a row none could be begun, and whether none is, for a while. */
	inVain: number;
	isPaused: boolean;
	readonly counts: Map<string, {-readonly [Name in keyof DeliveryCounts]: DeliveryCounts[Name]}>;
};

const laneKey = ({namespace, name}: FunctionName): string => objectKey('functions', namespace, name);
const queueOf = ({queue, id}: Kept): string => (queue === undefined ? `id ${id}` : `queue ${queue}`);

/** `begin` is called outside of all that is called here. */
export function createLanes(clock: Clock, begin: (kept: Kept) => void): Lanes {
	/** The one that was used last at the end. */
	const lanes = new Map<string, Lane>();
	/** Lanes that may begin something, in turn. */
	const turns = new Set<Lane>();
	const pauses = new Set<Cancel>();
	let underWay = 0;
	let isOpen = false;
	let isPumping = false;

	const laneOf = (fn: FunctionName): Lane => {
		const key = laneKey(fn);
		const lane = lanes.get(key) ?? {
			queues: new Map(),
			ready: new Set(),
			underWay: 0,
			waiting: 0,
			bytes: 0,
			inVain: 0,
			isPaused: false,
			counts: new Map(),
		};
		lanes.delete(key);
		lanes.set(key, lane);
		for (const [old, {waiting}] of lanes) {
			if (lanes.size <= limits.functionCounters) break;
			if (waiting === 0 && old !== key) lanes.delete(old);
		}
		return lane;
	};
	const mayBegin = ({ready, underWay: of, inVain, isPaused}: Lane): boolean =>
		ready.size > 0 && !isPaused && of < (inVain === 0 ? limits.deliveriesUnderWay : 1);
	const pump = (): void => {
		if (isPumping) return;
		isPumping = true;
		setImmediate(() => {
			isPumping = false;
			while (isOpen && underWay < limits.deliveriesUnderWayAll) {
				const [lane] = turns;
				if (lane === undefined) return;
				turns.delete(lane);
				const [queue] = lane.ready;
				const kept = queue === undefined ? undefined : lane.queues.get(queue)?.[0];
				if (queue === undefined || kept === undefined || !mayBegin(lane)) continue;
				lane.ready.delete(queue);
				lane.underWay++;
				underWay++;
				if (mayBegin(lane)) turns.add(lane);
				begin(kept);
			}
		});
	};
	const makeReady = (lane: Lane, queue: string): void => {
		lane.ready.add(queue);
		if (mayBegin(lane)) turns.add(lane);
		pump();
	};
	const ends = (lane: Lane): void => {
		lane.underWay--;
		underWay--;
		if (mayBegin(lane)) turns.add(lane);
		pump();
	};
	/** One of it was begun: others may be, too. */
	const begins = (lane: Lane): void => {
		lane.inVain = 0;
		lane.isPaused = false;
	};
	const after = (pauseMs: number, act: () => void): void => {
		const cancel = clock.after(pauseMs, () => {
			pauses.delete(cancel);
			act();
		});
		pauses.add(cancel);
	};
	const countsIn = (lane: Lane, trigger: string) => {
		const counts = lane.counts.get(trigger) ?? {trigger, accepted: 0, waiting: 0, delivered: 0, retried: 0, failed: 0};
		lane.counts.set(trigger, counts);
		for (const [old, {waiting}] of lane.counts) {
			if (lane.counts.size <= mostTriggers) break;
			if (waiting === 0 && old !== trigger) lane.counts.delete(old);
		}
		return counts;
	};
	return {
		add(kept) {
			const lane = laneOf(kept.function);
			const name = queueOf(kept);
			const queue = lane.queues.get(name) ?? [];
			lane.queues.set(name, queue);
			queue.push(kept);
			lane.waiting++;
			lane.bytes += kept.bytes;
			countsIn(lane, kept.trigger).waiting++;
			if (queue.length === 1) makeReady(lane, name);
		},
		again(kept, pauseMs) {
			const lane = laneOf(kept.function);
			begins(lane);
			ends(lane);
			after(pauseMs, () => makeReady(lane, queueOf(kept)));
		},
		notBegun(kept) {
			const lane = laneOf(kept.function);
			// Those that were begun with it fail with it: that is one time.
			if (lane.inVain === 0 || lane.underWay === 1) lane.inVain = Math.min(lane.inVain + 1, mostDoublings);
			if (!lane.isPaused) {
				lane.isPaused = true;
				after(Math.min(limits.deliveryPauseMs * 2 ** (lane.inVain - 1), limits.deliveryPauseMostMs), () => {
					lane.isPaused = false;
					if (mayBegin(lane)) turns.add(lane);
					pump();
				});
			}
			turns.delete(lane);
			lane.ready.add(queueOf(kept));
			ends(lane);
		},
		done(kept) {
			const lane = laneOf(kept.function);
			const name = queueOf(kept);
			const queue = lane.queues.get(name) ?? [];
			queue.shift();
			if (queue.length === 0) lane.queues.delete(name);
			else lane.ready.add(name);
			lane.waiting--;
			lane.bytes -= kept.bytes;
			begins(lane);
			countsIn(lane, kept.trigger).waiting--;
			ends(lane);
		},
		waitingOf: fn => lanes.get(laneKey(fn))?.waiting ?? 0,
		reserve(fn, bytes) {
			const lane = laneOf(fn);
			lane.waiting++;
			lane.bytes += bytes;
			return () => {
				lane.waiting--;
				lane.bytes -= bytes;
			};
		},
		bytesOf: fn => lanes.get(laneKey(fn))?.bytes ?? 0,
		count: ({function: fn, trigger}, what) => void countsIn(laneOf(fn), trigger)[what]++,
		countsOf: fn =>
			[...(lanes.get(laneKey(fn))?.counts.values() ?? [])].map(each => ({...each})).sort((a, b) => (a.trigger < b.trigger ? -1 : 1)),
		begin() {
			isOpen = true;
			pump();
		},
		close() {
			isOpen = false;
			for (const cancel of pauses) cancel();
			pauses.clear();
		},
	};
}

/** Beyond them the pause is the longest one. */
const mostDoublings = 16;

/** Names that are counted of one function: those that it has now, and some that it had. */
const mostTriggers = 2 * limits.objectTriggers;
