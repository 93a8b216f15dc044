// What the hand of a pod knows, and what it is told.

import type {ObjectKey} from '../../../api/keys.js';
import type {ContainerStateWaiting, ContainerStatus, PodStatus} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import {evictedReason} from '../../../api/node-pressure.js';
import {tell, type Context, type Effect, type Message, type ReplyTo} from '../../../system/kernel/behavior.js';
import type {Assignment, PodEvent} from '../../protocol/sync-message.js';
import type {AssignmentObject} from '../cache/assignment-object.js';
import type {ConfigChanged, ContainerChanged} from '../containers/container-state.js';
import type {SandboxFailed, SandboxReady, SandboxRemoved} from './infra.js';
import type {LeaseHeld, LeaseLost, LeasesForgotten} from './leases.js';
import type {VolumesReady, VolumesWaiting} from './pod-volumes.js';
import type {Sandbox} from '../runtime/runtime-port.js';
import {overdueFailure, type PodFailure} from './pod-failure.js';
import {containersIn} from './start-order.js';
import {hasVolumes} from './volumes.js';

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
	| VolumesReady
	| VolumesWaiting
	| ContainerChanged
	| LeaseHeld
	| LeaseLost
	| LeasesForgotten
	| ConfigChanged
	| RetryNow
	| Evict
	/** The time that the pod may take is over. */
	| {readonly type: 'deadline'}
	| {readonly type: 'reportAgain'}
	| {readonly type: 'removeAgain'};

/**
 * A client does not want to wait for the next try: of one container, or of all that wait. Answered with the names of those that are tried
 * now, `{containers: string[]}`.
 */
export type RetryNow = {readonly type: 'retryNow'; readonly container?: string | undefined; readonly replyTo?: ReplyTo | undefined};

/** Its node is short of something. */
export type Evict = {readonly type: 'evict'; readonly uid: string; readonly message: string};

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
	/** How often it has become another one. */
	readonly sandboxes: number;
	/** Of an exclusive pod: its containers may run. */
	readonly leased: boolean;
	readonly problem: string | undefined;
	/** Its volumes are there, or it has none. */
	readonly hasVolumes: boolean;
	/** What they wait for. */
	readonly awaited: ContainerStateWaiting | undefined;
	/** By name, init containers among them. */
	readonly containers: {readonly [name: string]: ContainerStatus};
	/** Of the containers whose turn comes later those that were told that it has. */
	readonly begun: readonly string[];
	/** Containers that run and were not probed yet by this agent. */
	readonly unsettled: readonly string[];
	/** Containers that ended for good. */
	readonly ended: readonly string[];
	/** No: it runs. Then its containers stop, then its sandbox goes. */
	readonly ending: 'no' | 'containers' | 'sandbox';
	/** When the grace of a stop is over that was asked for; undefined: none was. */
	readonly stopUntilMs: number | undefined;
	/** The next pod of this name. */
	readonly successor: Assign | undefined;
	readonly startedAtMs: number;
	readonly reported: PodStatus | undefined;
	/** What happened before the first report after a restart; undefined once that was made. */
	readonly unreported: readonly PodEvent[] | undefined;
};

/** Of a pod that nothing is known of yet but what is kept. */
export const handState = (object: AssignmentObject, startedAtMs: number): HandState => ({
	object,
	sandbox: undefined,
	sandboxes: 0,
	leased: false,
	problem: undefined,
	hasVolumes: !hasVolumes(assignmentIn(object).spec),
	awaited: undefined,
	containers: {},
	begun: [],
	unsettled: [],
	ended: [],
	ending: object.spec?.surplus === true ? 'containers' : 'no',
	stopUntilMs: undefined,
	successor: undefined,
	startedAtMs,
	reported: undefined,
	unreported: undefined,
});

export function assignmentIn(object: AssignmentObject | undefined): Assignment {
	const assignment = object?.spec?.assignment;
	if (assignment === undefined) throw new Error('a hand without its assignment');
	return assignment;
}

/** Why the node has ended it, if it has; undefined: it has not. */
export function failureOf({object}: HandState): PodFailure | undefined {
	const {overdue, evicted} = object?.spec ?? {};
	if (evicted !== undefined) return {reason: evictedReason, message: evicted};
	return overdue === true ? overdueFailure : undefined;
}

/** Its time is over, see `activeDeadlineSeconds`, or its node was short of something: its containers are ended, and not started again. */
export const hasFailed = (state: HandState): boolean => failureOf(state) !== undefined;

/** It is to run, and not to end. */
export const isWanted = (state: HandState): boolean => state.ending === 'no' && !hasFailed(state);

/** Its sandbox has died: what runs in it is stopped, whatever comes after that. */
export const isLost = (state: HandState): boolean => isWanted(state) && state.sandbox?.isLost === true;

/** What its containers have to end by themselves. */
export function graceMsOf({object}: HandState): number {
	const {deletionGraceSeconds, spec} = assignmentIn(object);
	return 1000 * (deletionGraceSeconds ?? spec.terminationGracePeriodSeconds ?? limits.terminationGraceSeconds);
}

export const toContainers = ({object}: Pick<HandState, 'object'>, message: Message, {self}: Pick<Context, 'self'>): Effect[] =>
	containersIn(assignmentIn(object).spec).map(({container: {name}}) => tell(`${self}/${name}`, message));

export const stopContainer = (graceMs: number): Message & {readonly graceMs: number} => ({type: 'stopContainer', graceMs});
