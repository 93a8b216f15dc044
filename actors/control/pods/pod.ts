// The record of a pod: what is desired of it, and what its node last saw. The scheduler binds it, node sync carries it.

import {conditionOf, isConditionTrue} from '../../../api/conditions.js';
import {isExclusive, leaseEpochAnnotation} from '../../../api/exclusive.js';
import {failure} from '../../../api/errors.js';
import {functionInstanceOf} from '../../../api/function-instance.js';
import {evictedReason} from '../../../api/node-pressure.js';
import type {ContainerStatus, Pod, PodStatus} from '../../../api/kinds/pod.js';
import {timestampOf, type Condition} from '../../../api/object.js';
import type {Context, ReplyTo} from '../../../system/kernel/behavior.js';
import type {Filing, Known} from '../../../system/index/object-index.js';
import {nodeKey} from '../../addresses.js';
import {configKeysOf, configTerm} from '../../config-references.js';
import type {PodEvent} from '../../protocol/sync-message.js';
import {withCondition} from '../objects/conditions.js';
import {controller, type Handled, type Reconciliation} from '../objects/controller.js';
import {boundByScheduler, evicted, isGoneNode, marked} from './eviction.js';
import {normal, warning} from '../objects/event.js';
import {isDeleting} from '../objects/garbage.js';
import {notMeant} from '../objects/meant.js';
import {usageTerms} from '../objects/quota-usage.js';
import {controllerOf, strayTerm} from '../objects/owners.js';
import {counted, dismissed, jobTerms, type JobNews} from './job-pod.js';
import {nominatedOn, preempted, withoutNomination} from './nomination.js';
import {expelled, taintEffects, type TaintDue} from './taint-eviction.js';
import {isActive, isReady, isTerminal, readySinceMs, unschedulableReason} from './pod-lifecycle.js';
import {withRuntimeClass} from './pod-class.js';
import {graceOf} from './pod-grace.js';
import {withinLimits} from './pod-limits.js';
import {withPriority} from './pod-priority.js';
import {
	artifactOnNode,
	censusTerm,
	namesOnNode,
	ownedTerm,
	readyInTerm,
	readySpanOf,
	schedulingTerms,
	setTerms,
	type PodStanding,
} from './pod-terms.js';

type PodNews =
	/** The scheduler chose a node. */
	| {readonly type: 'bind'; readonly nodeName: string}
	/** No node fits; the message says why, node by node. */
	| {readonly type: 'unschedulable'; readonly message: string}
	/** What the node sees of it. */
	| {readonly type: 'observed'; readonly node: string; readonly status: PodStatus; readonly events: readonly PodEvent[]}
	/** The node has nothing of it any more. */
	| {readonly type: 'gone'; readonly node: string}
	/** Its node is lost, and longer than it tolerates. */
	| {readonly type: 'evict'; readonly node: string}
	/** A pod of a higher priority gets its place. */
	| {readonly type: 'preempt'; readonly node: string; readonly by: string}
	/** Its resources are reserved on a node; undefined: on none any more. */
	| {readonly type: 'nominate'; readonly nodeName: string | undefined}
	| TaintDue
	| JobNews
	/** Its node is lost, and it stays there for now. */
	| {readonly type: 'nodeLost'; readonly node: string};

/** The uid says which pod of that name is meant. */
export type PodMessage = PodNews & {readonly uid: string; readonly replyTo?: ReplyTo | undefined};

/** Known before it is looked at which pod is meant. */
const podMessages: {readonly [Type in PodMessage['type']]: true} = {
	bind: true,
	unschedulable: true,
	observed: true,
	gone: true,
	evict: true,
	preempt: true,
	nominate: true,
	taintDue: true,
	counted: true,
	dismiss: true,
	nodeLost: true,
};

export const podController = controller<Pod, PodMessage>({
	plural: 'pods',
	prepare(draft, known) {
		const prioritised = withPriority(draft, known);
		return prioritised.ok ? withinLimits(withRuntimeClass(prioritised.value, known), known) : prioritised;
	},
	terms: pod => [...schedulingTerms(pod), ...namesTerms(pod), ...ownerTerms(pod), ...setTerms(pod), ...jobTerms(pod), ...quotaTerms(pod)],
	reconcile,
	receive(pod, message, context) {
		if (!Object.hasOwn(podMessages, message.type)) return undefined;
		const {nowMs} = context;
		const refusal = refusalOf(pod, message, context.known);
		if (refusal !== undefined) return refused(pod, refusal);
		switch (message.type) {
			case 'bind':
				return bound(pod, message.nodeName, context);
			case 'unschedulable':
				return unschedulable(pod, message.message, nowMs);
			case 'preempt':
				return preempted(pod, message.node, message.by, nowMs);
			case 'nominate':
				return nominatedOn(pod, message.nodeName);
			case 'counted':
				return counted(pod);
			case 'dismiss':
				return dismissed(pod, nowMs);
			case 'taintDue':
				return expelled(pod, message, context);
			case 'observed':
				return observed(pod, message.status, message.events, nowMs);
			case 'gone':
				return gone(pod);
			case 'evict':
				return evicted(pod, message.node, context);
			case 'nodeLost':
				return marked(pod, message.node, context);
		}
	},
	graceSeconds: graceOf,
	isRemovable: (pod, known) => hasNothingToStop(pod, known),
});

/** A pod that its manifest bound is as scheduled as one that the scheduler did. */
function reconcile(pod: Pod, context: Context): Reconciliation<PodStatus> {
	if (pod.spec?.nodeName === undefined || pod.status === undefined) return {effects: []};
	const effects = taintEffects(pod, context);
	if (isConditionTrue(pod.status.conditions, 'PodScheduled')) return {effects};
	return {status: {...pod.status, conditions: withCondition(pod.status.conditions, scheduled, context.nowMs)}, effects};
}

const scheduled = {type: 'PodScheduled', status: 'True'} as const;

/**
 * No agent will say of a node that is not registered that its pod is gone: there is nothing to wait for. But for an exclusive one that was
 * seen there: it may run until its lease is over, and then it is evicted.
 */
function hasNothingToStop({spec, metadata, status}: Pod, known: Known): boolean {
	if (spec?.nodeName === undefined || metadata.deletionGracePeriodSeconds === 0) return true;
	return known.get(nodeKey(spec.nodeName)) === undefined && !(isExclusive(metadata) && status?.containerStatuses !== undefined);
}

const standingOf = (pod: Pod): PodStanding => (!isActive(pod) ? 'over' : isReady(pod) ? 'ready' : 'unready');

function ownerTerms(pod: Pod): readonly string[] {
	const {ownerReferences = [], labels, namespace = ''} = pod.metadata;
	const standing = standingOf(pod);
	const sinceMs = standing === 'ready' ? readySinceMs(pod) : undefined;
	const terms = ownerReferences.flatMap(({uid}) => [
		ownedTerm(uid),
		censusTerm(uid, labels, standing),
		...(sinceMs === undefined ? [] : [readyInTerm(uid, labels, readySpanOf(sinceMs))]),
	]);
	return controllerOf(pod) === undefined ? [...terms, strayTerm(namespace)] : terms;
}

/** What is said of another pod, or of one that is not, or no longer, on that node, means nothing for this one. */
function refusalOf(pod: Pod, message: PodMessage, known: Known): string | undefined {
	const another = notMeant(pod, message.uid, 'pod');
	if (another !== undefined) return another;
	if (!('node' in message)) return undefined;
	if (message.node !== pod.spec?.nodeName) return `it is not on node "${message.node}"`;
	const isVerdict = message.type === 'evict' || message.type === 'nodeLost';
	return isVerdict && !isGoneNode(message.node, known) ? `node "${message.node}" is not lost` : undefined;
}

/** Pods that are over take nothing of a quota. */
const quotaTerms = (pod: Pod): readonly Filing[] =>
	pod.spec === undefined || isTerminal(pod) ? [] : usageTerms(pod.metadata.namespace ?? '', pod.spec);

/** What a pod names no node needs before the pod is bound. */
function namesTerms({metadata, spec}: Pod): readonly string[] {
	const node = spec?.nodeName;
	if (spec === undefined || node === undefined) return [];
	const artifact = functionInstanceOf(metadata.annotations)?.artifact;
	return [
		...configKeysOf(spec, metadata.namespace ?? '').flatMap(key => [configTerm(key), namesOnNode(node, key)]),
		...(artifact === undefined ? [] : [artifactOnNode(node, artifact)]),
	];
}

const refused = (pod: Pod, message: string): Handled<Pod> => ({
	ok: false,
	error: failure('ERR_CONFLICT', {resource: 'pods', name: pod.metadata.name, message}),
});

function bound(pod: Pod, nodeName: string, {nowMs, known}: Context): Handled<Pod> {
	const {spec, metadata} = pod;
	if (spec === undefined) return refused(pod, 'it has no spec');
	if (spec.nodeName !== undefined)
		return spec.nodeName === nodeName ? {ok: true, object: pod} : refused(pod, `it is bound to node "${spec.nodeName}" already`);
	if (isDeleting(pod)) return refused(pod, 'it is being deleted');
	const conditions = withCondition(pod.status?.conditions, {...scheduled, reason: boundByScheduler}, nowMs);
	return {
		ok: true,
		object: {
			...pod,
			metadata: leased(metadata, known),
			spec: {...spec, nodeName},
			status: {...withoutNomination(pod.status), phase: pod.status?.phase ?? 'Pending', conditions},
		},
		effects: [normal('Scheduled', `assigned ${metadata.namespace}/${metadata.name} to ${nodeName}`)],
	};
}

/** The next binding of any pod is a later write, and so has a higher epoch. */
const leased = (metadata: Pod['metadata'], {version}: Known): Pod['metadata'] =>
	isExclusive(metadata) ? {...metadata, annotations: {...metadata.annotations, [leaseEpochAnnotation]: String(version)}} : metadata;

function unschedulable(pod: Pod, message: string, nowMs: number): Handled<Pod> {
	if (pod.spec?.nodeName !== undefined || isDeleting(pod)) return {ok: true, object: pod};
	const condition = {type: 'PodScheduled', status: 'False', reason: unschedulableReason, message} as const;
	const conditions = withCondition(pod.status?.conditions, condition, nowMs);
	if (conditions === pod.status?.conditions) return {ok: true, object: pod};
	return {
		ok: true,
		object: {...pod, status: {...pod.status, phase: 'Pending', conditions}},
		effects: [warning('FailedScheduling', message)],
	};
}

/** What no node knows of. */
const ownConditions: ReadonlySet<string> = new Set(['PodScheduled', 'ActorFailed', 'DisruptionTarget']);

/** A job's failure policy may say that such an end does not count. In Kubernetes' words. */
const endedByNode = {type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet'} as const;

/** The node's view replaces ours, but for what it cannot know: how the pod came to it. */
function observed(pod: Pod, status: PodStatus, events: readonly PodEvent[], nowMs: number): Handled<Pod> {
	const present = pod.status?.conditions ?? [];
	const ours = present.filter(({type}) => ownConditions.has(type));
	const theirs = (status.conditions ?? []).filter(({type}) => !ownConditions.has(type));
	const known = [...ours, ...theirs.map(condition => since(condition, conditionOf(present, condition.type), nowMs))];
	const {reason, message = ''} = status;
	const conditions = reason === evictedReason ? withCondition(known, {...endedByNode, message}, nowMs) : known;
	const {qosClass, startTime = status.startTime} = pod.status ?? {};
	return {
		ok: true,
		object: {
			...pod,
			status: {...status, conditions, ...(qosClass === undefined ? {} : {qosClass}), ...(startTime === undefined ? {} : {startTime})},
		},
		effects: events.filter(event => !isKnownEnd(event, pod.status)).map(({finishedAtMs: _, ...event}) => ({type: 'event', ...event})),
	};
}

/** The end of an attempt is told with the status that shows it, and counts once. */
function isKnownEnd({fieldPath, finishedAtMs}: PodEvent, known: PodStatus | undefined): boolean {
	if (finishedAtMs === undefined) return false;
	const {containerStatuses = [], initContainerStatuses = []} = known ?? {};
	const shows = (list: readonly ContainerStatus[], field: string): boolean =>
		list.some(
			({name, state, lastState}) =>
				fieldPath === `spec.${field}{${name}}` &&
				[state, lastState].some(each => Date.parse(each?.terminated?.finishedAt ?? '') === finishedAtMs),
		);
	return shows(containerStatuses, 'containers') || shows(initContainerStatuses, 'initContainers');
}

/** A node that started again does not know since when things are as they are, and the clocks of two hosts are never compared. */
const since = (now: Condition, before: Condition | undefined, nowMs: number): Condition => ({
	...now,
	lastTransitionTime:
		before?.status === now.status && before.lastTransitionTime !== undefined ? before.lastTransitionTime : timestampOf(nowMs),
});

/** As Kubernetes' kubelet ends a pod: grace 0 means that nothing is left to wait for. A gone pod that no client deleted starts anew on its node. */
function gone(pod: Pod): Handled<Pod> {
	if (!isDeleting(pod) || pod.metadata.deletionGracePeriodSeconds === 0) return {ok: true, object: pod};
	return {ok: true, object: {...pod, metadata: {...pod.metadata, deletionGracePeriodSeconds: 0}}};
}
