// What Kubernetes fills in when a pod does not say, as far as it means something here. Called on what passed the schema.

import {gpuResource} from '../gpu.js';
import {limits} from '../limits.js';
import type {Mutable} from '../object.js';
import {nanoCpusFrom, cpuMillis, cpuText} from '../quantity.js';
import type {
	Container,
	ContainerPort,
	ImagePullPolicy,
	PodSpec,
	Quantities,
	Quantity,
	ResourceRequirements,
	Volume,
} from '../shapes/pod.js';
import {withLifecycleDefaults, withProbeDefaults} from './probe.js';

/** Of the files of a ConfigMap or Secret. */
const defaultMode = 0o644;

/** Of a pod: a limit of cpu or memory is written down as the request, too, where nothing else is said. */
export function withPodDefaults(spec: PodSpec): PodSpec {
	const filled = withTemplateDefaults(spec);
	const {containers, initContainers} = filled;
	return {
		...filled,
		containers: containers.map(withRequests),
		...(initContainers === undefined ? {} : {initContainers: initContainers.map(withRequests)}),
	};
}

/**
 * Of a template for pods, which has no requests but what it says: who changes a limit there need not change what he has not said. Each pod has them
 * written down when it is made.
 */
export function withTemplateDefaults(spec: PodSpec): PodSpec {
	const filled: Mutable<PodSpec> = {
		...spec,
		restartPolicy: spec.restartPolicy ?? 'Always',
		terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? limits.terminationGraceSeconds,
		containers: spec.containers.map(container => withContainerDefaults(container, spec)),
	};
	if (spec.initContainers !== undefined)
		filled.initContainers = spec.initContainers.map(container => withContainerDefaults(container, spec));
	if (spec.volumes !== undefined) filled.volumes = spec.volumes.map(withVolumeDefaults);
	return filled;
}

function withContainerDefaults(container: Container, {hostNetwork}: PodSpec): Container {
	const {ports, resources} = container;
	const filled: Mutable<Container> = {...container, imagePullPolicy: container.imagePullPolicy ?? pullPolicyOf(container.image)};
	if (ports !== undefined) filled.ports = ports.map(port => withProtocol(hostNetwork === true ? onHost(port) : port));
	if (resources !== undefined) filled.resources = withResourceDefaults(resources);
	for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
		const given = container[probe];
		if (given !== undefined) filled[probe] = withProbeDefaults(given);
	}
	if (container.lifecycle !== undefined) filled.lifecycle = withLifecycleDefaults(container.lifecycle);
	return filled;
}

function withVolumeDefaults(volume: Volume): Volume {
	const {configMap, secret} = volume;
	if (configMap !== undefined) return {...volume, configMap: {...configMap, defaultMode: configMap.defaultMode ?? defaultMode}};
	return secret === undefined ? volume : {...volume, secret: {...secret, defaultMode: secret.defaultMode ?? defaultMode}};
}

const withProtocol = (port: ContainerPort): ContainerPort => (port.protocol === undefined ? {...port, protocol: 'TCP'} : port);

/** On the network of its node a port is one of the node. */
const onHost = (port: ContainerPort): ContainerPort => (port.hostPort === undefined ? {...port, hostPort: port.containerPort} : port);

/** An image whose tag moves is looked for each time. */
function pullPolicyOf(image: string): ImagePullPolicy {
	const last = image.slice(image.lastIndexOf('/') + 1);
	if (last.includes('@')) return 'IfNotPresent';
	const tag = last.slice(last.indexOf(':') + 1);
	return last.includes(':') && tag !== 'latest' ? 'IfNotPresent' : 'Always';
}

function withResourceDefaults({requests, limits: most}: ResourceRequirements): ResourceRequirements {
	return {...(requests === undefined ? {} : {requests: inText(requests)}), ...(most === undefined ? {} : {limits: inText(most)})};
}

/** Of devices nothing but the limit can be the request: that is not written down. */
function withRequests(container: Container): Container {
	const {requests, limits: most} = container.resources ?? {};
	const {[gpuResource]: _whole, ...shared} = most ?? {};
	const asked = {...shared, ...requests};
	return Object.keys(asked).length === 0 ? container : {...container, resources: {...container.resources, requests: asked}};
}

/** The same quantities as text; the same reference when they are. */
export function inText(quantities: Quantities): Quantities {
	const texts = Object.entries(quantities).map(([resource, quantity]): [string, string] => [resource, quantityText(resource, quantity)]);
	return texts.every(([resource, text]) => text === quantities[resource]) ? quantities : Object.fromEntries(texts);
}

/** Numbers become text; nano-CPUs what Kubernetes would call them. */
function quantityText(resource: string, quantity: Quantity): string {
	const isNanoCpus = resource === 'cpu' && Number(quantity) >= nanoCpusFrom;
	const millis = isNanoCpus ? cpuMillis(quantity) : undefined;
	return millis === undefined ? String(quantity) : cpuText(millis);
}
