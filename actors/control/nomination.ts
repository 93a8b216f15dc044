// Room that is kept for a pod on a node while others leave it.

import type {Pod, PodStatus} from '../../api/kinds/pod.js';
import type {Handled} from './objects/controller.js';
import {departing} from './pods/departure.js';
import {isDeleting} from './objects/garbage.js';

/** Another pod counts more and gets its place. */
export const preempted = (pod: Pod, node: string, by: string, nowMs: number): Handled<Pod> =>
	departing(
		pod,
		{event: 'Preempted', reason: 'PreemptionByScheduler', message: `pod ${by} of a higher priority takes its place on node ${node}`},
		nowMs,
	);

/** Room is kept on the node, or nowhere any more. */
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

/** A bound pod waits for no room. */
export function withoutNomination(status: PodStatus | undefined): PodStatus | undefined {
	if (status?.nominatedNodeName === undefined) return status;
	const {nominatedNodeName: _kept, ...rest} = status;
	return rest;
}
