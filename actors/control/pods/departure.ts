// A pod that has to go though no client deleted it: its programs get their grace, and the pod says why.

import type {Pod} from '../../../api/kinds/pod.js';
import {timestampOf} from '../../../api/object.js';
import {withCondition} from '../objects/conditions.js';
import type {Handled} from '../objects/controller.js';
import {warning} from '../objects/event.js';
import {isDeleting} from '../objects/garbage.js';
import {graceOf} from './pod-grace.js';
import {isTerminal} from './pod-lifecycle.js';

export type Departure = {
	/** Of the event. */
	readonly event: string;
	/** Of the condition DisruptionTarget, as in Kubernetes. */
	readonly reason: string;
	readonly message: string;
};

/** The pod on its way out; one that goes or is over already is left as it is. */
export function departing(pod: Pod, {event, reason, message}: Departure, nowMs: number): Handled<Pod> {
	if (isDeleting(pod) || isTerminal(pod)) return {ok: true, object: pod};
	const seconds = graceOf(pod);
	const condition = {type: 'DisruptionTarget', status: 'True', reason, message} as const;
	return {
		ok: true,
		object: {
			...pod,
			metadata: {...pod.metadata, deletionTimestamp: timestampOf(nowMs + seconds * 1000), deletionGracePeriodSeconds: seconds},
			status: {...pod.status, phase: pod.status?.phase ?? 'Pending', conditions: withCondition(pod.status?.conditions, condition, nowMs)},
		},
		effects: [warning(event, message)],
	};
}
