// The pods that are somewhere: bound, or with a bind that is asked for.

import type {Pod} from '../../../api/kinds/pod.js';
import type {LabelSelector} from '../../../api/selector.js';
import type {Known} from '../../../system/index/object-index.js';
import {isTerminal} from '../pods/pod-lifecycle.js';
import {repelling} from '../pod-terms.js';
import {repels} from './needs.js';

/** Nodes of pods whose bind is asked for and not committed, by uid. */
export type Asked = ReadonlyMap<string, {readonly pod: Pod; readonly node: string}>;

/** Is told of one pod and its node. */
export type Visit = (pod: Pod, node: string) => void;

/** Visits the pods of some namespaces that match; those that are over are nowhere. */
export function visitPlaced(
	known: Known,
	asked: Asked,
	namespaces: readonly string[],
	selector: LabelSelector | undefined,
	visit: Visit,
): void {
	if (selector === undefined) return; // In Kubernetes no selector selects nothing.
	for (const namespace of namespaces) {
		for (const object of known.select('pods', namespace, selector)) {
			const pod = object as Pod;
			const node = pod.spec?.nodeName ?? asked.get(pod.metadata.uid)?.node;
			if (node !== undefined && !isTerminal(pod)) visit(pod, node);
		}
	}
}

/** Visits the pods that keep others away. */
export function visitRepelling(known: Known, asked: Asked, visit: Visit): void {
	for (const object of known.byTerm('pods', repelling)) {
		const pod = object as Pod;
		if (pod.spec?.nodeName !== undefined) visit(pod, pod.spec.nodeName);
	}
	for (const {pod, node} of asked.values()) if (pod.spec !== undefined && repels(pod.spec)) visit(pod, node);
}
