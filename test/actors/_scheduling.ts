// One round of the scheduler around objects that are committed as given.

import type {SchedulerStrategy} from '../../api/scheduler-strategies.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import {place} from '../../actors/control/placement.js';
import {lookOf} from '../../actors/control/scheduling/looking.js';
import {roundOf, take, type Round} from '../../actors/control/scheduling/round.js';
import type {Effect, Pending} from '../../system/kernel/behavior.js';
import {seededRandom} from '../../system/time/random.js';
import {aClusterConfig, aNode, contextWith, indexOf, keyOf, openWrites} from './_objects.js';

export type World = {
	readonly nodes: readonly NodeObject[];
	readonly pods?: readonly Pod[];
	/** Pods whose bind is asked for, with the node. */
	readonly asked?: readonly (readonly [Pod, string])[];
	readonly strategy?: SchedulerStrategy;
	readonly turn?: number;
	readonly seed?: number;
};

/** Binds that are asked for and not committed. */
const openBinds = (asked: readonly (readonly [Pod, string])[]): ReadonlyMap<string, Pending> =>
	openWrites(
		asked.map(([pod, nodeName]) => {
			const {uid} = pod.metadata;
			return {type: 'update', key: keyOf(pod), id: `bind/${uid}`, message: {type: 'bind', uid, nodeName}} as Effect;
		}),
	);

function aRound({nodes, pods = [], asked = [], strategy = 'least-pods', turn = 0, seed = 1}: World): Round {
	const index = indexOf(aClusterConfig(strategy), ...nodes, ...pods, ...asked.map(([pod]) => pod));
	return roundOf(contextWith(index, {pending: openBinds(asked), random: seededRandom(seed)}), turn, 0);
}

/** Where a pod goes, or why it fits nowhere. */
export function placeIn(round: Round, pod: Pod): string {
	const look = lookOf(pod, round);
	if (look === undefined) return 'it has no spec';
	const placement = place(pod, look, round);
	if (placement.node === undefined) return placement.why();
	take(round, placement.node, pod);
	return placement.node.name;
}

export const where = (pod: Pod, world: World): string => wheres([pod], world)[0] ?? '';

/** Where each goes in one round, one after the other. */
export function wheres(pods: readonly Pod[], world: World): readonly string[] {
	const round = aRound({...world, pods: [...(world.pods ?? []), ...pods]});
	return pods.map(pod => placeIn(round, pod));
}

/** Nodes `a`, `b`, ... with these labels. */
export const labelled = (nodes: {readonly [name: string]: {readonly [label: string]: string}}): NodeObject[] =>
	Object.entries(nodes).map(([name, labels]) => aNode({name, metadata: {labels}}));
