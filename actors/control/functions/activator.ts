// A function's activator: it gives out slots for calls, and says how many instances they need.
//
// What it keeps true: an instance has no more calls than it takes; a call that finds no room is held, oldest first, and no more of them than
// `functionQueue`; there are as many instances as the calls needed at any moment of the last `idle`. Bodies never come here.

import {failed, type Outcome} from '../../../api/errors.js';
import {idleMsOf, lacksCode, type FunctionObject} from '../../../api/kinds/function.js';
import {objectAddress, parseObjectKey, type ObjectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {
	next,
	reply,
	stop,
	tell,
	type Behavior,
	type Context,
	type Effect,
	type Message,
	type Next,
	type ReplyTo,
} from '../../../system/kernel/behavior.js';
import {isDeleting} from '../objects/garbage.js';
import type {Acquire, Demand, Release, Slot} from './function-message.js';
import {isApart, placeOfVersion} from './function-version.js';
import {instancesNow, leastBusy, withoutTicket, withTicket, type Instances, type Wish} from './instances.js';

export type ActivatorInput = {
	readonly function: ObjectKey;
	/** Of a version that has calls of its own; undefined: of all others. */
	readonly revision?: number;
};

export type ActivatorMessage =
	| Acquire
	| Release
	/** The function or one of its instances has changed. */
	| (Message & {readonly type: 'wake'})
	/** Some instances may have been idle for long enough. */
	| (Message & {readonly type: 'look'});

/** A call that waits for a slot. */
type Held = Wish & {readonly ticket: string; readonly replyTo: ReplyTo};

/** So many instances were needed until then. */
type Peak = {readonly needed: number; readonly untilMs: number};

export type ActivatorState = {
	readonly function: ObjectKey;
	readonly revision?: number;
	readonly instances: Instances;
	/** Oldest first. */
	readonly held: readonly Held[];
	/** Of the last `idle`, oldest first; each needed fewer than the one before it. */
	readonly peaks: readonly Peak[];
	/** What its calls need just now. */
	readonly needed: number;
	/** What the function says, or was told since. */
	readonly told: number;
	/** When it looks whether something has been idle for long enough; undefined: there is no such time. */
	readonly looksAtMs: number | undefined;
};

export const activator: Behavior<ActivatorInput, ActivatorState, ActivatorMessage> = {
	kind: 'Activator',
	init(input, context) {
		const desired = demandOf(functionAt(input.function, context), input.revision);
		// It may follow on another one, whose instances are used or not: that will be seen.
		const peaks = desired === 0 ? [] : [{needed: desired, untilMs: context.nowMs}];
		return settled({...input, instances: new Map(), held: [], peaks, needed: 0, told: desired, looksAtMs: undefined}, context);
	},
	receive(state, message, context) {
		switch (message.type) {
			case 'acquire':
				return acquired(state, message, context);
			case 'release':
				return released(state, message, context);
			case 'wake':
				return settled(state, context);
			case 'look':
				return looked(state, context);
		}
	},
	coalesce: ({type}) => (type === 'wake' || type === 'look' ? type : undefined),
	pastIntensity: 'backOff',
	describe: ({instances, held}) => `${callsOf(instances)} calls at ${instances.size} instances, ${held.length} held`,
};

const functionAt = (key: ObjectKey, {known}: Context): FunctionObject | undefined => known.get(key) as FunctionObject | undefined;

function acquired(state: ActivatorState, {ticket, avoid, version, replyTo}: Acquire, context: Context): Next<ActivatorState> {
	if (replyTo === undefined) return next(state);
	const refuse = (outcome: Outcome<never>): Next<ActivatorState> => next(state, reply(replyTo, outcome));
	const fn = functionAt(state.function, context);
	const refusal = refusalOf(state, fn, context) ?? refusalOfVersion(version, fn, context);
	if (refusal !== undefined) return refuse(refusal);
	if (state.held.length >= limits.functionQueue) {
		const message = `${state.held.length} calls wait for an instance already, and no more are taken; try again`;
		return refuse(failed('ERR_BUSY', {message}));
	}
	return gone({...state, held: [...state.held, {ticket, avoid, version, replyTo}]}, context);
}

/** Why it cannot be called at all. */
function refusalOf({function: key, revision}: ActivatorInput, fn: FunctionObject | undefined, {self}: Context): Outcome<never> | undefined {
	const {name} = parseObjectKey(key);
	if (fn === undefined || isDeleting(fn)) return failed('ERR_NOT_FOUND', {resource: 'functions.troupe.dev', name});
	// Who asks again is told which version it is now.
	if (revision !== undefined && !isApart(fn, revision)) return failed('ERR_ACTOR_STOPPED', {address: self});
	if (!lacksCode(fn.spec)) return undefined;
	return failed('ERR_CONFLICT', {
		resource: 'functions.troupe.dev',
		name,
		message: 'its code is not here: troupe apply uploads the folder that it names',
	});
}

/** Slots of that version are given out somewhere else by now: who asks again is told where. */
function refusalOfVersion(version: string | undefined, fn: FunctionObject | undefined, {self, known}: Context): Outcome<never> | undefined {
	const isHere = version === undefined || fn === undefined || placeOfVersion(fn, version, known) === 'function';
	return isHere ? undefined : failed('ERR_ACTOR_STOPPED', {address: self});
}

function released(state: ActivatorState, {ticket}: Release, context: Context): Next<ActivatorState> {
	const instances = withoutTicket(state.instances, ticket);
	if (instances !== undefined) return gone({...state, instances}, context);
	return gone({...state, held: state.held.filter(each => each.ticket !== ticket)}, context);
}

/** As the index has it now. */
function settled(state: ActivatorState, context: Context): Next<ActivatorState> {
	const fn = functionAt(state.function, context);
	const seen = {...state, instances: instancesNow(fn, context.known, state), told: demandOf(fn, state.revision)};
	const refusal = refusalOf(state, fn, context);
	const refusals = state.held.map(({version}) => refusal ?? refusalOfVersion(version, fn, context));
	const {state: after, effects} = gone({...seen, held: state.held.filter((_, at) => refusals[at] === undefined)}, context);
	const told = state.held.flatMap(({replyTo}, at) => {
		const refused = refusals[at];
		return refused === undefined ? [] : reply(replyTo, refused);
	});
	return next(after, [...told, ...effects]);
}

/** It ends where nobody has called for so long that no instance is left. */
function looked(state: ActivatorState, context: Context): Next<ActivatorState> {
	const {state: after, effects} = settled({...state, looksAtMs: undefined}, context);
	const isAtRest = after.told === 0 && after.needed === 0 && after.instances.size === 0;
	return isAtRest ? stop(after, effects) : next(after, effects);
}

/** Gives out what slots there are, says what is needed, and when to look whether that has been too much. */
function gone(state: ActivatorState, context: Context): Next<ActivatorState> {
	const given = giveOut(state);
	const fn = functionAt(state.function, context);
	const counted = withNeed(given.state, fn, context.nowMs);
	const desired = desiredOf(counted, fn);
	const looksAtMs = looksAtOf(counted, fn, context.nowMs);
	return next({...counted, told: desired, looksAtMs}, [
		...given.effects,
		...(desired === state.told || fn === undefined ? [] : [demand(state, desired)]),
		...(looksAtMs === state.looksAtMs ? [] : [lookAt(looksAtMs, idleOf(fn))]),
	]);
}

function giveOut(state: ActivatorState): {readonly state: ActivatorState; readonly effects: readonly Effect[]} {
	let {instances} = state;
	const effects: Effect[] = [];
	const held: Held[] = [];
	const full = new Set<string>();
	for (const [at, call] of state.held.entries()) {
		const instance = call.version !== undefined && full.has(call.version) ? undefined : leastBusy(instances, call);
		if (instance === undefined) {
			held.push(call);
			// What is behind it finds no room either, but for calls that may go where this one may not.
			if (call.avoid.length === 0 && call.version === undefined) {
				held.push(...state.held.slice(at + 1));
				break;
			}
			if (call.avoid.length === 0 && call.version !== undefined) full.add(call.version);
			continue;
		}
		instances = withTicket(instances, instance, call.ticket);
		const {uid, pod, node} = instance;
		effects.push(...reply(call.replyTo, {ok: true, value: {uid, pod, node} satisfies Slot}));
	}
	return {state: {...state, instances, held}, effects};
}

/** Remembers what was needed until now, where it is less from now on, and forgets what is long ago. */
function withNeed(state: ActivatorState, fn: FunctionObject | undefined, nowMs: number): ActivatorState {
	const needed = neededBy(state, fn);
	const idleMs = idleOf(fn);
	const recent = state.peaks.filter(({needed: then, untilMs}) => then > needed && untilMs + idleMs > nowMs);
	if (needed >= state.needed) return {...state, needed, peaks: recent};
	const before = recent.filter(({needed: then}) => then > state.needed);
	return {...state, needed, peaks: [...before, {needed: state.needed, untilMs: nowMs}]};
}

function neededBy({instances, held}: ActivatorState, fn: FunctionObject | undefined): number {
	let calls = held.length;
	for (const {takesCalls, tickets} of instances.values()) if (takesCalls) calls += tickets.length;
	return Math.ceil(calls / (fn?.spec?.concurrency ?? limits.functionConcurrencyDefault));
}

function desiredOf({needed, peaks, revision}: ActivatorState, fn: FunctionObject | undefined): number {
	if (fn === undefined || refusesAll(fn) || (revision !== undefined && !isApart(fn, revision))) return 0;
	return Math.min(Math.max(needed, peaks[0]?.needed ?? 0), fn.spec?.max ?? limits.functionInstancesDefault);
}

const refusesAll = (fn: FunctionObject): boolean => isDeleting(fn) || lacksCode(fn.spec);

/** What the function says that is needed. */
const demandOf = (fn: FunctionObject | undefined, revision: number | undefined): number =>
	(revision === undefined ? fn?.status?.desired : fn?.status?.demands?.find(each => each.revision === revision)?.desired) ?? 0;

function demand({function: key, revision}: ActivatorInput, desired: number): Effect {
	const message: Demand = {type: 'demand', desired, ...(revision === undefined ? {} : {revision})};
	return tell(objectAddress(key), message);
}

const idleOf = (fn: FunctionObject | undefined): number => idleMsOf(fn?.spec ?? {});

/** Once the oldest peak has been idle for long enough; where there is none, and no call, once it all has. */
function looksAtOf({peaks, needed, looksAtMs}: ActivatorState, fn: FunctionObject | undefined, nowMs: number): number | undefined {
	const [first] = peaks;
	if (first !== undefined) return first.untilMs + idleOf(fn);
	return needed > 0 ? undefined : (looksAtMs ?? nowMs + idleOf(fn));
}

const lookAt = (atMs: number | undefined, idleMs: number): Effect =>
	atMs === undefined
		? {type: 'cancelWake', name: 'look'}
		: {type: 'wakeAt', name: 'look', atMs, atMostMs: idleMs, message: {type: 'look'}, cause: 'idle'};

const callsOf = (instances: Instances): number => [...instances.values()].reduce((sum, {tickets}) => sum + tickets.length, 0);
