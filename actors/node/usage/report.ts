// What is used now, from samples: memory as it is in the newest, and of processors how much was used between two of them. Pure.

import {limits} from '../../../api/limits.js';
import type {ContainerId, ContainerUsage, ResourceFigures, UsageSample} from '../runtime/runtime-port.js';

/** What is used of processors and of memory. Undefined: it is not known, or not yet. */
export type ResourceUsage = {
	/** Nanoseconds of a processor in each second, on the average of `windowMs`. */
	readonly cpuNanocores: number | undefined;
	readonly windowMs: number | undefined;
	readonly memoryBytes: number | undefined;
};

export type UsageReport = {
	/** Wall time of the newest sample. */
	readonly atMs: number;
	readonly node: ResourceUsage;
	readonly containers: readonly (ContainerId & ResourceUsage)[];
};

/** What one sample tells, compared with those before it. `isEarly`: it has only just begun, and a later sample will tell of its processor what these do not. */
export type Measurement = {
	readonly atMs: number;
	readonly node: {readonly usage: ResourceUsage; readonly isEarly: boolean};
	readonly containers: readonly {readonly usage: ContainerId & ResourceUsage; readonly isEarly: boolean}[];
};

/** `before` has the oldest sample first. */
export function measurementOf(newest: UsageSample, before: readonly UsageSample[]): Measurement {
	const earlier = before.map(({containers}) => new Map(containers.map(each => [keyOf(each), each])));
	const node = usageOf(
		newest.node,
		before.map(sample => sample.node),
	);
	const containers = newest.containers.map(figures => {
		const key = keyOf(figures);
		const usage = usageOf(
			figures,
			earlier.flatMap(sample => sample.get(key) ?? []),
		);
		return {usage: {...figures.id, ...usage}, isEarly: isEarly(figures, usage)};
	});
	return {atMs: newest.atMs, node: {usage: node, isEarly: isEarly(newest.node, node)}, containers};
}

const isEarly = ({cpuNanos}: ResourceFigures, {cpuNanocores}: ResourceUsage): boolean =>
	cpuNanos !== undefined && cpuNanocores === undefined;

/** Of these pods, or of all. `isEarly`: something of it is. */
export function reportOf(
	{atMs, node, containers}: Measurement,
	uids: ReadonlySet<string> | undefined,
): {readonly report: UsageReport; readonly isEarly: boolean} {
	const wanted = containers.filter(({usage}) => uids?.has(usage.uid) !== false);
	return {
		report: {atMs, node: node.usage, containers: wanted.map(({usage}) => usage)},
		isEarly: [node, ...wanted].some(each => each.isEarly),
	};
}

/** Each attempt counts anew. */
const keyOf = ({id, attempt}: ContainerUsage): string => `${id.uid}/${id.container}/${attempt}`;

/** Compared with the latest of the earlier ones that is far enough away, else with the oldest. */
function usageOf(now: ResourceFigures, earlier: readonly ResourceFigures[]): ResourceUsage {
	const {readAtMs, cpuNanos, memoryBytes} = now;
	const since = earlier.findLast(each => readAtMs - each.readAtMs >= limits.usageWindowMs) ?? earlier[0];
	const windowMs = since === undefined ? 0 : readAtMs - since.readAtMs;
	const used = cpuNanos === undefined || since?.cpuNanos === undefined ? -1 : cpuNanos - since.cpuNanos;
	if (windowMs < limits.usageLeastWindowMs || used < 0) return {cpuNanocores: undefined, windowMs: undefined, memoryBytes};
	return {cpuNanocores: Math.round((used * 1_000) / windowMs), windowMs: Math.round(windowMs), memoryBytes};
}
