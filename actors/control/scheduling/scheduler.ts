// Binds pods that have no node. A wake carries nothing but, at most, which node changed: each cycle reads the committed index, and binds that were
// asked for and not yet committed count as done.
//
// A pod that is unschedulable is remembered and not tried again until something changed that could help it: for most only on the nodes that did.
// That may miss something, so now and then all are tried.

import {conditionOf} from '../../../api/conditions.js';
import {objectAddress} from '../../../api/keys.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import type {ApiObject} from '../../../api/object.js';
import {next, type Behavior, type Context, type Effect, type Message, type Next, type Reply} from '../../../system/kernel/behavior.js';
import {podKey} from '../../addresses.js';
import {claimKey} from '../../config-references.js';
import {isDeleting} from '../objects/garbage.js';
import {waitsFor} from '../pods/awaited.js';
import {unschedulableReason} from '../pods/pod-lifecycle.js';
import {unbound} from '../pods/pod-terms.js';
import type {PodMessage} from '../pods/pod.js';
import type {ClaimMessage} from '../storage/claim.js';
import {bind, cycleOf, nominate, strategyOf, type Cycle} from './cycle.js';
import {classOf, type EquivalenceClass} from './equivalence-class.js';
import {nodeInfoNamed} from './node-info.js';
import {askForUse, goesByUse, recentUses, withUse, type NodeUses} from './node-use.js';
import {place} from './placement.js';
import {claimsOf, type PodClaims} from './pod-claims.js';
import {areVictimsLeaving, mayPreempt, preemptionFor, type Preemption} from './preemption.js';
import {bindId, waitingPods} from './queue.js';
import {isOtherReason} from './reasons.js';
import {requirementsOf} from '../pods/pod-requirements.js';

export type SchedulerMessage =
	/** Something changed that concerns all nodes, or it is not known what. */
	| {readonly type: 'wake'}
	/** A node may have free resources where it had none, or other pods. */
	| {readonly type: 'nodeChanged'; readonly node: string}
	/** There may be pods that the scheduler has not tried yet. */
	| {readonly type: 'more'}
	/** Nothing in particular, after a while. */
	| {readonly type: 'again'}
	/** It is time to ask nodes what they use. */
	| {readonly type: 'measure'}
	| Reply<unknown, 'used'>
	| Reply<unknown, 'outcome'>;

/** A pod that fitted nowhere when it was tried last. */
type Unschedulable = {
	/** The pod has to be tried again once these are others. */
	readonly spec: Pod['spec'];
	readonly labels: ApiObject['metadata']['labels'];
	/** The pass in which it was tried. */
	readonly pass: number;
	/** Binds decided by then. */
	readonly binds: number;
	/** Undefined: its reason was never asked for. */
	readonly told: Told | undefined;
};

/** What a pod was told, and when, by the monotonic clock. */
type Told = {readonly why: string | undefined; readonly atMs: number};

/** Names of nodes. */
type ChangedNodes = ReadonlySet<string> | 'all';

export type SchedulerState = {
	/** The round-robin's place in the list of nodes. */
	readonly turn: number;
	/** Decided since the scheduler began. */
	readonly binds: number;
	/** Each change begins another pass through all pods that wait. */
	readonly pass: number;
	/** Nodes that changed for those that this pass has not tried yet. */
	readonly changed: ChangedNodes;
	/** By uid. */
	readonly unschedulable: ReadonlyMap<string, Unschedulable>;
	/** Whether a pass through all is due after a while. */
	readonly isArmed: boolean;
	/** Whether nodes are asked every some seconds what they use. */
	readonly isMeasuring: boolean;
	readonly uses: NodeUses;
};

const none: ReadonlySet<string> = new Set();

export const scheduler: Behavior<null, SchedulerState, SchedulerMessage> = {
	kind: 'Scheduler',
	init: (_input, context) => measuring(schedule(begun, context), context),
	receive(state, message, context) {
		switch (message.type) {
			case 'wake':
				return measuring(schedule(withChanged(state, 'all'), context), context);
			case 'again':
				return measuring(schedule({...withChanged(state, 'all'), isArmed: false}, context), context);
			case 'nodeChanged':
				return nodeChanged(state, message.node, context);
			case 'more':
				return measuring(schedule(state, context), context);
			case 'measure':
				return measure(state, context);
			case 'used':
				return used(state, message, context);
			case 'outcome':
				return message.outcome.ok ? next(state, [more(context)]) : failed(state, context);
		}
	},
	coalesce(message) {
		if (message.type === 'outcome' || message.type === 'used') return undefined;
		return message.type === 'nodeChanged' ? `nodeChanged/${message.node}` : message.type;
	},
	describe: ({unschedulable}) => (unschedulable.size === 0 ? '' : `${unschedulable.size} pods fit nowhere`),
};

const begun: SchedulerState = {
	turn: 0,
	binds: 0,
	pass: 0,
	changed: none,
	unschedulable: new Map(),
	isArmed: false,
	isMeasuring: false,
	uses: new Map(),
};

const more = ({self}: Context): Effect => ({type: 'tell', to: self, message: {type: 'more'}});

/** Every pod that waits is tried again, on the nodes that changed since. */
function withChanged(state: SchedulerState, nodes: ChangedNodes): SchedulerState {
	const changed = state.changed === 'all' || nodes === 'all' ? 'all' : new Set([...state.changed, ...nodes]);
	return {...state, pass: state.pass + 1, changed};
}

/** Pods end by the hundred: one cycle follows them all. */
function nodeChanged(state: SchedulerState, node: string, context: Context): Next<SchedulerState> {
	if (context.known.countByTerm('pods', unbound) === 0) return next(state);
	return next(withChanged(state, new Set([node])), [more(context)]);
}

/** A bind that failed is tried again, but not at once: the store may be in trouble. */
const failed = (state: SchedulerState, {nowMs}: Context): Next<SchedulerState> =>
	next(state, [{type: 'wakeAt', name: 'retry', atMs: nowMs + limits.actorBackoffFirstMs, message: {type: 'wake'}}]);

/** What one step of the scheduler works on, and leaves behind. */
type SchedulingStep = {
	readonly state: SchedulerState;
	readonly context: Context;
	readonly cycle: Cycle;
	readonly unschedulable: Map<string, Unschedulable>;
	readonly effects: Effect[];
	/** Uids of claims that this step has placed. */
	readonly placing: Set<string>;
	/** Whether a pod waits for another one to be bound first. */
	isHeld: boolean;
	/** How many more writes may be asked for. */
	open: number;
	/** How many more searches for victims there may be. */
	searches: number;
	/** When a pod is to be told another reason that was told one just now. */
	tellAtMs: number;
};

function schedule(state: SchedulerState, context: Context): Next<SchedulerState> {
	const open = limits.pendingWrites - context.pending.size;
	if (open < limits.schedulerCycleWrites) return next(state); // An outcome comes back here and makes room.
	const waiting = waitingPods(context);
	if (waiting.length === 0)
		return next(state.unschedulable.size === 0 && state.changed === none ? state : {...state, unschedulable: new Map(), changed: none});
	const step: SchedulingStep = {
		state,
		context,
		cycle: cycleOf(context, state.turn, state.binds, state.isMeasuring ? recentUses(state.uses, context.monotonicMs) : undefined),
		unschedulable: new Map(),
		effects: [],
		placing: new Set(),
		isHeld: false,
		open,
		searches: limits.preemptionSearches,
		tellAtMs: Number.POSITIVE_INFINITY,
	};
	const isOver = scheduleAll(step, waiting);
	return ended(step, isOver);
}

/** Tries the pods that wait; false when the step is used up before each had its turn. */
function scheduleAll(step: SchedulingStep, waiting: readonly Pod[]): boolean {
	const {state, cycle, unschedulable} = step;
	let tried = 0;
	for (const [at, pod] of waiting.entries()) {
		const before = lastTry(state, pod);
		const changed = changedFor(state, before, pod, cycle);
		if (changed === undefined && before !== undefined) {
			unschedulable.set(pod.metadata.uid, before);
			continue;
		}
		const isUsedUp = tried === limits.schedulerStepPods || cycle.comparisons > limits.schedulerStepWork;
		if (step.open === 0 || step.searches === 0 || isUsedUp) {
			keepRest(step, waiting.slice(at));
			if (step.open > 0) step.effects.push(more(step.context));
			return false;
		}
		tried++;
		schedulePod(pod, before, changed, step);
	}
	return true;
}

/** Of a pod whose spec or labels were changed nothing is known. */
function lastTry({unschedulable}: SchedulerState, {metadata, spec}: Pod): Unschedulable | undefined {
	const before = unschedulable.get(metadata.uid);
	return before !== undefined && before.spec === spec && before.labels === metadata.labels ? before : undefined;
}

/** Which nodes may be others for the pod than when it was tried; undefined for none. */
function changedFor(state: SchedulerState, before: Unschedulable | undefined, pod: Pod, cycle: Cycle): ChangedNodes | undefined {
	if (before === undefined) return 'all';
	if (before.pass !== state.pass) return state.changed;
	if (before.binds === cycle.binds || pod.spec === undefined) return undefined;
	return requirementsOf(pod.spec).gainsByBinds ? 'all' : undefined;
}

function keepRest({state, unschedulable}: SchedulingStep, rest: readonly Pod[]): void {
	for (const {metadata} of rest) {
		const before = state.unschedulable.get(metadata.uid);
		if (before !== undefined) unschedulable.set(metadata.uid, before);
	}
}

function ended({state, context, cycle, unschedulable, effects, tellAtMs, isHeld}: SchedulingStep, isOver: boolean): Next<SchedulerState> {
	const {nowMs, monotonicMs} = context;
	if (Number.isFinite(tellAtMs))
		effects.push({type: 'wakeAt', name: 'tell', atMs: nowMs + Math.max(0, tellAtMs - monotonicMs), message: {type: 'wake'}});
	const isArmed = unschedulable.size > 0 || isHeld;
	if (isArmed && !state.isArmed)
		effects.push({type: 'wakeAt', name: 'again', atMs: nowMs + limits.schedulerAgainMs, message: {type: 'again'}});
	if (!isArmed && state.isArmed) effects.push({type: 'cancelWake', name: 'again'});
	const {turn, binds} = cycle;
	return next({...state, turn, binds, unschedulable, isArmed, changed: isOver ? none : state.changed}, effects);
}

// ---- what nodes use -------------------------------------------------------------------------------------------------------

/** Begins to ask, once the strategy goes by it. */
function measuring({state, effects}: Next<SchedulerState>, context: Context): Next<SchedulerState> {
	if (state.isMeasuring || !goesByUse(strategyOf(context.known))) return next(state, effects);
	const asked = measure({...state, isMeasuring: true}, context);
	return next(asked.state, [...effects, ...asked.effects]);
}

function measure(state: SchedulerState, context: Context): Next<SchedulerState> {
	if (!goesByUse(strategyOf(context.known))) return next({...state, isMeasuring: false, uses: new Map()});
	const again: Effect = {type: 'wakeAt', name: 'measure', atMs: context.nowMs + limits.usageSampleMs, message: {type: 'measure'}};
	return next({...state, uses: recentUses(state.uses, context.monotonicMs)}, [...askForUse(context), again]);
}

function used(state: SchedulerState, {id, outcome}: Reply<unknown, 'used'>, context: Context): Next<SchedulerState> {
	const node = outcome.ok && state.isMeasuring ? nodeInfoNamed(context.known, id) : undefined;
	if (node === undefined || !outcome.ok) return next(state);
	return next({...state, uses: withUse(state.uses, node, outcome.value, context.monotonicMs)});
}

// ---- one pod -------------------------------------------------------------------------------------------------------------

function schedulePod(pod: Pod, before: Unschedulable | undefined, changed: ChangedNodes | undefined, step: SchedulingStep): void {
	const {cycle} = step;
	const waiting = waitsFor(pod, cycle.known);
	if (waiting !== undefined) return remember(pod, tellWhy(pod, waiting, before, step), step);
	const claims = claimsOf(pod, cycle.known, cycle.assumed);
	if (claims !== undefined && mustWait(pod, claims, before, step)) return;
	const podClass = classOf(pod, cycle, claims);
	if (podClass === undefined) return;
	// Of few nodes all are filtered: then the reasons that are told of them are right at any time.
	const only = changed === undefined || changed === 'all' || cycle.nodes.length <= limits.nodesNamed ? undefined : changed;
	const placement = place(pod, podClass, cycle, only);
	if (placement.node !== undefined && claims !== undefined && claims.unplaced.length > 0) {
		if (!isOnTheWay(step)) placeClaims(pod, placement.node.name, claims.unplaced, before, step);
		else step.isHeld = true;
		return;
	}
	if (placement.node !== undefined) {
		bind(cycle, placement.node, pod);
		const message: Message & PodMessage = {type: 'bind', uid: pod.metadata.uid, nodeName: placement.node.name};
		ask(step, pod, message, bindId(pod));
		return;
	}
	if (!tryPreemption(pod, podClass, step, only)) return;
	remember(pod, only === undefined ? tellWhy(pod, placement.why(), before, step) : before?.told, step);
}

function remember({metadata: {uid, labels}, spec}: Pod, told: Told | undefined, {state, cycle, unschedulable}: SchedulingStep): void {
	unschedulable.set(uid, {spec, labels, pass: state.pass, binds: cycle.binds, told});
}

// ---- its claims ----------------------------------------------------------------------------------------------------------

const placingId = (uid: string): string => `place/${uid}`;

/** Whether nothing can be done for the pod before one of its claims is another. Each change of a claim begins another pass. */
function mustWait(pod: Pod, {problem, isWaiting, unplaced}: PodClaims, before: Unschedulable | undefined, step: SchedulingStep): boolean {
	if (problem !== undefined) remember(pod, tellWhy(pod, problem, before, step), step);
	else if (isWaiting || unplaced.some(claim => isPlacing(claim.metadata.uid, step))) remember(pod, before?.told, step);
	else return false;
	return true;
}

const isPlacing = (uid: string, {context, placing}: SchedulingStep): boolean => context.pending.has(placingId(uid)) || placing.has(uid);

/**
 * Whether another pod will be bound where its volumes are made just now. Volumes stay where they are: who chose a node before that pod counts there, with
 * its ports and its affinity, might never be bound. The outcome of its bind comes back here.
 */
function isOnTheWay({context: {pending}, placing, cycle: {known, nominations, assumed}}: SchedulingStep): boolean {
	if (placing.size > 0 || [...pending.keys()].some(id => id.startsWith(placingId('')))) return true;
	return [...nominations].some(([uid, node]) => {
		const pod = node === undefined || assumed.has(uid) ? undefined : (known.byUid(uid) as Pod | undefined);
		if (pod === undefined || pod.spec?.nodeName !== undefined || isDeleting(pod)) return false;
		const claims = claimsOf(pod, known, assumed);
		return claims !== undefined && claims.problem === undefined && claims.unplaced.length === 0;
	});
}

/** Has the volumes made where the pod is to go. Its resources are reserved there meanwhile. */
function placeClaims(
	pod: Pod,
	node: string,
	unplaced: PodClaims['unplaced'],
	before: Unschedulable | undefined,
	step: SchedulingStep,
): void {
	if (step.open <= unplaced.length) {
		step.open = 0;
		return;
	}
	for (const {metadata} of unplaced) {
		const {uid, namespace = '', name} = metadata;
		const message: Message & ClaimMessage = {type: 'place', uid, node};
		step.open--;
		step.placing.add(uid);
		step.effects.push({type: 'update', key: claimKey(namespace, name), message, id: placingId(uid)});
	}
	askToNominate(pod, node, step);
	remember(pod, before?.told, step);
}

function ask(step: SchedulingStep, {metadata}: Pod, message: Message & PodMessage, id: string): void {
	step.open--;
	step.effects.push({type: 'update', key: podKey(metadata), message, id});
}

/** Tells the pod why it fits nowhere, unless it knows or was told something else just now. */
function tellWhy(pod: Pod, why: string, before: Unschedulable | undefined, step: SchedulingStep): Told {
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

// ---- preemption ----------------------------------------------------------------------------------------------------------

/**
 * Has victims go where that helps; false when no room is left for so many writes, and the pod has to be tried again. `only`: no other nodes have
 * changed, so there are no new victims elsewhere.
 */
function tryPreemption(pod: Pod, podClass: EquivalenceClass, step: SchedulingStep, only: ReadonlySet<string> | undefined): boolean {
	const {cycle} = step;
	const isNominated = cycle.nominations.get(pod.metadata.uid) !== undefined;
	if (isNominated && areVictimsLeaving(pod, podClass, cycle)) return true;
	// A pod whose nominated node is of no use any more may find another one anywhere.
	const among = isNominated ? undefined : only;
	const hasNoVictims = among === undefined ? podClass.hasNoVictims : podClass.hasNoVictimsOnChanged;
	const maySearch = mayPreempt(podClass, cycle) && (isNominated || !hasNoVictims);
	const found = maySearch ? searchVictims(pod, podClass, step, among) : undefined;
	if (found === undefined) {
		if (isNominated) askToNominate(pod, undefined, step);
		return true;
	}
	if (step.open <= found.victims.length) {
		step.open = 0;
		return false;
	}
	preempt(pod, found, step);
	return true;
}

function searchVictims(
	pod: Pod,
	podClass: EquivalenceClass,
	step: SchedulingStep,
	among: ReadonlySet<string> | undefined,
): Preemption | undefined {
	// A search on few nodes costs hardly more than the filters there.
	if (among === undefined || among.size > limits.nodesNamed) step.searches--;
	const found = preemptionFor(pod, podClass, step.cycle, among);
	if (among === undefined) podClass.hasNoVictims = found === undefined;
	else podClass.hasNoVictimsOnChanged = found === undefined;
	return found;
}

function preempt(pod: Pod, {node, victims}: Preemption, step: SchedulingStep): void {
	const {namespace = '', name} = pod.metadata;
	for (const victim of victims) {
		const {uid} = victim.metadata;
		const message: Message & PodMessage = {type: 'preempt', uid, node: node.name, by: `${namespace}/${name}`};
		ask(step, victim, message, `preempt/${uid}`);
		// What it gives back counts for no other pod in this cycle.
		step.cycle.leaving.add(uid);
	}
	askToNominate(pod, node.name, step);
}

/** Undefined: for no node any more. */
function askToNominate(pod: Pod, nodeName: string | undefined, step: SchedulingStep): void {
	const {uid} = pod.metadata;
	nominate(step.cycle, pod, nodeName);
	const message: Message & PodMessage = {type: 'nominate', uid, nodeName};
	ask(step, pod, message, `nominate/${uid}`);
}
