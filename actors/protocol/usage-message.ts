// What control asks a node of what is used there, and its answer. What a node says is looked at: figures are numbers, and only those of its own pods
// count.

import {limits} from '../../api/limits.js';
import type {ReplyTo} from '../../system/kernel/behavior.js';

/** To the node's `usage`; answered with a `UsageAnswer`. */
export type ReadUsage = {
	readonly type: 'readUsage';
	/** Of containers of these pods; undefined: of all. */
	readonly uids?: readonly string[] | undefined;
	/** The last minutes as well, in so many steps; undefined: only what is used now. */
	readonly steps?: number | undefined;
	readonly replyTo?: ReplyTo | undefined;
};

/** Over the network, and from and to disks. */
export const flows = ['received', 'sent', 'read', 'written'] as const;

/** Bytes in each second, on the average of the same window as processors. Left out: it is not known. */
export type Rates = {readonly [Flow in (typeof flows)[number]]?: number};

/** Bytes since the node began to measure, which never fall. Left out: it is not known. */
export type Totals = {readonly [Flow in (typeof flows)[number]]?: number};

/** Oldest first, one value a step: null where nothing was measured. Of processors the mean, of memory the most. */
export type UsageSeries = {readonly cpuNanocores: readonly (number | null)[]; readonly memoryBytes: readonly (number | null)[]};

/** What is used of processors in each second, and of memory. */
export type Used = {readonly cpuNanocores: number; readonly windowMs: number; readonly memoryBytes: number};

/** And of networks and disks. */
export type UsedInAll = Used & {readonly rates: Rates};

/** The last minutes. */
export type Past = UsageSeries & {readonly stepMs: number};

export type NodeUsage = {
	/** Wall time of the node. */
	readonly atMs: number;
	readonly node: UsedInAll | undefined;
	/** Of the node. */
	readonly totals: Totals;
	/** By the pod's uid, then by container; undefined: that it runs is all that is known. */
	readonly pods: ReadonlyMap<string, ReadonlyMap<string, UsedInAll | undefined>>;
	/** Of pods with a network of their own, by uid. */
	readonly traffic: ReadonlyMap<string, Rates>;
	/** Where it was asked for. */
	readonly history: {readonly node: Past; readonly pods: ReadonlyMap<string, ReadonlyMap<string, Past>>} | undefined;
};

type Said = {readonly [member: string]: unknown};

const isSaid = (value: unknown): value is Said => typeof value === 'object' && value !== null;

/** One that is written as digits alone, as a quantity has to be: of one that is not, a client would read nothing of the whole list. */
const isFigure = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** One that Go's durations can say. */
const isWindow = (value: unknown): value is number => isFigure(value) && value <= 9_000_000_000_000;

/** What an answer says of these pods; undefined where it is none. The last minutes only where they were asked for. */
export function usageIn(answer: unknown, uids: ReadonlySet<string>, withHistory = false): NodeUsage | undefined {
	if (!isSaid(answer) || !isTime(answer['atMs']) || !Array.isArray(answer['containers'])) return undefined;
	const pods = new Map<string, Map<string, UsedInAll | undefined>>();
	for (const each of answer['containers'] as readonly unknown[]) {
		if (!isSaid(each)) continue;
		const {uid, container} = each;
		if (typeof uid !== 'string' || typeof container !== 'string' || !uids.has(uid)) continue;
		const containers = pods.get(uid) ?? new Map<string, UsedInAll | undefined>();
		pods.set(uid, containers.set(container, usedIn(each)));
	}
	return {
		atMs: answer['atMs'],
		node: usedIn(answer['node']),
		totals: flowsIn(answer['totals']),
		pods,
		traffic: trafficIn(answer['traffic'], uids),
		history: withHistory ? historyIn(answer['history'], uids) : undefined,
	};
}

/** One that a timestamp can say. */
const isTime = (value: unknown): value is number => isFigure(value) && value <= 8_640_000_000_000_000;

function usedIn(said: unknown): UsedInAll | undefined {
	if (!isSaid(said)) return undefined;
	const {cpuNanocores, windowMs, memoryBytes} = said;
	if (!isFigure(cpuNanocores) || !isWindow(windowMs) || !isFigure(memoryBytes)) return undefined;
	return {cpuNanocores, windowMs, memoryBytes, rates: flowsIn(said['rates'])};
}

const flowsIn = (said: unknown): Rates & Totals =>
	isSaid(said) ? Object.fromEntries(flows.flatMap(flow => (isFigure(said[flow]) ? [[flow, said[flow]]] : []))) : {};

function trafficIn(said: unknown, uids: ReadonlySet<string>): ReadonlyMap<string, Rates> {
	const found = new Map<string, Rates>();
	for (const each of Array.isArray(said) ? (said as readonly unknown[]) : []) {
		if (isSaid(each) && typeof each['uid'] === 'string' && uids.has(each['uid'])) found.set(each['uid'], flowsIn(each['rates']));
	}
	return found;
}

function historyIn(said: unknown, uids: ReadonlySet<string>): NodeUsage['history'] {
	if (!isSaid(said) || !isFigure(said['stepMs']) || !Array.isArray(said['containers'])) return undefined;
	const {stepMs} = said;
	const pods = new Map<string, Map<string, Past>>();
	for (const each of said['containers'] as readonly unknown[]) {
		if (!isSaid(each)) continue;
		const {uid, container} = each;
		if (typeof uid !== 'string' || typeof container !== 'string' || !uids.has(uid)) continue;
		pods.set(uid, (pods.get(uid) ?? new Map<string, Past>()).set(container, pastIn(each, stepMs)));
	}
	return {node: pastIn(said['node'], stepMs), pods};
}

function pastIn(said: unknown, stepMs: number): Past {
	const {cpuNanocores, memoryBytes} = isSaid(said) ? said : {};
	return {stepMs, cpuNanocores: figuresIn(cpuNanocores), memoryBytes: figuresIn(memoryBytes)};
}

const figuresIn = (said: unknown): readonly (number | null)[] =>
	Array.isArray(said) ? (said as readonly unknown[]).slice(0, limits.usageHistorySteps).map(value => (isFigure(value) ? value : null)) : [];
