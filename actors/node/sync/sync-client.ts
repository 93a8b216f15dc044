// The node's end of node sync, the client: says hello, passes what control sends to hands and config cache, and brings reports up.
//
// It keeps the highest epoch it has seen and refuses lower ones. Reports are kept by pod until control has committed them: one
// message is under way at a time, and the newest report of a pod goes in the next.

import {deepEqual} from '../../../api/equal.js';
import {address, controlSystem, objectKey, type ObjectKey} from '../../../api/keys.js';
import type {PodStatus} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import {timestampOf, type ApiObject, type Labels} from '../../../api/object.js';
import {next, tell, type Behavior, type Context, type Effect, type Next, type Reply} from '../../../system/kernel/behavior.js';
import {exponentialBackoffMs} from '../../../system/kernel/restart-policy.js';
import {besides, configPath, dispatcherOfNode, leasesPath, podsPath, runtimePath, syncPath} from '../../addresses.js';
import {
	mayFollow,
	syncProtocol,
	unknownLineage,
	type Delta,
	type DeltaEntry,
	type DeltaTaken,
	type FromControl,
	type Hello,
	type Observed,
	type ObservedPod,
	type ObservedTaken,
	type PodEvent,
	type PodGone,
	type PodGoneTaken,
	type VolumeRemoval,
	type VolumeUsage,
} from '../../protocol/sync-message.js';
import {have, haveOfNetwork} from '../cache/assignment-object.js';
import type {Assign, PodReport} from '../pods/hand-state.js';
import type {KeepConfig} from '../cache/config-copy.js';
import {performAtEdge} from '../runtime/perform.js';
import type {RuntimeInfo} from '../../protocol/runtime-info.js';

export type SyncClientInput = {
	readonly node: string;
	readonly labels: Labels;
	readonly info: RuntimeInfo;
	/** By an operator's word: whichever control plane answers is the one, also for what the node remembers of another. */
	readonly followsAny?: boolean;
};

/** What the host is short of is something else now. */
export type PressureChanged = {readonly type: 'pressureChanged'; readonly conditions: RuntimeInfo['conditions']};

export type SyncClientMessage =
	| FromControl
	| PodReport
	| PodGone
	| VolumeRemoval
	| VolumeUsage
	| Reply<unknown, 'assigned'>
	| Reply<unknown, 'serversKept'>
	| Reply<unknown, 'stepTold'>
	/** What the runtime says of itself is something else now. */
	| {readonly type: 'infoChanged'}
	| PressureChanged
	| Reply<RuntimeInfo, 'infoRead'>
	/** No answer to the hello yet, or a report was not taken: once more. */
	| {readonly type: 'helloAgain'}
	| {readonly type: 'flush'}
	| {readonly type: 'sayGone'};

/** What the node remembers of its cluster: one object in its cache. */
type SeenObject = ApiObject<{readonly epoch: number; readonly lineage: string}>;

type PendingReport = {readonly uid: string; readonly status: PodStatus; readonly events: readonly PodEvent[]; readonly cause: string};

export type SyncClientState = {
	readonly input: SyncClientInput | undefined;
	readonly seen: SeenObject | undefined;
	/** Of the last hello. */
	readonly session: string;
	/** Hellos without an answer. */
	readonly hellos: number;
	readonly greeted: boolean;
	/** Since the last hello the cache did not take something: another hello is due. */
	readonly lost: boolean;
	/** Since the last hello the cache has taken all that control said to it. */
	readonly inStep: boolean;
	/** Entries of a delta that are not in the cache yet, by its number. */
	readonly taking: ReadonlyMap<number, number>;
	/** Network objects of which the last hello did not speak, and control has said nothing yet: when it has said all, they are there no more. */
	readonly unspoken: ReadonlySet<ObjectKey>;
	/** Entries that the cache was asked to take, of whatever session, and has not answered: how many by key. */
	readonly asked: ReadonlyMap<ObjectKey, number>;
	readonly reports: ReadonlyMap<ObjectKey, PendingReport>;
	readonly underWay: {readonly number: number; readonly pods: ReadonlyMap<ObjectKey, PendingReport>} | undefined;
	readonly sent: number;
	/** Pods of which nothing is left, by key and uid, until control has taken it. */
	readonly gone: ReadonlyMap<string, PodGone>;
	readonly refusal: string | undefined;
	/** Of the last word about it; undefined: nobody looks. */
	readonly pressure: RuntimeInfo['conditions'] | undefined;
};

export const seenKey: ObjectKey = objectKey('clusters', undefined, 'seen');

const control = address(controlSystem, syncPath);

export const syncClient: Behavior<SyncClientInput, SyncClientState, SyncClientMessage> = {
	kind: 'SyncClient',
	init: (input, context) => begun(fresh(input, undefined), context),
	resume: begun,
	receive(state, message, context) {
		switch (message.type) {
			case 'callHello':
				return hello({...state, hellos: 0}, context);
			case 'helloAgain':
				return state.greeted ? next(state) : hello(state, context);
			case 'infoChanged':
				return next(state, [readInfo]);
			case 'pressureChanged':
				return pressureChanged(state, message, context);
			case 'infoRead':
				return infoRead(state, message, context);
			case 'refused':
				return refused(state, message.error.message);
			case 'servers': {
				const {servers, graceMs} = message;
				const command = {type: 'servers.keep', servers, ...(graceMs === undefined ? {} : {graceMs})} as const;
				return next(state, [performAtEdge(command, 'servers', 'serversKept')]);
			}
			case 'serversKept':
			case 'stepTold':
				return next(state);
			case 'delta':
				return delta(state, message, context);
			case 'assigned':
				return assigned(state, message, context);
			case 'podReport':
				return reported(state, message, context);
			case 'observedTaken':
				return observedTaken(state, message, context);
			case 'podGone':
				return podGone(state, message, context);
			case 'volumeRemoval':
			case 'volumeUsage':
				return next(state, state.greeted ? [tell(dispatcherOfNode(inputOf(state).node), message)] : []);
			case 'podGoneTaken':
				return podGoneTaken(state, message, context);
			case 'sayGone':
				return next(state, sayGone(state, [...state.gone.values()].slice(0, limits.podGonesUnderWay), context));
			case 'flush':
				return flush(state);
		}
	},
	coalesce: ({type}) => (type === 'flush' || type === 'helloAgain' || type === 'infoChanged' || type === 'sayGone' ? type : undefined),
	persistence: {
		key: () => seenKey,
		objectOf: ({seen}) => seen,
		withObject: (state, object) => ({...state, seen: object as SeenObject}),
		restore: (object, input) => fresh(input, object as SeenObject),
	},
	describe: ({greeted, refusal, reports}) =>
		refusal ?? (greeted ? `in step, ${reports.size} reports to send` : 'waits for the control plane'),
	trouble: ({refusal}) => refusal,
};

const fresh = (input: SyncClientInput | undefined, seen: SeenObject | undefined): SyncClientState => ({
	input,
	seen,
	session: '',
	hellos: 0,
	greeted: false,
	lost: false,
	inStep: false,
	taking: new Map(),
	unspoken: new Set(),
	asked: new Map(),
	reports: new Map(),
	underWay: undefined,
	sent: 0,
	gone: new Map(),
	refusal: undefined,
	pressure: undefined,
});

function inputOf({input}: SyncClientState): SyncClientInput {
	if (input === undefined) throw new Error('node sync was started without its node');
	return input;
}

// ---- hello ---------------------------------------------------------------------------------------------------------------

function hello(state: SyncClientState, {known, nowMs, random}: Context): Next<SyncClientState> {
	const {node, labels, info, followsAny = false} = inputOf(state);
	const session = random.uuid();
	const {epoch = 0, lineage = ''} = followsAny ? {} : (state.seen?.spec ?? {});
	const network = haveOfNetwork(known);
	const message: Hello = {
		type: 'hello',
		protocol: syncProtocol,
		node,
		session,
		labels,
		epoch,
		lineage,
		have: {...have(known), ...network.have, ...unsure(state)},
		info: state.pressure === undefined ? info : {...info, conditions: [...info.conditions, ...state.pressure]},
	};
	const hellos = state.hellos + 1;
	const atMs = nowMs + exponentialBackoffMs(hellos, limits.helloFirstMs, limits.helloMaxMs);
	// What was under way may have been lost with the control plane that took it.
	return next(
		{
			...state,
			session,
			hellos,
			greeted: false,
			lost: false,
			inStep: false,
			taking: new Map(),
			unspoken: network.left,
			reports: unsent(state),
			underWay: undefined,
		},
		[tell(control, message), {type: 'wakeAt', name: 'hello', atMs, message: {type: 'helloAgain'}}],
	);
}

const readInfo: Effect = performAtEdge({type: 'info.read'}, 'info', 'infoRead');

/** What it was started with may be of long ago. */
function begun(state: SyncClientState, context: Context): Next<SyncClientState> {
	const greeting = hello(state, context);
	return next(greeting.state, [...greeting.effects, readInfo]);
}

/** Control learns it by another hello, which every version of it understands. */
function infoRead(state: SyncClientState, {outcome}: Reply<RuntimeInfo, 'infoRead'>, context: Context): Next<SyncClientState> {
	const input = inputOf(state);
	if (!outcome.ok || deepEqual(outcome.value, input.info)) return next(state);
	return hello({...state, input: {...input, info: outcome.value}, hellos: 0}, context);
}

/** Likewise. */
const pressureChanged = (state: SyncClientState, {conditions}: PressureChanged, context: Context): Next<SyncClientState> =>
	deepEqual(conditions, state.pressure) ? next(state) : hello({...state, pressure: conditions, hellos: 0}, context);

/** What the cache is just taking may be there or not by the time that control answers: control says all of it again. */
const unsure = ({asked}: SyncClientState): Hello['have'] => Object.fromEntries([...asked.keys()].map(key => [key, '']));

/** Reports that wait, and those whose message was not answered; the newer of a pod wins, events of both are kept. */
function unsent({reports, underWay}: SyncClientState): ReadonlyMap<ObjectKey, PendingReport> {
	const all = new Map(underWay?.pods ?? []);
	for (const [key, report] of reports) all.set(key, joined(all.get(key), report));
	return all;
}

const joined = (older: PendingReport | undefined, newer: PendingReport): PendingReport =>
	older?.uid === newer.uid ? {...newer, events: [...older.events, ...newer.events].slice(-limits.eventsPerObject)} : newer;

/** The agent shows it to its operator; said once, however often control says it. */
function refused(state: SyncClientState, refusal: string): Next<SyncClientState> {
	if (refusal === state.refusal) return next(state);
	return next({...state, refusal}, [performAtEdge({type: 'sync.refused', why: refusal}, 'refused', 'stepTold')]);
}

// ---- down ----------------------------------------------------------------------------------------------------------------

function delta(state: SyncClientState, message: Delta, context: Context): Next<SyncClientState> {
	const {epoch = 0, lineage = ''} = state.seen?.spec ?? {};
	if (message.session !== state.session || (message.lineage === lineage && message.epoch < epoch)) return next(state);
	const {node, followsAny = false} = inputOf(state);
	if (!followsAny && !mayFollow(lineage, message.lineage, message.replaces))
		return refused(state, unknownLineage(node, lineage, message.lineage));
	const greeted = !state.lost && (state.greeted || message.complete);
	const taking = new Map(state.taking);
	if (message.entries.length > 0) taking.set(message.number, message.entries.length);
	const asked = new Map(state.asked);
	for (const {key} of message.entries) asked.set(key, (asked.get(key) ?? 0) + 1);
	const unspoken = withoutTold(state.unspoken, message.entries);
	const now: SyncClientState = {
		...state,
		taking,
		unspoken,
		asked,
		greeted,
		refusal: undefined,
		seen: seen(state.seen, message, context.nowMs),
	};
	const step = whenInStep(now, context);
	return next(step.state, [
		...message.entries.map((entry): Effect => ({
			type: 'ask',
			...keeperOf(entry, context.self),
			as: 'assigned',
			id: `${message.session} ${message.number} ${entry.key}`,
		})),
		...(message.entries.length === 0 ? [taken(state, message.number)] : []),
		...(greeted ? [{type: 'cancelWake', name: 'hello'} as const] : []),
		...step.effects,
	]);
}

function withoutTold(unspoken: SyncClientState['unspoken'], entries: readonly DeltaEntry[]): SyncClientState['unspoken'] {
	if (unspoken.size === 0) return unspoken;
	const left = new Set(unspoken);
	for (const {key} of entries) left.delete(key);
	return left;
}

const goneFromNetwork = (key: ObjectKey): KeepConfig => ({type: 'keepConfig', key, version: '', named: null});

/** The actor that takes an entry of a delta into the cache. */
function keeperOf(
	{key, version, assignment, named}: DeltaEntry,
	self: string,
): {readonly to: string; readonly message: Assign | KeepConfig} {
	if (named !== undefined) return {to: besides(self, configPath), message: {type: 'keepConfig', key, version, named}};
	return {to: besides(self, podsPath), message: {type: 'assign', key, version, assignment}};
}

/**
 * Everything assigned is in the cache: what else is on the node is surplus, and control hears anew how the rest is. Leases are renewed now: what was
 * asked before went to a control plane that is gone, and one that dies again soon is to leave them as long as they last.
 */
function whenInStep(state: SyncClientState, {self}: Context): Next<SyncClientState> {
	if (!state.greeted || state.inStep || state.taking.size > 0) return next(state);
	return next({...state, inStep: true, unspoken: new Set()}, [
		...[...state.unspoken].map(key => tell(besides(self, configPath), goneFromNetwork(key))),
		tell(besides(self, runtimePath), {type: 'synced'}),
		tell(besides(self, podsPath), {type: 'reportAll'}),
		tell(besides(self, leasesPath), {type: 'renew'}),
		tell(self, {type: 'flush'}),
		tell(self, {type: 'sayGone'}),
		performAtEdge({type: 'step.reached'}, 'step', 'stepTold'),
	]);
}

function seen(old: SeenObject | undefined, {epoch, lineage}: Delta, nowMs: number): SeenObject {
	if (old?.spec?.epoch === epoch && old.spec.lineage === lineage) return old;
	const metadata = old?.metadata ?? {name: 'seen', uid: lineage, resourceVersion: '', generation: 1, creationTimestamp: timestampOf(nowMs)};
	return {apiVersion: 'node.troupe.dev/v1', kind: 'Cluster', metadata, spec: {epoch, lineage}};
}

function assigned(before: SyncClientState, {id, outcome}: Reply<unknown, 'assigned'>, context: Context): Next<SyncClientState> {
	const [session, digits, key = ''] = id.split(' ');
	const state = answered(before, key);
	const number = Number(digits);
	const left = session === state.session ? state.taking.get(number) : undefined;
	if (left === undefined) return next(state);
	const taking = new Map(state.taking);
	// What the cache did not take is missing from the next hello, and so is sent again.
	const atMs = context.nowMs + limits.helloFirstMs;
	const effects: Effect[] = outcome.ok ? [] : [{type: 'wakeAt', name: 'hello', atMs, message: {type: 'helloAgain'}}];
	const lost = state.lost || !outcome.ok;
	const greeted = state.greeted && !lost;
	if (left > 1) {
		taking.set(number, left - 1);
		return next({...state, taking, greeted, lost}, effects);
	}
	taking.delete(number);
	const step = whenInStep({...state, taking, greeted, lost}, context);
	return next(step.state, [...effects, taken(state, number), ...step.effects]);
}

function answered(state: SyncClientState, key: ObjectKey): SyncClientState {
	const count = state.asked.get(key);
	if (count === undefined) return state;
	const asked = new Map(state.asked);
	const left = count - 1;
	if (left > 0) asked.set(key, left);
	else asked.delete(key);
	return {...state, asked};
}

function taken(state: SyncClientState, number: number): Effect {
	const {node} = inputOf(state);
	const message: DeltaTaken = {type: 'deltaTaken', session: state.session, number};
	return tell(dispatcherOfNode(node), message);
}

// ---- up ------------------------------------------------------------------------------------------------------------------

function reported(state: SyncClientState, {key, uid, status, events}: PodReport, {self, cause}: Context): Next<SyncClientState> {
	const report = joined(state.reports.get(key), {uid, status, events, cause});
	return next({...state, reports: new Map(state.reports).set(key, report)}, [tell(self, {type: 'flush'})]);
}

function flush(state: SyncClientState): Next<SyncClientState> {
	if (!state.greeted || state.underWay !== undefined || state.reports.size === 0) return next(state);
	const {node} = inputOf(state);
	const count = fitting(state.reports);
	const pods = new Map([...state.reports].slice(0, count));
	const reports = new Map([...state.reports].slice(count));
	const number = state.sent + 1;
	const observed: ObservedPod[] = [...pods].map(([key, report]) => ({key, ...report}));
	const message: Observed = {type: 'observed', session: state.session, number, pods: observed};
	return next({...state, reports, sent: number, underWay: {number, pods}}, [tell(dispatcherOfNode(node), message)]);
}

/** How many of the reports go in one message: one at least, and no more than a message may have. */
function fitting(reports: ReadonlyMap<ObjectKey, PendingReport>): number {
	if (reports.size === 1) return 1;
	let count = 0;
	let bytes = 0;
	for (const report of reports.values()) {
		bytes += JSON.stringify(report).length;
		if (count === limits.reportPods || (count > 0 && bytes > limits.nodeSyncWindowBytes)) break;
		count++;
	}
	return count;
}

function observedTaken(state: SyncClientState, {session, number, failed}: ObservedTaken, {self, nowMs}: Context): Next<SyncClientState> {
	const {underWay} = state;
	if (session !== state.session || underWay?.number !== number) return next(state);
	if (failed.length === 0) return next({...state, underWay: undefined}, [tell(self, {type: 'flush'})]);
	const lost = new Map([...underWay.pods].filter(([key]) => failed.includes(key)));
	const reports = unsent({...state, underWay: {number, pods: lost}});
	// The store is in trouble there: not at once.
	return next({...state, reports, underWay: undefined}, [
		{type: 'wakeAt', name: 'flush', atMs: nowMs + limits.actorBackoffFirstMs, message: {type: 'flush'}},
	]);
}

/** Nothing more is to be said of a pod that is gone, except that; and that until it is taken. */
function podGone(state: SyncClientState, message: PodGone, context: Context): Next<SyncClientState> {
	const reports = new Map(state.reports);
	if (reports.get(message.key)?.uid === message.uid) reports.delete(message.key);
	const now: SyncClientState = {...state, reports, gone: new Map(state.gone).set(`${message.key} ${message.uid}`, message)};
	return next(now, sayGone(now, now.gone.size > limits.podGonesUnderWay ? [] : [message], context));
}

function sayGone({greeted, input}: SyncClientState, messages: readonly PodGone[], {nowMs}: Context): Effect[] {
	if (!greeted || messages.length === 0 || input === undefined) return [];
	return [
		...messages.map(message => tell(dispatcherOfNode(input.node), message)),
		{type: 'wakeAt', name: 'sayGone', atMs: nowMs + limits.podGoneAgainMs, message: {type: 'sayGone'}},
	];
}

/** The next of those that wait may go. */
function podGoneTaken(state: SyncClientState, {key, uid}: PodGoneTaken, context: Context): Next<SyncClientState> {
	const gone = new Map(state.gone);
	gone.delete(`${key} ${uid}`);
	const now: SyncClientState = {...state, gone};
	if (gone.size === 0) return next(now, [{type: 'cancelWake', name: 'sayGone'}]);
	return next(now, sayGone(now, [...gone.values()].slice(limits.podGonesUnderWay - 1, limits.podGonesUnderWay), context));
}
