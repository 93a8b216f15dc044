// How much of its processors and memory a node uses, and each of its containers: sampled every some seconds, kept for some minutes, told when somebody
// asks. Nothing of it is ever stored. A simulated node, which has nothing to measure, samples for a while after it was asked.
//
// What is used of a processor is a difference between two samples, so those of the last seconds are kept, and one of before. The first question, and
// one about what has only just begun, waits for a second sample.

import {failed, succeeded} from '../../../api/errors.js';
import type {EvictionThresholds} from '../../../api/eviction-thresholds.js';
import {limits} from '../../../api/limits.js';
import {
	next,
	reply,
	tell,
	type Behavior,
	type Context,
	type Effect,
	type Next,
	type Reply,
	type ReplyTo,
} from '../../../system/kernel/behavior.js';
import {deepEqual} from '../../../api/equal.js';
import {besides, handName, podsPath, syncPath, usagePath} from '../../addresses.js';
import {assignments, type AssignmentObject} from '../cache/assignment-object.js';
import type {Evict} from '../pods/hand-state.js';
import type {PressureChanged} from '../sync/sync-client.js';
import type {ReadUsage, Totals} from '../../protocol/usage-message.js';
import {perform} from '../runtime/perform.js';
import type {Counters, HostRoom, RuntimeResults, UsageSample} from '../runtime/runtime-port.js';
import {pressedAfter, pressureConditions, shortagesOf, type Pressed} from './pressure.js';
import {victimOf, type Candidate} from './victim.js';
import {historyOf, withPoint, type HistoryPoint, type UsageHistory} from './history.js';
import {measurementOf, reportOf, type Measurement, type UsageReport} from './report.js';
import {withGrowth} from './totals.js';

export type UsageInput = {
	/** It samples whether anybody asks or not. */
	readonly measuresAlways?: boolean;
	/** Below which the host is short of something; left out: nobody looks. */
	readonly thresholds?: EvictionThresholds;
};

export type UsageAnswer = UsageReport & {readonly history?: UsageHistory};

export type UsageMessage =
	/** It is time for a sample. */
	{readonly type: 'sample'} | ReadUsage | Reply<RuntimeResults['usage.read'], 'sampled'>;

type Reader = {
	readonly replyTo: ReplyTo;
	readonly uids: ReadonlySet<string> | undefined;
	readonly steps: number | undefined;
	/** One sample has told too little: it takes what the next one tells. */
	readonly isLast: boolean;
};

export type UsageState = {
	readonly measuresAlways: boolean;
	readonly thresholds: EvictionThresholds | undefined;
	readonly pressed: Pressed;
	/** The pod that was ended last for what the host is short of; it is gone when a sample has nothing of it any more. */
	readonly victim: {readonly uid: string; readonly atMs: number; readonly isGone?: true} | undefined;
	/** Oldest first. */
	readonly samples: readonly UsageSample[];
	/** What the newest tells: found once, however many ask. */
	readonly measured: Measurement | undefined;
	/** What the host has moved since the first sample, and its counters at the last one. */
	readonly moved: {readonly totals: Totals; readonly counters: Counters};
	/** Oldest first. */
	readonly history: readonly HistoryPoint[];
	readonly readers: readonly Reader[];
	readonly isSampling: boolean;
	/** By the clock that never jumps. */
	readonly askedAtMs: number;
};

export const usage: Behavior<UsageInput, UsageState, UsageMessage> = {
	kind: 'Usage',
	init({measuresAlways = false, thresholds}) {
		const state: UsageState = {
			measuresAlways,
			thresholds,
			pressed: {},
			victim: undefined,
			samples: [],
			measured: undefined,
			moved: {totals: {}, counters: {}},
			history: [],
			readers: [],
			isSampling: false,
			askedAtMs: 0,
		};
		return measuresAlways ? sample(state) : next(state);
	},
	receive(state, message, context) {
		switch (message.type) {
			case 'sample':
				return sample(state);
			case 'readUsage':
				return read(state, message, context);
			case 'sampled':
				return sampled({...state, isSampling: false}, message, context);
		}
	},
	coalesce: ({type}) => (type === 'sample' ? type : undefined),
	pastIntensity: 'backOff',
};

function read(state: UsageState, {uids, steps, replyTo}: ReadUsage, context: Context): Next<UsageState> {
	if (replyTo === undefined) return next(state);
	const {samples, readers, isSampling} = state;
	if (readers.length >= limits.usageReaders) {
		return next(state, reply(replyTo, failed('ERR_BUSY', {address: usagePath, waiting: readers.length})));
	}
	const askedAtMs = context.monotonicMs;
	const newest = samples.at(-1);
	const isOfNow = newest !== undefined && askedAtMs - newest.node.readAtMs < limits.usageLeastWindowMs;
	const reader: Reader = {replyTo, uids: uids === undefined ? undefined : new Set(uids), steps, isLast: isOfNow};
	const told = isOfNow ? answerOf(state, {...reader, isLast: false}, askedAtMs) : undefined;
	if (told !== undefined) return next({...state, askedAtMs}, told);
	const waiting = {...state, askedAtMs, readers: [...readers, reader]};
	if (!isOfNow) return sample(waiting);
	// Where others wait already, the next sample is on its way.
	return next(waiting, isSampling || readers.length > 0 ? [] : [later(context, limits.usagePairMs)]);
}

const later = ({nowMs}: Context, delayMs: number): Effect => ({
	type: 'wakeAt',
	name: 'sample',
	atMs: nowMs + delayMs,
	atMostMs: delayMs,
	message: {type: 'sample'},
});

function sample(state: UsageState): Next<UsageState> {
	return state.isSampling ? next(state) : next({...state, isSampling: true}, [perform({type: 'usage.read'}, 'usage', 'sampled')]);
}

function sampled(state: UsageState, {outcome}: Extract<UsageMessage, {type: 'sampled'}>, context: Context): Next<UsageState> {
	if (!outcome.ok) {
		const told = state.readers.flatMap(({replyTo}) => reply(replyTo, outcome));
		return rested({...state, readers: []}, told, context);
	}
	const samples = withSample(state.samples, outcome.value);
	const measured = measurementOf(outcome.value, samples.slice(0, -1));
	const {node: counters} = outcome.value;
	const moved = {totals: withGrowth(state.moved.totals, state.moved.counters, counters), counters};
	const kept: UsageState = {...state, samples, measured, moved, history: withPoint(state.history, measured, context.monotonicMs)};
	const {state: now, effects: ofPressure} = underPressure(kept, outcome.value.room, measured, context);
	const told = state.readers.map(reader => ({reader, effects: answerOf(now, reader, context.monotonicMs)}));
	const readers = told.flatMap(({reader, effects}) => (effects === undefined ? [{...reader, isLast: true}] : []));
	const effects = [...ofPressure, ...told.flatMap(({effects: each = []}) => each)];
	if (readers.length === 0) return rested({...now, readers}, effects, context);
	return next({...now, readers}, [...effects, later(context, limits.usagePairMs)]);
}

/** Nobody waits: it goes on as long as somebody may ask again soon. */
function rested(state: UsageState, effects: readonly Effect[], context: Context): Next<UsageState> {
	const goesOn = state.measuresAlways || context.monotonicMs - state.askedAtMs < limits.usageKeptMs;
	if (goesOn) return next(state, [...effects, later(context, limits.usageSampleMs)]);
	return next({...state, samples: [], measured: undefined, history: []}, effects);
}

/** Undefined: the next sample tells more, and the reader may wait for it. */
function answerOf(
	{measured, moved, history}: UsageState,
	{replyTo, uids, steps, isLast}: Reader,
	monotonicMs: number,
): readonly Effect[] | undefined {
	if (measured === undefined) return undefined;
	const {report, isEarly} = reportOf(measured, moved.totals, uids);
	if (isEarly && !isLast) return undefined;
	const answer: UsageAnswer =
		steps === undefined ? report : {...report, history: historyOf(history, monotonicMs, steps, report.containers)};
	return reply(replyTo, succeeded(answer));
}

/** Of what is older than the window, the newest is enough. */
function withSample(samples: readonly UsageSample[], newest: UsageSample): readonly UsageSample[] {
	const isInside = ({node}: UsageSample): boolean => newest.node.readAtMs - node.readAtMs < limits.usageWindowMs;
	return [...samples.filter(each => !isInside(each)).slice(-1), ...samples.filter(isInside), newest];
}

// ---- what the host is short of ----------------------------------------------------------------------------------------------

/** Told to node sync where it changed, and one pod ended for the first of the things that are short now for which one may be. */
function underPressure(before: UsageState, room: HostRoom | undefined, measured: Measurement, context: Context): Next<UsageState> {
	const {thresholds} = before;
	if (thresholds === undefined || room === undefined) return next(before);
	const shortages = shortagesOf(room, thresholds);
	const last = before.victim ?? (shortages.length === 0 ? undefined : endedBefore(measured, context));
	const isEnding = isEndingIn(last, measured, context);
	const state: UsageState = {...before, victim: isEnding || last === undefined ? last : {...last, isGone: true}};
	const pressed = pressedAfter(state.pressed, shortages, context.monotonicMs);
	const message: PressureChanged = {type: 'pressureChanged', conditions: pressureConditions(pressed)};
	const isNews = state.samples.length <= 1 || !deepEqual(message.conditions, pressureConditions(state.pressed));
	const told = isNews ? [tell(besides(context.self, syncPath), message)] : [];
	// What a disk has left was asked for at the sample before.
	const isOld = last !== undefined && last.isGone !== true;
	const present = isEnding ? [] : shortages.filter(({pressure}) => pressure !== 'DiskPressure' || !isOld);
	const candidates = present.length === 0 ? [] : candidatesIn(context);
	const victim = firstOf(present, shortage => victimOf(shortage, candidates, measured));
	if (victim === undefined) return next({...state, pressed}, told);
	const {uid} = victim.assignment;
	const evict: Evict = {type: 'evict', uid, message: victim.message};
	return next({...state, pressed, victim: {uid, atMs: context.monotonicMs}}, [
		...told,
		tell(besides(context.self, `${podsPath}/${handName(victim.assignment)}`), evict),
	]);
}

function firstOf<Item, Value>(items: readonly Item[], valueOf: (item: Item) => Value | undefined): Value | undefined {
	for (const item of items) {
		const value = valueOf(item);
		if (value !== undefined) return value;
	}
	return undefined;
}

/** The last one that was ended still runs, and has time for that: what it will free is not missing. */
function isEndingIn(victim: UsageState['victim'], {containers}: Measurement, {monotonicMs}: Context): boolean {
	if (victim === undefined || monotonicMs - victim.atMs >= limits.evictionWaitMs) return false;
	return containers.some(({usage: {uid}}) => uid === victim.uid);
}

/** One that the agent before this one has ended, and that still runs. */
function endedBefore({containers}: Measurement, {known, monotonicMs}: Context): UsageState['victim'] {
	const running = new Set(containers.map(({usage: {uid}}) => uid));
	for (const {spec} of known.list(assignments) as Iterable<AssignmentObject>) {
		const uid = spec?.assignment.uid;
		if (uid !== undefined && spec?.evicted !== undefined && running.has(uid)) return {uid, atMs: monotonicMs};
	}
	return undefined;
}

function candidatesIn({known}: Context): readonly Candidate[] {
	return [...known.list(assignments)].flatMap(object => {
		const {spec, metadata} = object as AssignmentObject;
		if (spec === undefined || spec.surplus === true || spec.evicted !== undefined || spec.overdue === true) return [];
		return [{assignment: spec.assignment, startedAtMs: Date.parse(metadata.creationTimestamp)}];
	});
}
