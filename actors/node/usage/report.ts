// What is used now, from samples: memory as it is in the newest, and of all that is counted how much it grew between two of them. Pure.

import {limits} from '../../../api/limits.js';
import {flows, type Rates, type Totals} from '../../protocol/usage-message.js';
import type {ContainerId, ContainerUsage, Counters, ResourceFigures, UsageSample} from '../runtime/runtime-port.js';
import {counterOf} from './totals.js';

/** What is used of processors and of memory. Undefined: it is not known, or not yet. */
export type ResourceUsage = {
	/** Nanoseconds of a processor in each second, on the average of `windowMs`. */
	readonly cpuNanocores: number | undefined;
	readonly windowMs: number | undefined;
	readonly memoryBytes: number | undefined;
	/** Left out: nothing of it is known. */
	readonly rates?: Rates;
};

export type PodRates = {readonly uid: string; readonly rates: Rates};

export type UsageReport = {
	/** Wall time of the newest sample. */
	readonly atMs: number;
	readonly node: ResourceUsage;
	/** Of the node. */
	readonly totals: Totals;
	readonly containers: readonly (ContainerId & ResourceUsage)[];
	/** Of pods with a network of their own; left out where there is none. */
	readonly traffic?: readonly PodRates[];
};

/** What one sample tells, compared with those before it. `isEarly`: it has only just begun, and a later sample will tell of its processor what these do not. */
export type Measurement = {
	readonly atMs: number;
	readonly node: {readonly usage: ResourceUsage; readonly isEarly: boolean};
	readonly containers: readonly {readonly usage: ContainerId & ResourceUsage; readonly isEarly: boolean}[];
	readonly traffic: readonly PodRates[];
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
	return {
		atMs: newest.atMs,
		node: {usage: node, isEarly: isEarly(newest.node, node)},
		containers,
		traffic: trafficOf(newest, before),
	};
}

const isEarly = ({cpuNanos}: ResourceFigures, {cpuNanocores}: ResourceUsage): boolean =>
	cpuNanos !== undefined && cpuNanocores === undefined;

/** Of these pods, or of all. `isEarly`: something of it is. */
export function reportOf(
	{atMs, node, containers, traffic}: Measurement,
	totals: Totals,
	uids: ReadonlySet<string> | undefined,
): {readonly report: UsageReport; readonly isEarly: boolean} {
	const wanted = containers.filter(({usage}) => uids?.has(usage.uid) !== false);
	const ofPods = traffic.filter(({uid}) => uids?.has(uid) !== false);
	return {
		report: {
			atMs,
			node: node.usage,
			totals,
			containers: wanted.map(({usage}) => usage),
			...(ofPods.length === 0 ? {} : {traffic: ofPods}),
		},
		isEarly: [node, ...wanted].some(each => each.isEarly),
	};
}

/** Each attempt counts anew. */
const keyOf = ({id, attempt}: ContainerUsage): string => `${id.uid}/${id.container}/${attempt}`;

/** Compared with the latest of the earlier ones that is far enough away, else with the oldest. */
function usageOf(now: ResourceFigures, earlier: readonly ResourceFigures[]): ResourceUsage {
	const {readAtMs, cpuNanos, memoryBytes} = now;
	const since = sinceOf(readAtMs, earlier);
	const windowMs = since === undefined ? 0 : readAtMs - since.readAtMs;
	const used = cpuNanos === undefined || since?.cpuNanos === undefined ? -1 : cpuNanos - since.cpuNanos;
	if (since === undefined || windowMs < limits.usageLeastWindowMs || used < 0)
		return {cpuNanocores: undefined, windowMs: undefined, memoryBytes};
	const rates = ratesOf(now, since, windowMs);
	return {
		cpuNanocores: Math.round((used * 1_000) / windowMs),
		windowMs: Math.round(windowMs),
		memoryBytes,
		...(Object.keys(rates).length === 0 ? {} : {rates}),
	};
}

const sinceOf = <Figures extends {readonly readAtMs: number}>(readAtMs: number, earlier: readonly Figures[]): Figures | undefined =>
	earlier.findLast(each => readAtMs - each.readAtMs >= limits.usageWindowMs) ?? earlier[0];

/** One that is less than before began anew, and says nothing. */
const ratesOf = (now: Counters, since: Counters, windowMs: number): Rates =>
	Object.fromEntries(
		flows.flatMap(flow => {
			const [to, from] = [now[counterOf[flow]], since[counterOf[flow]]];
			return to === undefined || from === undefined || to < from ? [] : [[flow, Math.round(((to - from) * 1_000) / windowMs)]];
		}),
	);

function trafficOf({node, traffic = []}: UsageSample, before: readonly UsageSample[]): readonly PodRates[] {
	if (traffic.length === 0) return [];
	const since = sinceOf(
		node.readAtMs,
		before.map(sample => ({readAtMs: sample.node.readAtMs, traffic: sample.traffic ?? []})),
	);
	const windowMs = node.readAtMs - (since?.readAtMs ?? node.readAtMs);
	if (since === undefined || windowMs < limits.usageLeastWindowMs) return [];
	const was = new Map(since.traffic.map(each => [each.uid, each]));
	return traffic.flatMap(each => {
		const from = was.get(each.uid);
		return from === undefined ? [] : [{uid: each.uid, rates: ratesOf(each, from, windowMs)}];
	});
}
