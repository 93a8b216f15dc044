// The pods of a target as the formula sees them, after Kubernetes: what is over or being deleted does not count, what has not begun is not ready, and
// what a pod uses of processors while it starts says nothing. Pure.

import {conditionOf} from '../../../api/conditions.js';
import type {Container, Pod} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import {cpuMillis, memoryBytes} from '../../../api/quantity.js';
import {sidecarsIn} from '../../../api/sidecars.js';
import type {Used} from '../../protocol/usage-message.js';
import {isDeleting} from '../objects/garbage.js';
import type {Measured} from './autoscaling-message.js';
import type {PodFigure} from './replica-count.js';

export type Resource = 'cpu' | 'memory';

/** Of those that count. */
export function figuresOf(pods: readonly Pod[], resource: Resource, measured: Measured, nowMs: number): readonly PodFigure[] {
	return pods.filter(pod => !isDeleting(pod) && !isOver(pod)).map(pod => figureOf(pod, resource, measured, nowMs));
}

const isOver = ({status}: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded';

function figureOf(pod: Pod, resource: Resource, {usage, askedAtMs}: Measured, nowMs: number): PodFigure {
	const requested = requestedBy(pod, resource);
	if ((pod.status?.phase ?? 'Pending') === 'Pending') return {standing: 'unready', requested};
	const used = usedBy(pod, usage.get(pod.metadata.uid));
	if (used === undefined) return {standing: 'missing', requested};
	if (resource === 'memory') return {standing: 'measured', used: used.memoryBytes, requested};
	if (isTooEarly(pod, askedAtMs - used.windowMs, nowMs)) return {standing: 'unready', requested};
	return {standing: 'measured', used: Math.ceil(used.cpuNanocores / 1e6), requested};
}

/** Of all that runs in it; undefined where not all of that is known. */
function usedBy(pod: Pod, containers: ReadonlyMap<string, Used | undefined> | undefined): Used | undefined {
	const names = allOf(pod).map(({name}) => name);
	const told = names.filter(name => containers?.has(name) === true).map(name => containers?.get(name));
	if (told.length === 0) return undefined;
	let sum: Used = {cpuNanocores: 0, windowMs: 0, memoryBytes: 0};
	for (const used of told) {
		if (used === undefined) return undefined;
		sum = {
			cpuNanocores: sum.cpuNanocores + used.cpuNanocores,
			windowMs: Math.max(sum.windowMs, used.windowMs),
			memoryBytes: sum.memoryBytes + used.memoryBytes,
		};
	}
	return sum;
}

const allOf = ({spec}: Pod): readonly Container[] => [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];

/** What runs all the time. */
const lastingOf = ({spec}: Pod): readonly Container[] => (spec === undefined ? [] : [...sidecarsIn(spec), ...spec.containers]);

/** Undefined: one of its containers requests none. */
function requestedBy(pod: Pod, resource: Resource): number | undefined {
	const amounts = lastingOf(pod).map(container => requestOf(container, resource));
	return amounts.every(amount => amount !== undefined) ? amounts.reduce((sum, amount) => sum + amount, 0) : undefined;
}

function requestOf({resources}: Container, resource: Resource): number | undefined {
	const quantity = resources?.requests?.[resource];
	if (quantity === undefined) return undefined;
	return resource === 'cpu' ? cpuMillis(quantity) : memoryBytes(quantity);
}

/** The first container that requests none, in words. */
export function lacking(pods: readonly Pod[], resource: Resource): string {
	for (const pod of pods) {
		const container = lastingOf(pod).find(each => requestOf(each, resource) === undefined);
		if (container !== undefined) return `missing request for ${resource} in container ${container.name} of Pod ${pod.metadata.name}`;
	}
	return `missing request for ${resource}`;
}

/** Whether the time that was measured is one in which the pod was starting. */
function isTooEarly({status}: Pod, sinceMs: number, nowMs: number): boolean {
	const ready = conditionOf(status?.conditions, 'Ready');
	const startedMs = Date.parse(status?.startTime ?? '');
	if (ready === undefined || Number.isNaN(startedMs)) return true;
	const changedMs = Date.parse(ready.lastTransitionTime ?? '') || 0;
	if (startedMs + limits.autoscaleCpuInitialMs > nowMs) return ready.status === 'False' || sinceMs < changedMs;
	return ready.status === 'False' && startedMs + limits.autoscaleReadyInitialMs > changedMs;
}
