// The node that a pod is nominated for: its resources there are reserved while pods of a lower priority leave.

import type {Pod, PodStatus} from '../../../api/kinds/pod.js';
import type {Handled} from '../objects/controller.js';
import {departing} from './departure.js';
import {isDeleting} from '../objects/garbage.js';

/** A pod of a higher priority takes its place. */
export const preempted = (pod: Pod, node: string, by: string, nowMs: number): Handled<Pod> =>
	departing(
		pod,
		{event: 'Preempted', reason: 'PreemptionByScheduler', message: `pod ${by} of a higher priority takes its place on node ${node}`},
		nowMs,
	);

/** Undefined: for no node any more. */
export function nominatedOn(pod: Pod, node: string | undefined): Handled<Pod> {
	const {status, spec} = pod;
	if (spec?.nodeName !== undefined || isDeleting(pod) || status?.nominatedNodeName === node) return {ok: true, object: pod};
	const {nominatedNodeName: _before, ...rest} = status ?? {phase: 'Pending'};
	if (node === undefined) return {ok: true, object: {...pod, status: rest}};
	return {
		ok: true,
		object: {...pod, status: {...rest, nominatedNodeName: node}},
		effects: [{type: 'event', event: 'Normal', reason: 'Nominated', message: `pods of a lower priority leave node ${node} for it`}],
	};
}

/** A bound pod is nominated for no node. */
export function withoutNomination(status: PodStatus | undefined): PodStatus | undefined {
	if (status?.nominatedNodeName === undefined) return status;
	const {nominatedNodeName: _before, ...rest} = status;
	return rest;
}
