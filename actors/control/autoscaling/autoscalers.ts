// Measures for all autoscalers together. Each is due every some seconds; for those that are due at a moment each node is asked once, for what the pods
// there use that any of them scales, and the edge for what the sources of each say. Each is told as soon as its own nodes and sources have answered, or are
// too late.
//
// Below it is one actor for each autoscaler, which decides: what is wrong with one is no other's trouble.

import {conditionOf} from '../../../api/conditions.js';
import {address, parseObjectKey, type ObjectKey} from '../../../api/keys.js';
import type {Hpa} from '../../../api/kinds/horizontalpodautoscaler.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import {limits} from '../../../api/limits.js';
import {next, tell, type Behavior, type Context, type Effect, type Next, type Reply} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {autoscalerOf, handName, nodeKey, usagePath} from '../../addresses.js';
import {usageIn, type ReadUsage} from '../../protocol/usage-message.js';
import {isDeleting} from '../objects/garbage.js';
import {isTerminal} from '../pods/pod-lifecycle.js';
import {autoscaler, type AutoscalerInput} from './autoscaler.js';
import {
	wishKey,
	type Attend,
	type Measured,
	type MetricWish,
	type PodUsage,
	type ReadMetrics,
	type Reading,
	type Readings,
	type ValuesCame,
} from './autoscaling-message.js';
import {wishOf} from './metric-answer.js';
import {behaviourOf} from './scaling-rules.js';
import {rivalsIn, targetOf} from './scale-target.js';
import {emptySpread, entryIn, sizeOf, withEntry, type Spread} from './spread.js';

export type AutoscalersMessage =
	| Attend
	/** Some are due. */
	| {readonly type: 'look'}
	| ValuesCame
	| Reply<unknown, 'usageTold' | 'metricsRead'>;

/** What is measured of one: it is told once neither a node nor its sources are waited for. */
type Round = {
	readonly nodes: ReadonlySet<string>;
	readonly usage: PodUsage;
	/** Undefined: what its sources say is waited for. */
	readonly readings: Readings | undefined;
	readonly rival: ObjectKey | undefined;
	readonly askedAtMs: number;
};

type Attended = {
	/** By the clock that is never set; while it is measured only news make it due: then it is measured again, soon. */
	readonly dueAtMs: number;
	readonly measuredAtMs: number;
	readonly cause: string;
	readonly round: Round | undefined;
};

type Question = {readonly node: string; readonly uids: ReadonlySet<string>; readonly hpas: readonly ObjectKey[]};

export type AutoscalersState = {
	readonly attended: Spread<Attended>;
	/** When the timer for the next of them goes off, by the clock that is never set; infinite: there is none. */
	readonly lookAtMs: number;
	/** Of open questions, by their ids: the node, the pods that were asked for, and for whom. */
	readonly asked: Spread<Question>;
	readonly questions: number;
};

export const autoscalers: Behavior<null, AutoscalersState, AutoscalersMessage> = {
	kind: 'Autoscalers',
	init: () => next({attended: emptySpread<Attended>(), lookAtMs: Infinity, asked: emptySpread<Question>(), questions: 0}),
	receive(state, message, context) {
		switch (message.type) {
			case 'attend':
				return attend(state, message, context);
			case 'look':
				return look(state, context);
			case 'valuesCame':
				return sooner(state, message, context);
			case 'usageTold':
				return answered(state, message as Reply<unknown, 'usageTold'>, context);
			case 'metricsRead':
				return read(state, message as Reply<unknown, 'metricsRead'>, context);
		}
	},
	coalesce: ({type}) => (type === 'look' ? type : undefined),
	pastIntensity: 'backOff',
	describe({attended}) {
		const count = sizeOf(attended);
		return count === 0 ? '' : `${count} autoscalers`;
	},
};

const nameOf = (hpa: ObjectKey): string => handName(parseObjectKey(hpa));

function attend(state: AutoscalersState, {hpa, isNews, cause}: Attend, context: Context): Next<AutoscalersState> {
	const {monotonicMs} = context;
	const before = entryIn(state.attended, hpa);
	const input: AutoscalerInput = {hpa};
	const spawn: Effect = {type: 'spawn', name: nameOf(hpa), behavior: autoscaler.kind, input, restart: 'transient'};
	if (before !== undefined && !isNews) return next(state, [spawn]);
	const entry: Attended =
		before === undefined
			? {measuredAtMs: monotonicMs, round: undefined, dueAtMs: monotonicMs, cause}
			: {...dueSoon(before, monotonicMs), cause};
	return scheduled({...state, attended: withEntry(state.attended, hpa, entry)}, [spawn], dueOf(entry), context);
}

/** Now, but no more often than each second. */
const dueSoon = (entry: Attended, monotonicMs: number): Attended => ({
	...entry,
	dueAtMs: Math.min(Math.max(monotonicMs, entry.measuredAtMs + limits.autoscaleLeastMs), entry.dueAtMs),
});

/** Those that are not looked after any more are of no concern. */
function sooner(state: AutoscalersState, {hpas}: ValuesCame, context: Context): Next<AutoscalersState> {
	let {attended} = state;
	let firstAtMs = Infinity;
	for (const hpa of hpas) {
		const before = entryIn(attended, hpa);
		if (before === undefined) continue;
		const entry = dueSoon(before, context.monotonicMs);
		attended = withEntry(attended, hpa, entry);
		firstAtMs = Math.min(firstAtMs, dueOf(entry));
	}
	return scheduled({...state, attended}, [], firstAtMs, context);
}

/** One that is measured now is due once that is over. */
const dueOf = ({round, dueAtMs}: Attended): number => (round === undefined ? dueAtMs : Infinity);

/** One timer for all: it goes off when the first of them is due. Here one is due then. */
function scheduled(
	state: AutoscalersState,
	effects: readonly Effect[],
	dueAtMs: number,
	{nowMs, monotonicMs}: Context,
): Next<AutoscalersState> {
	if (dueAtMs >= state.lookAtMs) return next(state, effects);
	const inMs = Math.max(0, dueAtMs - monotonicMs);
	return next({...state, lookAtMs: dueAtMs}, [
		...effects,
		{type: 'wakeAt', name: 'look', atMs: nowMs + inMs, atMostMs: inMs, message: {type: 'look'}, cause: 'autoscaling'},
	]);
}

// ---- measuring -----------------------------------------------------------------------------------------------------------

function look(state: AutoscalersState, context: Context): Next<AutoscalersState> {
	const {known, monotonicMs, nowMs} = context;
	let {attended} = state;
	const effects: Effect[] = [];
	/** By node: the pods there, and for whom they are measured. */
	const wanted = new Map<string, {readonly uids: Set<string>; readonly hpas: Set<ObjectKey>}>();
	const {due, nextAtMs} = dueIn(state.attended, monotonicMs);
	let firstAtMs = nextAtMs;
	const rivalOf = rivalsIn(known);
	for (const [key, entry] of due) {
		const hpa = known.get(key) as Hpa | undefined;
		if (hpa === undefined || isDeleting(hpa)) {
			attended = withEntry(attended, key, undefined);
			effects.push({type: 'stopChild', name: nameOf(key)});
			continue;
		}
		const rival = rivalOf(hpa);
		const places = rival === undefined ? placesOf(hpa, known) : new Map<string, readonly string[]>();
		for (const [node, uids] of places) {
			const {uids: all, hpas} = wanted.get(node) ?? {uids: new Set<string>(), hpas: new Set<ObjectKey>()};
			for (const uid of uids) all.add(uid);
			wanted.set(node, {uids: all, hpas: hpas.add(key)});
		}
		const wishes = rival === undefined ? wishesOf(hpa) : [];
		if (wishes.length > 0) effects.push(reading(key, wishes));
		const round: Round = {
			nodes: new Set(places.keys()),
			usage: new Map(),
			readings: wishes.length > 0 ? undefined : new Map(),
			rival,
			askedAtMs: nowMs,
		};
		const {entry: after, effects: tells} = settled({...entry, round, dueAtMs: Infinity}, key, context);
		attended = withEntry(attended, key, after);
		effects.push(...tells);
		firstAtMs = Math.min(firstAtMs, dueOf(after));
	}
	let {asked, questions} = state;
	for (const [node, {uids, hpas}] of wanted) {
		// Which node may answer stands in it.
		const id = `${questions++}/${node}`;
		asked = withEntry(asked, id, {node, uids, hpas: [...hpas]});
		const message: ReadUsage = {type: 'readUsage', uids: [...uids]};
		effects.push({type: 'ask', to: address(node, usagePath), message, as: 'usageTold', id, deadlineMs: limits.usageAnswerMs});
	}
	return scheduled({attended, lookAtMs: Infinity, asked, questions}, effects, firstAtMs, context);
}

/** Each once, though several metrics may have one source. */
function wishesOf({spec}: Hpa): readonly MetricWish[] {
	const wishes = (spec?.metrics ?? []).flatMap(metric => wishOf(metric) ?? []);
	return [...new Map(wishes.map(wish => [wishKey(wish), wish])).values()];
}

function reading(hpa: ObjectKey, wishes: readonly MetricWish[]): Effect {
	const command: ReadMetrics = {type: 'readMetrics', hpa, wishes};
	return {type: 'perform', command, key: hpa, as: 'metricsRead', deadlineMs: limits.usageAnswerMs};
}

/** Those that are due, those that have waited longest where there are more than may begin at once; and when the first of the others is. */
function dueIn(attended: Spread<Attended>, monotonicMs: number) {
	const due: [ObjectKey, Attended][] = [];
	let nextAtMs = Infinity;
	for (const part of attended)
		for (const [key, entry] of part) {
			if (dueOf(entry) <= monotonicMs) due.push([key, entry]);
			else nextAtMs = Math.min(nextAtMs, dueOf(entry));
		}
	const isMore = due.length > limits.autoscaleAtOnce;
	if (isMore) due.sort(([, a], [, b]) => a.dueAtMs - b.dueAtMs);
	return {due: due.slice(0, limits.autoscaleAtOnce), nextAtMs: isMore ? monotonicMs : nextAtMs};
}

/** By node the pods that are measured; a node of which nothing is heard is not asked. */
function placesOf(hpa: Hpa, known: Known): ReadonlyMap<string, readonly string[]> {
	const target = targetOf(hpa, known);
	const places = new Map<string, string[]>();
	for (const pod of typeof target === 'string' ? [] : target.pods) {
		const node = pod.spec?.nodeName ?? '';
		if (node === '' || isTerminal(pod) || isDeleting(pod) || pod.status?.phase !== 'Running' || !isHeard(node, known)) continue;
		const uids = places.get(node);
		if (uids === undefined) places.set(node, [pod.metadata.uid]);
		else uids.push(pod.metadata.uid);
	}
	return places;
}

function isHeard(name: string, known: Known): boolean {
	const node = known.get(nodeKey(name)) as NodeObject | undefined;
	return node !== undefined && conditionOf(node.status?.conditions, 'Ready')?.status !== 'Unknown';
}

/** What no node tells is not known: its pods count as missing. */
function answered(state: AutoscalersState, {id, outcome}: Reply<unknown, 'usageTold'>, context: Context): Next<AutoscalersState> {
	const question = entryIn(state.asked, id);
	if (question === undefined) return next(state);
	const asked = withEntry(state.asked, id, undefined);
	const usage = outcome.ok ? usageIn(outcome.value, question.uids) : undefined;
	let {attended} = state;
	let firstAtMs = Infinity;
	const effects: Effect[] = [];
	for (const key of question.hpas) {
		const entry = entryIn(attended, key);
		if (entry?.round === undefined) continue;
		const nodes = new Set(entry.round.nodes);
		nodes.delete(question.node);
		const all = usage === undefined ? entry.round.usage : new Map([...entry.round.usage, ...usage.pods]);
		const {entry: after, effects: tells} = settled({...entry, round: {...entry.round, nodes, usage: all}}, key, context);
		attended = withEntry(attended, key, after);
		effects.push(...tells);
		firstAtMs = Math.min(firstAtMs, dueOf(after));
	}
	return scheduled({...state, attended, asked}, effects, firstAtMs, context);
}

/** What sources do not say in time is not known. */
function read(state: AutoscalersState, {id, outcome}: Reply<unknown, 'metricsRead'>, context: Context): Next<AutoscalersState> {
	const key = id;
	const entry = entryIn(state.attended, key);
	if (entry?.round === undefined) return next(state);
	const readings = outcome.ok ? (outcome.value as Readings) : new Map<string, Reading>();
	const {entry: after, effects} = settled({...entry, round: {...entry.round, readings}}, key, context);
	return scheduled({...state, attended: withEntry(state.attended, key, after)}, effects, dueOf(after), context);
}

/** Ends the round of one where nothing is waited for: it is told what was measured, and when it is due again. */
function settled(
	entry: Attended,
	key: ObjectKey,
	{known, monotonicMs}: Context,
): {readonly entry: Attended; readonly effects: readonly Effect[]} {
	const {round, cause} = entry;
	if (round?.readings === undefined || round.nodes.size > 0) return {entry, effects: []};
	const {usage, readings, rival, askedAtMs} = round;
	const newsMs = Math.max(entry.dueAtMs, monotonicMs + limits.autoscaleLeastMs);
	const dueAtMs = Math.min(newsMs, monotonicMs + periodOf(known.get(key) as Hpa | undefined));
	const message: Measured = {type: 'measured', usage, readings, rival, askedAtMs, cause};
	return {
		entry: {round: undefined, measuredAtMs: monotonicMs, dueAtMs, cause: ''},
		effects: [tell(autoscalerOf(nameOf(key)), message)],
	};
}

/** As often as its rules may ask for a change, between the two bounds. */
function periodOf(hpa: Hpa | undefined): number {
	const {up, down, stepMs = Infinity} = behaviourOf(hpa?.spec ?? {}, hpa?.metadata.annotations);
	const periodsMs = [...up.policies, ...down.policies].map(({periodSeconds}) => periodSeconds * 1_000);
	return Math.max(limits.autoscaleLeastMs, Math.min(limits.autoscaleSyncMs, stepMs, ...periodsMs));
}
