// The hand of one pod on its node: sandbox first, then containers, and the other way round at the end.
//
// What it was assigned is its object in the node's cache; everything else it learns again from the runtime after a restart.
// A pod of the same name but another uid waits until nothing is left of the old one.

import type {ObjectKey} from '../../api/keys.js';
import type {ContainerStatus, PodStatus} from '../../api/kinds/pod.js';
import {isExclusive} from '../../api/exclusive.js';
import {limits} from '../../api/limits.js';
import {next, reply, tell, type Behavior, type Context, type Effect, type Message, type Next, type ReplyTo} from '../../system/behavior.js';
import {besides, leasesPath, podKey, podsPath, syncPath} from '../addresses.js';
import type {Assignment, PodEvent, PodGone} from '../sync-message.js';
import {asSurplus, assignmentKey, assignmentObject, type AssignmentObject} from './assignment-object.js';
import {container, type ConfigChanged, type ContainerChanged, type ContainerInput} from './container.js';
import {infra, infraName, type InfraInput, type SandboxFailed, type SandboxReady, type SandboxRemoved} from './infra.js';
import type {LeaseHeld, LeaseLost, LeasesForgotten, UnwantLease, WantLease} from './leases.js';
import {podStatusOf} from './pod-status.js';
import type {Sandbox} from './runtime-port.js';

/** What control wants of this pod; null: nothing any more. */
export type Assign = {
	readonly type: 'assign';
	readonly key: ObjectKey;
	readonly version: string;
	readonly assignment: Assignment | null;
	readonly replyTo?: ReplyTo | undefined;
};

export type HandMessage =
	| Assign
	| SandboxReady
	| SandboxFailed
	| SandboxRemoved
	| ContainerChanged
	| LeaseHeld
	| LeaseLost
	| LeasesForgotten
	| ConfigChanged
	| {readonly type: 'reportAgain'}
	| {readonly type: 'removeAgain'};

/** Told to node sync. */
export type PodReport = {
	readonly type: 'podReport';
	readonly key: ObjectKey;
	readonly uid: string;
	readonly status: PodStatus;
	readonly events: readonly PodEvent[];
};

export type HandState = {
	readonly object: AssignmentObject | undefined;
	readonly sandbox: Sandbox | undefined;
	/** Of an exclusive pod: its containers may run. */
	readonly leased: boolean;
	readonly problem: string | undefined;
	readonly containers: {readonly [name: string]: ContainerStatus};
	/** Containers that ended for good. */
	readonly ended: readonly string[];
	/** No: it runs. Then its containers stop, then its sandbox goes. */
	readonly ending: 'no' | 'containers' | 'sandbox';
	/** The next pod of this name. */
	readonly successor: Assign | undefined;
	readonly startedAtMs: number;
	readonly reported: PodStatus | undefined;
	/** What happened before the first report after a restart; undefined once that was made. */
	readonly unreported: readonly PodEvent[] | undefined;
};

export const hand: Behavior<Assign, HandState, HandMessage> = {
	kind: 'Hand',
	init(message, context) {
		const {assignment} = message;
		if (assignment === null) throw new Error('a hand needs an assignment');
		const state = around(assignmentObject(assignment, message.version, context.nowMs), context.nowMs);
		return next(state, [...reply(message.replyTo, {ok: true, value: null}), ...begin(state, context)]);
	},
	resume: (state, context) => next({...state, startedAtMs: context.nowMs, unreported: []}, begin(state, context)),
	receive(state, message, context) {
		switch (message.type) {
			case 'assign':
				return assign(state, message, context);
			case 'sandboxReady':
				return sandboxReady(state, message.sandbox, context);
			case 'sandboxFailed':
				return sandboxFailed(state, message.error.message, context);
			case 'sandboxRemoved':
				return sandboxRemoved(state, context);
			case 'containerChanged':
				return containerChanged(state, message, context);
			case 'leaseHeld':
				return leaseHeld(state, context);
			case 'leaseLost':
				return leaseLost(state, context);
			case 'leasesForgotten':
				return next(state, wantAgain(state, context));
			case 'configChanged':
				return next(state, state.sandbox === undefined ? [] : toContainers(state, message, context));
			case 'reportAgain':
				return reportedAgain(state, context);
			case 'removeAgain':
				return next(state, [removal(context)]);
		}
	},
	signal: (state, signal, {nowMs}) =>
		signal.type === 'commitFailed' && state.ending === 'sandbox'
			? next(state, [{type: 'wakeAt', name: 'remove', atMs: nowMs + limits.actorBackoffFirstMs, message: {type: 'removeAgain'}}])
			: next(state),
	coalesce: message => (message.type === 'configChanged' ? message.type : undefined),
	persistence: {
		key: ({object}) => assignmentKey(assignmentOf(object)),
		objectOf: ({object}) => object,
		withObject: (state, object) => ({...state, object: object as AssignmentObject}),
		restore: object => around(object as AssignmentObject, 0),
	},
	pastIntensity: 'backOff',
	describe: ({ending, sandbox, problem}) =>
		ending === 'no' ? (problem ?? sandbox?.podIP ?? 'waits for its sandbox') : `ending: ${ending}`,
};

const around = (object: AssignmentObject, startedAtMs: number): HandState => ({
	object,
	sandbox: undefined,
	leased: false,
	problem: undefined,
	containers: {},
	ended: [],
	ending: object.spec?.surplus === true ? 'containers' : 'no',
	successor: undefined,
	startedAtMs,
	reported: undefined,
	unreported: undefined,
});

function assignmentOf(object: AssignmentObject | undefined): Assignment {
	const assignment = object?.spec?.assignment;
	if (assignment === undefined) throw new Error('a hand without its assignment');
	return assignment;
}

const warning = (reason: string, message: string): PodEvent => ({event: 'Warning', reason, message});

// ---- beginning -----------------------------------------------------------------------------------------------------------

/** The sandbox is made (or found) even for a pod that is to go: what an earlier agent left in it has to be stopped. */
function begin(state: HandState, {self}: Context): Effect[] {
	const {uid, namespace, name, spec} = assignmentOf(state.object);
	const input: InfraInput = {spec: {uid, namespace, name, hostname: spec.hostname ?? name}, owner: self};
	return [{type: 'spawn', name: infraName, behavior: infra.kind, input, restart: 'permanent'}];
}

function sandboxReady(state: HandState, sandbox: Sandbox, context: Context): Next<HandState> {
	const assignment = assignmentOf(state.object);
	const ready: HandState = {...state, sandbox, problem: undefined};
	if (state.ending === 'no' && assignment.deletionGraceSeconds === undefined)
		return next(ready, isAllowed(ready) ? containersOf(ready, context) : [wantLease(assignment, context)]);
	const ending: HandState = {...ready, ending: 'containers'};
	return next(ending, [...containersOf(ending, context), ...stops(ending, graceMsOf(ending), context)]);
}

/** The actors of all containers; those that live are left alone. */
function containersOf({object, sandbox}: HandState, {self}: Context): Effect[] {
	const assignment = assignmentOf(object);
	if (sandbox === undefined) return [];
	return assignment.spec.containers.map((wanted): Effect => {
		const input: ContainerInput = {assignment, container: wanted, sandbox, owner: self};
		return {type: 'spawn', name: wanted.name, behavior: container.kind, input, restart: 'permanent'};
	});
}

// ---- exclusive pods ------------------------------------------------------------------------------------------------------

const isAllowed = ({object, leased}: HandState): boolean => leased || !isExclusive(assignmentOf(object));

function wantLease(assignment: Assignment, {self}: Context): Effect {
	const message: WantLease = {type: 'wantLease', key: podKey(assignment), uid: assignment.uid, owner: self};
	return tell(besides(self, leasesPath), message);
}

/** What runs goes on, under the watchdog that stands. */
function wantAgain(state: HandState, context: Context): Effect[] {
	const assignment = assignmentOf(state.object);
	const isWanted = isExclusive(assignment) && state.sandbox !== undefined && state.ending === 'no';
	return isWanted ? [wantLease(assignment, context)] : [];
}

function leaseHeld(state: HandState, context: Context): Next<HandState> {
	const now: HandState = {...state, leased: true};
	return next(now, now.ending === 'no' ? containersOf(now, context) : []);
}

/** The watchdog has killed what ran; nobody starts it again before the lease is back. */
function leaseLost(state: HandState, context: Context): Next<HandState> {
	const waiting = {reason: 'LeaseLost', message: 'the pod is exclusive and its lease has ended: the control plane does not confirm it'};
	const containers = Object.fromEntries(
		Object.entries(state.containers).map(([name, status]): [string, ContainerStatus] => [
			name,
			{...status, ready: false, started: false, state: {waiting}},
		]),
	);
	const now: HandState = {...state, leased: false, ...(state.ending === 'no' ? {containers} : {})};
	if (state.ending !== 'no') return next(now);
	const stopped = assignmentOf(state.object).spec.containers.map(({name}): Effect => ({type: 'stopChild', name}));
	const {state: told, effects} = reported(now, [warning(waiting.reason, waiting.message)], context);
	return next(told, [...stopped, ...effects]);
}

/** Without a sandbox nothing can be stopped with grace; what an earlier agent may have left goes with the removal. */
function sandboxFailed(state: HandState, problem: string, context: Context): Next<HandState> {
	const {state: told, effects} = reported({...state, problem}, [warning('SandboxFailed', problem)], context);
	return told.ending === 'containers' ? removeWhenStopped(told, effects, context) : next(told, effects);
}

// ---- running -------------------------------------------------------------------------------------------------------------

function containerChanged(state: HandState, message: ContainerChanged, context: Context): Next<HandState> {
	const {name, status, ended, events} = message;
	const others = state.ended.filter(each => each !== name);
	const now: HandState = {...state, containers: {...state.containers, [name]: status}, ended: ended ? [...others, name] : others};
	const {state: told, effects} = reported(now, events, context);
	if (now.ending !== 'containers') return next(told, effects);
	// One whose actor crashed has forgotten that it was to stop.
	const again = status.state?.running === undefined ? [] : [tell(`${context.self}/${name}`, stopContainer(graceMsOf(now)))];
	return removeWhenStopped(told, [...effects, ...again], context);
}

/**
 * Reports how the pod is. After a restart of the agent only once every container was looked at: until then what control knows is
 * nearer to the truth.
 */
function reported(state: HandState, news: readonly PodEvent[], context: Context): Next<HandState> {
	const assignment = assignmentOf(state.object);
	const events = [...(state.unreported ?? []), ...news];
	const isUnknown = state.problem === undefined && assignment.spec.containers.some(({name}) => state.containers[name] === undefined);
	if (state.unreported !== undefined && isUnknown) return next({...state, unreported: events});
	const status = podStatusOf({...state, assignment, previous: state.reported}, context.nowMs);
	const message: PodReport = {
		type: 'podReport',
		key: podKey(assignment),
		uid: assignment.uid,
		status,
		events,
	};
	return next({...state, reported: status, unreported: undefined}, [tell(besides(context.self, syncPath), message)]);
}

/** Control is back: who waits for something of it tries again at once. */
function reportedAgain(state: HandState, context: Context): Next<HandState> {
	const {state: told, effects} = reported(state, [], context);
	const message: ConfigChanged = {type: 'configChanged'};
	return next(told, state.sandbox === undefined ? effects : [...effects, ...toContainers(state, message, context)]);
}

// ---- what control wants --------------------------------------------------------------------------------------------------

function assign(state: HandState, message: Assign, context: Context): Next<HandState> {
	const {assignment, replyTo} = message;
	const taken = reply(replyTo, {ok: true, value: null});
	const present = assignmentOf(state.object);
	// Kept, before it is taken note of: control does not say it again.
	const surplus: HandState = {...state, object: state.object && asSurplus(state.object), successor: undefined};
	if (assignment === null) return ending(surplus, taken, context);
	// Taken note of is enough: when the old pod is gone, control sends whatever is next once more.
	if (assignment.uid !== present.uid) return ending({...surplus, successor: {...message, replyTo: undefined}}, taken, context);
	const object = assignmentObject(assignment, message.version, context.nowMs);
	const now: HandState = {...state, object, successor: undefined};
	return assignment.deletionGraceSeconds === undefined ? next(now, taken) : ending(now, taken, context);
}

// ---- ending --------------------------------------------------------------------------------------------------------------

function graceMsOf({object}: HandState): number {
	const {deletionGraceSeconds, spec} = assignmentOf(object);
	return 1000 * (deletionGraceSeconds ?? spec.terminationGracePeriodSeconds ?? limits.terminationGraceSeconds);
}

/** Stops the containers; asked again, with a shorter grace, it stops them sooner. */
function ending(state: HandState, effects: readonly Effect[], context: Context): Next<HandState> {
	if (state.ending === 'sandbox') return next(state, effects);
	const now: HandState = {...state, ending: 'containers'};
	// Those of an exclusive pod may be gone with its lease; they only look and stop.
	const revived = isAllowed(state) ? [] : containersOf(now, context);
	return removeWhenStopped(now, [...effects, ...revived, ...stops(now, graceMsOf(now), context)], context);
}

const stops = ({object, sandbox}: HandState, graceMs: number, {self}: Context): Effect[] =>
	sandbox === undefined
		? [] // Nothing was looked at yet: the containers are told once the sandbox is there.
		: toContainers({object}, stopContainer(graceMs), {self});

const toContainers = ({object}: Pick<HandState, 'object'>, message: Message, {self}: Pick<Context, 'self'>): Effect[] =>
	assignmentOf(object).spec.containers.map(({name}) => tell(`${self}/${name}`, message));

const stopContainer = (graceMs: number): Message & {readonly graceMs: number} => ({type: 'stopContainer', graceMs});

/** Where making the sandbox failed there are no containers to wait for. */
function removeWhenStopped(state: HandState, effects: readonly Effect[], context: Context): Next<HandState> {
	const {spec} = assignmentOf(state.object);
	const isOver = state.sandbox === undefined ? state.problem !== undefined : spec.containers.every(({name}) => state.ended.includes(name));
	return isOver ? next({...state, ending: 'sandbox'}, [...effects, removal(context)]) : next(state, effects);
}

const removal = ({self}: Context): Effect => tell(`${self}/${infraName}`, {type: 'removeSandbox'});

/** Nothing is left: the assignment goes, control hears of it, a successor is handed back to whoever starts hands. */
function sandboxRemoved(state: HandState, {self}: Context): Next<HandState> {
	if (state.ending !== 'sandbox') return next(state);
	const assignment = assignmentOf(state.object);
	const gone: PodGone = {type: 'podGone', key: podKey(assignment), uid: assignment.uid};
	const {successor} = state;
	const unwanted: UnwantLease = {type: 'unwantLease', uid: assignment.uid};
	return next({...state, object: undefined}, [
		tell(besides(self, syncPath), gone),
		...(isExclusive(assignment) ? [tell(besides(self, leasesPath), unwanted)] : []),
		...(successor === undefined ? [] : [tell(besides(self, podsPath), successor)]),
	]);
}
