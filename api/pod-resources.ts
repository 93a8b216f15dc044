// What a whole pod asks for, and may use at most, of cpu and memory.

import {cpuMillis, memoryBytes} from './quantity.js';
import type {Container, PodSpec, Quantities} from './shapes/pod.js';

export type Amounts = {readonly cpuMillis: number; readonly memoryBytes: number};

export const noAmounts: Amounts = {cpuMillis: 0, memoryBytes: 0};

/** As Kubernetes computes it: init containers run one after the other, before all others, so the largest of them counts where it is more. */
export const podRequests = ({containers, initContainers = []}: PodSpec): Amounts =>
	larger(containers.map(requestsOf).reduce(added, noAmounts), initContainers.map(requestsOf).reduce(larger, noAmounts));

/** Alike, of the limits; a container without one counts as 0. */
export const podLimits = ({containers, initContainers = []}: PodSpec): Amounts =>
	larger(containers.map(limitsOf).reduce(added, noAmounts), initContainers.map(limitsOf).reduce(larger, noAmounts));

/** A limit without a request is the request, too. */
const requestsOf = ({resources}: Container): Amounts =>
	resources === undefined ? noAmounts : amountsOf({...resources.limits, ...resources.requests});

const limitsOf = ({resources}: Container): Amounts => amountsOf(resources?.limits ?? {});

const amountsOf = (quantities: Quantities): Amounts => ({
	cpuMillis: (quantities['cpu'] === undefined ? undefined : cpuMillis(quantities['cpu'])) ?? 0,
	memoryBytes: (quantities['memory'] === undefined ? undefined : memoryBytes(quantities['memory'])) ?? 0,
});

export const added = (a: Amounts, b: Amounts): Amounts => ({
	cpuMillis: a.cpuMillis + b.cpuMillis,
	memoryBytes: a.memoryBytes + b.memoryBytes,
});

const larger = (a: Amounts, b: Amounts): Amounts => ({
	cpuMillis: Math.max(a.cpuMillis, b.cpuMillis),
	memoryBytes: Math.max(a.memoryBytes, b.memoryBytes),
});
