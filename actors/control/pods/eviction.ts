// What becomes of a pod whose node is lost: its owner makes another, it is bound anew as it is, or it waits for the node.
//
// The detector asks, since it alone knows for how long a node has been silent; the pod's record decides once more, and does it
// in one commit. Both use what is here.

import {conditionOf} from '../../../api/conditions.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {isExclusive} from '../../../api/exclusive.js';
import {limits} from '../../../api/limits.js';
import {timestampOf} from '../../../api/object.js';
import {unreachableTaint} from '../../../api/rules/taints.js';
import type {Context} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {nodeKey} from '../../addresses.js';
import {withCondition} from '../objects/conditions.js';
import type {Handled} from '../objects/controller.js';
import {warning} from '../objects/event.js';
import {isDeleting} from '../objects/garbage.js';
import {controllerOf} from '../objects/owners.js';
import {nodeGraceMs} from './node-grace.js';
import {isTerminal} from './pod-lifecycle.js';
import {toleratedMs} from './toleration.js';

/** The reason of PodScheduled where the scheduler chose the node, and so may choose another. A manifest's own node has none. */
export const boundByScheduler = 'BoundByScheduler';

/** Why a pod is not ready: nothing is heard of its node. */
const nodeLost = 'NodeLost';

/** Why a pod has no node any more. */
const replaced = 'Replaced';

/** The taint is there from the moment a node counts as dead until it is heard again. */
export const isLost = ({spec}: NodeObject): boolean => spec?.taints?.some(({key}) => key === unreachableTaint) === true;

/** Whether a pod bound there may be replaced: the node is committed as lost, or has no record any more. */
export function isGoneNode(name: string, known: Known): boolean {
	const node = known.get(nodeKey(name)) as NodeObject | undefined;
	return node === undefined || isLost(node);
}

type WayOut = 'remove' | 'rebind' | 'stay';

/** What is over stays as it is: it needs no node. */
function wayOut(pod: Pod): WayOut {
	if (isDeleting(pod)) return 'remove';
	if (isTerminal(pod)) return 'stay';
	if (controllerOf(pod) !== undefined) return 'remove';
	return conditionOf(pod.status?.conditions, 'PodScheduled')?.reason === boundByScheduler ? 'rebind' : 'stay';
}

/** What is known of a node that is dead. */
export type Loss = {
	readonly silentMs: number;
	/** What a pod that says nothing tolerates. */
	readonly graceMs: number;
	/** It has no record any more: no toleration covers that. */
	readonly isDeparted: boolean;
};

/** What has to be asked of a pod now; undefined for nothing. */
export function evictionOf(pod: Pod, {silentMs, graceMs, isDeparted}: Loss): 'evict' | 'nodeLost' | undefined {
	const mayRun = isExclusive(pod.metadata) && silentMs < leaseOverMs;
	if (isDeleting(pod)) return mayRun || pod.metadata.deletionGracePeriodSeconds === 0 ? undefined : 'evict';
	if (isTerminal(pod)) return undefined;
	const isDue = !mayRun && (isDeparted || silentMs >= (toleratedMs(pod, lostTaint) ?? graceMs));
	if (wayOut(pod) !== 'stay' && isDue) return 'evict';
	return conditionOf(pod.status?.conditions, 'Ready')?.reason === nodeLost ? undefined : 'nodeLost';
}

/** Even if a client confirms the loss: until then its node may still run an exclusive pod. */
const leaseOverMs = (limits.podLeaseTtlMs + limits.podLeaseKillMs) * 1.1;

const lostTaint = {key: unreachableTaint, effect: 'NoExecute'} as const;

/** The pod leaves its lost node, in one commit: removed (finalizers aside), without a node, or marked where it has to stay. */
export function evicted(pod: Pod, node: string, context: Context): Handled<Pod> {
	switch (wayOut(pod)) {
		case 'remove':
			return removed(pod, node, context);
		case 'rebind':
			return unbound(pod, node, context);
		case 'stay':
			return marked(pod, node, context);
	}
}

function removed(pod: Pod, node: string, {nowMs}: Context): Handled<Pod> {
	const {deletionTimestamp = timestampOf(nowMs)} = pod.metadata;
	return {
		ok: true,
		object: {...pod, metadata: {...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 0}},
		effects: [warning(replaced, `node "${node}" is lost, and the pod with it`)],
	};
}

function unbound(pod: Pod, node: string, {nowMs}: Context): Handled<Pod> {
	const {spec, status} = pod;
	if (spec === undefined) return {ok: true, object: pod};
	const {nodeName: _lost, ...rest} = spec;
	const message = `node "${node}" is lost; the pod waits for another one`;
	const conditions = withCondition(
		status?.conditions?.filter(({type}) => type === 'PodScheduled' || type === 'ActorFailed'),
		{type: 'PodScheduled', status: 'False', reason: replaced, message},
		nowMs,
	);
	const qosClass = status?.qosClass;
	return {
		ok: true,
		object: {...pod, spec: rest, status: {phase: 'Pending', conditions, ...(qosClass === undefined ? {} : {qosClass})}},
		effects: [warning(replaced, message)],
	};
}

/** Its owner does not count it as ready; the node's first report after its return says otherwise. */
export function marked(pod: Pod, node: string, {nowMs, known}: Context): Handled<Pod> {
	if (isTerminal(pod) || isDeleting(pod)) return {ok: true, object: pod};
	const message = `node "${node}" is lost; ${whyItStays(pod, known)}`;
	const conditions = withCondition(pod.status?.conditions, {type: 'Ready', status: 'False', reason: nodeLost, message}, nowMs);
	if (conditions === pod.status?.conditions) return {ok: true, object: pod};
	return {
		ok: true,
		object: {...pod, status: {...pod.status, phase: pod.status?.phase ?? 'Pending', conditions}},
		effects: [warning(nodeLost, message)],
	};
}

function whyItStays(pod: Pod, known: Known): string {
	if (wayOut(pod) === 'stay') return 'the pod waits for it, since its manifest and not the scheduler named that node';
	const ms = toleratedMs(pod, lostTaint) ?? nodeGraceMs(known);
	if (isExclusive(pod.metadata)) return 'the pod is exclusive and waits at least for the end of its lease';
	return Number.isFinite(ms) ? `the pod tolerates that for ${ms / 1000} s` : 'the pod tolerates that';
}
