// What a whole pod asks for, and may use at most, of cpu, memory and GPUs.

import {gpuResource} from './gpu.js';
import {cpuMillis, memoryBytes, quantityValue} from './quantity.js';
import {isSidecar} from './sidecars.js';
import type {Container, PodSpec, Quantities} from './shapes/pod.js';

export type Amounts = {readonly cpuMillis: number; readonly memoryBytes: number; readonly gpus: number};

export const noAmounts: Amounts = {cpuMillis: 0, memoryBytes: 0, gpus: 0};

/**
 * As Kubernetes computes it (PodRequests of k8s.io/component-helpers): init containers run one after the other, before all others, so the
 * largest of them counts where it is more; sidecars run beside all that come after them.
 */
export const podRequests = (spec: PodSpec): Amounts => sumOf(spec, requestsOf);

/** Alike, of the limits; a container without one counts as 0. */
export const podLimits = (spec: PodSpec): Amounts => sumOf(spec, limitsOf);

function sumOf({containers, initContainers = []}: PodSpec, amountsOfOne: (container: Container) => Amounts): Amounts {
	let sidecars = noAmounts;
	let most = noAmounts;
	for (const container of initContainers) {
		const beside = added(sidecars, amountsOfOne(container));
		if (isSidecar(container)) sidecars = beside;
		most = larger(most, beside);
	}
	return larger(containers.map(amountsOfOne).reduce(added, sidecars), most);
}

/** A limit without a request is the request, too. */
const requestsOf = ({resources}: Container): Amounts =>
	resources === undefined ? noAmounts : amountsOf({...resources.limits, ...resources.requests});

/** How many GPUs one container has. */
export const gpusOfContainer = (container: Container): number => requestsOf(container).gpus;

const limitsOf = ({resources}: Container): Amounts => amountsOf(resources?.limits ?? {});

const amountsOf = (quantities: Quantities): Amounts => ({
	cpuMillis: (quantities['cpu'] === undefined ? undefined : cpuMillis(quantities['cpu'])) ?? 0,
	memoryBytes: (quantities['memory'] === undefined ? undefined : memoryBytes(quantities['memory'])) ?? 0,
	gpus: (quantities[gpuResource] === undefined ? undefined : quantityValue(quantities[gpuResource])) ?? 0,
});

export const added = (a: Amounts, b: Amounts): Amounts => ({
	cpuMillis: a.cpuMillis + b.cpuMillis,
	memoryBytes: a.memoryBytes + b.memoryBytes,
	gpus: a.gpus + b.gpus,
});

const larger = (a: Amounts, b: Amounts): Amounts => ({
	cpuMillis: Math.max(a.cpuMillis, b.cpuMillis),
	memoryBytes: Math.max(a.memoryBytes, b.memoryBytes),
	gpus: Math.max(a.gpus, b.gpus),
});
