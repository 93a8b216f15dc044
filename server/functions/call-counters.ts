// What is counted of the calls of each function: those under way, and how many ended in which way.
//
// A function that is made anew is counted anew. Of more functions than `functionCounters` those are forgotten that were called least recently, with what
// is under way of them.

import type {CallCounts} from '../../api/function-figures.js';
import type {FunctionObject} from '../../api/kinds/function.js';
import {limits} from '../../api/limits.js';
import type {Clock} from '../../system/time/clock.js';
import {createRecentEnds, type RecentEnds} from './recent-ends.js';
import {coldPhasesOf, noPhases, waitedMsOf, withPhases, type InstanceTimes} from './cold-phases.js';

export type CallCounters = {
	/** When they began, wall time. */
	readonly sinceMs: number;
	/** A call of the function begins. What is no function is not counted. */
	readonly begun: (fn: FunctionObject | undefined) => CountedCall;
	readonly of: (fn: FunctionObject) => CallCounts;
};

/** One call. Once it has ended nothing more is counted of it. */
export type CountedCall = {
	/** It waits for an instance, again. */
	readonly waits: () => void;
	/** It has one; and when that got so far, as far as that is known. */
	readonly goes: (times: InstanceTimes | undefined) => void;
	/** `left`: the client did not wait for the answer. */
	readonly ends: (how: 'answered' | 'failed' | 'left') => void;
};

/** What is only counted up, and what is told of it. */
type Counters = {-readonly [Name in keyof Counted]: Counted[Name]} & {readonly recent: RecentEnds};

type Counted = Omit<CallCounts, 'recent'>;

const zero: Counted = {calls: 0, held: 0, answered: 0, failed: 0, coldStarts: 0, coldStartMs: 0, coldPhases: noPhases};
const uncounted: CountedCall = {waits: () => undefined, goes: () => undefined, ends: () => undefined};

/** `onColdStart` is told what each such call has waited. */
export function createCallCounters(
	clock: Clock,
	onColdStart: (waitedMs: number) => void = () => undefined,
	most: number = limits.functionCounters,
): CallCounters {
	/** By uid, the one that was called last at the end. */
	const kept = new Map<string, Counters>();
	const touched = (uid: string): Counters => {
		const counters = kept.get(uid) ?? {...zero, recent: createRecentEnds()};
		kept.delete(uid);
		kept.set(uid, counters);
		const oldest = kept.keys().next().value;
		if (kept.size > most && oldest !== undefined) kept.delete(oldest);
		return counters;
	};
	return {
		sinceMs: clock.nowMs(),
		begun: fn => (fn === undefined ? uncounted : countedCall(touched(fn.metadata.uid), (fn.status?.ready ?? 0) === 0, clock, onColdStart)),
		of({metadata}) {
			const counters = kept.get(metadata.uid);
			return counters === undefined ? {...zero} : {...counters, recent: counters.recent.counts(clock.monotonicMs())};
		},
	};
}

function countedCall(counters: Counters, isCold: boolean, clock: Clock, onColdStart: (waitedMs: number) => void): CountedCall {
	const begunAtMs = clock.monotonicMs();
	let place: 'held' | 'calls' = 'held';
	let mayBeCold = isCold;
	let isOver = false;
	counters.held++;
	const move = (to: 'held' | 'calls'): void => {
		if (isOver) return;
		counters[place]--;
		counters[to]++;
		place = to;
	};
	return {
		waits: () => move('held'),
		goes(times) {
			move('calls');
			if (isOver || !mayBeCold) return;
			mayBeCold = false;
			counters.coldStarts++;
			const phases = coldPhasesOf(begunAtMs, clock.monotonicMs(), times);
			counters.coldStartMs += waitedMsOf(phases);
			counters.coldPhases = withPhases(counters.coldPhases, phases);
			onColdStart(waitedMsOf(phases));
		},
		ends(how) {
			if (isOver) return;
			isOver = true;
			counters[place]--;
			if (how === 'left') return;
			counters[how]++;
			counters.recent.add(clock.monotonicMs());
		},
	};
}
