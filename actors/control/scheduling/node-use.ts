// What nodes really use, as the strategies least-cpu and least-memory go by it: asked of all nodes every some seconds, as long as one of them is the cluster's.

import {conditionOf} from '../../../api/conditions.js';
import {address} from '../../../api/keys.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import {limits} from '../../../api/limits.js';
import type {SchedulerStrategy} from '../../../api/scheduler-strategies.js';
import type {Context, Effect} from '../../../system/kernel/behavior.js';
import {usagePath} from '../../addresses.js';
import {usageIn, type ReadUsage} from '../../protocol/usage-message.js';

/** What is bound to a node, and what that asks for. */
type Loaded = {readonly pods: number; readonly requestedCpu: number; readonly requestedMemory: number};

/** What a node used, and what was asked for there by then: what was bound since is not in it. */
export type NodeUse = {
	readonly cpuMillis: number;
	readonly memoryBytes: number;
	readonly before: Loaded;
	/** By the monotonic clock. */
	readonly atMs: number;
};

/** By name; of a node that did not tell lately there is none. */
export type NodeUses = ReadonlyMap<string, NodeUse>;

export const goesByUse = (strategy: SchedulerStrategy): boolean => strategy === 'least-cpu' || strategy === 'least-memory';

const nanosOfMilli = 1_000_000;

/** What Kubernetes' scheduler thinks that a pod uses which asks for nothing. */
const nominal = {cpuMillis: 100, memoryBytes: 200 * 1_048_576};

/** What is used, and what the pods that came since will use; what is asked for, where it is not known what is used. */
export function cpuLoad({pods, requestedCpu}: Loaded, use: NodeUse | undefined): number {
	if (use === undefined) return requestedCpu;
	const {before} = use;
	return use.cpuMillis + Math.max(0, requestedCpu - before.requestedCpu, (pods - before.pods) * nominal.cpuMillis);
}

/** Likewise. */
export function memoryLoad({pods, requestedMemory}: Loaded, use: NodeUse | undefined): number {
	if (use === undefined) return requestedMemory;
	const {before} = use;
	return use.memoryBytes + Math.max(0, requestedMemory - before.requestedMemory, (pods - before.pods) * nominal.memoryBytes);
}

/** Asks every node of which something is heard; the outcome comes as `used`, with the node's name. */
export const askForUse = ({known}: Context): readonly Effect[] =>
	([...known.list('nodes')] as NodeObject[])
		.filter(({status}) => conditionOf(status?.conditions, 'Ready')?.status === 'True')
		.map(({metadata: {name}}) => {
			const message: ReadUsage = {type: 'readUsage', uids: []};
			return {type: 'ask', to: address(name, usagePath), message, as: 'used', id: name, deadlineMs: limits.usageAnswerMs};
		});

/** With what a node says of itself. */
export function withUse(uses: NodeUses, node: Loaded & {readonly name: string}, answer: unknown, monotonicMs: number): NodeUses {
	const used = usageIn(answer, new Set())?.node;
	if (used === undefined) return uses;
	const {pods, requestedCpu, requestedMemory} = node;
	return new Map(uses).set(node.name, {
		cpuMillis: used.cpuNanocores / nanosOfMilli,
		memoryBytes: used.memoryBytes,
		before: {pods, requestedCpu, requestedMemory},
		atMs: monotonicMs,
	});
}

/** Without those of which nothing new is known for a while. */
export const recentUses = (uses: NodeUses, monotonicMs: number): NodeUses =>
	new Map([...uses].filter(([, {atMs}]) => monotonicMs - atMs < limits.nodeUseMs));
