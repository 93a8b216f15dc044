// Which nodes a DaemonSet has a pod on. After nodeShouldRunDaemonPod of Kubernetes.

import {pressureTaints} from '../../../api/node-pressure.js';
import type {DaemonSet} from '../../../api/kinds/daemonset.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {PodSpec, Toleration} from '../../../api/shapes/pod.js';
import {unreachableTaint} from '../../../api/rules/taints.js';
import type {Known} from '../../../system/index/object-index.js';
import {nodesSeen} from '../pods/node-terms.js';
import {isTolerated} from '../pods/toleration.js';
import {placeNumber} from '../pods/pod-terms.js';
import {matchesNode} from '../pods/node-affinity.js';

/** What Kubernetes has every pod of a DaemonSet tolerate: it comes first to a node, and leaves it last. */
const borne = [
	{key: 'node.kubernetes.io/not-ready', effect: 'NoExecute'},
	{key: unreachableTaint, effect: 'NoExecute'},
	{key: pressureTaints.DiskPressure, effect: 'NoSchedule'},
	{key: pressureTaints.MemoryPressure, effect: 'NoSchedule'},
	{key: pressureTaints.PIDPressure, effect: 'NoSchedule'},
	{key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule'},
] as const;

/** The tolerations of the set's pods: those of its template, and those that every DaemonSet has. */
export function tolerationsOf({tolerations = []}: PodSpec): readonly Toleration[] {
	const others = tolerations.filter(({key, effect}) => !borne.some(each => each.key === key && each.effect === effect));
	return [...others, ...borne.map(each => ({...each, operator: 'Exists'}) as const)];
}

/** A pod belongs there, may stay if it is there, or has to go. */
export type Fit = 'runs' | 'stays' | 'leaves';

export function fitOf({spec}: DaemonSet, node: NodeObject): Fit {
	const template = spec?.template.spec;
	const {name, labels = {}} = node.metadata;
	if (template === undefined || (template.nodeName ?? name) !== name || !matchesNode(template, {name, labels})) return 'leaves';
	const tolerations = tolerationsOf(template);
	const taints = (node.spec?.taints ?? []).filter(taint => taint.effect !== 'PreferNoSchedule' && !isTolerated(taint, tolerations));
	if (taints.length === 0) return 'runs';
	return taints.some(({effect}) => effect === 'NoExecute') ? 'leaves' : 'stays';
}

/** The nodes with a pod, as the index counts places (`placesTerm`). */
export type Wanted = {readonly count: number; readonly sum: number};

type Remembered = Wanted & {readonly nodes: number; readonly seen: number};

/** By the spec of the set, which stays while its status changes; what nodes are there is told by the index in two numbers. */
const remembered = new WeakMap<object, Remembered>();

/** All nodes are walked once after a change of one of them that a DaemonSet may go by. */
export function wantedPlaces(set: DaemonSet, known: Known): Wanted {
	const key = set.spec;
	if (key === undefined) return {count: 0, sum: 0};
	const nodes = known.countByTerm('nodes', nodesSeen);
	const seen = known.sumByTerm('nodes', nodesSeen);
	const found = remembered.get(key);
	if (found?.nodes === nodes && found.seen === seen) return found;
	const places = ([...known.list('nodes')] as NodeObject[]).filter(node => fitOf(set, node) === 'runs').map(({metadata}) => metadata.name);
	const made = {nodes, seen, count: places.length, sum: places.reduce((sum, name) => sum + placeNumber(name), 0)};
	remembered.set(key, made);
	return made;
}
