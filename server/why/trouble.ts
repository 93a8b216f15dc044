// What is the matter with a pod, in one word: cheap enough to be asked of each of thousands.

import {conditionOf, isConditionTrue} from '../../api/conditions.js';
import type {ContainerStatus, Pod} from '../../api/kinds/pod.js';
import {isDeleting} from '../../actors/control/objects/garbage.js';
import {toldToWaitFor} from '../../actors/control/pods/awaited.js';
import {isReady} from '../../actors/control/pods/pod-lifecycle.js';

export type Trouble =
	/** Its record crashed. */
	| 'parked'
	| 'leaving'
	| 'failed'
	| 'unplaced'
	/** It has no node, for it waits for other workloads. */
	| 'awaiting'
	| 'unheard'
	| 'crashes'
	| 'unstartable'
	| 'unconfigured'
	| 'unmounted'
	| 'unleased'
	| 'initialising'
	| 'unready'
	| 'starting';

/** Of one pod, of several. What says most of a cause comes first. */
export const troubleText: Readonly<Record<Trouble, readonly [one: string, several: string]>> = {
	parked: ['has an actor that crashed', 'have actors that crashed'],
	crashes: ['crashes', 'crash'],
	unstartable: ['cannot start', 'cannot start'],
	failed: ['failed', 'failed'],
	unconfigured: ['waits for what it names', 'wait for what they name'],
	unmounted: ['waits for a volume', 'wait for volumes'],
	unplaced: ['has no node', 'have no node'],
	awaiting: ['waits for what it depends on', 'wait for what they depend on'],
	unheard: ['is on a node that is not heard', 'are on nodes that are not heard'],
	unleased: ['waits for its lease', 'wait for their leases'],
	unready: ['is not ready', 'are not ready'],
	initialising: ['is being initialised', 'are being initialised'],
	starting: ['is starting', 'are starting'],
	leaving: ['is being deleted', 'are being deleted'],
};

/** In the order of the table: which of several troubles is told of. */
export const troubles = Object.keys(troubleText) as readonly Trouble[];

/** What comes by itself, as far as can be told. */
export const passing: ReadonlySet<Trouble> = new Set(['starting', 'initialising', 'leaving']);

/** Which container it is about; its role tells which list of the status it is in. */
export type Troubled = {readonly status: ContainerStatus; readonly isInit: boolean};

export type PodTrouble = {readonly trouble: Trouble; readonly container?: Troubled};

/** Undefined where the pod is ready, or over as it should be. */
export function troubleOf(pod: Pod, nowMs: number): PodTrouble | undefined {
	const {status, spec} = pod;
	const conditions = status?.conditions;
	if (isConditionTrue(conditions, 'ActorFailed')) return {trouble: 'parked'};
	if (isDeleting(pod)) return {trouble: 'leaving'};
	if (status?.phase === 'Succeeded') return undefined;
	if (status?.phase === 'Failed') return withContainer('failed', failedContainer(pod));
	if (spec?.nodeName === undefined) return {trouble: toldToWaitFor(pod) === undefined ? 'unplaced' : 'awaiting'};
	if (conditionOf(conditions, 'Ready')?.reason === 'NodeLost') return {trouble: 'unheard'};
	const worst = worstContainer(pod, nowMs);
	if (worst !== undefined) return worst;
	return isReady(pod) ? undefined : {trouble: status?.containerStatuses === undefined ? 'starting' : 'unready'};
}

const withContainer = (trouble: Trouble, container: Troubled | undefined): PodTrouble =>
	container === undefined ? {trouble} : {trouble, container};

const containersOf = ({status}: Pod): readonly Troubled[] => [
	...(status?.initContainerStatuses ?? []).map(each => ({status: each, isInit: true})),
	...(status?.containerStatuses ?? []).map(each => ({status: each, isInit: false})),
];

const failedContainer = (pod: Pod): Troubled | undefined =>
	containersOf(pod).find(({status: {state}}) => (state?.terminated?.exitCode ?? 0) !== 0) ?? containersOf(pod).at(-1);

function worstContainer(pod: Pod, nowMs: number): PodTrouble | undefined {
	let worst: PodTrouble | undefined;
	for (const container of containersOf(pod)) {
		const trouble = troubleOfContainer(container, nowMs);
		if (trouble === undefined) continue;
		if (worst === undefined || troubles.indexOf(trouble) < troubles.indexOf(worst.trouble)) worst = {trouble, container};
	}
	return worst;
}

/** By the reason of its wait; `Failed` and others that are not here are starts that failed. */
const waits: {readonly [reason: string]: Trouble} = {
	CrashLoopBackOff: 'crashes',
	CreateContainerConfigError: 'unconfigured',
	FailedMount: 'unmounted',
	LeaseLost: 'unleased',
	ContainerCreating: 'starting',
	Pulling: 'starting',
	PodInitializing: 'starting',
	Stopping: 'starting',
	'': 'starting',
};

function troubleOfContainer({status, isInit}: Troubled, nowMs: number): Trouble | undefined {
	const {state, ready} = status;
	if (state?.waiting !== undefined) return waits[state.waiting.reason ?? ''] ?? 'unstartable';
	if (state?.terminated !== undefined) return state.terminated.exitCode === 0 ? undefined : 'crashes';
	if (state?.running === undefined) return 'starting';
	if (isCrashing(status, nowMs)) return 'crashes';
	if (isInit) return 'initialising';
	return ready ? undefined : 'unready';
}

/** Between two crashes it runs for a moment, and may be ready in it. */
export function isCrashing({state, lastState, restartCount, ready}: ContainerStatus, nowMs: number): boolean {
	const sinceMs = Date.parse(state?.running?.startedAt ?? '');
	const last = lastState?.terminated;
	if (last === undefined || Number.isNaN(sinceMs)) return false;
	const lastedMs = Date.parse(last.finishedAt ?? '') - Date.parse(last.startedAt ?? '');
	// It has lived for longer than the one before, and for more than a moment: it may be mended.
	const isNew = nowMs - sinceMs < Math.max(momentMs, Math.min(2 * (lastedMs || 0), 10 * momentMs));
	return isNew && restartCount >= (ready ? 2 : 1);
}

const momentMs = 3_000;
