// Taints of effect NoExecute that people put on a node: pods leave that do not tolerate them, at once or when their toleration is over.
//
// Each pod's record decides for itself: a change of the taints wakes the pods there. The time when a taint came is kept in the taint, so
// that a restart begins no toleration anew. The taint of a node that is lost is not meant: no agent there could stop a program (eviction.ts).

import {conditionOf} from '../../../api/conditions.js';
import type {NodeObject, Taint} from '../../../api/kinds/node.js';
import type {Pod} from '../../../api/kinds/pod.js';
import {timestampOf} from '../../../api/object.js';
import {unreachableTaint} from '../../../api/rules/taints.js';
import {tell, type Context, type Effect} from '../../../system/kernel/behavior.js';
import {nodeKey} from '../../addresses.js';
import type {Handled} from '../objects/controller.js';
import {departing} from './departure.js';
import {isDeleting} from '../objects/garbage.js';
import {isTerminal} from './pod-lifecycle.js';
import {taintText, toleratedMs} from './toleration.js';

/** A pod's toleration of its node's taints is over. */
export type TaintDue = {readonly type: 'taintDue'; readonly uid: string; readonly node: string; readonly dueMs: number};

type Due = {readonly atMs: number; readonly afterMs: number; readonly taint: Taint};

/** The taints that make pods leave. */
export const expelling = (node: NodeObject | undefined): readonly Taint[] =>
	(node?.spec?.taints ?? []).filter(({key, effect}) => effect === 'NoExecute' && key !== unreachableTaint);

/** When the pod has to leave, by the wall clock; undefined for never. */
function dueOf(pod: Pod, known: Context['known'], nowMs: number): Due | undefined {
	const node = pod.spec?.nodeName;
	if (node === undefined || isDeleting(pod) || isTerminal(pod)) return undefined;
	const taints = expelling(known.get(nodeKey(node)) as NodeObject | undefined);
	const boundMs = timeOf(conditionOf(pod.status?.conditions, 'PodScheduled')?.lastTransitionTime) ?? 0;
	let due: Due | undefined;
	for (const taint of taints) {
		const afterMs = toleratedMs(pod, taint) ?? 0;
		if (!Number.isFinite(afterMs)) continue;
		// For a pod that came to a tainted node the time counts from then.
		const atMs = Math.max(timeOf(taint.timeAdded) ?? nowMs, boundMs) + afterMs;
		if (due === undefined || afterMs === 0 || atMs < due.atMs) due = {atMs: afterMs === 0 ? 0 : atMs, afterMs, taint};
	}
	return due;
}

function timeOf(text: string | undefined): number | undefined {
	const timeMs = text === undefined ? Number.NaN : Date.parse(text);
	return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** What a pod on a tainted node asks for: to be told when its time is over, or that it is. */
export function taintEffects(pod: Pod, {known, nowMs, self}: Context): readonly Effect[] {
	const due = dueOf(pod, known, nowMs);
	if (due === undefined) return [];
	const message: TaintDue = {type: 'taintDue', uid: pod.metadata.uid, node: pod.spec?.nodeName ?? '', dueMs: due.atMs};
	if (due.atMs <= nowMs) return [tell(self, message)];
	return [{type: 'wakeAt', name: 'taint', atMs: due.atMs, message, atMostMs: due.afterMs}];
}

/** A pod that was told of another time than the one that holds now is told again when that is over. */
export function expelled(pod: Pod, {dueMs}: TaintDue, {known, nowMs}: Context): Handled<Pod> {
	const due = dueOf(pod, known, nowMs);
	if (due?.atMs !== dueMs) return {ok: true, object: pod};
	const message = `the pod does not tolerate the taint ${taintText(due.taint)} of node ${pod.spec?.nodeName ?? ''}${due.afterMs === 0 ? '' : ' any longer'}`;
	return departing(pod, {event: 'TaintManagerEviction', reason: 'DeletionByTaintManager', message}, nowMs);
}

/** Whether the time of a taint is still to be written down. */
export const isUnstamped = (node: NodeObject): boolean => expelling(node).some(({timeAdded}) => timeAdded === undefined);

/** The node with the time of its new taints. */
export function stamped(node: NodeObject, nowMs: number): Handled<NodeObject> {
	if (!isUnstamped(node)) return {ok: true, object: node};
	const fresh = new Set(expelling(node).filter(({timeAdded}) => timeAdded === undefined));
	const taints = (node.spec?.taints ?? []).map(taint => (fresh.has(taint) ? {...taint, timeAdded: timestampOf(nowMs)} : taint));
	return {ok: true, object: {...node, spec: {...node.spec, taints}}};
}
