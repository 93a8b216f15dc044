// What nodes tell of what they and their containers use. What a node says is looked at: figures are numbers, and only those of its own pods count.

import type {ReadUsage} from '../../actors/node/usage/usage.js';
import {usagePath} from '../../actors/addresses.js';
import {address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Backend} from './exchange.js';

/** What is used of processors in each second, and of memory. */
export type Used = {readonly cpuNanocores: number; readonly windowMs: number; readonly memoryBytes: number};

export type NodeUsage = {
	/** Wall time of the node. */
	readonly atMs: number;
	readonly node: Used | undefined;
	/** By the pod's uid, then by container; undefined: that it runs is all that is known. */
	readonly pods: ReadonlyMap<string, ReadonlyMap<string, Used | undefined>>;
};

/** Of a node, and of these of its pods; undefined: it did not answer in time, or with nothing that can be read. */
export async function usageOfNode(
	{control}: Backend,
	{node, uids, cause}: {readonly node: string; readonly uids: readonly string[]; readonly cause: string},
): Promise<NodeUsage | undefined> {
	const message: ReadUsage = {type: 'readUsage', uids};
	const outcome = await control.ask<unknown>(address(node, usagePath), message, {deadlineMs: limits.usageAnswerMs, cause});
	return outcome.ok ? usageIn(outcome.value, new Set(uids)) : undefined;
}

type Said = {readonly [member: string]: unknown};

const isSaid = (value: unknown): value is Said => typeof value === 'object' && value !== null;

/** One that is written as digits alone, as a quantity has to be: of one that is not, a client would read nothing of the whole list. */
const isFigure = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** One that Go's durations can say. */
const isWindow = (value: unknown): value is number => isFigure(value) && value <= 9_000_000_000_000;

/** What an answer says of these pods; undefined where it is none. */
function usageIn(answer: unknown, uids: ReadonlySet<string>): NodeUsage | undefined {
	if (!isSaid(answer) || !isTime(answer['atMs']) || !Array.isArray(answer['containers'])) return undefined;
	const pods = new Map<string, Map<string, Used | undefined>>();
	for (const each of answer['containers'] as readonly unknown[]) {
		if (!isSaid(each)) continue;
		const {uid, container} = each;
		if (typeof uid !== 'string' || typeof container !== 'string' || !uids.has(uid)) continue;
		const containers = pods.get(uid) ?? new Map<string, Used | undefined>();
		pods.set(uid, containers.set(container, usedIn(each)));
	}
	return {atMs: answer['atMs'], node: usedIn(answer['node']), pods};
}

/** One that a timestamp can say. */
const isTime = (value: unknown): value is number => isFigure(value) && value <= 8_640_000_000_000_000;

function usedIn(said: unknown): Used | undefined {
	if (!isSaid(said)) return undefined;
	const {cpuNanocores, windowMs, memoryBytes} = said;
	return isFigure(cpuNanocores) && isWindow(windowMs) && isFigure(memoryBytes) ? {cpuNanocores, windowMs, memoryBytes} : undefined;
}
