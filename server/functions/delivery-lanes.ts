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
	/** One that is under way is over. */
	readonly done: (kept: Kept) => void;
	/** Those that wait, are under way, or have a place reserved. */
	readonly waitingOf: (fn: FunctionName) => number;
	/** Keeps a place, until what comes back is called. */
	readonly reserve: (fn: FunctionName) => () => void;
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
		const lane = lanes.get(key) ?? {queues: new Map(), ready: new Set(), underWay: 0, waiting: 0, counts: new Map()};
		lanes.delete(key);
		lanes.set(key, lane);
		for (const [old, {waiting}] of lanes) {
			if (lanes.size <= limits.functionCounters) break;
			if (waiting === 0 && old !== key) lanes.delete(old);
		}
		return lane;
	};
	const mayBegin = (lane: Lane): boolean => lane.ready.size > 0 && lane.underWay < limits.deliveriesUnderWay;
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
				if (queue === undefined || kept === undefined) continue;
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
	const countsIn = (lane: Lane, trigger: string) => {
		const counts = lane.counts.get(trigger) ?? {trigger, accepted: 0, waiting: 0, delivered: 0, retried: 0, failed: 0};
		if (lane.counts.size < mostTriggers) lane.counts.set(trigger, counts);
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
			countsIn(lane, kept.trigger).waiting++;
			if (queue.length === 1) makeReady(lane, name);
		},
		again(kept, pauseMs) {
			const lane = laneOf(kept.function);
			ends(lane);
			const cancel = clock.after(pauseMs, () => {
				pauses.delete(cancel);
				makeReady(lane, queueOf(kept));
			});
			pauses.add(cancel);
		},
		done(kept) {
			const lane = laneOf(kept.function);
			const name = queueOf(kept);
			const queue = lane.queues.get(name) ?? [];
			queue.shift();
			if (queue.length === 0) lane.queues.delete(name);
			else lane.ready.add(name);
			lane.waiting--;
			countsIn(lane, kept.trigger).waiting--;
			ends(lane);
		},
		waitingOf: fn => lanes.get(laneKey(fn))?.waiting ?? 0,
		reserve(fn) {
			const lane = laneOf(fn);
			lane.waiting++;
			return () => void lane.waiting--;
		},
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

/** Names that are counted of one function: those that it has now, and some that it had. */
const mostTriggers = 2 * limits.functionTriggers;
