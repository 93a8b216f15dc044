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

/** What is measured of pods: of one container of each, or of all. */
export type Measurand = {readonly resource: Resource; readonly container: string | undefined};

/** Of those that count. */
export function figuresOf(pods: readonly Pod[], what: Measurand, measured: Measured, nowMs: number): readonly PodFigure[] {
	return pods.filter(counts).map(pod => figureOf(pod, what, measured, nowMs));
}

/** The same of numbers that come from elsewhere, in thousandths, by the names of the pods. */
export const figuresOfValues = (pods: readonly Pod[], values: ReadonlyMap<string, number>): readonly PodFigure[] =>
	pods.filter(counts).map(pod => {
		const value = values.get(pod.metadata.name);
		if (isPending(pod)) return {standing: 'unready', requested: undefined};
		return value === undefined
			? {standing: 'missing', requested: undefined}
			: {standing: 'measured', used: Math.round(value * 1_000), requested: undefined};
	});

/** How many of them are ready to take a part of what all share. */
export const readyOf = (pods: readonly Pod[]): number =>
	pods.filter(pod => counts(pod) && pod.status?.phase === 'Running' && conditionOf(pod.status.conditions, 'Ready')?.status === 'True')
		.length;

const counts = (pod: Pod): boolean => !isDeleting(pod) && !isOver(pod);

const isPending = ({status}: Pod): boolean => (status?.phase ?? 'Pending') === 'Pending';

const isOver = ({status}: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded';

function figureOf(pod: Pod, what: Measurand, {usage, askedAtMs}: Measured, nowMs: number): PodFigure {
	const {resource, container} = what;
	const requested = requestedBy(pod, what);
	if (isPending(pod)) return {standing: 'unready', requested};
	const used = usedBy(pod, container, usage.get(pod.metadata.uid));
	if (used === undefined) return {standing: 'missing', requested};
	if (resource === 'memory') return {standing: 'measured', used: used.memoryBytes, requested};
	if (isTooEarly(pod, askedAtMs - used.windowMs, nowMs)) return {standing: 'unready', requested};
	return {standing: 'measured', used: Math.ceil(used.cpuNanocores / 1e6), requested};
}

/** Of all that runs in it, or of one container; undefined where not all of that is known. */
function usedBy(pod: Pod, only: string | undefined, containers: ReadonlyMap<string, Used | undefined> | undefined): Used | undefined {
	const names = allOf(pod)
		.map(({name}) => name)
		.filter(name => only === undefined || name === only);
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

const measuredIn = (pod: Pod, {container}: Measurand): readonly Container[] =>
	lastingOf(pod).filter(({name}) => container === undefined || name === container);

/** Undefined: one of its containers requests none, or it has not the one that is meant. */
function requestedBy(pod: Pod, what: Measurand): number | undefined {
	const amounts = measuredIn(pod, what).map(container => requestOf(container, what.resource));
	return amounts.length > 0 && amounts.every(amount => amount !== undefined) ? amounts.reduce((sum, amount) => sum + amount, 0) : undefined;
}

function requestOf({resources}: Container, resource: Resource): number | undefined {
	const quantity = resources?.requests?.[resource];
	if (quantity === undefined) return undefined;
	return resource === 'cpu' ? cpuMillis(quantity) : memoryBytes(quantity);
}

/** The first container that requests none, in words. */
export function lacking(pods: readonly Pod[], what: Measurand): string {
	const {resource, container: only} = what;
	for (const pod of pods) {
		const containers = measuredIn(pod, what);
		if (only !== undefined && containers.length === 0) return `there is no container ${only} in Pod ${pod.metadata.name}`;
		const container = containers.find(each => requestOf(each, resource) === undefined);
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
