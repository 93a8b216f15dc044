// A pod keeps its class for life, also when a client writes it again that does not know of it.

import type {PodSpec} from '../shapes/pod.js';

export const withKeptClass = (spec: PodSpec, old: PodSpec | undefined): PodSpec =>
	old?.runtimeClassName === undefined || spec.runtimeClassName !== undefined ? spec : {...spec, runtimeClassName: old.runtimeClassName};
