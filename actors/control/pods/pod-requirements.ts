// What a pod requires of its node and prefers, read from its spec once.

import {requiredFeatures, type NodeFeature} from '../../../api/features.js';
import type {Container, PodSpec} from '../../../api/kinds/pod.js';
import {podRequests} from '../../../api/pod-resources.js';
import {runtimeClassOf, type RuntimeClass} from '../../../api/runtime-class.js';
import {sidecarsIn} from '../../../api/sidecars.js';

export type PodRequirements = {
	readonly spec: PodSpec;
	/** Equal in pods that may run on the same nodes, their labels and namespaces aside. */
	readonly key: string;
	readonly cpuMillis: number;
	readonly memoryBytes: number;
	readonly gpus: number;
	/** Where pods share the node's network. */
	readonly ports: readonly string[];
	/** Where pods have a network of their own: only those that it asks the node for. */
	readonly hostPorts: readonly string[];
	readonly features: readonly NodeFeature[];
	readonly runtimeClass: RuntimeClass;
	readonly priority: number;
	/** Whether its filters or scores depend on where other pods are. */
	readonly dependsOnPods: boolean;
	/** Whether the bind of another pod may make it fit: it has to be near to one, or is held back by a domain that has too few. */
	readonly gainsByBinds: boolean;
	/** Whether it prefers some of the nodes where it may run. */
	readonly hasPreferences: boolean;
};

const read = new WeakMap<PodSpec, PodRequirements>();

/** By the reference of the spec, which stays while status and metadata change. */
export function requirementsOf(spec: PodSpec): PodRequirements {
	const found = read.get(spec);
	if (found !== undefined) return found;
	const made = readRequirements(spec);
	read.set(spec, made);
	return made;
}

function readRequirements(spec: PodSpec): PodRequirements {
	const {cpuMillis, memoryBytes, gpus} = podRequests(spec);
	const {affinity: {nodeAffinity, podAffinity, podAntiAffinity} = {}, topologySpreadConstraints: spread = []} = spec;
	const ports = claimedPorts(spec);
	const hostPorts = claimedPorts(spec, spec.hostNetwork === true);
	const features = requiredFeatures(spec);
	const runtimeClass = runtimeClassOf(spec);
	const priority = spec.priority ?? 0;
	const isHard = spread.some(({whenUnsatisfiable}) => whenUnsatisfiable === 'DoNotSchedule');
	const isSoft = spread.some(({whenUnsatisfiable}) => whenUnsatisfiable === 'ScheduleAnyway');
	const preferred = [nodeAffinity, podAffinity, podAntiAffinity].flatMap(
		each => (each?.preferredDuringSchedulingIgnoredDuringExecution ?? []) as readonly unknown[],
	);
	const requiresPods = (podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length ?? 0) > 0;
	return {
		spec,
		key: JSON.stringify([
			spec.nodeSelector,
			spec.affinity,
			spec.tolerations,
			spec.topologySpreadConstraints,
			cpuMillis,
			memoryBytes,
			gpus,
			ports,
			hostPorts,
			features,
			runtimeClass,
			priority,
			spec.preemptionPolicy,
		]),
		cpuMillis,
		memoryBytes,
		gpus,
		ports,
		hostPorts,
		features,
		runtimeClass,
		priority,
		dependsOnPods: podAffinity !== undefined || podAntiAffinity !== undefined || spread.length > 0,
		gainsByBinds: requiresPods || isHard,
		hasPreferences: preferred.length > 0 || isSoft,
	};
}

/** Whether the pod keeps others away from where it is. */
export const requiresAntiAffinity = ({affinity}: Pick<PodSpec, 'affinity'>): boolean =>
	(affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length ?? 0) > 0;

/**
 * Ports that only one pod of a node can have, as `TCP/8080`. `isShared`: it shares its node's network, as a pod of class process does where that is
 * not routed: a container port is one of them, unless the container names its pod's own address and so binds there. Else only host ports are, on
 * whichever address.
 */
export const claimedPorts = (spec: PodSpec, isShared = sharesNetwork(spec)): readonly string[] => {
	const ports = [...sidecarsIn(spec), ...spec.containers].flatMap(container => portsOf(container, isShared));
	return ports.length < 2 ? ports : [...new Set(ports)];
};

/** Whether it asks for ports of its node only because pods share the node's network: a program that binds to its pod's own address needs none. */
export const sharesPorts = (spec: PodSpec): boolean =>
	sharesNetwork(spec) &&
	[...sidecarsIn(spec), ...spec.containers].some(
		container => container.ports?.some(({hostPort}) => hostPort === undefined) === true && !bindsToPodAddress(container),
	);

const sharesNetwork = (spec: PodSpec): boolean => runtimeClassOf(spec) === 'process';

function portsOf(container: Container, isShared: boolean): string[] {
	const {ports = []} = container;
	if (ports.length === 0) return [];
	const isTaken = isShared && !bindsToPodAddress(container);
	return ports.flatMap(({containerPort, hostPort, protocol = 'TCP'}) => [
		...(hostPort === undefined ? [] : [`${protocol}/${hostPort}`]),
		...(isTaken ? [`${protocol}/${containerPort}`] : []),
	]);
}

function bindsToPodAddress({command = [], args = [], env = []}: Container): boolean {
	const names = (text: string | undefined): boolean => text?.includes('$(POD_IP)') === true;
	return (
		[...command, ...args].some(names) || env.some(({value, valueFrom}) => names(value) || valueFrom?.fieldRef?.fieldPath === 'status.podIP')
	);
}
