// What a pod got from its PriorityClass when it was made stays when it is written again by a client that does not know of it.

import type {PodSpec} from '../shapes/pod.js';

export function withKeptPriority(spec: PodSpec, old: PodSpec | undefined): PodSpec {
	if (old?.priority === undefined || (spec.priority !== undefined && spec.preemptionPolicy !== undefined)) return spec;
	const {priorityClassName, priority, preemptionPolicy} = old;
	return {
		...(priorityClassName === undefined ? {} : {priorityClassName}),
		priority,
		...(preemptionPolicy === undefined ? {} : {preemptionPolicy}),
		...spec,
	};
}
