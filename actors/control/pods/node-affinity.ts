// Which nodes a pod's node selector and node affinity name. After Kubernetes' v1 NodeSelector.

import type {NodeSelectorRequirement, NodeSelectorTerm, PodSpec} from '../../../api/shapes/pod.js';
import type {Labels} from '../../../api/object.js';
import {satisfies, valueOf} from '../../../api/selector.js';

type NamedNode = {readonly name: string; readonly labels: Labels};

/** Whether the nodeSelector, and one of the required terms of node affinity, match. */
export const matchesNode = (spec: PodSpec, node: NamedNode): boolean =>
	missingLabel(spec.nodeSelector, node) === undefined && matchesAffinity(spec, node);

/** The first label of a nodeSelector that the node has not. */
export const missingLabel = (nodeSelector: Labels | undefined, {labels}: NamedNode): readonly [string, string] | undefined =>
	nodeSelector === undefined ? undefined : Object.entries(nodeSelector).find(([label, value]) => labels[label] !== value);

export function matchesAffinity({affinity}: Pick<PodSpec, 'affinity'>, node: NamedNode): boolean {
	const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
	return required === undefined || required.nodeSelectorTerms.some(term => matchesTerm(term, node));
}

/** All requirements of a term; one without any matches nothing. */
export function matchesTerm({matchExpressions = [], matchFields = []}: NodeSelectorTerm, {name, labels}: NamedNode): boolean {
	if (matchExpressions.length === 0 && matchFields.length === 0) return false;
	return (
		matchExpressions.every(requirement => isMet(requirement, valueOf(labels, requirement.key))) &&
		matchFields.every(requirement => isMet(requirement, requirement.key === 'metadata.name' ? name : undefined))
	);
}

/** Those of label selectors, and comparisons of numbers. */
function isMet({key, operator, values = []}: NodeSelectorRequirement, value: string | undefined): boolean {
	switch (operator) {
		case 'Gt':
			return isWhole(value) && isWhole(values[0]) && Number(value) > Number(values[0]);
		case 'Lt':
			return isWhole(value) && isWhole(values[0]) && Number(value) < Number(values[0]);
		default:
			return satisfies({key, operator, values}, value);
	}
}

const isWhole = (text: string | undefined): text is string => text !== undefined && /^-?\d+$/.test(text);
