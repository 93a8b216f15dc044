// The hand of one pod on its node: sandbox first, then volumes, then containers in their turn, and the other way round at the end.
//
// What it was assigned is its object in the node's cache; everything else it learns again from the runtime after a restart.
// A pod of the same name but another uid waits until nothing is left of the old one.

import {deepEqual} from '../../../api/equal.js';
import {failed} from '../../../api/errors.js';
import {isExclusive} from '../../../api/exclusive.js';
import type {ContainerStatus} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import {sidecarsIn} from '../../../api/sidecars.js';
import {next, reply, tell, type Behavior, type Context, type Effect, type Next} from '../../../system/kernel/behavior.js';
import {besides, leasesPath, podKey, podsPath, syncPath} from '../../addresses.js';
import {podWarning, type Assignment, type PodGone} from '../../protocol/sync-message.js';
import {asSurplus, assignmentKey, assignmentObject, reassigned, type AssignmentObject} from '../cache/assignment-object.js';
import type {ContainerChanged, Reassigned, SkipBackoff} from '../containers/container-state.js';
import {podInitializing} from '../containers/container-status.js';
import {containerActors, passOnConfigChange, reportedAgain, volumesReady, volumesWaiting, withStarts} from './hand-content.js';
import {deadlineAgain, deadlineOf, deadlineToJudge, overrun} from './hand-deadline.js';
import {sandboxOf, withRelease} from './hand-devices.js';
import {evict, mayBeFreed} from './hand-eviction.js';
import {isAllowed, leaseHeld, leaseLost, wantAgain} from './hand-lease.js';
import {isUnknown, reported, statusOf} from './hand-report.js';
import {movedAgain, sandboxReady, whileLost} from './hand-sandbox.js';
import {
	handState,
	assignmentIn,
	graceMsOf,
	isLost,
	isWanted,
	stopContainer,
	toContainers,
	type Assign,
	type HandMessage,
	type HandState,
	type RetryNow,
} from './hand-state.js';
import {sidecarsInTurn, stop, stopSidecars} from './hand-stop.js';
import {infra, infraName, type InfraInput} from './infra.js';
import type {UnwantLease} from './leases.js';
import {volumesName} from './pod-volumes.js';
import {readinessTold} from './ready-instance.js';
import {containersIn, startOrderOf} from './start-order.js';
import {hasVolumes} from './volumes.js';

export const hand: Behavior<Assign, HandState, HandMessage> = {
	kind: 'Hand',
	init(message, context) {
		const {assignment} = message;
		if (assignment === null) throw new Error('a hand needs an assignment');
		const state = handState(assignmentObject(assignment, message.version, context.nowMs), context.nowMs);
		return next(state, [...reply(message.replyTo, {ok: true, value: null}), ...begin(state, context)]);
	},
	resume: (state, context) => next({...state, unreported: []}, begin(state, context)),
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
			case 'volumesReady':
				return volumesReady(state, context);
			case 'volumesWaiting':
				return volumesWaiting(state, message, context);
			case 'deadline':
				return overrun(state, context);
			case 'containerChanged':
				return withRelease(containerChanged(state, message, context), context);
			case 'leaseHeld':
				return leaseHeld(state, context);
			case 'leaseLost':
				return leaseLost(state, context);
			case 'leasesForgotten':
				return next(state, wantAgain(state, context));
			case 'evict':
				return evict(state, message, context);
			case 'configChanged':
				return next(state, passOnConfigChange(state, message, context));
			case 'retryNow':
				return retryNow(state, message, context);
			case 'reportAgain':
				return reportedAgain(state, context);
			case 'removeAgain':
				return next(state, [removal(context)]);
		}
	},
	signal: (state, signal, context) => next(state, signal.type === 'commitFailed' ? tryAgain(state, context) : []),
	coalesce: message => (message.type === 'configChanged' ? message.type : undefined),
	persistence: {
		key: ({object}) => assignmentKey(assignmentIn(object)),
		objectOf: ({object}) => object,
		withObject: (state, object) => ({...state, object: object as AssignmentObject}),
		restore: object => handState(object as AssignmentObject, Date.parse(object.metadata.creationTimestamp)),
	},
	pastIntensity: 'backOff',
	describe: ({ending, sandbox, problem}) => (ending === 'no' ? (problem ?? shownSandbox(sandbox)) : `ending: ${ending}`),
	trouble: ({ending, problem, awaited}) =>
		ending !== 'no' ? undefined : (problem ?? (awaited === undefined ? undefined : `${awaited.reason}: ${awaited.message}`)),
};

function shownSandbox(sandbox: HandState['sandbox']): string {
	if (sandbox === undefined) return 'waits for its sandbox';
	return sandbox.isLost === true ? 'its sandbox has died' : sandbox.podIP;
}

/** What the cache did not take. */
const tryAgain = (state: HandState, context: Context): Effect[] =>
	state.ending === 'sandbox'
		? [{type: 'wakeAt', name: 'remove', atMs: context.nowMs + limits.actorBackoffFirstMs, message: {type: 'removeAgain'}}]
		: deadlineAgain(state, context);

// ---- beginning -----------------------------------------------------------------------------------------------------------

/** The sandbox is made (or found) even for a pod that is to go: what an earlier agent left in it has to be stopped. */
function begin(state: HandState, {self}: Context): Effect[] {
	const input: InfraInput = {spec: sandboxOf(state), owner: self};
	return [{type: 'spawn', name: infraName, behavior: infra.kind, input, restart: 'permanent'}, ...deadlineOf(state)];
}

/** Without a sandbox nothing can be stopped with grace; what an earlier agent may have left goes with the removal. */
function sandboxFailed(state: HandState, problem: string, context: Context): Next<HandState> {
	const {state: told, effects} = reported({...state, problem}, [podWarning('SandboxFailed', problem)], context);
	return told.ending === 'containers' ? removeWhenStopped(told, effects, context) : next(told, effects);
}

// ---- running -------------------------------------------------------------------------------------------------------------

function containerChanged(state: HandState, message: ContainerChanged, context: Context): Next<HandState> {
	const {name, ended, held, isUnsettled, events} = message;
	if (message.sandboxes !== state.sandboxes && isWanted(state)) return movedAgain(state, name, message.sandboxes, context);
	const status = isUnsettled ? asBefore(message.status, state.containers[name]) : message.status;
	const now: HandState = {
		...state,
		containers: {...state.containers, [name]: status},
		ended: withOrWithout(state.ended, name, ended),
		unsettled: withOrWithout(state.unsettled, name, isUnsettled),
		begun: held ? withOrWithout(state.begun, name, false) : state.begun,
	};
	const {state: told, effects} = reported(now, events, context);
	if (isLost(now)) return next(told, [...effects, ...whileLost(now, name, context)]);
	if (isWanted(now)) return withStarts(withoutSidecars(next(told, [...effects, ...deadlineToJudge(told, context)]), context), context);
	// An actor that crashed has forgotten that it was to stop.
	const isRunning = status.state?.running !== undefined && sidecarsIn(assignmentIn(now.object).spec).every(each => each.name !== name);
	const again = isRunning ? [tell(`${context.self}/${name}`, stopContainer(graceMsOf(now)))] : [];
	const all = [...effects, ...again, ...sidecarsInTurn(now, context)];
	return now.ending === 'containers' ? removeWhenStopped(told, all, context) : next(told, [...all, ...freed(now, context)]);
}

/** The pod is over once its main containers are: nothing is left to do for the others. */
function withoutSidecars({state, effects}: Next<HandState>, context: Context): Next<HandState> {
	const {spec} = assignmentIn(state.object);
	if (isUnknown(state) || sidecarsIn(spec).every(({name}) => state.ended.includes(name))) return next(state, effects);
	if (!startOrderOf(spec, state.containers, state.sandbox?.firstAttempts).isOver) return next(state, effects);
	const {state: stopping, effects: stops} = stopSidecars(state, context);
	return next(stopping, [...effects, ...stops]);
}

const withOrWithout = (names: readonly string[], name: string, isIn: boolean): readonly string[] => {
	if (names.includes(name) === isIn) return names;
	return isIn ? [...names, name] : names.filter(each => each !== name);
};

/** An attempt that was known is as ready as it was. */
const asBefore = (status: ContainerStatus, before: ContainerStatus | undefined): ContainerStatus =>
	before === undefined || before.containerID !== status.containerID
		? status
		: {...status, ready: before.ready, ...(before.started === undefined ? {} : {started: before.started})};

// ---- waiting no longer -----------------------------------------------------------------------------------------------------

/** Of a container that cannot be tried before sandbox or volumes are there these are tried. */
function retryNow(state: HandState, {container: wanted, replyTo}: RetryNow, {self, nowMs}: Context): Next<HandState> {
	const {name: pod, spec} = assignmentIn(state.object);
	const all = containersIn(spec).map(({container: {name}}) => name);
	if (wanted !== undefined && !all.includes(wanted)) return next(state, reply(replyTo, noContainer(wanted, pod)));
	const {containerStatuses = [], initContainerStatuses = []} = statusOf(state, nowMs);
	const isHeldUp = state.sandbox === undefined ? state.problem !== undefined : state.awaited !== undefined;
	const waiting = [...initContainerStatuses, ...containerStatuses]
		.filter(({name, state: {waiting} = {}}) => (wanted ?? name) === name && waiting !== undefined && waiting.reason !== podInitializing)
		.filter(({name}) => isHeldUp || state.containers[name]?.state?.waiting?.message !== undefined)
		.map(({name}) => name);
	const message: SkipBackoff = {type: 'skipBackoff'};
	const told = isHeldUp ? [state.sandbox === undefined ? infraName : volumesName] : waiting;
	return next(state, [
		...(waiting.length === 0 ? [] : told.map(name => tell(`${self}/${name}`, message))),
		...reply(replyTo, {ok: true, value: {containers: waiting}}),
	]);
}

const noContainer = (name: string, pod: string): ReturnType<typeof failed> =>
	failed('ERR_BAD_REQUEST', {message: `pod "${pod}" has no container "${name}"`});

// ---- what control wants --------------------------------------------------------------------------------------------------

function assign(state: HandState, message: Assign, context: Context): Next<HandState> {
	const {assignment, replyTo} = message;
	const taken = reply(replyTo, {ok: true, value: null});
	const present = assignmentIn(state.object);
	// Kept, before it is taken note of: control does not say it again.
	const surplus: HandState = {...state, object: state.object && asSurplus(state.object), successor: undefined};
	if (assignment === null) return ending(surplus, taken, context);
	// Taken note of is enough: when the old pod is gone, control sends the next one once more.
	if (assignment.uid !== present.uid) return ending({...surplus, successor: {...message, replyTo: undefined}}, taken, context);
	const object = state.object && reassigned(state.object, assignment, message.version);
	const now: HandState = {...state, object, successor: undefined};
	if (assignment.deletionGraceSeconds !== undefined) return ending(now, taken, context);
	return next(now, [...taken, ...deadlineOf(now), ...toldAnew(now, present, context)]);
}

/** What of it the next start shows to a program. */
function toldAnew(state: HandState, {labels, annotations}: Assignment, context: Context): Effect[] {
	const assignment = assignmentIn(state.object);
	if (state.sandbox === undefined || deepEqual([labels, annotations], [assignment.labels, assignment.annotations])) return [];
	const message: Reassigned = {type: 'reassigned', assignment};
	return toContainers(state, message, context);
}

// ---- ending --------------------------------------------------------------------------------------------------------------

/** Stops the containers; asked again, with a shorter grace, it stops them sooner. */
function ending(state: HandState, effects: readonly Effect[], context: Context): Next<HandState> {
	if (state.ending === 'sandbox') return next(state, effects);
	const now: HandState = {...state, ending: 'containers'};
	// Those of an exclusive pod may be gone with its lease; they only look and stop.
	const revived = isAllowed(state) ? [] : containerActors(now, context);
	const {state: stopping, effects: stops} = stop(now, context);
	return removeWhenStopped(stopping, [...effects, ...withoutVolumes(now), ...revived, ...stops], context);
}

/** Where making the sandbox failed there are no containers to wait for. */
function removeWhenStopped(state: HandState, effects: readonly Effect[], context: Context): Next<HandState> {
	const {spec} = assignmentIn(state.object);
	const isStopped = containersIn(spec).every(({container: {name}}) => state.ended.includes(name));
	const isLast = state.sandbox === undefined ? state.problem !== undefined : isStopped;
	return isLast ? next({...state, ending: 'sandbox'}, [...effects, removal(context)]) : next(state, effects);
}

/** What an evicted pod has of its node is needed now, and not when somebody deletes its record. */
const freed = (state: HandState, context: Context): Effect[] => (mayBeFreed(state) ? [...withoutVolumes(state), removal(context)] : []);

const withoutVolumes = ({object}: HandState): readonly Effect[] =>
	hasVolumes(assignmentIn(object).spec) ? [{type: 'stopChild', name: volumesName}] : [];

const removal = ({self}: Context): Effect => tell(`${self}/${infraName}`, {type: 'removeSandbox'});

/** Nothing is left: the assignment goes, control hears of it, a successor is handed back to the actor that starts hands. */
function sandboxRemoved(state: HandState, context: Context): Next<HandState> {
	const {self} = context;
	if (state.ending !== 'sandbox') return next(state);
	const assignment = assignmentIn(state.object);
	const gone: PodGone = {type: 'podGone', key: podKey(assignment), uid: assignment.uid};
	const {successor} = state;
	const unwanted: UnwantLease = {type: 'unwantLease', uid: assignment.uid};
	return next({...state, object: undefined}, [
		tell(besides(self, syncPath), gone),
		...readinessTold(assignment, state.reported, undefined, context),
		...(isExclusive(assignment) ? [tell(besides(self, leasesPath), unwanted)] : []),
		...(successor === undefined ? [] : [tell(besides(self, podsPath), successor)]),
	]);
}
