// Where a pod may run, and where it runs best: pure filters and scores over the committed index.

import {isConditionTrue} from '../../api/conditions.js';
import type {SchedulerStrategy} from '../../api/kinds/cluster-config.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Container, Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import type {Known} from '../../system/object-index.js';
import {isLost} from './eviction.js';
import {occupies} from './pod-terms.js';

/** A node as one round of the scheduler sees it; binds that are asked for and not yet committed count as done. */
export type Candidate = {
	readonly name: string;
	readonly node: NodeObject;
	/** Why nothing new runs there, whatever the pod. */
	readonly closed: string | undefined;
	readonly maxPods: number;
	/** Bound and about to be; raised as the round goes on. */
	pods: number;
};

export type Placement = {readonly node: string} | {readonly node: undefined; readonly why: string};

/**
 * Ports that only one pod of a node can have, as `TCP/8080`. On a shared network a container port is one of them, unless the
 * container names its pod's own address and so binds there.
 */
export const claimedPorts = (pod: Pod): readonly string[] => [
	...new Set((pod.spec?.containers ?? []).flatMap(container => portsOf(container, bindsToPodAddress(container)))),
];

const portsOf = ({ports = []}: Container, ownAddress: boolean): string[] =>
	ports.flatMap(({containerPort, hostPort, protocol = 'TCP'}) => [
		...(hostPort === undefined ? [] : [`${protocol}/${hostPort}`]),
		...(ownAddress ? [] : [`${protocol}/${containerPort}`]),
	]);

function bindsToPodAddress({command = [], args = [], env = []}: Container): boolean {
	const names = (text: string | undefined): boolean => text?.includes('$(POD_IP)') === true;
	return (
		[...command, ...args].some(names) || env.some(({value, valueFrom}) => names(value) || valueFrom?.fieldRef?.fieldPath === 'status.podIP')
	);
}

export const isNodeReady = (node: NodeObject): boolean =>
	node.metadata.deletionTimestamp === undefined && isConditionTrue(node.status?.conditions, 'Ready');

/** The nodes of one round, by name. `asked` counts open binds by node. */
export const candidatesOf = (nodes: Iterable<NodeObject>, known: Known, asked: ReadonlyMap<string, number>): Candidate[] =>
	[...nodes].sort(byName).map(node => {
		const {name, closed, maxPods} = traitsOf(node);
		return {name, node, closed, maxPods, pods: known.countByTerm('pods', occupies(name)) + (asked.get(name) ?? 0)};
	});

type Traits = Pick<Candidate, 'name' | 'closed' | 'maxPods'>;

/** By the revision of the node: a round looks at all nodes, and hardly any has changed since the last. */
const traits = new WeakMap<NodeObject, Traits>();

function traitsOf(node: NodeObject): Traits {
	const found = traits.get(node);
	if (found !== undefined) return found;
	const maxPods = Number(node.status?.allocatable?.['pods'] ?? Number.POSITIVE_INFINITY);
	const made: Traits = {name: node.metadata.name, closed: closedBecause(node), maxPods};
	traits.set(node, made);
	return made;
}

const byName = (a: NodeObject, b: NodeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);

function closedBecause(node: NodeObject): string | undefined {
	if (isLost(node)) return 'lost';
	if (!isNodeReady(node)) return 'not ready';
	return node.spec?.unschedulable === true ? 'cordoned' : undefined;
}

/** Why a pod cannot run on a node; undefined when it can. */
function misfit(
	pod: Pod,
	{node, name, closed, maxPods, pods}: Candidate,
	ports: readonly string[],
	holdsPort: PortCheck,
): string | undefined {
	if (closed !== undefined) return closed;
	const {labels = {}} = node.metadata;
	const wanted = Object.entries(pod.spec?.nodeSelector ?? {}).find(([label, value]) => labels[label] !== value);
	if (wanted !== undefined) return `no label ${wanted[0]}=${wanted[1]}`;
	if (pods >= maxPods) return `full: ${maxPods} pods`;
	const taken = ports.find(port => holdsPort(name, port));
	return taken === undefined ? undefined : `port ${taken} is taken`;
}

/** Whether a bound or about-to-be-bound pod has a port of a node. */
export type PortCheck = (node: string, port: string) => boolean;

/** Chooses a node by the strategy; `turn` is the round-robin's place in the list. */
export function place(
	pod: Pod,
	candidates: readonly Candidate[],
	{strategy, turn}: {readonly strategy: SchedulerStrategy; readonly turn: number},
	holdsPort: PortCheck,
): Placement {
	const ports = claimedPorts(pod);
	let best: Candidate | undefined;
	for (let offset = 0; offset < candidates.length; offset++) {
		const candidate = candidates[(turn + offset) % candidates.length];
		if (candidate === undefined || (best !== undefined && candidate.pods >= best.pods)) continue;
		if (misfit(pod, candidate, ports, holdsPort) !== undefined) continue;
		best = candidate;
		if (strategy === 'round-robin') break;
	}
	if (best !== undefined) return {node: best.name};
	const reasons = candidates.map(candidate => [candidate.name, misfit(pod, candidate, ports, holdsPort) ?? ''] as const);
	return {node: undefined, why: worded(candidates.length, reasons)};
}

function worded(total: number, reasons: readonly (readonly [string, string])[]): string {
	if (total === 0) return 'there is no node yet';
	if (reasons.length <= limits.nodesNamed) {
		return `0/${total} nodes fit: ${reasons.map(([node, why]) => `${node}: ${why}`).join('; ')}`;
	}
	const counts = new Map<string, number>();
	for (const [, why] of reasons) counts.set(why, (counts.get(why) ?? 0) + 1);
	return `0/${total} nodes fit: ${[...counts].map(([why, count]) => `${count} ${why}`).join('; ')}`;
}
