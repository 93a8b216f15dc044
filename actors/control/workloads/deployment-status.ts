// What a Deployment says of itself: counts, and conditions in Kubernetes' words.

import {conditionOf} from '../../../api/conditions.js';
import type {Deployment, DeploymentCondition, DeploymentStatus} from '../../../api/kinds/deployment.js';
import {timestampOf} from '../../../api/object.js';
import {withCondition, withoutCondition} from '../objects/conditions.js';
import type {RolloutBounds} from './rollout-bounds.js';
import {activeOf, availableOf, readyOf, sumOf, wantedOf, type SizedSet} from './sized-set.js';

type Conditions = readonly DeploymentCondition[] | undefined;

/** What this look did about the newest set, or could not do: begins the time for progress anew. */
export type RolloutNews =
	| {readonly type: 'created' | 'found'; readonly set: string}
	/** Old pods go before there is a new set. */
	| {readonly type: 'begun'}
	| {readonly type: 'refused'; readonly message: string};

export type Looked = {
	readonly newest: SizedSet | undefined;
	readonly old: readonly SizedSet[];
	readonly bounds: RolloutBounds;
	readonly news: RolloutNews | undefined;
	readonly collisions: number;
	/** Nothing is under way that this generation would not ask for. */
	readonly isSettled: boolean;
};

export function deploymentStatus(deployment: Deployment, looked: Looked, nowMs: number): DeploymentStatus {
	const counted = countedStatus(deployment, looked);
	const conditions = withProgress(
		deployment,
		looked,
		counted,
		withAvailability(deployment.status?.conditions, looked, counted, nowMs),
		nowMs,
	);
	const all = withReplicaFailure(conditions, looked, nowMs);
	return {...counted, ...(all === undefined ? {} : {conditions: all})};
}

function countedStatus({metadata, status}: Deployment, {newest, old, collisions, isSettled}: Looked): DeploymentStatus {
	const sets = newest === undefined ? old : [newest, ...old];
	const observedGeneration = isSettled ? metadata.generation : status?.observedGeneration;
	const available = sumOf(sets, availableOf);
	return {
		...(observedGeneration === undefined ? {} : {observedGeneration}),
		replicas: sumOf(sets, activeOf),
		updatedReplicas: newest === undefined ? 0 : activeOf(newest),
		readyReplicas: sumOf(sets, readyOf),
		availableReplicas: available,
		unavailableReplicas: Math.max(0, sumOf(sets, wantedOf) - available),
		...(collisions === 0 ? {} : {collisionCount: collisions}),
	};
}

/** All pods are of the newest template, and all of them can be relied on. */
export function isComplete({metadata, spec}: Deployment, status: DeploymentStatus | undefined): boolean {
	const replicas = spec?.replicas ?? 1;
	return (
		status?.updatedReplicas === replicas &&
		status.replicas === replicas &&
		status.availableReplicas === replicas &&
		status.observedGeneration === metadata.generation
	);
}

// ---- conditions ------------------------------------------------------------------------------------------------------------

function withAvailability(conditions: Conditions, {bounds}: Looked, {availableReplicas = 0}: DeploymentStatus, nowMs: number): Conditions {
	const isAvailable = availableReplicas >= bounds.leastAvailable;
	return noted(
		conditions,
		isAvailable
			? {type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.'}
			: {
					type: 'Available',
					status: 'False',
					reason: 'MinimumReplicasUnavailable',
					message: 'Deployment does not have minimum availability.',
				},
		nowMs,
	);
}

const progressing = 'Progressing';

/** Its update, unless nothing of it changes, moves `lastUpdateTime`: the deadline runs from there. */
type Progress = Omit<DeploymentCondition, 'type' | 'lastTransitionTime' | 'lastUpdateTime'>;

function withProgress(deployment: Deployment, looked: Looked, status: DeploymentStatus, conditions: Conditions, nowMs: number): Conditions {
	const progress = progressOf(deployment, looked, status, nowMs);
	if (progress === undefined) return conditions;
	const old = conditionOf(conditions, progressing);
	const {isNews, ...condition} = progress;
	return noted(isNews && old !== undefined ? withoutTime(conditions) : conditions, {type: progressing, ...condition}, nowMs);
}

/** The condition without its time: noted again it has the present one, also where it says the same. */
const withoutTime = (conditions: Conditions): Conditions =>
	conditions?.map(each => (each.type === progressing ? {...each, lastUpdateTime: ''} : each));

function progressOf(
	deployment: Deployment,
	{newest, news}: Looked,
	status: DeploymentStatus,
	nowMs: number,
): (Progress & {readonly isNews: boolean}) | undefined {
	const {metadata, spec} = deployment;
	const current = conditionOf(deployment.status?.conditions, progressing) as DeploymentCondition | undefined;
	const whole = newest === undefined ? `Deployment "${metadata.name}"` : `ReplicaSet "${newest.set.metadata.name}"`;
	if (spec?.paused === true) {
		if (current?.reason === 'DeploymentPaused' || current?.reason === exceeded) return undefined;
		return {status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused', isNews: true};
	}
	if (news !== undefined) return newsOf(news, metadata.name);
	if (current?.reason === 'DeploymentPaused')
		return {status: 'Unknown', reason: 'DeploymentResumed', message: 'Deployment is resumed', isNews: true};
	if (current?.reason === done && status.replicas === status.updatedReplicas) return undefined;
	if (isComplete(deployment, status))
		return {status: 'True', reason: done, message: `${whole} has successfully progressed.`, isNews: false};
	if (hasProgressed(deployment.status, status))
		return {status: 'True', reason: 'ReplicaSetUpdated', message: `${whole} is progressing.`, isNews: true};
	const dueMs = deadlineMs(deployment);
	if (dueMs !== undefined && nowMs > dueMs)
		return {status: 'False', reason: exceeded, message: `${whole} has timed out progressing.`, isNews: false};
	return undefined;
}

const done = 'NewReplicaSetAvailable';
const exceeded = 'ProgressDeadlineExceeded';
const refused = 'ReplicaSetCreateError';

function newsOf(news: RolloutNews, name: string): Progress & {readonly isNews: boolean} {
	switch (news.type) {
		case 'created':
			return {status: 'True', reason: 'NewReplicaSetCreated', message: `Created new replica set "${news.set}"`, isNews: true};
		case 'found':
			return {status: 'True', reason: 'FoundNewReplicaSet', message: `Found new replica set "${news.set}"`, isNews: true};
		case 'begun':
			return {status: 'True', reason: 'ReplicaSetUpdated', message: `Deployment "${name}" is progressing.`, isNews: true};
		case 'refused':
			return {status: 'False', reason: refused, message: news.message, isNews: false};
	}
}

/** More pods of the newest template, fewer of others, more that are ready or can be relied on. */
function hasProgressed(before: DeploymentStatus | undefined, now: DeploymentStatus): boolean {
	const {updatedReplicas = 0, replicas = 0, readyReplicas = 0, availableReplicas = 0} = before ?? {};
	return (
		(now.updatedReplicas ?? 0) > updatedReplicas ||
		(now.replicas ?? 0) - (now.updatedReplicas ?? 0) < replicas - updatedReplicas ||
		(now.readyReplicas ?? 0) > readyReplicas ||
		(now.availableReplicas ?? 0) > availableReplicas
	);
}

/** Until when there has to be progress; undefined while none is due. */
export function deadlineMs({spec, status}: Deployment): number | undefined {
	const current = conditionOf(status?.conditions, progressing) as DeploymentCondition | undefined;
	if (spec?.paused === true || current === undefined || current.reason === done || current.reason === exceeded) return undefined;
	const sinceMs = Date.parse(current.lastUpdateTime ?? '');
	return Number.isNaN(sinceMs) ? undefined : sinceMs + (spec?.progressDeadlineSeconds ?? 0) * 1000;
}

/** Whether the condition tells of an update that is over, well or not. */
export function isOver({status}: Deployment): boolean {
	const reason = conditionOf(status?.conditions, progressing)?.reason;
	return reason === done || reason === exceeded;
}

/** Whether the set of the newest template could not be made. */
export const isRefused = ({status}: Deployment): boolean => conditionOf(status?.conditions, progressing)?.reason === refused;

/** What keeps the newest set, or another one, from having its pods. */
function withReplicaFailure(conditions: Conditions, {newest, old}: Looked, nowMs: number): Conditions {
	const type = 'ReplicaFailure';
	const failures = (newest === undefined ? old : [newest, ...old]).flatMap(({set}) => conditionOf(set.status?.conditions, type) ?? []);
	const [first] = failures;
	if (first === undefined) return withoutCondition(conditions, type);
	const {reason, message} = first;
	return noted(
		conditions,
		{type, status: 'True', ...(reason === undefined ? {} : {reason}), ...(message === undefined ? {} : {message})},
		nowMs,
	);
}

function noted(
	conditions: Conditions,
	condition: Omit<DeploymentCondition, 'lastTransitionTime' | 'lastUpdateTime'>,
	nowMs: number,
): Conditions {
	const old = conditionOf(conditions, condition.type) as DeploymentCondition | undefined;
	const isSame = old?.status === condition.status && old.reason === condition.reason && old.message === condition.message;
	const lastUpdateTime = isSame && old.lastUpdateTime !== '' ? old.lastUpdateTime : timestampOf(nowMs);
	return withCondition(conditions, condition, nowMs).map(each =>
		each.type === condition.type ? {...each, ...(lastUpdateTime === undefined ? {} : {lastUpdateTime})} : each,
	);
}
