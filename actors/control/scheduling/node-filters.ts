// Why a node is none for a pod whatever else runs there: nothing that is deleted mends that.

import {featureText} from '../../../api/features.js';
import {isTolerated, taintText} from './taints.js';
import {matchesAffinity, missingLabel} from './node-affinity.js';
import type {Candidate} from './candidate.js';
import type {PodNeeds} from './needs.js';

/** A cordon is a taint in Kubernetes, so a pod may tolerate it. */
const cordon = {key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule'} as const;

/** Why the pod cannot run on the node; undefined when nothing of the node's own speaks against it. */
export function nodeMisfit({spec, features}: PodNeeds, node: Candidate): string | undefined {
	if (node.closed !== undefined) return node.closed;
	const {tolerations} = spec;
	if (node.isCordoned && !isTolerated(cordon, tolerations)) return 'cordoned';
	const missing = missingLabel(spec.nodeSelector, node);
	if (missing !== undefined) return `no label ${missing[0]}=${missing[1]}`;
	if (!matchesAffinity(spec, node)) return 'not among the nodes of its node affinity';
	const taint = node.taints.find(each => each.effect !== 'PreferNoSchedule' && !isTolerated(each, tolerations));
	if (taint !== undefined) return `taint ${taintText(taint)} is not tolerated`;
	const lacking = features.filter(feature => !node.features.includes(feature));
	return lacking.length === 0 ? undefined : `lacks ${lacking.map(featureText).join(' and ')}`;
}
