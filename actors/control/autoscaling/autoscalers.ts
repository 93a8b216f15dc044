// Measures for all autoscalers together. Each is due every some seconds; for those that are due at a moment each node is asked once, for what the pods
// there use that any of them scales, and each is told as soon as its own nodes have answered, or are too late.
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
import type {Attend, Measured, PodUsage} from './autoscaling-message.js';
import {behaviourOf} from './scaling-rules.js';
import {targetOf} from './scale-target.js';

export type AutoscalersMessage =
	| Attend
	/** Some are due. */
	| {readonly type: 'look'}
	| Reply<unknown, 'usageTold'>;

/** What is measured of one: it is told once no node is waited for. */
type Round = {
	readonly nodes: ReadonlySet<string>;
	readonly usage: PodUsage;
	readonly askedAtMs: number;
};

type Attended = {
	/** By the clock that is never set. */
	readonly dueAtMs: number;
	readonly measuredAtMs: number;
	readonly cause: string;
	readonly round: Round | undefined;
};

export type AutoscalersState = {
	readonly attended: ReadonlyMap<ObjectKey, Attended>;
	/** Of open questions, by their ids: the node, the pods that were asked for, and for whom. */
	readonly asked: ReadonlyMap<string, {readonly node: string; readonly uids: ReadonlySet<string>; readonly hpas: readonly ObjectKey[]}>;
	readonly questions: number;
};

export const autoscalers: Behavior<null, AutoscalersState, AutoscalersMessage> = {
	kind: 'Autoscalers',
	init: () => next({attended: new Map<ObjectKey, Attended>(), asked: new Map(), questions: 0}),
	receive(state, message, context) {
		switch (message.type) {
			case 'attend':
				return attend(state, message, context);
			case 'look':
				return look(state, context);
			case 'usageTold':
				return answered(state, message, context);
		}
	},
	coalesce: ({type}) => (type === 'look' ? type : undefined),
	pastIntensity: 'backOff',
	describe: ({attended}) => (attended.size === 0 ? '' : `${attended.size} autoscalers`),
};

const nameOf = (hpa: ObjectKey): string => handName(parseObjectKey(hpa));

function attend(state: AutoscalersState, {hpa, isNews, cause}: Attend, context: Context): Next<AutoscalersState> {
	const {monotonicMs} = context;
	const before = state.attended.get(hpa);
	const input: AutoscalerInput = {hpa};
	const spawn: Effect = {type: 'spawn', name: nameOf(hpa), behavior: autoscaler.kind, input, restart: 'transient'};
	if (before !== undefined && !isNews) return next(state, [spawn]);
	const soonMs = before === undefined ? monotonicMs : Math.max(monotonicMs, before.measuredAtMs + limits.autoscaleLeastMs);
	const entry: Attended = {
		measuredAtMs: before?.measuredAtMs ?? monotonicMs,
		round: before?.round,
		dueAtMs: Math.min(soonMs, before?.dueAtMs ?? soonMs),
		cause,
	};
	return scheduled({...state, attended: new Map(state.attended).set(hpa, entry)}, [spawn], context);
}

/** One timer for all: it goes off when the first of them is due. */
function scheduled(state: AutoscalersState, effects: readonly Effect[], {nowMs, monotonicMs}: Context): Next<AutoscalersState> {
	let dueAtMs = Infinity;
	for (const {round, dueAtMs: each} of state.attended.values()) if (round === undefined) dueAtMs = Math.min(dueAtMs, each);
	if (dueAtMs === Infinity) return next(state, [...effects, {type: 'cancelWake', name: 'look'}]);
	const inMs = Math.max(0, dueAtMs - monotonicMs);
	return next(state, [
		...effects,
		{type: 'wakeAt', name: 'look', atMs: nowMs + inMs, atMostMs: inMs, message: {type: 'look'}, cause: 'autoscaling'},
	]);
}

// ---- measuring -----------------------------------------------------------------------------------------------------------

function look(state: AutoscalersState, context: Context): Next<AutoscalersState> {
	const {known, monotonicMs, nowMs} = context;
	const attended = new Map(state.attended);
	const effects: Effect[] = [];
	/** By node: the pods there, and for whom they are measured. */
	const wanted = new Map<string, {readonly uids: Set<string>; readonly hpas: Set<ObjectKey>}>();
	let begun = 0;
	for (const [key, entry] of state.attended) {
		if (entry.round !== undefined || entry.dueAtMs > monotonicMs) continue;
		if (begun++ >= limits.autoscaleAtOnce) break;
		const hpa = known.get(key) as Hpa | undefined;
		if (hpa === undefined || isDeleting(hpa)) {
			attended.delete(key);
			effects.push({type: 'stopChild', name: nameOf(key)});
			continue;
		}
		const places = placesOf(hpa, known);
		for (const [node, uids] of places) {
			const {uids: all, hpas} = wanted.get(node) ?? {uids: new Set<string>(), hpas: new Set<ObjectKey>()};
			for (const uid of uids) all.add(uid);
			wanted.set(node, {uids: all, hpas: hpas.add(key)});
		}
		attended.set(key, {...entry, round: {nodes: new Set(places.keys()), usage: new Map(), askedAtMs: nowMs}});
		if (places.size === 0) effects.push(...told(attended, key, context));
	}
	const asked = new Map(state.asked);
	let {questions} = state;
	for (const [node, {uids, hpas}] of wanted) {
		// Which node may answer stands in it.
		const id = `${questions++}/${node}`;
		asked.set(id, {node, uids, hpas: [...hpas]});
		const message: ReadUsage = {type: 'readUsage', uids: [...uids]};
		effects.push({type: 'ask', to: address(node, usagePath), message, as: 'usageTold', id, deadlineMs: limits.usageAnswerMs});
	}
	return scheduled({attended, asked, questions}, effects, context);
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
	const question = state.asked.get(id);
	if (question === undefined) return next(state);
	const asked = new Map(state.asked);
	asked.delete(id);
	const usage = outcome.ok ? usageIn(outcome.value, question.uids) : undefined;
	const attended = new Map(state.attended);
	const effects: Effect[] = [];
	for (const key of question.hpas) {
		const entry = attended.get(key);
		if (entry?.round === undefined) continue;
		const nodes = new Set(entry.round.nodes);
		nodes.delete(question.node);
		const all = usage === undefined ? entry.round.usage : new Map([...entry.round.usage, ...usage.pods]);
		attended.set(key, {...entry, round: {...entry.round, nodes, usage: all}});
		if (nodes.size === 0) effects.push(...told(attended, key, context));
	}
	return scheduled({...state, attended, asked}, effects, context);
}

/** Ends the round of one: it is told what was measured, and when it is due again. */
function told(attended: Map<ObjectKey, Attended>, key: ObjectKey, {known, monotonicMs}: Context): readonly Effect[] {
	const entry = attended.get(key);
	if (entry?.round === undefined) return [];
	const {usage, askedAtMs} = entry.round;
	const hpa = known.get(key) as Hpa | undefined;
	attended.set(key, {round: undefined, measuredAtMs: monotonicMs, dueAtMs: monotonicMs + periodOf(hpa), cause: ''});
	const message: Measured = {type: 'measured', usage, askedAtMs, cause: entry.cause};
	return [tell(autoscalerOf(nameOf(key)), message)];
}

/** As often as its rules may ask for a change, between the two bounds. */
function periodOf(hpa: Hpa | undefined): number {
	const {up, down, stepMs = Infinity} = behaviourOf(hpa?.spec ?? {}, hpa?.metadata.annotations);
	const periodsMs = [...up.policies, ...down.policies].map(({periodSeconds}) => periodSeconds * 1_000);
	return Math.max(limits.autoscaleLeastMs, Math.min(limits.autoscaleSyncMs, stepMs, ...periodsMs));
}
