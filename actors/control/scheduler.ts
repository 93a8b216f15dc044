// Binds pods that have no node. A wake carries nothing but, at most, where something changed: each round looks at the committed index, and
// binds that were asked for and not yet committed count as done.
//
// A pod that fits nowhere is remembered and not looked at again until something changed that could help it: for most only on the nodes
// where it did. That may miss something, so now and then all are looked at.

import {conditionOf} from '../../api/conditions.js';
import {objectAddress} from '../../api/keys.js';
import type {Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import {next, type Behavior, type Context, type Effect, type Message, type Next, type Reply} from '../../system/kernel/behavior.js';
import {podKey} from '../addresses.js';
import {place} from './placement.js';
import type {PodMessage} from './pods/pod.js';
import {unbound} from './pod-terms.js';
import {unschedulableReason} from './pods/pod-lifecycle.js';
import type {Look} from './scheduling/look.js';
import {lookOf} from './scheduling/looking.js';
import {needsOf} from './scheduling/needs.js';
import {isMakingRoom, leave, mayPreempt, preemptionFor, type Preemption} from './scheduling/preemption.js';
import {bindId, waitingPods} from './scheduling/queue.js';
import {isOtherReason} from './scheduling/reasons.js';
import {nominate, roundOf, take, type Round} from './scheduling/round.js';

export type SchedulerMessage =
	/** Something changed that concerns all nodes, or nobody knows what. */
	| {readonly type: 'wake'}
	/** There may be room on a node where there was none, or other pods. */
	| {readonly type: 'room'; readonly node: string}
	/** There may be pods that nobody has looked at yet. */
	| {readonly type: 'more'}
	/** Nothing in particular, after a while. */
	| {readonly type: 'again'}
	| Reply<unknown, 'outcome'>;

/** A pod that fits nowhere, as it was looked at last. */
type Seen = {
	/** The pod is another one to look at once these are others. */
	readonly spec: Pod['spec'];
	readonly labels: ApiObject['metadata']['labels'];
	/** The look it was. */
	readonly pass: number;
	/** Binds decided by then. */
	readonly binds: number;
	/** Undefined: nobody looked for what to tell it. */
	readonly told: Told | undefined;
};

/** What a pod was told, and when, by the monotonic clock. */
type Told = {readonly why: string | undefined; readonly atMs: number};

export type SchedulerState = {
	/** The round-robin's place in the list of nodes. */
	readonly turn: number;
	/** Decided since the scheduler began. */
	readonly binds: number;
	/** Each news begins another look at all who wait. */
	readonly pass: number;
	/** Nodes with news for those that this pass has not looked at yet. */
	readonly news: ReadonlySet<string> | 'everywhere';
	/** Pods that fit nowhere, by uid. */
	readonly seen: ReadonlyMap<string, Seen>;
	/** Whether a look at all is due after a while. */
	readonly isArmed: boolean;
};

const nothing: ReadonlySet<string> = new Set();

export const schedulerPath = 'scheduler';

export const scheduler: Behavior<null, SchedulerState, SchedulerMessage> = {
	kind: 'Scheduler',
	init: (_input, context) => schedule({turn: 0, binds: 0, pass: 0, news: nothing, seen: new Map(), isArmed: false}, context),
	receive(state, message, context) {
		switch (message.type) {
			case 'wake':
				return schedule(withNews(state, 'everywhere'), context);
			case 'again':
				return schedule({...withNews(state, 'everywhere'), isArmed: false}, context);
			case 'room':
				return room(state, message.node, context);
			case 'more':
				return schedule(state, context);
			case 'outcome':
				return message.outcome.ok ? next(state, [more(context)]) : failed(state, context);
		}
	},
	coalesce(message) {
		if (message.type === 'outcome') return undefined;
		return message.type === 'room' ? `room/${message.node}` : message.type;
	},
	describe: ({seen}) => (seen.size === 0 ? '' : `${seen.size} pods fit nowhere`),
};

const more = ({self}: Context): Effect => ({type: 'tell', to: self, message: {type: 'more'}});

/** Whoever was looked at is looked at again, for what changed since. */
function withNews(state: SchedulerState, news: SchedulerState['news']): SchedulerState {
	const all = state.news === 'everywhere' || news === 'everywhere' ? 'everywhere' : new Set([...state.news, ...news]);
	return {...state, pass: state.pass + 1, news: all};
}

/** Pods end by the hundred: one round follows them all. */
function room(state: SchedulerState, node: string, context: Context): Next<SchedulerState> {
	if (context.known.countByTerm('pods', unbound) === 0) return next(state);
	return next(withNews(state, new Set([node])), [more(context)]);
}

/** A bind that failed is looked at again, but not at once: the store may be in trouble. */
const failed = (state: SchedulerState, {nowMs}: Context): Next<SchedulerState> =>
	next(state, [{type: 'wakeAt', name: 'retry', atMs: nowMs + limits.actorBackoffFirstMs, message: {type: 'wake'}}]);

/** What one step goes through, and leaves behind. */
type Step = {
	readonly state: SchedulerState;
	readonly context: Context;
	readonly round: Round;
	readonly seen: Map<string, Seen>;
	readonly effects: Effect[];
	/** How many more writes may be asked for. */
	open: number;
	/** How many more pods may look for whose place to take. */
	searches: number;
	/** When somebody is to be told who was told something else just now. */
	tellAtMs: number;
};

function schedule(state: SchedulerState, context: Context): Next<SchedulerState> {
	const open = limits.pendingWrites - context.pending.size;
	if (open < limits.schedulerRoundWrites) return next(state); // Outcomes come back here and make room.
	const waiting = waitingPods(context);
	if (waiting.length === 0)
		return next(state.seen.size === 0 && state.news === nothing ? state : {...state, seen: new Map(), news: nothing});
	const step: Step = {
		state,
		context,
		round: roundOf(context, state.turn, state.binds),
		seen: new Map(),
		effects: [],
		open,
		searches: limits.preemptionSearches,
		tellAtMs: Number.POSITIVE_INFINITY,
	};
	const isOver = go(step, waiting);
	return ended(step, isOver);
}

/** Looks at who waits; false when the step is used up before all had their turn. */
function go(step: Step, waiting: readonly Pod[]): boolean {
	const {state, round, seen} = step;
	let looked = 0;
	for (const [at, pod] of waiting.entries()) {
		const before = seenBefore(state, pod);
		const scope = scopeOf(state, before, pod, round);
		if (scope === undefined && before !== undefined) {
			seen.set(pod.metadata.uid, before);
			continue;
		}
		if (step.open === 0 || step.searches === 0 || looked === limits.schedulerStepPods || round.work > limits.schedulerStepWork) {
			keepRest(step, waiting.slice(at));
			if (step.open > 0) step.effects.push(more(step.context));
			return false;
		}
		looked++;
		decide(pod, before, scope, step);
	}
	return true;
}

/** Of a pod whose spec or labels were changed nothing is known. */
function seenBefore({seen}: SchedulerState, {metadata, spec}: Pod): Seen | undefined {
	const before = seen.get(metadata.uid);
	return before !== undefined && before.spec === spec && before.labels === metadata.labels ? before : undefined;
}

/** Which nodes may be others for the pod than when it was looked at; undefined for none. */
function scopeOf(state: SchedulerState, before: Seen | undefined, pod: Pod, round: Round): SchedulerState['news'] | undefined {
	if (before === undefined) return 'everywhere';
	if (before.pass !== state.pass) return state.news;
	if (before.binds === round.binds || pod.spec === undefined) return undefined;
	return needsOf(pod.spec).gainsByBinds ? 'everywhere' : undefined;
}

function keepRest({state, seen}: Step, rest: readonly Pod[]): void {
	for (const {metadata} of rest) {
		const before = state.seen.get(metadata.uid);
		if (before !== undefined) seen.set(metadata.uid, before);
	}
}

function ended({state, context, round, seen, effects, tellAtMs}: Step, isOver: boolean): Next<SchedulerState> {
	const {nowMs, monotonicMs} = context;
	if (Number.isFinite(tellAtMs))
		effects.push({type: 'wakeAt', name: 'tell', atMs: nowMs + Math.max(0, tellAtMs - monotonicMs), message: {type: 'wake'}});
	const isArmed = seen.size > 0;
	if (isArmed && !state.isArmed)
		effects.push({type: 'wakeAt', name: 'again', atMs: nowMs + limits.schedulerAgainMs, message: {type: 'again'}});
	if (!isArmed && state.isArmed) effects.push({type: 'cancelWake', name: 'again'});
	return next({...state, turn: round.turn, binds: round.binds, seen, isArmed, news: isOver ? nothing : state.news}, effects);
}

// ---- one pod -------------------------------------------------------------------------------------------------------------

function decide(pod: Pod, before: Seen | undefined, scope: SchedulerState['news'] | undefined, step: Step): void {
	const {round} = step;
	const look = lookOf(pod, round);
	if (look === undefined) return;
	// Of few nodes all are looked at: then what is said of them is right at any time.
	const only = scope === undefined || scope === 'everywhere' || round.candidates.length <= limits.nodesNamed ? undefined : scope;
	const placement = place(pod, look, round, only);
	if (placement.node !== undefined) {
		take(round, placement.node, pod);
		const message: Message & PodMessage = {type: 'bind', uid: pod.metadata.uid, nodeName: placement.node.name};
		ask(step, pod, message, bindId(pod));
		return;
	}
	const {uid, labels} = pod.metadata;
	if (!makeRoom(pod, look, step, only)) return;
	const told = only === undefined ? tellWhy(pod, placement.why(), before, step) : before?.told;
	step.seen.set(uid, {spec: pod.spec, labels, pass: step.state.pass, binds: round.binds, told});
}

function ask(step: Step, {metadata}: Pod, message: Message & PodMessage, id: string): void {
	step.open--;
	step.effects.push({type: 'update', key: podKey(metadata), message, id});
}

/** Tells the pod why it fits nowhere, unless it knows or was told something else just now. */
function tellWhy(pod: Pod, why: string, before: Seen | undefined, step: Step): Told {
	const {monotonicMs} = step.context;
	const said = conditionOf(pod.status?.conditions, 'PodScheduled');
	const stands = said?.reason === unschedulableReason ? said.message : undefined;
	const told: Told = before?.told ?? {why: stands, atMs: Number.NEGATIVE_INFINITY};
	// What was told and never came to be committed is told once more, after a while.
	if (told.why === why && stands === why) return told;
	if (told.why !== undefined) {
		// How many nodes lack what changes all the time; what they lack, and which, sometimes. Neither may write without end.
		const isOther = isOtherReason(told.why, why);
		const dueMs = told.atMs + (isOther ? limits.schedulerTellMs : limits.resyncMs);
		if (isOther && monotonicMs < dueMs) step.tellAtMs = Math.min(step.tellAtMs, dueMs);
		if (monotonicMs < dueMs) return told;
	}
	const {uid} = pod.metadata;
	const message: PodMessage = {type: 'unschedulable', uid, message: why};
	step.effects.push({type: 'tell', to: objectAddress(podKey(pod.metadata)), message});
	return {why, atMs: monotonicMs};
}

// ---- taking the place of others ----------------------------------------------------------------------------------------

/**
 * Has others go where that helps; false when there is no room left for so many writes, and the pod has to be looked at again. `only`: no
 * other nodes have changed, so there is nothing to look for elsewhere.
 */
function makeRoom(pod: Pod, look: Look, step: Step, only: ReadonlySet<string> | undefined): boolean {
	const {round} = step;
	const isNominated = round.nominations.get(pod.metadata.uid) !== undefined;
	if (isNominated && isMakingRoom(pod, look, round)) return true;
	// One whose place is none any more may find another one anywhere.
	const among = isNominated ? undefined : only;
	const isHopeless = among === undefined ? look.isHopeless : look.isHopelessAmongNews;
	const maySearch = mayPreempt(look, round) && (isNominated || !isHopeless);
	const found = maySearch ? search(pod, look, step, among) : undefined;
	if (found === undefined) {
		if (isNominated) keepRoomAt(pod, undefined, step);
		return true;
	}
	if (step.open <= found.victims.length) {
		step.open = 0;
		return false;
	}
	preempt(pod, found, step);
	return true;
}

function search(pod: Pod, look: Look, step: Step, among: ReadonlySet<string> | undefined): Preemption | undefined {
	// A look at few nodes costs hardly more than the question whether the pod fits there.
	if (among === undefined || among.size > limits.nodesNamed) step.searches--;
	const found = preemptionFor(pod, look, step.round, among);
	if (among === undefined) look.isHopeless = found === undefined;
	else look.isHopelessAmongNews = found === undefined;
	return found;
}

function preempt(pod: Pod, {node, victims}: Preemption, step: Step): void {
	const {namespace = '', name} = pod.metadata;
	for (const victim of victims) {
		const {uid} = victim.metadata;
		const message: Message & PodMessage = {type: 'preempt', uid, node: node.name, by: `${namespace}/${name}`};
		ask(step, victim, message, `preempt/${uid}`);
	}
	leave(step.round, victims);
	keepRoomAt(pod, node.name, step);
}

/** Undefined: nowhere any more. */
function keepRoomAt(pod: Pod, node: string | undefined, step: Step): void {
	const {uid} = pod.metadata;
	nominate(step.round, pod, node);
	const message: Message & PodMessage = {type: 'nominate', uid, nodeName: node};
	ask(step, pod, message, `nominate/${uid}`);
}
