// One scheduling cycle over objects that are committed as given.

import type {SchedulerStrategy} from '../../api/scheduler-strategies.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import {bind, cycleOf, type Cycle} from '../../actors/control/scheduling/cycle.js';
import {classOf} from '../../actors/control/scheduling/equivalence-class.js';
import {place} from '../../actors/control/scheduling/placement.js';
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

function aCycle({nodes, pods = [], asked = [], strategy = 'least-pods', turn = 0, seed = 1}: World): Cycle {
	const index = indexOf(aClusterConfig(strategy), ...nodes, ...pods, ...asked.map(([pod]) => pod));
	return cycleOf(contextWith(index, {pending: openBinds(asked), random: seededRandom(seed)}), turn, 0);
}

/** Where a pod goes, or why it fits nowhere. */
export function placeIn(cycle: Cycle, pod: Pod): string {
	const podClass = classOf(pod, cycle);
	if (podClass === undefined) return 'it has no spec';
	const placement = place(pod, podClass, cycle);
	if (placement.node === undefined) return placement.why();
	bind(cycle, placement.node, pod);
	return placement.node.name;
}

export const where = (pod: Pod, world: World): string => wheres([pod], world)[0] ?? '';

/** Where each goes in one cycle, one after the other. */
export function wheres(pods: readonly Pod[], world: World): readonly string[] {
	const cycle = aCycle({...world, pods: [...(world.pods ?? []), ...pods]});
	return pods.map(pod => placeIn(cycle, pod));
}

/** Nodes `a`, `b`, ... with these labels. */
export const labelled = (nodes: {readonly [name: string]: {readonly [label: string]: string}}): NodeObject[] =>
	Object.entries(nodes).map(([name, labels]) => aNode({name, metadata: {labels}}));
