// What a pod asks of its node, read from its spec once.

import {requiredFeatures, type NodeFeature} from '../../../api/features.js';
import type {PodSpec} from '../../../api/kinds/pod.js';
import {podRequests} from '../../../api/pod-resources.js';
import {claimedPorts} from './ports.js';

export type PodNeeds = {
	readonly spec: PodSpec;
	/** Equal in pods that may run at the same places, their labels and namespaces aside. */
	readonly key: string;
	readonly cpuMillis: number;
	readonly memoryBytes: number;
	readonly ports: readonly string[];
	readonly features: readonly NodeFeature[];
	readonly priority: number;
	/** Whether it looks at where other pods are. */
	readonly looksAtPods: boolean;
	/** Whether a pod that is bound may make it fit: it wants to be near to one, or is held back by a place that has too few. */
	readonly gainsByBinds: boolean;
	/** Whether it likes some of the places where it may run better than others. */
	readonly hasTastes: boolean;
};

const known = new WeakMap<PodSpec, PodNeeds>();

/** By the reference of the spec, which stays while status and metadata change. */
export function needsOf(spec: PodSpec): PodNeeds {
	const found = known.get(spec);
	if (found !== undefined) return found;
	const made = readNeeds(spec);
	known.set(spec, made);
	return made;
}

function readNeeds(spec: PodSpec): PodNeeds {
	const {cpuMillis, memoryBytes} = podRequests(spec);
	const {affinity: {nodeAffinity, podAffinity, podAntiAffinity} = {}, topologySpreadConstraints: spread = []} = spec;
	const ports = claimedPorts(spec);
	const features = requiredFeatures(spec);
	const priority = spec.priority ?? 0;
	const isHard = spread.some(({whenUnsatisfiable}) => whenUnsatisfiable === 'DoNotSchedule');
	const isSoft = spread.some(({whenUnsatisfiable}) => whenUnsatisfiable === 'ScheduleAnyway');
	const preferred = [nodeAffinity, podAffinity, podAntiAffinity].flatMap(
		each => (each?.preferredDuringSchedulingIgnoredDuringExecution ?? []) as readonly unknown[],
	);
	const wantsPods = (podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length ?? 0) > 0;
	return {
		spec,
		key: JSON.stringify([
			spec.nodeSelector,
			spec.affinity,
			spec.tolerations,
			spec.topologySpreadConstraints,
			cpuMillis,
			memoryBytes,
			ports,
			features,
			priority,
			spec.preemptionPolicy,
		]),
		cpuMillis,
		memoryBytes,
		ports,
		features,
		priority,
		looksAtPods: podAffinity !== undefined || podAntiAffinity !== undefined || spread.length > 0,
		gainsByBinds: wantsPods || isHard,
		hasTastes: preferred.length > 0 || isSoft,
	};
}

/** Whether the pod keeps others away from where it is. */
export const repels = ({affinity}: Pick<PodSpec, 'affinity'>): boolean =>
	(affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length ?? 0) > 0;
